"""A sample of the mutations of `tests.survival.fuzz`: some of every kind, and some of every corpus."""

import pytest

from builders.declaration import CORPORA
from tests.survival.fuzz import broken, cases
from tests.survival.mutations import MUTATIONS

NAMES = sorted(path.parent.name for path in CORPORA.glob("*/build.py"))
# Prime to the number of corpora and larger, so that all corpora and all kinds have their turn.
STEP = len(NAMES) + 1
SHARES = 6


@pytest.mark.parametrize("share", range(SHARES))
def test_a_mutated_raw_file_is_built_with_every_label_in_its_place_or_refused_with_a_sentence(share):
    count = len(NAMES) * len(MUTATIONS)
    numbers = range(share * STEP, count, SHARES * STEP)
    found = list(cases(numbers, NAMES))
    assert found
    assert [case for case in found if broken(case)] == []
