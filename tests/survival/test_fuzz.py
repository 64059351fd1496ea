"""A sample of the mutations of `tests.survival.fuzz`: every kind for a third of the corpora, and all corpora."""

import pytest

from builders.declaration import CORPORA
from tests.survival.fuzz import broken, cases
from tests.survival.mutations import MUTATIONS

NAMES = sorted(path.parent.name for path in CORPORA.glob("*/build.py"))


@pytest.mark.parametrize("kind", range(len(MUTATIONS)), ids=[kind.replace(" ", "-") for kind in MUTATIONS])
def test_a_mutated_raw_file_is_built_with_every_label_in_its_place_or_refused_with_a_sentence(kind):
    first = kind * len(NAMES)  # the number of the first mutation of this kind
    found = list(cases(range(first + kind % 3, first + len(NAMES), 3), NAMES))
    # A third of the corpora may have no file of the kind that is asked for.
    assert found or kind == list(MUTATIONS).index("an odd value of JSON")
    assert [case for case in found if broken(case)] == []
