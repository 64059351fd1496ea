"""`socket-data release`: everything from raw files to a release that can be pushed."""

from pathlib import Path

from rich.console import Console

from builders.commands import build, diff, validate
from builders.pipeline.lock import LOCK


def run(raw: Path | None, sample: bool, out: Path, against: str | None, report: Path | None, workers: int) -> int:
    """Build all corpora, validate what was built, and compare it with the last release; 0 if all went well."""
    console = Console(highlight=False)
    console.rule("Build")
    built = build.run([], raw, sample, out, workers)
    if not (out / LOCK).exists():
        return built
    console.rule("Validate")
    valid = validate.run(out, [], report, None, workers)
    if against:
        console.rule(f"Changes since {against}")
        diff.run(against, str(out), None, changelog=False)
    console.rule("Verdict")
    console.print("Build: " + ("all corpora." if not built else "some corpora could not be built (see above)."))
    console.print("Validation: " + ("nothing blocks the release." if not valid else "it may not be published."))
    if not valid:
        console.print(f"Next: socket-data push {out} --repo OWNER/NAME --dry-run", soft_wrap=True)
    return max(built, valid)
