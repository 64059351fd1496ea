"""Raw files to raw rows: what ends a record, what is quoted, which words are words, and what belongs together."""

import ast
import os
import subprocess
import sys
import textwrap
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest

import builders
from builders.pipeline.release import LEDGER
from tests.conftest import Workshop, classification

# Characters that other programs take for the end of a line, or of a file.
NO_LINE_ENDS = "\x0b\x0c\x1a\x1c\x1d\x1e\x85\u2028\u2029"

TEXT_FILE = {"name": "a.txt", "format": "lines", "columns": "text"}
LABEL_FILE = {"name": "b.txt", "format": "lines", "columns": "label", "beside": "a.txt"}
TSV = {"name": "a.tsv", "format": "tsv"}
CSV = {"name": "a.csv", "format": "csv"}
JSON_LINES = {"name": "a.jsonl", "format": "json_lines"}

SPANS = {
    "name": "insults",
    "dataset": "insults",
    "category": "offensive",
    "format": "span",
    "column": "spans",
    "labels": [{"name": "insult", "meaning": "Somebody is insulted."}],
    "offsets": "code_points",
    "without_spans": "unlabeled",
}


def failure(workshop: Workshop, name: str = "invented") -> str:
    """What the build says about a corpus that it had to leave out."""
    _, outcomes = workshop.build()
    assert outcomes[name].status == "failed"
    message = str(outcomes[name].problem)
    assert "fault of this program" not in message
    return message


def items(workshop: Workshop, task: str = "mood") -> dict:
    """Text to label, over all three splits of a release in which every corpus was built."""
    release, outcomes = workshop.build()
    failed = [str(outcome.problem) for outcome in outcomes.values() if outcome.problem]
    assert not failed, failed
    found = {}
    for split in ("train", "validation", "test"):
        table = pd.read_parquet(release / f"data/{task.replace('#', '--')}/{split}.parquet")
        found |= dict(zip(table["text"], table["label"], strict=True))
    return found


def dropped(workshop: Workshop, task: str = "mood") -> dict:
    """Source row to reason, for every raw row that is not an item of the release in the workshop."""
    ledger = pd.read_parquet(workshop.folder / "release" / LEDGER)
    ledger = ledger[ledger["task"] == task]
    return dict(zip(ledger["source_row"], ledger["reason"], strict=True))


def side_by_side(workshop: Workshop, texts: str | bytes, labels: str | bytes, **more) -> None:
    """A corpus of a text file and a parallel label file."""
    raw = {"a.txt": texts, "b.txt": labels}
    workshop.corpus("invented", raw, [classification()], [TEXT_FILE | more, LABEL_FILE | more])


def one_file(workshop: Workshop, content: str | bytes, file: dict, **more) -> None:
    workshop.corpus("invented", {file["name"]: content}, [classification()], [file], **more)


# R1: what ends a record ----------------------------------------------------------------------------------


def test_R1_only_a_line_feed_ends_a_record(workshop):
    side_by_side(workshop, "a\u2028b\nc\x85d\ne\x0bf\ng\rh\n", "0\n1\n0\n1\n")
    assert items(workshop) == {"a\u2028b": 0, "c\x85d": 1, "e\x0bf": 0, "g h": 1}


@pytest.mark.parametrize(
    ("file", "header", "record"),
    [
        (TSV, "text\tlabel\n", "a{}b\t1\n"),
        (CSV, "text,label\n", "a{}b,1\n"),
        (CSV, "text,label\n", '"a{}b","1"\n'),
        (JSON_LINES | {"columns": ["text", "label"]}, "", '{{"text": "a{}b", "label": "1"}}\n'),
    ],
    ids=["tsv", "csv", "quoted csv", "json_lines"],
)
def test_R1_no_other_character_ends_a_record_of_a_table(workshop, file, header, record):
    """JSON itself forbids the ASCII ones inside a string."""
    chars = [char for char in NO_LINE_ENDS if file["format"] != "json_lines" or char >= "\x7f"]
    one_file(workshop, header + "".join(record.format(f"{char}{ord(char)}") for char in chars), file)
    assert items(workshop) == {f"a{char}{ord(char)}b": 1 for char in chars}


def test_R1_where_crlf_is_declared_a_lone_line_feed_is_text(workshop):
    side_by_side(workshop, "a\nb\r\nc\rd\r\n", "1\r\n0\r\n", line_end="crlf")
    assert items(workshop) == {"a b": 1, "c d": 0}


def test_R1_the_last_record_needs_no_line_end(workshop):
    side_by_side(workshop, "a\nb", "0\n1")
    assert items(workshop) == {"a": 0, "b": 1}


def test_R1_an_unquoted_return_in_a_csv_file_is_refused_not_taken_for_a_line_end(workshop):
    one_file(workshop, "text,label\na,1\nb\rc,0\n", CSV)
    message = failure(workshop)
    assert "a.csv" in message
    assert "record 2" in message


def test_R1_characters_beyond_the_declared_encoding_are_refused_naming_the_line(workshop):
    one_file(workshop, b"text\tlabel\nfine\t1\ncaf\xe9\t0\n", TSV)
    message = failure(workshop)
    assert "a.tsv" in message
    assert "line 3" in message
    assert "utf-8" in message


def test_R1_declared_encodings_are_read_as_declared(workshop):
    one_file(workshop, "text\tlabel\ncafé ‘x’\t1\n".encode("cp1252"), TSV | {"encoding": "cp1252"})
    assert items(workshop) == {"café ‘x’": 1}


# R2: quoting -----------------------------------------------------------------------------------------------

# The lines of the fault; the second quotation mark closes nothing.
QUOTES = ['"hello there\t0', "fine\t1", 'say "hi"\t0', 'end"\t1']


def test_R2_quotation_marks_in_a_tsv_file_are_text(workshop):
    one_file(workshop, "\n".join(QUOTES), TSV | {"columns": ["text", "label"]})
    assert items(workshop) == {'"hello there': 0, "fine": 1, 'say "hi"': 0, 'end"': 1}


def test_R2_a_csv_file_is_quoted_as_csv_is(workshop):
    one_file(workshop, 'text,label\n"say ""hi"", please",0\nno 6" pipe,1\n"",1\n', CSV)
    assert items(workshop) == {'say "hi", please': 0, 'no 6" pipe': 1}
    assert dropped(workshop) == {"a.csv:3": "empty_text"}


@pytest.mark.parametrize(
    "record",
    ['"hello there,0\nfine,1\n', '"hello" there,0\nfine,1\n'],
    ids=["never closed", "text after the closing mark"],
)
def test_R2_quoting_that_is_not_as_declared_stops_the_build(workshop, record):
    one_file(workshop, f"text,label\nok,1\n{record}", CSV)
    message = failure(workshop)
    assert "a.csv" in message
    assert "record 2" in message
    assert "quoting" in message


@pytest.mark.parametrize(
    ("file", "content", "seen"),
    [
        (TSV, "text\tlabel\na\t0\nb\tc\t1\n", 3),
        (CSV, "text,label\na,0\nb,c,1\n", 3),
        (TSV, "text\tlabel\na\t0\nb\n", 1),
    ],
    ids=["a tab too many", "a comma too many", "a field too few"],
)
def test_R2_a_record_with_other_fields_than_the_header_stops_the_build(workshop, file, content, seen):
    one_file(workshop, content, file)
    message = failure(workshop)
    assert f"{seen} fields, 2 expected (text, label)" in message
    assert "record 2" in message


# R3: records, not lines -------------------------------------------------------------------------------------


def test_R3_a_line_break_inside_quotes_does_not_end_the_record(workshop):
    labels = [{"name": "first", "raw": "1", "meaning": "1"}, {"name": "second", "raw": "2", "meaning": "2"}]
    workshop.corpus(
        "invented", {"a.csv": 'id,text\n1,"a\nb"\n2,c\n'}, [classification(column="id", labels=labels)], [CSV]
    )
    assert items(workshop) == {"a b": 0, "c": 1}


def test_R3_parallel_files_and_messages_count_records(workshop):
    """Two records on five lines, beside a file of two lines; the unknown label is that of record 2."""
    workshop.corpus(
        "invented",
        {"a.csv": 'text\n"a\n\n\nb"\nc\n', "b.txt": "1\n7\n"},
        [classification()],
        [CSV, LABEL_FILE | {"beside": "a.csv"}],
    )
    assert "a.csv:2: '7'" in failure(workshop)


# R4: words that look like missing values ----------------------------------------------------------------------

WORDS = ["null", "NA", "None", "nan", "n/a"]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (TSV, "text\tlabel\n" + "".join(f"{word}\t1\n" for word in [*WORDS, ""])),
        (CSV, "text,label\n" + "".join(f"{word},1\n" for word in [*WORDS, ""])),
        (CSV, "text,label\n" + "".join(f'"{word}","1"\n' for word in [*WORDS, ""])),
        (JSON_LINES, "".join(f'{{"text": "{word}", "label": "1"}}\n' for word in [*WORDS, ""])),
    ],
    ids=["tsv", "csv", "quoted csv", "json_lines"],
)
def test_R4_words_are_words_and_only_an_empty_text_is_empty(workshop, file, content):
    one_file(workshop, content, file)
    assert items(workshop) == dict.fromkeys(WORDS, 1)
    assert dropped(workshop) == {f"{file['name']}:6": "empty_text"}


def test_R4_words_are_words_in_a_line_file(workshop):
    side_by_side(workshop, "\n".join([*WORDS, ""]) + "\n", "1\n" * 6)
    assert items(workshop) == dict.fromkeys(WORDS, 1)
    assert dropped(workshop) == {"a.txt:6": "empty_text"}


def test_R4_numbers_and_dates_are_not_rewritten(workshop):
    texts = ["007", "1.0", "1e5", "+1", "True", "2020-01-01", "inf", "0x10"]
    one_file(workshop, "text\tlabel\n" + "".join(f"{text}\t1\n" for text in texts), TSV)
    assert items(workshop) == dict.fromkeys(texts, 1)


def test_R4_such_words_can_be_labels_where_they_are_declared(workshop):
    labels = [{"name": "none", "raw": ["None", "NA"], "meaning": "0"}, {"name": "null", "raw": "null", "meaning": "1"}]
    workshop.corpus(
        "invented", {"a.tsv": "text\tlabel\na\tNone\nb\tNA\nc\tnull\n"}, [classification(labels=labels)], [TSV]
    )
    assert items(workshop) == {"a": 0, "b": 0, "c": 1}


# R5: an empty record keeps its place ---------------------------------------------------------------------------


def test_R5_a_blank_text_goes_with_its_label_and_nothing_shifts(workshop):
    side_by_side(workshop, "x\n\ny\n", "0\n1\n0\n")
    assert items(workshop) == {"x": 0, "y": 0}
    assert dropped(workshop) == {"a.txt:2": "empty_text"}


def test_R5_a_text_without_a_visible_character_is_blank_wherever_it_stands(workshop):
    blanks = [
        "",
        " ",
        "\t",
        "\r",
        "\x0c",
        "\x85",
        "\u3000",
        "\u2028",
        "\u200b",
        "\ufeff",
        "\ufe0f",
        "&nbsp;",
        "&#8203; ",
    ]
    texts = "".join(f"{blank}\ntext {number}\n" for number, blank in enumerate(blanks))
    side_by_side(workshop, texts + "\n", "0\n1\n" * len(blanks) + "0\n")
    assert items(workshop) == {f"text {number}": 1 for number in range(len(blanks))}
    assert dropped(workshop) == {f"a.txt:{2 * number + 1}": "empty_text" for number in range(len(blanks) + 1)}


# R6: parallel files of different length -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "labels", "counts"),
    [
        ("a\nb\nc\n", "0\n1\n", ("3 records", "2 in the parallel file b.txt")),
        ("a\nb\n", "0\n1\n0\n", ("2 records", "3 in the parallel file b.txt")),
        ("a\nb\n", "0\n1\n\n", ("2 records", "3 in the parallel file b.txt")),
        ("a\n", "", ("1 records", "0 in the parallel file b.txt")),
        ("a\n" * 1200, "0\n" * 1199, ("1,200 records", "1,199 in the parallel file b.txt")),
    ],
    ids=["one label short", "one label over", "a blank line at the end", "no label at all", "long files"],
)
def test_R6_parallel_files_of_other_lengths_stop_the_corpus_naming_both_counts(workshop, texts, labels, counts):
    side_by_side(workshop, texts, labels)
    message = failure(workshop)
    assert message.startswith("invented: a.txt:")
    assert all(count in message for count in counts)


def test_R6_the_other_corpora_are_built(workshop):
    side_by_side(workshop, "a\nb\nc\n", "0\n1\n")
    workshop.corpus("whole", {"a.tsv": "text\tlabel\nx\t1\n"}, [classification("calm")], [TSV])
    release, outcomes = workshop.build()
    assert outcomes["invented"].status == "failed"
    assert outcomes["whole"].status == "built"
    assert [path.name for path in (release / "data").iterdir()] == ["calm"]


def test_R6_columns_of_one_name_in_parallel_files_are_refused(workshop):
    """Both files call their column `text`: which one is the text has to be said, not guessed."""
    workshop.corpus(
        "invented",
        {"a.txt": "x\ny\n", "b.txt": "0\n1\n"},
        [classification(column="text")],
        [TEXT_FILE, LABEL_FILE | {"columns": "text"}],
    )
    assert "text" in failure(workshop)


def test_R6_a_file_can_have_several_parallel_files(workshop):
    workshop.corpus(
        "invented",
        {"a.txt": "x\ny\n", "b.txt": "0\n1\n", "c.txt": "1\n0\n"},
        [classification(), classification("calm", column="calm")],
        [TEXT_FILE, LABEL_FILE, LABEL_FILE | {"name": "c.txt", "columns": "calm"}],
    )
    assert items(workshop) == {"x": 0, "y": 1}
    assert items(workshop, "calm") == {"x": 1, "y": 0}


# R7: byte order marks -------------------------------------------------------------------------------------------

MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (TSV, b"text\tlabel\na\t1\n"),
        (CSV, b"text,label\na,1\n"),
        (CSV, b'"text","label"\n"a","1"\n'),
        (JSON_LINES, b'{"text": "a", "label": "1"}\n'),
        (TSV | {"columns": ["text", "label"]}, b"a\t1\n"),
    ],
    ids=["tsv", "csv", "quoted csv", "json_lines", "no header"],
)
def test_R7_a_byte_order_mark_is_no_part_of_the_first_name_or_text(workshop, file, content):
    one_file(workshop, MARK + content, file)
    assert items(workshop) == {"a": 1}


def test_R7_a_byte_order_mark_is_no_part_of_a_text_or_label_line(workshop):
    side_by_side(workshop, MARK + b"a\nb\n", MARK + b"1\n0\n")
    assert items(workshop) == {"a": 1, "b": 0}


def test_R7_utf16_files_begin_with_a_mark_of_their_own(workshop):
    side_by_side(workshop, "a\u0a0d\nb\n".encode("utf-16"), "1\n0\n".encode("utf-16"), encoding="utf-16")
    assert items(workshop) == {"a\u0a0d": 1, "b": 0}


def test_R7_the_same_character_inside_a_text_stays(workshop):
    side_by_side(workshop, "a\ufeffb\nc\n", "1\n0\n")
    assert items(workshop) == {"a\ufeffb": 1, "c": 0}


@pytest.mark.parametrize(("begin", "first"), [(b"", 4), (MARK, 5)], ids=["no mark", "offsets count the mark"])
def test_R7_span_offsets_that_count_the_mark_stay_right(workshop, begin, first):
    """In `you fool`, `fool` is at 4-8; where a mark comes first, the corpus says 5-9."""
    build = f"""
        def build(raw):
            return raw["articles/*.txt"].assign(spans=[[({first}, {first + 4})]])
    """
    file = {"name": "articles/*.txt", "format": "documents", "manifest": "articles.sha256"}
    workshop.corpus("invented", {"articles/1.txt": begin + b"you fool"}, [SPANS], [file], build)
    pin = workshop._pin("invented", "articles/1.txt")
    manifest = f"{pin['sha256']} {pin['bytes']} articles/1.txt\n"
    (workshop.corpora["invented"].folder / "articles.sha256").write_text(manifest)
    assert {text: label["insult"].tolist() for text, label in items(workshop, "insults").items()} == {
        "you fool": ["fool"]
    }
    table = pd.read_parquet(workshop.folder / "release/data/insults/validation.parquet")
    assert [dict(span) for span in table["spans"][0]] == [{"start": 4, "end": 8}]


# R8: the text stays as it is -----------------------------------------------------------------------------------


def test_R8_entities_and_curly_quotes_stay_in_the_text(workshop):
    one_file(workshop, "text\tlabel\ncats &amp;amp; dogs\t0\ndon’t\t1\ndon't\t0\n", TSV)
    assert items(workshop) == {"cats &amp;amp; dogs": 0, "don’t": 1, "don't": 0}


def test_R8_the_duplicate_check_sees_entities_resolved_twice_at_most(workshop):
    texts = ["cats &amp;amp; dogs", "cats & dogs", "cats &amp; dogs", "cats &#38; dogs", "cats &amp;amp;amp; dogs"]
    one_file(workshop, "text\tlabel\n" + "".join(f"{text}\t1\n" for text in texts), TSV)
    assert items(workshop) == {"cats &amp;amp; dogs": 1, "cats &amp;amp;amp; dogs": 1}
    assert dropped(workshop) == {f"a.tsv:{record}": "duplicate" for record in (2, 3, 4)}


def test_R8_declared_steps_repair_the_text(workshop):
    steps = [
        {"step": "entities", "why": "The corpus was escaped once too often."},
        {"step": "replace", "pattern": "’", "replacement": "'", "why": "One apostrophe."},
    ]
    one_file(workshop, "text\tlabel\ncats &amp;amp; dogs\t0\ndon’t\t1\ndon't\t1\n", TSV, text_steps=steps)
    assert items(workshop) == {"cats &amp; dogs": 0, "don't": 1}
    assert dropped(workshop) == {"a.tsv:3": "duplicate"}


@pytest.mark.parametrize(
    "text",
    ["&", "&amp", "&;", "&#;", "&#x;", "&#0;", "&#xD800;", "&#x110000;", "AT&T", "&" * 70, "&#" + "9" * 5000 + ";"],
    ids=lambda text: text[:10],
)
@pytest.mark.parametrize("steps", [[], [{"step": "entities", "why": "x"}]], ids=["as it is", "entities repaired"])
def test_R8_a_text_with_half_an_entity_is_an_item(workshop, text, steps):
    one_file(workshop, f"text\tlabel\nsee {text} there\t1\nb\t0\n", TSV, text_steps=steps)
    assert sorted(items(workshop).values()) == [0, 1]


# R11, R12: size, and input that would like to be code -------------------------------------------------------------


def test_R11_two_million_lines_are_read_under_a_memory_limit_of_2_GB(workshop):
    """RLIMIT_DATA counts what a process allocates, its threads' stacks included, but not mapped libraries."""
    line = "a line of text"
    workshop.corpus("invented", {"a.txt": f"{line}\n" * 2_000_000}, [classification(column="text")], [TEXT_FILE])
    script = f"""
        import resource
        resource.setrlimit(resource.RLIMIT_DATA, (2_000_000_000, 2_000_000_000))
        from pathlib import Path
        from builders.declaration import load_corpus
        from builders.pipeline.fetch import Mirror, locate
        from builders.pipeline.read import raw_rows
        corpus = load_corpus(Path({str(workshop.corpora["invented"].folder)!r}))
        located, problems = locate(corpus, Mirror(Path({str(workshop.mirror.folder)!r})))
        rows = raw_rows(corpus, located.files)
        print(len(rows), rows["source_row"].iloc[-1], rows["text"].iloc[-1], sep="|")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert done.stdout == f"2000000|a.txt:2000000|{line}\n", done.stderr


def test_R11_a_field_may_be_very_long(workshop):
    """The csv module refuses fields over 128 KiB by default."""
    one_file(workshop, "text,label\n" + "word " * 200_000 + ",1\nb,0\n", CSV)
    assert {len(text): label for text, label in items(workshop).items()} == {999_999: 1, 1: 0}


CODE = [
    "__import__('os').system('touch x')",
    "$(touch x)",
    "`touch x`; touch x",
    "{0.__class__} %s {x!r}",
    "!!python/object/apply:os.system ['touch x']",
    "=cmd|' /C touch x'!A0",
]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """An empty folder to work in, so that a file made by accident is seen."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_R12_code_in_a_text_or_a_declared_label_is_text(workshop, here):
    labels = [{"name": code, "raw": code, "meaning": "It looks like code."} for code in CODE]
    raw = {"a.tsv": "text\tlabel\n" + "".join(f"{code}\t{code}\n" for code in CODE)}
    workshop.corpus("invented", raw, [classification(labels=labels)], [TSV])
    assert items(workshop) == {code: number for number, code in enumerate(CODE)}
    assert not list(here.iterdir())


@pytest.mark.parametrize("code", CODE)
def test_R12_code_in_an_undeclared_label_stops_the_build_and_does_nothing(workshop, here, code):
    one_file(workshop, f"text\tlabel\na\t0\nb\t{code}\n", TSV)
    message = failure(workshop)
    assert "a.tsv:2" in message
    assert repr(code) in message
    assert not list(here.iterdir())


@pytest.mark.parametrize("code", [CODE[0], "[(0, 1)]", "3"])
def test_R12_text_in_a_span_column_is_refused_naming_the_record(workshop, here, code):
    """Spans come from build.py as numbers; nobody evaluates a text to get them."""
    workshop.corpus("invented", {"a.tsv": f"text\tspans\nyou fool\t{code}\n"}, [SPANS], [TSV])
    assert "a.tsv:1" in failure(workshop)
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    "spans", ["null", "3", "[3]", "[[1]]", "[[1, 2, 3]]", '["ab"]', '[["1", "2"]]', "[[0.5, 1.5]]"]
)
def test_R12_a_span_that_is_not_two_whole_numbers_is_refused_naming_the_record(workshop, spans):
    raw = '{"text": "you fool", "spans": [[4, 8]]}\n' + f'{{"text": "a fool", "spans": {spans}}}\n'
    workshop.corpus("invented", {"a.jsonl": raw}, [SPANS], [JSON_LINES])
    assert "a.jsonl:2" in failure(workshop)


def test_R12_no_source_file_evaluates_or_unpickles_anything():
    """`exec_module` loads a corpus's own build.py, which is part of the project."""
    modules = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
    names = {"eval", "exec", "compile", "__import__"}
    attributes = {"eval", "read_pickle", "to_pickle", "system", "popen", "unsafe_load", "full_load"}
    found, folder = [], Path(builders.__file__).parent
    paths = sorted(folder.rglob("*.py"))
    assert len(paths) > 20
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            imported += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            called = node.func if isinstance(node, ast.Call) else None
            wrong = [name for name in imported if name.split(".")[0] in modules]
            wrong += [called.id] if isinstance(called, ast.Name) and called.id in names else []
            wrong += [called.attr] if isinstance(called, ast.Attribute) and called.attr in attributes else []
            found += [f"{path.relative_to(folder)}:{node.lineno}: {name}" for name in wrong]
    assert not found


# What else a raw file can be ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "content"),
    [(TSV, "text\tlabel\n"), (TSV, ""), (CSV, ""), (CSV, "\n"), (JSON_LINES, ""), (TSV, "text\tlabel\n\t\n")],
    ids=["only a header", "no byte", "no byte of csv", "a blank line", "no object", "only a blank record"],
)
def test_a_file_without_an_item_is_told_not_released(workshop, file, content):
    one_file(workshop, content, file)
    assert failure(workshop).startswith("invented: ")
    assert not (workshop.folder / "release").exists()


def test_a_header_that_names_a_column_twice_is_refused(workshop):
    one_file(workshop, "text\ttext\tlabel\na\tb\t1\n", TSV)
    assert "names a column twice" in failure(workshop)


def test_a_header_without_the_needed_column_is_told_with_the_columns_there_are(workshop):
    one_file(workshop, "text\tLabel\na\t1\n", TSV)
    message = failure(workshop)
    assert "no column label" in message
    assert "Label" in message


def test_returns_in_the_header_are_shown_so_that_a_person_sees_them(workshop):
    """The file ends its lines in CRLF and corpus.yaml does not say so; the column is named `label\\r`."""
    one_file(workshop, "text\tlabel\r\na\t1\r\n", TSV)
    message = failure(workshop)
    assert "\r" not in message
    assert "\\r" in message or "crlf" in message


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"text": "b"', "not JSON"),
        ("", "not JSON"),
        ('["b", "1"]', "object"),
        ('{"text": "b"}', "label"),
        ("[" * 100_000, "not JSON"),
        ('{"text": "b", "text": "c", "label": "1"}', "text"),
        ('{"text": "b \\ud83d", "label": "1"}', "text"),
        ('{"text": "b", "label": "\\ud83d"}', "half a character"),
    ],
    ids=["cut", "blank", "a list", "a key lacks", "deep", "a key twice", "half a character", "half a label"],
)
def test_a_json_line_that_is_no_record_is_refused_by_its_number(workshop, line, what):
    one_file(workshop, f'{{"text": "a", "label": "0"}}\n{line}\n', JSON_LINES)
    message = failure(workshop)
    assert message.startswith("invented: ")
    assert "a.jsonl" in message
    assert "2" in message
    assert what in message


def test_a_text_that_is_a_number_in_json_is_refused(workshop):
    one_file(workshop, '{"text": 1, "label": "0"}\n', JSON_LINES)
    assert "not text" in failure(workshop)


@pytest.mark.parametrize(
    ("build", "what"),
    [
        ("", "build"),
        ("def build(raw:\n", "SyntaxError"),
        ("def build(raw): pass\n", "not a table"),
        ("def build(raw): return raw['other.tsv']\n", "other.tsv"),
        ("import sys\ndef build(raw): sys.exit(3)\n", "build.py"),
        ("import pandas as pd\ndef build(raw): return pd.concat([raw['a.tsv']] * 2)\n", "stands for several rows"),
        ("import pandas as pd\ndef build(raw): return pd.concat([raw['a.tsv']] * 2, axis=1)\n", "text"),
        ("def build(raw): return raw['a.tsv'].drop(columns='source_row')\n", "source_row"),
        ("def build(raw): return raw['a.tsv'].assign(text=None)\n", "not text"),
        ("def build(raw): return raw['a.tsv'].assign(text=chr(0xD83D))\n", "surrogates"),
    ],
    ids=[
        "no function", "no Python", "nothing", "another file", "exit", "rows twice", "columns twice", "no source_row",
        "no text", "half a character",
    ],
)  # fmt: skip
def test_a_build_py_that_returns_something_else_is_told_in_a_sentence(workshop, build, what):
    one_file(workshop, "text\tlabel\na\t1\n", TSV, build=build)
    message = failure(workshop)
    assert message.startswith("invented: ")
    assert what in message


def test_a_text_that_cannot_be_written_stops_its_corpus_and_no_other(workshop):
    one_file(workshop, '{"text": "half a \\ud83d", "label": "1"}\n', JSON_LINES)
    workshop.corpus("whole", {"a.tsv": "text\tlabel\nx\t1\n"}, [classification("calm")], [TSV])
    _, outcomes = workshop.build()
    assert {name: outcome.status for name, outcome in outcomes.items()} == {"invented": "failed", "whole": "built"}


@pytest.mark.parametrize(
    "manifest",
    ["{sum} 7 ../secret.txt\n", "{sum} 7 {folder}/secret.txt\n", None, b"\xff\n", "{sum} many a.txt\n"],
    ids=["outside", "absolute", "missing", "not UTF-8", "no size"],
)
def test_a_manifest_names_files_of_the_corpus_only(workshop, manifest):
    file = {"name": "a/*.txt", "format": "documents", "manifest": "a.sha256"}
    build = "def build(raw): return raw['a/*.txt'].assign(label='1')\n"
    workshop.corpus("invented", {"a/1.txt": "hello"}, [classification()], [file], build)
    workshop.corpus("whole", {"a.tsv": "text\tlabel\nx\t1\n"}, [classification("calm")], [TSV])
    (workshop.mirror.folder / "secret.txt").write_text("outside")
    path = workshop.corpora["invented"].folder / "a.sha256"
    if isinstance(manifest, str):
        known = sha256(b"outside").hexdigest()
        path.write_text(manifest.format(sum=known, folder=workshop.mirror.folder))
    elif manifest:
        path.write_bytes(manifest)
    message = failure(workshop)
    assert message.startswith("invented: ")
    assert "a.sha256" in message
    assert os.listdir(workshop.folder / "release/data") == ["calm"]
