"""What the build, the fetch and the push survive: kills, full and read-only disks, mutated raw files, hostile archives.

`python -m tests.survival.run` and `python -m tests.survival.fuzz` are the long runs, with their last result in
`results.md`.
"""
