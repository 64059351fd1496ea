"""The committed statistics of the real build: rules hold against them without the data, and the data still has them."""

import json

import pytest

from builders.declaration import load_corpora
from builders.problems import WrongUsage
from validation.known import judge, read_known
from validation.rules import findings
from validation.statistics import STATISTICS, read_statistics, statistics_of, write_statistics
from validation.validate import validate

REGENERATE = (
    "uv run socket-data build --raw MIRROR --out release; "
    "uv run socket-data validate release --statistics validation/statistics"
)


@pytest.fixture(scope="module")
def committed() -> dict:
    return read_statistics()


def test_the_rules_hold_against_the_committed_statistics(committed):
    """Every error is listed with its reason, and what is listed is found."""
    places = {"release", *committed["corpora"]} | {t for c in committed["corpora"].values() for t in c["tasks"]}
    judged = judge(findings(committed, load_corpora()), read_known(), places)
    assert [str(finding) for finding in judged if finding.blocks] == []
    assert {finding.rule for finding in judged if finding.known} >= {"artefact", "label-names"}


def test_every_listed_exception_is_about_a_task_or_corpus_of_the_statistics(committed):
    """Or it would never be judged."""
    places = {"release", *committed["corpora"]} | {t for c in committed["corpora"].values() for t in c["tasks"]}
    assert {entry.place for entry in read_known()} <= places


def test_a_change_of_the_numbers_shows(committed):
    """A rule looks at the statistics as it looks at a release."""
    changed = json.loads(json.dumps(committed))
    changed["corpora"]["complaints"]["tasks"]["complaints"]["ledger"]["rows"] += 1
    told = [finding for finding in findings(changed, load_corpora()) if finding.rule == "ledger-balance"]
    assert [(finding.place, finding.number) for finding in told] == [("complaints", 1)]


def test_statistics_hold_no_examples_and_no_cues(committed):
    def keys(content):
        if isinstance(content, dict):
            yield from content
            for value in content.values():
                yield from keys(value)
        elif isinstance(content, list):
            for value in content:
                yield from keys(value)

    assert "examples" not in set(keys(committed))
    found = [a for c in committed["corpora"].values() for t in c["tasks"].values() for a in t.get("artefacts", ())]
    assert found
    assert all(artefact["strong"] for artefact in found)


def test_statistics_name_release_command_versions_and_machine(committed):
    assert {"release", "command", "versions", "machine"} <= committed.keys()


def test_what_is_written_is_read_and_files_of_other_corpora_go(sample_release, tmp_path):
    validated = validate(sample_release, load_corpora(), workers=2)
    write_statistics(validated, tmp_path)
    (tmp_path / "gone.json").write_text("{}")
    write_statistics(validated, tmp_path)
    facts = read_statistics(tmp_path)
    assert set(facts["corpora"]) == set(validated.facts["corpora"])
    assert statistics_of(validated.facts).items() <= facts.items()


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine.json").write_text("{}")
    with pytest.raises(WrongUsage, match=r"mine\.json"):
        write_statistics(None, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]


def test_the_real_build_has_the_committed_statistics(real_release, committed):
    """Where it has not, a rule, a corpus or a library changed: look at the difference, then write them again."""
    seen = json.loads(json.dumps(statistics_of(validate(real_release, load_corpora(), workers=2).facts)))
    for name, corpus in seen["corpora"].items():
        for task, facts in corpus["tasks"].items():
            assert facts == committed["corpora"][name]["tasks"][task], f"{task}: {REGENERATE}"
        assert corpus == committed["corpora"][name], f"{name}: {REGENERATE}"
    assert seen.items() <= committed.items(), REGENERATE
    assert STATISTICS.is_dir()
