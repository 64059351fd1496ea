"""What a corpus.yaml may say: everything that is wrong is told at once, by file and key."""

import re

import pytest
import yaml

from builders.declaration import load_corpora, load_corpus
from builders.problems import Problem
from tests.conftest import Workshop, classification, declaration, regression

FILE = {"name": "a.tsv", "format": "tsv"}
PINNED = {"sha256": "0" * 64, "bytes": 1}


def written(**more) -> str:
    """A right corpus.yaml, but for what is given here."""
    keys = {"tasks": [classification()], "files": [FILE]} | more
    return yaml.safe_dump(declaration(**keys), sort_keys=False, allow_unicode=True)


@pytest.fixture
def told(tmp_path):
    """A function: write corpus.yaml files (name to text) and return the lines the loader tells, none if all is well."""

    def load(text: str | bytes | None = None, **more) -> list[str]:
        return load_all({"invented": written(**more) if text is None else text})

    def load_all(texts: dict[str, str | bytes]) -> list[str]:
        for name, text in texts.items():
            (tmp_path / name).mkdir(exist_ok=True)
            content = text if isinstance(text, bytes) else text.encode()
            (tmp_path / name / "corpus.yaml").write_bytes(content)
        try:
            load_corpora(tmp_path)
        except Problem as problem:
            return str(problem).split("\n")
        return []

    load.all = load_all
    return load


def assert_told(lines: list[str], key: str, *words: str) -> None:
    """Exactly one thing is wrong, and the line says where and what."""
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"invented/corpus.yaml: {key}"), lines
    assert all(word in lines[0] for word in words), lines


def test_a_right_declaration_is_loaded(told, tmp_path):
    assert told() == []
    corpus = load_corpus(tmp_path / "invented")
    assert corpus.name == "invented"
    assert corpus.tasks[0].label_names == ("bad", "good")
    assert corpus.tasks[0].policy == "majority"
    assert corpus.tasks[0].unlabeled_tokens == ("", "-1", "nan", "NOANNOTATION")


# All at once --------------------------------------------------------------------------------------------------


def test_everything_wrong_in_all_files_is_told_at_once_by_file_and_key(told):
    first = written(year="soon", license=None, tasks=[classification(colour="red", labels=[])])
    second = written(files=[FILE | {"format": "xls"}, {"name": "b.txt", "format": "lines"}])
    lines = told.all({"first": first, "second": second, "third": "title: [\n", "fourth": written()})
    assert sorted(line.split(": ")[:2] for line in lines) == [
        ["first/corpus.yaml", "license"],
        ["first/corpus.yaml", "tasks[0].colour"],
        ["first/corpus.yaml", "tasks[0].labels"],
        ["first/corpus.yaml", "year"],
        ["second/corpus.yaml", "files[0].format"],
        ["second/corpus.yaml", "files[1].columns"],
        ["third/corpus.yaml", "line 2"],
    ]


def test_rules_between_keys_are_told_together_with_wrong_values(told):
    """A value of the wrong type does not hide that two other keys do not fit together."""
    lines = told(year="soon", access="form", tasks=[classification("q?", scale=[0.0, 1.0])])
    assert len(lines) == 4, lines
    for key in ("year", "by_hand", "tasks[0].name", "scale"):
        assert any(key in line for line in lines), key


@pytest.mark.parametrize(
    "key", [key for key in declaration([], []) if key not in ("tasks", "files")] + ["tasks", "files"]
)
def test_no_key_of_a_corpus_may_lack_or_be_null(told, key):
    content = yaml.safe_load(written())
    assert_told(told(yaml.safe_dump(content | {key: None})), key)
    del content[key]
    assert_told(told(yaml.safe_dump(content)), key, "missing")


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"licence": "CC0-1.0"}, "licence"),
        ({"folder": "/etc"}, "folder"),
        ({"name": "other"}, "name"),
        ({"redistribution": {"allowed": True, "why": "x", "until": 2030}}, "redistribution.until"),
        ({"files": [FILE | {"md5": "x"}]}, "files[0].md5"),
        ({"tasks": [classification(threshold=1)]}, "tasks[0].threshold"),
        ({"tasks": [classification(), classification("b", labels=[{"name": "a", "id": 0}])]}, "tasks[1].labels[0]"),
    ],
    ids=str,
)
def test_a_key_that_means_nothing_is_refused(told, more, key):
    lines = told(**more)
    assert any(line.startswith(f"invented/corpus.yaml: {key}") for line in lines), lines


# H10: the licence --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["license: null", "license: ~", "license:", "license: ''", "license: '  '", "license: no"]
)
def test_H10_a_licence_is_stated_or_unknown_never_null(told, text):
    assert_told(told(written().replace("license: CC0-1.0", text)), "license")


def test_H10_an_unknown_licence_needs_a_decision_and_a_reason(told):
    assert told(license="unknown", redistribution={"allowed": False, "why": "Nobody allowed it."}) == []
    assert_told(told(license="unknown", redistribution=None), "redistribution")
    assert_told(told(license="unknown", redistribution={"allowed": True}), "redistribution.why")
    assert_told(told(license="unknown", redistribution={"allowed": True, "why": ""}), "redistribution.why")
    assert_told(told(license="unknown", redistribution={"why": "x"}), "redistribution.allowed")
    assert_told(told(license="unknown", redistribution={"allowed": "maybe", "why": "x"}), "redistribution.allowed")


# H2: names ------------------------------------------------------------------------------------------------------

BAD_NAMES = [
    "q?", "p[1]", "a*", "a b", "a/b", "a\\b", "a.b", "..", "a#b#c", "#a", "a#", "", "mood\n", "a%23b", "é", "a:b",
    "a,b",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_H2_a_name_that_would_break_the_configs_is_refused(told, name):
    assert_told(told(tasks=[classification(name, dataset="d")]), "tasks[0].name")


@pytest.mark.parametrize("name", ["mood", "a-b_c", "hahackathon#is_humor", "2020#x-1"])
def test_H2_published_names_are_accepted_and_become_paths(told, tmp_path, name):
    assert told(tasks=[classification(name)]) == []
    assert load_corpus(tmp_path / "invented").tasks[0].slug == name.replace("#", "--")


CLASHES = [("Mood", "mood"), ("a#b", "a--b"), ("A#b", "a--B"), ("mood", "mood")]


@pytest.mark.parametrize(("one", "other"), CLASHES)
def test_H2_slugs_of_two_corpora_differ_by_more_than_case(told, one, other):
    """They would be one folder on some disks."""
    lines = told.all({"one": written(tasks=[classification(one)]), "two": written(tasks=[classification(other)])})
    assert len(lines) == 1, lines
    assert lines[0].startswith("two/corpus.yaml: ")
    assert other in lines[0]
    assert "one" in lines[0]


@pytest.mark.parametrize(("one", "other"), CLASHES)
def test_H2_slugs_of_one_corpus_differ_by_more_than_case(told, one, other):
    assert_told(told(tasks=[classification(one), classification(other)]), "tasks", other)


def test_H2_nothing_is_written_when_a_name_is_refused(tmp_path, monkeypatch):
    from builders import declaration as module
    from builders.commands.build import run

    (tmp_path / "corpora/invented").mkdir(parents=True)
    (tmp_path / "corpora/invented/corpus.yaml").write_text(written(tasks=[classification("q?")]))
    monkeypatch.setattr(module, "CORPORA", tmp_path / "corpora")
    with pytest.raises(Problem, match=r"invented/corpus\.yaml: tasks\[0\]\.name"):
        run([], None, True, tmp_path / "release", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["corpora"]


# YAML -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "key", "line"),
    [
        ("year: 2020", "year: 2020\nyear: 2021", "year", 4),
        ("  allowed: true", "  allowed: true\n  allowed: false", "allowed", 3),
        ("    raw: '0'", "    raw: '0'\n    raw: '1'", "raw", 3),
    ],
)
def test_a_key_that_occurs_twice_is_refused_by_its_line(told, old, new, key, line):
    """Plain YAML lets the last one win in silence."""
    text = written()
    assert text.count(old) == 1
    number = text[: text.index(old)].count("\n") + 2
    assert_told(told(text.replace(old, new)), f"line {number}: ", f"the key {key} occurs twice")


@pytest.mark.parametrize(
    "venue",
    [
        "[", "*nothing", "&x [*x]", "!!python/object/apply:os.system ['touch x']", "!!python/name:os.system",
        "{a: 1, a: 2}", "2020-13-45", "!!int x", "!!float x", "!!bool x", "'", "a: b", "{[a]: b}", "{{a: b}: c}", "@x",
        "[" * 5000,
    ],
    ids=ascii,
)  # fmt: skip
def test_what_is_no_yaml_is_told_with_its_line(told, venue):
    """R12: nor does a tag run anything. What is opened and never closed is seen some lines later."""
    text = written()
    number = text[: text.index("venue: ")].count("\n") + 1
    lines = told(text.replace("venue: Nowhere", f"venue: {venue}"))
    assert len(lines) == 1, lines
    place = re.match(r"invented/corpus\.yaml: (line (\d+)|venue): ", lines[0])
    assert place, lines
    assert int(place[2] or number) >= number


@pytest.mark.parametrize("key", ["1", "~", "true", "2020-01-01", "[a, b]", "{a: b}", "1.5"])
def test_a_key_that_is_no_word_is_told(told, key):
    lines = told(written() + f"{key}: x\n")
    assert len(lines) == 1, lines
    assert lines[0].startswith("invented/corpus.yaml: ")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "a mapping of keys is expected"),
        (b"- a\n- b\n", "a mapping of keys is expected"),
        (b"words\n", "a mapping of keys is expected"),
        (b"title: caf\xe9\n", "not UTF-8"),
        (b"title: a\0b\n", "not YAML"),
        (b"title: a\n---\ntitle: b\n", "not YAML"),
    ],
    ids=["nothing", "a list", "words", "latin-1", "NUL", "two documents"],
)
def test_a_file_that_is_no_mapping_is_told(told, content, what):
    lines = told(content)
    assert lines[0].startswith("invented/corpus.yaml: ")
    assert what in lines[0]


def test_a_folder_without_a_declaration_is_told(told, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "_helpers").mkdir()
    assert told() == ["empty/corpus.yaml: the file is missing."]


# Files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../other/a.tsv", "a/../../b", "a/..", "..", "a\\..\\b", "C:\\a", "", "a\0b"]
)
@pytest.mark.parametrize("key", ["name", "manifest", "beside"])
def test_a_file_name_stays_inside_the_corpus(told, name, key):
    file = FILE | {key: name} if key != "manifest" else {"name": "a/*.txt", "format": "documents", "manifest": name}
    lines = told(files=[file] if key != "beside" else [FILE, FILE | {"name": "b.tsv", "beside": name}])
    assert lines, "accepted"
    assert all(line.startswith("invented/corpus.yaml: files") for line in lines)


@pytest.mark.parametrize("name", ["a.tsv", "train/a b.tsv", "..a.tsv", "a..b/c...tsv", "Emotion Cause.txt", "日本.tsv"])
def test_ordinary_file_names_are_accepted(told, name):
    assert told(files=[FILE | {"name": name}]) == []


@pytest.mark.parametrize(
    "url",
    ["http://example.org/a", "ftp://example.org/a", "file:///etc/passwd", "example.org/a", "//example.org/a", "https://",
     "https:///a", "https://[::1", "", "javascript:alert(1)", "https://exa mple.org/a", "https://example.org/\na"],
)  # fmt: skip
@pytest.mark.parametrize("key", ["url", "base_url"])
def test_downloads_are_https_only(told, url, key):
    if key == "url":
        lines, key = told(files=[FILE | PINNED | {"url": url}]), "files[0].url"
    else:
        lines = told(files=[FILE | PINNED], base_url=url)
    assert lines, "accepted"
    assert all(line.startswith("invented/corpus.yaml: ") for line in lines[:1])
    assert lines[0].startswith(f"invented/corpus.yaml: {key}")


@pytest.mark.parametrize("pins", [{}, {"sha256": "0" * 64}, {"bytes": 1}])
def test_what_can_be_downloaded_is_pinned(told, pins):
    assert_told(told(files=[FILE | pins | {"url": "https://example.org/a"}]), "files", "a.tsv", "sha256 and bytes")
    assert_told(told(files=[FILE | pins], base_url="https://example.org/"), "files", "a.tsv", "sha256 and bytes")
    assert told(files=[FILE | PINNED | {"url": "https://example.org/a"}]) == []


@pytest.mark.parametrize("sha256", ["0" * 63, "0" * 65, "A" * 64, "g" * 64, "0" * 64 + "\n", 0])
def test_a_sha256_is_64_small_hex_digits(told, sha256):
    assert_told(told(files=[FILE | PINNED | {"sha256": sha256}]), "files[0].sha256")


@pytest.mark.parametrize("access", ["registration", "form", "kaggle"])
def test_a_gated_corpus_says_what_to_do_by_hand(told, access):
    assert_told(told(access=access), "by_hand", "what to get")
    assert_told(told(access=access, by_hand=""), "by_hand")
    assert told(access=access, by_hand="Fill in the form and put the file as a.tsv.") == []


def test_access_is_one_of_the_known_words(told):
    assert_told(told(access="free"), "access", "open")


@pytest.mark.parametrize(
    "files",
    [
        [FILE, FILE],
        [FILE | {"beside": "b.tsv"}],
        [FILE | {"beside": "a.tsv"}],
        [FILE | {"columns": ["text", "text"]}],
        [FILE, FILE | {"name": "b.tsv", "beside": "a.tsv"}, FILE | {"name": "c.tsv", "beside": "b.tsv"}],
    ],
    ids=["twice", "beside nothing", "beside itself", "columns of one name", "beside what is beside another"],
)
def test_files_that_do_not_fit_together_are_refused(told, files):
    lines = told(files=files)
    assert len(lines) == 1, lines
    assert lines[0].startswith("invented/corpus.yaml: files")


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ({"name": "a.txt", "format": "lines"}, "columns"),
        ({"name": "a.txt", "format": "lines", "columns": ["a", "b"]}, "columns"),
        ({"name": "a/*.txt", "format": "documents"}, "manifest"),
        ({"name": "a.txt", "format": "documents"}, "format"),
        ({"name": "a.tsv", "format": "tsv", "manifest": "m.sha256"}, "manifest"),
        ({"name": "a/*.txt", "format": "tsv", "manifest": "m.sha256"}, "format"),
        ({"name": "a/*.txt", "format": "documents", "manifest": "m.sha256", "bytes": 3}, "sha256"),
        ({"name": "a.tsv", "format": "tsv", "encoding": "utf-7"}, "encoding"),
        ({"name": "a.tsv", "format": "tsv", "bytes": -1}, "bytes"),
        ({"name": "a.tsv", "format": "tsv", "bytes": "1"}, "bytes"),
    ],
    ids=str,
)
def test_a_file_declaration_that_contradicts_itself_is_refused(told, file, key):
    lines = told(files=[file])
    assert len(lines) == 1, lines
    assert lines[0].startswith("invented/corpus.yaml: files[0]")
    assert key in lines[0]


# Tasks ------------------------------------------------------------------------------------------------------------


def with_labels(*labels: dict, **more) -> dict:
    return classification(
        labels=[{"name": f"class {n}", "meaning": "x"} | label for n, label in enumerate(labels)], **more
    )


@pytest.mark.parametrize(
    "ranges",
    [
        [{"below": 1.0}, {"at_least": 2.0}],
        [{"below": 2.0}, {"at_least": 1.0}],
        [{"below": 1.0}, {"above": 1.0}],
        [{"at_most": 1.0}, {"at_least": 1.0}],
        [{"at_least": 0.0, "below": 1.0}, {"at_least": 1.0}],
        [{"below": 1.0}, {"at_least": 1.0, "at_most": 9.0}],
        [{"below": 1.0}, {"at_least": 1.0}, {"at_least": 1.0}],
        [{"below": 1.0}, {"at_least": 1.0, "below": 2.0}, {"above": 2.0}],
        [{"below": 2.0}, {"at_least": 2.0, "below": 1.0}, {"at_least": 1.0}],
        [{"below": float("nan")}, {"at_least": float("nan")}],
    ],
    ids=["gap", "overlap", "hole", "twice", "open below", "open above", "class twice", "middle hole", "turned", "nan"],
)
def test_ranges_cover_every_score_once(told, ranges):
    assert_told(told(tasks=[with_labels(*ranges)]), "tasks[0].labels: ", "range")


def test_a_range_that_no_score_can_be_in_is_refused(told):
    ranges = [{"below": 1.0}, {"at_least": 1.0, "below": 1.0}, {"at_least": 1.0}]
    assert_told(told(tasks=[with_labels(*ranges)]), "tasks[0]")


@pytest.mark.parametrize(
    "ranges",
    [
        [{"below": 1.0}, {"at_least": 1.0}],
        [{"above": 1}, {"at_most": 1}],
        [{"at_least": 2.0}, {"below": 1.0}, {"at_least": 1.0, "below": 2.0}],
        [{"below": 0.0}, {"at_least": 0.0, "at_most": 0.0}, {"above": 0.0}],
    ],
    ids=["two", "high first", "in any order", "a class of one score"],
)
def test_ranges_that_cover_every_score_once_are_accepted(told, ranges):
    assert told(tasks=[with_labels(*ranges)]) == []


@pytest.mark.parametrize(
    ("task", "what"),
    [
        (with_labels({"raw": "0"}, {"raw": ["1", "0"]}), "raw token: 0 occurs twice"),
        (with_labels({"raw": "-1"}, {"raw": "1"}), "-1 is a raw token and also means unlabeled"),
        (with_labels({"raw": "0"}, {"at_least": 1.0}), "labels: every class"),
        (with_labels({"raw": "0", "below": 1.0}, {"at_least": 1.0}), "either raw tokens or a range"),
        (with_labels({"raw": "0"}, {"meaning": "no token"}), "labels: every class needs raw tokens"),
        (with_labels({"below": 1.0}, {"at_least": 1.0, "above": 1.0}), "either at_least or above"),
        (with_labels({"below": 1.0, "at_most": 1.0}, {"above": 1.0}), "either below or at_most"),
        (with_labels({"raw": "0"}), "at least two classes"),
        (with_labels({"raw": "0"}, {"raw": "1", "name": "class 0"}), "class 0 occurs twice"),
        (classification(contradiction="mean"), "majority and drop"),
        (classification(scale=[0.0, 1.0]), "scale"),
        (classification(offsets="utf16"), "offsets"),
        (classification(without_spans="keep"), "without_spans"),
        (classification(preferred_first=True), "preferred_first"),
        (classification(category="jokes"), "humor_sarcasm"),
        (classification(format="ranking"), "classification"),
        (regression(scale=None), "scale"),
        (regression(scale=[5.0, 0.0]), "scale"),
        (regression(scale=[0.0]), "scale"),
        (regression(scale=[0.0, float("nan")]), "scale"),
        (regression(contradiction="majority"), "mean and drop"),
        (regression(labels=[{"name": "a", "meaning": "x", "raw": "1"}]), "no raw tokens"),
        (regression(labels=[{"name": n, "meaning": "x"} for n in "ab"]), "exactly one"),
        (classification(format="span", labels=[{"name": "a", "meaning": "x"}], offsets="utf16"), "without_spans"),
        (classification(format="span", labels=[{"name": "a", "meaning": "x"}], without_spans="keep"), "offsets"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_task_that_contradicts_itself_is_refused(told, task, what):
    lines = told(tasks=[task])
    assert len(lines) == 1, lines
    assert lines[0].startswith("invented/corpus.yaml: tasks[0]")
    assert what in lines[0]


@pytest.mark.parametrize("raw", ["0", "1", "no", "yes", "null", "~", "1.5", "[0, 1]", "2020-01-01"])
def test_a_token_that_yaml_takes_for_something_else_is_refused(told, raw):
    """`raw: 0` is a number for YAML, `raw: no` a truth value: only quotes make them text."""
    lines = told(written().replace("raw: '0'", f"raw: {raw}"))
    assert lines
    assert all(line.startswith("invented/corpus.yaml: tasks[0].labels[0].raw") for line in lines)


@pytest.mark.parametrize(
    ("drop", "key"),
    [
        ({"reason": "duplicate"}, "reason"),
        ({"reason": "unlabeled"}, "reason"),
        ({"reason": "Bad Reason"}, "reason"),
        ({"values": []}, "values"),
        ({"values": None}, "values"),
        ({"values": [1]}, "values"),
        ({"why": ""}, "why"),
        ({"column": ""}, "column"),
    ],
    ids=str,
)
def test_a_drop_rule_has_a_reason_of_its_own_a_column_and_values(told, drop, key):
    rule = {"reason": "bot", "column": "who", "values": ["bot"], "why": "Not a person."}
    assert told(tasks=[classification(drops=[rule])]) == []
    lines = told(tasks=[classification(drops=[rule | drop])])
    assert len(lines) == 1, lines
    assert lines[0].startswith("invented/corpus.yaml: tasks[0].drops[0]")
    assert key in lines[0]


@pytest.mark.parametrize(
    "step",
    [
        {"step": "replace"},
        {"step": "replace", "pattern": "a"},
        {"step": "replace", "pattern": "(", "replacement": ""},
        {"step": "replace", "pattern": "a{99999999999999}", "replacement": ""},
        {"step": "replace", "pattern": "(" * 3000 + ")" * 3000, "replacement": ""},
        {"step": "nfc", "pattern": "a", "replacement": ""},
        {"step": "lowercase"},
    ],
    ids=["no pattern", "no replacement", "no expression", "too often", "too deep", "too much", "unknown"],
)
def test_a_text_step_that_cannot_be_done_is_refused(told, step):
    lines = told(text_steps=[step | {"why": "x"}])
    assert len(lines) == 1, lines
    assert lines[0].startswith("invented/corpus.yaml: text_steps[0]")


def test_pairs_and_single_texts_do_not_share_a_corpus(told):
    assert_told(told(tasks=[classification(), classification("b", format="pair")]), "tasks", "pairs")


def test_a_problem_in_one_declaration_of_the_workshop_names_its_folder(workshop: Workshop):
    with pytest.raises(Problem, match=r"^other/corpus\.yaml: year: "):
        workshop.corpus("other", {}, [classification()], [FILE], year=1066)
