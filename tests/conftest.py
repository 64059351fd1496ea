"""Invented corpora for tests: a folder with corpus.yaml and build.py, and raw files in a mirror."""

import hashlib
import os
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml
from filelock import FileLock
from hypothesis import settings

from builders.declaration import CORPORA, Corpus, load_corpus, read_yaml
from builders.pipeline.fetch import Mirror
from builders.pipeline.release import build_release

# Property-based tests at length: `uv run pytest tests/test_properties.py --hypothesis-profile long`.
settings.register_profile("long", max_examples=3000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate", action="store_true", help="write the messages of tests/faults anew where they differ, and fail"
    )


PLAIN_BUILD = """
import pandas as pd

def build(raw):
    return pd.concat(list(raw.values()))
"""


def declaration(tasks: list[dict], files: list[dict], **more) -> dict:
    """A complete corpus.yaml around these tasks and files."""
    return {
        "title": "An invented corpus",
        "authors": ["A. Author"],
        "year": 2020,
        "venue": "Nowhere",
        "bibtex": "@misc{invented, title={An invented corpus}, author={Author, A.}, year={2020}}",
        "homepage": "https://example.org/invented",
        "license": "CC0-1.0",
        "license_statement": "Invented for a test.",
        "redistribution": {"allowed": True, "why": "Invented."},
        "access": "open",
        "files": files,
        "tasks": tasks,
    } | more


def classification(name: str = "mood", column: str = "label", **more) -> dict:
    """A task with the classes `bad` ("0") and `good` ("1")."""
    return {
        "name": name,
        "dataset": name,
        "category": "sentiment_emotion",
        "format": "classification",
        "column": column,
        "labels": [
            {"name": "bad", "raw": "0", "meaning": "In a bad mood."},
            {"name": "good", "raw": "1", "meaning": "In a good mood."},
        ],
    } | more


def regression(name: str = "warmth", column: str = "score", **more) -> dict:
    """A task with a value from 0 to 5."""
    return {
        "name": name,
        "dataset": name,
        "category": "sentiment_emotion",
        "format": "regression",
        "column": column,
        "scale": [0.0, 5.0],
        "labels": [{"name": "warmth", "meaning": "How warm it is."}],
    } | more


class Workshop:
    """Makes invented corpora below one temporary folder and builds releases of them."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.corpora: dict[str, Corpus] = {}
        self.mirror = Mirror(folder / "mirror")
        self.mirror.folder.mkdir()

    def corpus(
        self,
        name: str,
        raw: Mapping[str, str | bytes],
        tasks: list[dict],
        files: list[dict],
        build: str = PLAIN_BUILD,
        pinned: bool = True,
        **more,
    ) -> Corpus:
        """Write the raw files of a corpus to the mirror and its folder beside it.

        `pinned` adds sha256 and size of the raw files to their declarations.
        """
        for file, content in raw.items():
            path = self.mirror.folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if pinned:
            files = [file | self._pin(name, file["name"]) for file in files]
        folder = self.folder / "corpora" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "build.py").write_text(textwrap.dedent(build))
        text = yaml.safe_dump(declaration(tasks, files, **more), allow_unicode=True, sort_keys=False)
        (folder / "corpus.yaml").write_text(text, encoding="utf-8")
        self.corpora[name] = load_corpus(folder)
        return self.corpora[name]

    def _pin(self, corpus: str, file: str) -> dict:
        path = self.mirror.folder / corpus / file
        if not path.exists():
            return {}
        return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}

    def build(self, out: str = "release", names: list[str] | None = None, workers: int = 1):
        """Build a release of the corpora; returns (folder, outcomes)."""
        selected = {name: [task.name for task in self.corpora[name].tasks] for name in names or sorted(self.corpora)}
        folder = self.folder / out
        return folder, build_release(selected, self.corpora, self.mirror, folder, workers)


@pytest.fixture
def workshop(tmp_path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the real raw files and the facts about the published release."""
    folder = Path(os.environ.get("SOCKET_DATA_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "raw").is_dir():
        pytest.skip("the real raw files are not here (../shared/raw)")
    return folder


def _not_to_be_had(corpus: str, mirror: Path | None) -> bool:
    """Whether the mirror of real files has none of this corpus (its expected.yaml says so)."""
    return mirror is not None and read_yaml(CORPORA / corpus / "expected.yaml")["real"] is None


@pytest.fixture(scope="session")
def build_once(tmp_path_factory) -> Callable[..., Path]:
    """Build a release once a session: from the samples, or from a mirror of real files."""
    from builders.commands import select
    from builders.declaration import load_corpora
    from builders.pipeline.fetch import Samples

    base = tmp_path_factory.getbasetemp()
    # The processes of one test run share what one of them has built.
    together = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def build(mirror: Path | None = None) -> Path:
        out = together / ("release-raw" if mirror else "release-sample")
        with FileLock(f"{out}.lock"):
            if not out.exists():
                corpora = load_corpora()
                source = Mirror(mirror) if mirror else Samples()
                outcomes = build_release(select(corpora, []), corpora, source, out, workers=2)
                failed = [
                    str(outcome.problem)
                    for name, outcome in outcomes.items()
                    if outcome.status == "failed" and not _not_to_be_had(name, mirror)
                ]
                assert not failed, "\n".join(failed)
        return out

    return build


@pytest.fixture(scope="session")
def sample_release(build_once) -> Path:
    """A release of all tasks from the invented samples."""
    return build_once()


@pytest.fixture(scope="session")
def real_release(build_once, shared) -> Path:
    """A release of all tasks whose real raw files are here."""
    return build_once(shared / "raw")


@pytest.fixture
def hub():
    """A Hub for tests, empty."""
    from tests.hub import Hub

    with Hub() as hub:
        yield hub


@pytest.fixture
def api(hub, monkeypatch, tmp_path):
    """The real client of that Hub, with a token that may write. A new connection, past any proxy; no other login."""
    from huggingface_hub import HfApi, close_session

    from tests.hub import TOKEN

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    close_session()
    yield HfApi(endpoint=hub.url, token=TOKEN)
    close_session()
