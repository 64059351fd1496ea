"""The Hub, as far as a release needs it: what a repository holds, and its answers in plain words.

The token is the Hub client's own (its login or HF_TOKEN); it is never asked for, passed on or printed here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

from builders.problems import Problem, WrongUsage

# What the Hub puts into every repository; it belongs to nobody's release.
GIT_ATTRIBUTES = ".gitattributes"


class Entry(NamedTuple):
    """A file of a repository."""

    size: int
    sha256: str | None
    """Of a large file (LFS); None of a small one."""
    blob: str
    """The id that git gives the file; of a large one, its pointer's."""

    def holds(self, path: Path, digest: str) -> bool:
        """Whether this is the local file `path`, whose sha256 is `digest`."""
        return self.sha256 == digest if self.sha256 else self.blob == git_blob(path.read_bytes())


def git_blob(content: bytes) -> str:
    """The id that git gives a file of this content."""
    return sha1(f"blob {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()


def tree(api, repo: str, revision: str | None) -> dict[str, Entry]:
    """Every file of a dataset repository at a revision, by path."""
    entries = api.list_repo_tree(repo, repo_type="dataset", revision=revision, recursive=True)
    return {
        entry.path: Entry(entry.size, entry.lfs.sha256 if entry.lfs else None, entry.blob_id)
        for entry in entries
        if hasattr(entry, "blob_id")
    }


def is_repository(place: str) -> bool:
    """Whether a place is the name of a Hub repository (`owner/name`, maybe `@revision`), not a folder."""
    name = place.split("@", 1)[0]
    return (
        not Path(place).exists() and name.count("/") == 1 and not name.startswith((".", "/")) and all(name.split("/"))
    )


def folder_of(place: str, files: list[str] | None = None) -> Path:
    """The folder with a release: `place` itself, or a download of the Hub repository `owner/name[@revision]`.

    With `files` only what matches these patterns is downloaded. Raises `WrongUsage` if it is neither, `Problem` if the
    repository cannot be had.
    """
    if Path(place).is_dir():
        return Path(place)
    if not is_repository(place):
        raise WrongUsage("neither a folder nor a Hub repository.", where=[place])
    from huggingface_hub import snapshot_download

    repo, _, revision = place.partition("@")
    with told(place):
        return Path(snapshot_download(repo, repo_type="dataset", revision=revision or None, allow_patterns=files))


_ANSWERS = {
    401: ("the Hub does not know who you are (401).", "Log in: hf auth login"),
    403: ("you may not do that here (403).", "Log in with a token that may write, or ask the owner."),
    409: ("somebody else is changing it right now (409).", "Look what they did, then repeat it."),
    412: (
        "somebody else has changed it meanwhile (412); nothing of yours is there.",
        "Look what they did, then repeat it.",
    ),
    429: ("too many requests (429).", "Wait a while and repeat it; what was uploaded stays."),
}


@contextmanager
def told(place: str) -> Iterator[None]:
    """Turn what the Hub's client raises into `Problem`s that say what happened and what to do."""
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HFValidationError,
        HTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        yield
    except HFValidationError:
        raise WrongUsage("no name of a Hub repository (owner/name).", where=[place]) from None
    except GatedRepoError:
        raise Problem("is gated.", where=[place], todo="Ask for access on its page and log in: hf auth login") from None
    except RevisionNotFoundError:
        raise Problem("has no such revision.", where=[place]) from None
    except RepositoryNotFoundError:
        raise Problem(
            "no such repository, or you may not see it.",
            where=[place],
            todo="Check the name and log in: hf auth login",
        ) from None
    except LocalEntryNotFoundError:
        raise Problem("cannot be reached.", where=[place], todo="Check the network.") from None
    except EntryNotFoundError:
        raise Problem("lacks a file that was asked for.", where=[place]) from None
    except (HTTPError, OSError, RuntimeError) as error:
        # An upload that fails is a RuntimeError around the answer.
        status = status_of(error) or status_of(error.__cause__)
        if status is None:
            reason = type(error.__cause__ or error).__name__
            raise Problem(f"cannot be reached ({reason}).", where=[place], todo="Check the network.") from None
        what, todo = _ANSWERS.get(status, (f"the Hub failed ({status}).", "Repeat it later."))
        raise Problem(what, where=[place], todo=todo) from None


def status_of(error: BaseException | None) -> int | None:
    """The HTTP status of an answer of the Hub, if there was one."""
    response = getattr(error, "response", None)
    return getattr(response, "status_code", None)
