"""A draft of the CHANGELOG entry for a release, from what `diff` found."""

from builders.publish.diff import Diff


def entry(found: Diff) -> str:
    """The entry in Markdown: the version, what changed in all, and a line per task that changed."""
    total = ", ".join(f"{count:,} items {kind}" for kind, count in found.counts.items()) or "No item changed"
    lines = [f"## {found.next_version}", "", f"Compared with {found.before['release']}: {total}.", ""]
    for task in found.tasks:
        if task.before is None or task.after is None:
            lines.append(f"* `{task.task}`: " + ("new" if task.before is None else "gone") + ".")
            continue
        told = [f"{count:,} {kind}" for kind, count in task.counts.items()]
        if "removed" in task.counts:
            reasons = task.by("removed", "after")
            told.append("removed as " + ", ".join(f"{reason} ({count:,})" for reason, count in reasons.items()))
        if told or task.columns:
            lines.append(f"* `{task.task}`: {'; '.join([*told, *task.columns])}.")
    return "\n".join(lines).rstrip()
