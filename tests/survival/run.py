"""Kill the build, the push and the download at many points, fill the disk, close folders; then look what is left.

    uv run python -m tests.survival.run [--kills 200] [--write]

After each: no half release is visible, the next run completes with the bytes of an undisturbed one, nothing is left
over and nothing outside the output folder was touched. Six tenths of the kills are of builds, just before a change to
the file system (with `--kills 800` before every one); the others are builds with two workers by
the clock, pushes at a request, and downloads. `--write` records the result in `results.md`. Ends with status 1 if
anything is wrong. A full disk needs root (a small disk is mounted) and is left out without.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.survival.record import record
from tests.survival.scenarios import (
    Trial,
    full_disks,
    killed_builds,
    killed_fetches,
    killed_pushes,
    modes_count,
    read_only_folders,
    summary,
    timed_builds,
)
from tests.survival.site import outside, undisturbed


def trials(folder: Path, kills: int) -> Iterator[Trial]:
    """All scenarios, with so many kills at most."""
    outside()
    known = undisturbed(folder / "known")
    yield from killed_builds(folder / "site", known, kills * 3 // 10, had_release=False)
    yield from killed_builds(folder / "site", known, kills * 3 // 10, had_release=True)
    yield from timed_builds(folder / "site", known, kills // 10)
    yield from killed_pushes(folder / "site", known, kills * 2 // 10)
    yield from killed_fetches(folder / "site", kills // 10)
    if modes_count():
        yield from read_only_folders(folder / "site", known)
    try:
        yield from full_disks(folder / "site", known, 10)
    except OSError as error:
        print(f"no full disks: {error}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    done = []
    with tempfile.TemporaryDirectory() as folder:
        for trial in trials(Path(folder), arguments.kills):
            done.append(trial)
            if trial.faults:
                print(f"{trial.scenario}, {trial.point}: {'; '.join(trial.faults)}", flush=True)
    table = summary(done)
    print(table)
    if arguments.write:
        record(
            "Kills, full disks, closed folders", f"uv run python -m tests.survival.run --kills {arguments.kills}", table
        )
    return int(any(trial.faults for trial in done))


if __name__ == "__main__":
    sys.exit(main())
