"""Whether a release loads in every version of `datasets` that people use, and reads without it.

    uv run socket-data build --sample --out release-sample
    uv run python -m tests.compatibility.run release-sample --write

* `run.py` makes the environments of `environments.yaml`, serves the release from the Hub for tests, and records in
  `results.md` what each environment made of it.
* `read_datasets.py` and `read_raw.py` run in those environments, where nothing of this project is installed.
* `test_compatibility.py` is the only part that belongs to the test run: that these scripts work, and can fail.
"""
