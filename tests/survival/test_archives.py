"""Archives made to do harm, of every kind that can be read: only the named member is read, and nothing is written.

Every archive has the member `a.tsv`, as declared.
"""

import bz2
import io
import re
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.pipeline.read import raw_rows
from builders.problems import Problem
from tests.conftest import classification

GOOD = b"text\tlabel\nfine\t1\npoor\t0\n"
BAD = b"text\tlabel\nfine\t0\npoor\t1\n"
PACKERS = {".tar": "w:", ".tar.gz": "w:gz", ".tar.bz2": "w:bz2", ".tar.xz": "w:xz"}
KINDS = [".zip", *PACKERS]
MEMBER = {"name": "a.tsv", "format": "tsv"}

Members = list[tuple[str, bytes | tarfile.TarInfo]]


def packed(kind: str, members: Members) -> bytes:
    """An archive with these members in order; a `TarInfo` stands for a member that is no file."""
    out = io.BytesIO()
    if kind == ".zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a name that comes twice
            for name, content in members:
                archive.writestr(name, content)
    else:
        with tarfile.open(fileobj=out, mode=PACKERS[kind]) as archive:
            for name, content in members:
                if isinstance(content, tarfile.TarInfo):
                    archive.addfile(content)
                    continue
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.fixture
def read(workshop, tmp_path) -> Callable[[str, bytes], list[tuple[str, str]]]:
    """Read `a.tsv` out of an archive of a kind with these bytes; whatever comes of it, no file is written."""

    def read(kind: str, content: bytes) -> list[tuple[str, str]]:
        name = "a.tsv.bz2" if kind == ".bz2" else f"bundle{kind}"
        files = [{"name": name, "format": "archive"}, MEMBER | {"inside": name}]
        if kind == ".bz2":
            files = [MEMBER | {"name": name}]
        corpus = workshop.corpus("invented", {name: content}, [classification()], files)
        path = workshop.mirror.folder / "invented" / name
        before = sorted(path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts)
        try:
            rows = raw_rows(corpus, {file.name: [(file.name, path)] for file in corpus.files})
        finally:
            assert sorted(path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts) == before
        return list(zip(rows["text"], rows["label"], strict=True))

    return read


ROWS = [("fine", "1"), ("poor", "0")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["../a.tsv", "../../evil", "/tmp/evil", "./a.tsv", "b/../a.tsv", "C:\\evil", "A.TSV"])
def test_a_member_that_leads_elsewhere_is_not_read_nor_written(read, kind, name):
    assert read(kind, packed(kind, [(name, BAD), ("a.tsv", GOOD), (name, BAD)])) == ROWS


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_only_leads_to_the_member_is_not_the_member(read, kind):
    with pytest.raises(Problem, match=r"a\.tsv: is not in bundle"):
        read(kind, packed(kind, [("./a.tsv", GOOD), ("../a.tsv", GOOD)]))


@pytest.mark.parametrize("kind", KINDS)
def test_of_two_members_of_one_name_none_is_taken_for_the_right_one(read, kind):
    with pytest.raises(Problem, match=r"is in bundle\S+ 2 times"):
        read(kind, packed(kind, [("a.tsv", BAD), ("a.tsv", GOOD)]))


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("form", [tarfile.SYMTYPE, tarfile.LNKTYPE], ids=["symbolic", "hard"])
@pytest.mark.parametrize("target", ["/etc/passwd", "../secret.tsv", "b.tsv", "a.tsv", "nowhere"])
def test_a_link_is_no_file(read, workshop, kind, form, target):
    (workshop.mirror.folder / "secret.tsv").write_bytes(GOOD)
    with pytest.raises(Problem, match=r"a\.tsv: is no plain file in bundle"):
        read(kind, packed(kind, [("b.tsv", GOOD), ("", link("a.tsv", target, form))]))


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("form", [tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE])
def test_a_folder_or_a_device_is_no_file(read, kind, form):
    with pytest.raises(Problem, match=r"a\.tsv: is no plain file in bundle"):
        read(kind, packed(kind, [("", link("a.tsv", "", form))]))


def test_a_link_in_a_zip_is_never_followed(read, workshop):
    (workshop.mirror.folder / "secret.tsv").write_bytes(GOOD)
    info = zipfile.ZipInfo("a.tsv")
    info.external_attr = 0o120777 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(info, "../secret.tsv")
    with pytest.raises(Problem, match=r"a\.tsv: is no plain file in bundle\.zip"):
        read(".zip", out.getvalue())


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_python_unpacks_without_a_limit_is_refused(read, how):
    """Whatever size it gives: a bomb of these kinds is in memory before its first byte can be read."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as archive:
        archive.writestr("a.tsv", GOOD)
    with pytest.raises(Problem, match=r"a\.tsv: is neither stored nor deflated in bundle\.zip"):
        read(".zip", out.getvalue())


def test_a_name_in_a_zip_that_is_no_unicode_is_told(read):
    content = packed(".zip", [("\u00e9.tsv", GOOD), ("a.tsv", GOOD)])
    name = "\u00e9.tsv".encode()
    assert content.count(name) == 2
    with pytest.raises(Problem, match="cannot be unpacked: 'utf-8' codec"):
        read(".zip", content.replace(name, b"\xff" + name[1:]))


LARGE = b"text\tlabel\n" + b"a\t1\n" * 2_000_000


@pytest.mark.parametrize("kind", [".zip", ".tar.gz", ".tar.bz2", ".tar.xz"])
@pytest.mark.parametrize("name", ["a.tsv", "another"])
def test_a_bomb_is_not_unpacked(read, kind, name):
    """Of a packed tar every member is unpacked on the way to the next."""
    content = packed(kind, [(name, LARGE), ("a.tsv", GOOD)][: 1 if name == "a.tsv" else 2])
    with pytest.raises(Problem, match=rf"{name}: would unpack to 8,000,011 bytes\. The archive is a bomb"):
        read(kind, content)


def test_a_single_packed_file_may_be_a_bomb_too(read):
    content = bz2.compress(LARGE)
    most = 200 * len(content)
    with pytest.raises(
        Problem, match=rf"a\.tsv\.bz2: would unpack to more than {most:,} bytes\. The archive is a bomb"
    ):
        read(".bz2", content)


def test_a_bomb_that_gives_a_small_size_is_not_unpacked_either(read):
    content = packed(".zip", [("a.tsv", LARGE)])
    size = len(LARGE).to_bytes(4, "little")
    assert content.count(size) == 2
    with pytest.raises(Problem, match="cannot be unpacked"):
        read(".zip", content.replace(size, len(GOOD).to_bytes(4, "little")))


@pytest.mark.parametrize("kind", [*KINDS, ".bz2"])
def test_damage_anywhere_is_told_or_does_not_matter(read, kind):
    """One bit of every byte turned, and the archive cut at every byte (of a tar with its large padding: some)."""
    whole = bz2.compress(GOOD) if kind == ".bz2" else packed(kind, [("a.tsv", GOOD)])
    step = max(1, len(whole) // 100)
    for place in range(0, len(whole), step):
        turned = whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :]
        for damaged in (turned, whole[:place]):
            try:
                rows = read(kind, damaged)
            except Problem:
                continue
            # A tar has no sum of its own and is read up to its end mark, not to the sum at the end of a .gz; the sum
            # in corpus.yaml is of all bytes.
            assert kind in (".tar", ".tar.gz") or rows == ROWS


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive at all", bytes(2048)])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_archive_is_told(read, kind, content):
    with pytest.raises(Problem):
        read(kind, content)


def test_nothing_else_opens_archives():
    """The one place that does is `builders.pipeline.read`."""
    opening = re.compile(r"import (zipfile|tarfile|bz2|gzip|lzma)\b|\bunpack_archive\b")
    root = Path(__file__).parents[2]
    folders = [root / name for name in ("builders", "validation", "cards", "baselines")]
    sources = [path for folder in folders for path in folder.rglob("*.py")]
    found = [path for path in sources if opening.search(path.read_text(encoding="utf-8"))]
    assert found == [root / "builders/pipeline/read.py"]
