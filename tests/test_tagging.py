"""Spans through a fast tokenizer and back: no part of a span is lost, and positions come from offsets."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from baselines.spans import TAG_NAMES, merged, spans_of, tag

RUDE = "you are a $hole and a c++ fool :)"
RUDE_SPANS = [(10, 15), (22, 25), (31, 33)]

SPECIAL = ["[UNK]", "[CLS]", "[SEP]"]
FRAME = {
    "single": "[CLS] $A [SEP]",
    "pair": "[CLS] $A [SEP] $B [SEP]",
    "special_tokens": [("[CLS]", 1), ("[SEP]", 2)],
}


def like_bert(learned_from: list[str]) -> Tokenizer:
    """Splits at white space and punctuation, then word pieces; knows only the words it learned."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(learned_from, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(**FRAME)
    return tokenizer


def like_gpt2(learned_from: list[str], prefix_space: bool = False) -> Tokenizer:
    """Pieces of bytes; a token reaches over the space before its word."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIAL,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(learned_from, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(**FRAME)
    return tokenizer


def like_roberta(learned_from: list[str]) -> Tokenizer:
    """Pieces of bytes; offsets are trimmed to the word."""
    tokenizer = like_gpt2(learned_from, prefix_space=True)
    tokenizer.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=True), processors.TemplateProcessing(**FRAME)]
    )
    return tokenizer


def of_words(learned_from: list[str]) -> Tokenizer:
    """Whole words between spaces; everything else is unknown."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordLevelTrainer(special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(learned_from, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(**FRAME)
    return tokenizer


KINDS = [like_bert, like_gpt2, like_roberta, of_words]


def characters(text: str, spans) -> set[int]:
    """Where the visible characters of the spans are."""
    return {place for start, end in spans for place in range(start, end) if not text[place].isspace()}


def through(tokenizer: Tokenizer, text: str, spans) -> list[tuple[int, int]]:
    """The spans after tagging the tokens of `text` and reading the tags back."""
    offsets = tokenizer.encode(text).offsets
    return spans_of(offsets, tag(offsets, spans))


def trimmed(text: str, spans) -> list[tuple[int, int]]:
    """Spans without the outer spaces that byte-level tokens carry."""
    surfaces = [(start, end, text[start:end]) for start, end in spans]
    return [(e - len(surface.lstrip()), s + len(surface.rstrip())) for s, e, surface in surfaces]


@pytest.mark.parametrize("learned_from", [[RUDE], ["Nothing of it."]], ids=["known words", "unknown words"])
@pytest.mark.parametrize("kind", KINDS)
def test_S4_every_span_survives_tokenisation(kind, learned_from):
    assert trimmed(RUDE, through(kind(learned_from), RUDE, RUDE_SPANS)) == RUDE_SPANS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("a fool is a fool", [(12, 16)]),
        ("😀 you are a fool", [(12, 16)]),
        ("well :) :) 😀", [(8, 10), (11, 12)]),
        ("naïve café-fool, über-idiot!", [(11, 15), (22, 27)]),
        ("#fail @you http://x.org/?a=b", [(0, 5), (6, 10), (11, 28)]),
        ("$$$", [(0, 3)]),
    ],
    ids=["second of two", "after an emoji", "emoticon and emoji", "accents", "marks of tweets", "whole text"],
)
def test_S4_relatives_survive_too(kind, text, spans):
    found = through(kind([text]), text, spans)
    assert len(found) == len(spans)
    if kind is of_words:  # its tokens reach beyond a span that is a part of a word
        assert characters(text, found) >= characters(text, spans)
    else:
        assert trimmed(text, found) == spans


LEARNED = {kind: kind([RUDE, "and some other words, too"]) for kind in KINDS}
VISIBLE = st.sampled_from([*"abc$+:)-'é😀中", "e\u0301", "👩\u200d💻", "fool", "c++"])
TEXTS = st.lists(st.one_of(VISIBLE, st.just(" "), st.just("  ")), min_size=1, max_size=15).map("".join)


@st.composite
def texts_with_spans(draw):
    text = draw(TEXTS)
    edges = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted).map(tuple)
    return text, draw(st.lists(edges.filter(lambda span: span[0] < span[1]), max_size=4))


@pytest.mark.parametrize("kind", [like_gpt2, like_roberta, of_words])
@settings(max_examples=150, deadline=None)
@given(texts_with_spans())
@example((RUDE, RUDE_SPANS))
def test_S4_no_visible_character_of_any_span_is_lost(kind, text_with_spans):
    text, spans = text_with_spans
    assert characters(text, through(LEARNED[kind], text, spans)) >= characters(text, spans)


def test_S4_a_word_is_found_by_its_offsets_and_not_by_its_letters():
    words = [(0, 4), (5, 7), (8, 12)]  # fool or fool
    assert tag(words, [(8, 12)]) == [0, 0, 1]
    assert tag(words, [(0, 4)]) == [1, 0, 0]


def test_tags_are_outside_begin_inside():
    words = [(0, 3), (4, 7), (8, 11), (12, 15)]
    assert [TAG_NAMES[value] for value in tag(words, [(4, 11)])] == ["O", "B", "I", "O"]


def test_special_tokens_are_outside_and_break_nothing():
    offsets = [(0, 0), (0, 2), (0, 0), (3, 5), (0, 0)]
    assert tag(offsets, [(0, 5)]) == [0, 1, 0, 2, 0]
    assert spans_of(offsets, [0, 1, 0, 2, 0]) == [(0, 5)]
    assert spans_of(offsets, [-100, 1, -100, 2, 1]) == [(0, 5)]


@pytest.mark.parametrize(
    ("spans", "tags"),
    [
        ([(0, 3), (3, 6)], [1, 2, 2, 1, 2, 2]),  # touching: two
        ([(0, 5), (1, 3)], [1, 2, 2, 2, 2, 0]),  # nested: one
        ([(1, 3), (2, 5)], [0, 1, 2, 2, 2, 0]),  # overlapping: one
        ([(4, 5), (0, 1), (0, 1)], [1, 0, 0, 0, 1, 0]),  # in any order, told twice
        ([], [0, 0, 0, 0, 0, 0]),
        ([(6, 9)], [0, 0, 0, 0, 0, 0]),  # cut off
        ([(4, 9)], [0, 0, 0, 0, 1, 2]),  # cut off in the middle
    ],
)
def test_touching_spans_stay_two_and_nested_ones_merge(spans, tags):
    assert tag([(place, place + 1) for place in range(6)], spans) == tags


def test_a_token_that_two_spans_share_begins_the_second():
    assert tag([(0, 2), (2, 6), (6, 8)], [(0, 4), (4, 8)]) == [1, 1, 2]


def test_the_bytes_of_one_emoji_are_one_span():
    offsets = [(0, 1), (0, 1), (0, 1), (1, 2)]
    assert tag(offsets, [(0, 1)]) == [1, 2, 2, 0]
    assert spans_of(offsets, [1, 2, 2, 0]) == [(0, 1)]
    assert spans_of(offsets, [1, 0, 1, 0]) == [(0, 1)]  # a model that is not sure


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ([0, 2, 2, 0], [(4, 11)]),  # an inside without a begin
        ([2, 0, 2, 2], [(0, 3), (8, 15)]),
        ([1, 1, 2, 1], [(0, 3), (4, 11), (12, 15)]),
        ([0, 0, 0, 0], []),
    ],
)
def test_tags_of_a_model_need_not_be_well_formed(tags, spans):
    assert spans_of([(0, 3), (4, 7), (8, 11), (12, 15)], tags) == spans


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.data())
def test_spans_at_the_edges_of_tokens_come_back_as_they_were(widths, data):
    """A text cut into tokens of these widths; the spans begin and end where tokens do."""
    edges = [sum(widths[:count]) for count in range(len(widths) + 1)]
    offsets = list(pairwise(edges))
    pair = st.lists(st.sampled_from(edges), min_size=2, max_size=2, unique=True).map(sorted).map(tuple)
    spans = data.draw(st.lists(pair, max_size=4))
    covered = {place for start, end in spans for place in range(start, end)}
    found = spans_of(offsets, tag(offsets, spans))
    assert found == merged(spans)
    assert {place for start, end in found for place in range(start, end)} == covered
    assert all(end <= start for (_, end), (start, _) in pairwise(found))


@pytest.mark.parametrize("span", [(3, 3), (4, 2), (-1, 2)])
def test_a_span_that_is_none_is_refused(span):
    with pytest.raises(ValueError, match=f"{span[0]}-{span[1]}"):
        tag([(0, 5)], [span])


def test_tags_that_do_not_fit_the_tokens_are_refused():
    with pytest.raises(ValueError, match="2 tags for 1 tokens"):
        spans_of([(0, 5)], [1, 2])
    with pytest.raises(ValueError, match="7 is not a tag"):
        spans_of([(0, 5)], [7])
