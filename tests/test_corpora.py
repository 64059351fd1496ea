"""What every corpus promises in its `expected.yaml`, seen on its sample and on its real files."""

import pytest

from builders.declaration import CORPORA, load_corpora, read_yaml
from builders.pipeline.fetch import Mirror, Missing, Samples, locate
from builders.pipeline.read import raw_rows
from validation.corpora import count_differences, counts, findings

NAMES = sorted(path.name for path in CORPORA.iterdir() if (path / "corpus.yaml").exists())


def real(name: str) -> dict:
    """The expected counts of the real files; skips the test where none of them is to be had."""
    expected = read_yaml(CORPORA / name / "expected.yaml")["real"]
    if expected is None:
        pytest.skip(f"no real file of {name} is in ../shared/raw")
    return expected


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_to_do_for(name):
    """Declaration, citation, licence and sample; the sample gives the expected rows and counts."""
    assert findings(CORPORA / name) == []


@pytest.mark.parametrize("name", NAMES)
def test_sample_gives_the_expected_counts_when_built_with_all(name, sample_release):
    expected = read_yaml(CORPORA / name / "expected.yaml")["sample"]
    assert count_differences(counts(sample_release, name), expected) == []


@pytest.mark.parametrize("name", NAMES)
def test_real_files_are_the_declared_ones(name, shared):
    problems = locate(load_corpora()[name], Mirror(shared / "raw"))[1]
    assert [str(problem) for problem in problems if not isinstance(problem, Missing)] == []
    assert bool(problems) == (read_yaml(CORPORA / name / "expected.yaml")["real"] is None)


@pytest.mark.parametrize("name", NAMES)
def test_real_files_give_the_expected_counts(name, real_release):
    expected = real(name)
    assert count_differences(counts(real_release, name), expected) == []


@pytest.mark.parametrize("name", NAMES)
def test_sample_holds_no_text_of_the_corpus(name, shared):
    """Samples are invented. Words that the facts about a corpus quote (`None`, `Yes`) may be in both."""
    real(name)
    corpus = load_corpora()[name]
    texts = {}
    for source in (Samples(), Mirror(shared / "raw")):
        rows = raw_rows(corpus, locate(corpus, source)[0].files)
        texts[source.kind] = {
            text.strip() for column in corpus.text_columns for text in rows[column] if len(text.split()) > 2
        }
    assert not texts["sample"] & texts["mirror"]
