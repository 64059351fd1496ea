"""Items to token ids: pairs as two segments, spans as windows with a tag per token."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from baselines.data import gold_labels
from baselines.spans import Span, spans_of, tag
from builders.declaration import Task

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# What the loss passes over: special tokens and padding.
IGNORED = -100


class Encoded(NamedTuple):
    """The inputs of a model for the items of a split: one row for each item, or several windows of it for spans."""

    rows: list[dict[str, list[int]]]
    """`input_ids`, `attention_mask` and, if the encoder has segments, `token_type_ids`."""
    item: np.ndarray
    """For every row the index of its item; not descending."""
    offsets: list[list[Span]]
    """For every row of a span task where its tokens are in the text; (0, 0) for special tokens. Else empty."""
    places: list[list[int]]
    """For every row of a span task which tokens of the text those are, counted from 0; -1 for special tokens."""
    cut: int
    """Items of which the model does not see the end. None of a span task."""


def encode(tokenizer: "PreTrainedTokenizerBase", task: Task, items: pa.Table, max_length: int, overlap: int) -> Encoded:
    """`items` (`text`, or `text_a` and `text_b`) as token ids, at most `max_length` a row.

    What looks like a special token in a text (`[SEP]`, `</s>`) is text. Of a pair that is too long the longer side is
    cut first. Texts of span tasks are read in windows that share `overlap` tokens, so no token is left out.
    """
    spans = task.format == "span"
    columns = ("text_a", "text_b") if task.format == "pair" else ("text",)
    if not len(items):
        return Encoded([], np.empty(0, dtype=np.int64), [], [], 0)
    encoding = tokenizer(
        *(items[column].to_pylist() for column in columns),
        truncation=True,
        max_length=max_length,
        split_special_tokens=True,
        return_overflowing_tokens=spans,
        return_offsets_mapping=spans,
        stride=overlap if spans else 0,
        return_token_type_ids="token_type_ids" in tokenizer.model_input_names,
    )
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoding]
    rows = [dict(zip(names, values, strict=True)) for values in zip(*(encoding[name] for name in names), strict=True)]
    if not spans:
        return Encoded(rows, np.arange(len(rows)), [], [], sum(bool(one.overflowing) for one in encoding.encodings))
    texts = items["text"].to_pylist()
    item = np.array(encoding["overflow_to_sample_mapping"])
    offsets = [
        [_without_margin(texts[at], start, end) for start, end in row]
        for at, row in zip(item, encoding["offset_mapping"], strict=True)
    ]
    special = [one.special_tokens_mask for one in encoding.encodings]
    step = max_length - tokenizer.num_special_tokens_to_add() - overlap
    window = np.arange(len(item)) - np.searchsorted(item, item)
    places = [_places(mask, first) for mask, first in zip(special, (window * step).tolist(), strict=True)]
    return Encoded(rows, item, offsets, places, 0)


def _places(special: Sequence[int], first: int) -> list[int]:
    return [
        -1 if one else first + at - 1
        for one, at in zip(special, np.cumsum([not one for one in special]).tolist(), strict=True)
    ]


def _without_margin(text: str, start: int, end: int) -> Span:
    """Where the characters of a token are, without the white space that some tokenizers count as part of a word."""
    part = text[start:end]
    inner = part.strip()
    return (start + part.index(inner), start + part.index(inner) + len(inner)) if inner else (start, start)


def with_labels(task: Task, encoded: Encoded, items: pa.Table, mean: float, deviation: float) -> list[dict]:
    """The rows with `labels`: the class, the value in units of `deviation` from `mean`, or a tag per token."""
    gold = gold_labels(task, items)
    if task.format == "span":
        labels: Iterable = (
            [tag_ if start < end else IGNORED for tag_, (start, end) in zip(tag(row, gold[at]), row, strict=True)]
            for at, row in zip(encoded.item, encoded.offsets, strict=True)
        )
    elif task.format == "regression":
        labels = ((gold - mean) / deviation).tolist()
    else:
        labels = gold.tolist()
    return [row | {"labels": label} for row, label in zip(encoded.rows, labels, strict=True)]


def tagged(encoded: Encoded, tags: Sequence[np.ndarray], items: int) -> list[tuple[Span, ...]]:
    """The spans per item that `tags` (per row, one a token) mark.

    A token that stands in two windows has the tag of the one where it is further from the border, and so sees more of
    what is around it.
    """
    tokens: list[dict[int, tuple[int, int, Span]]] = [{} for _ in range(items)]
    for at, offsets, places, marks in zip(encoded.item, encoded.offsets, encoded.places, tags, strict=True):
        inner = [place for place in places if place >= 0]
        for place, span, mark in zip(places, offsets, marks, strict=True):
            if place >= 0:
                margin = min(place - inner[0], inner[-1] - place)
                tokens[at][place] = max(tokens[at].get(place, (-1,)), (margin, int(mark), span), key=lambda one: one[0])
    found = []
    for known in tokens:
        ordered = [known[place] for place in sorted(known)]
        found.append(tuple(spans_of([span for _, _, span in ordered], [mark for _, mark, _ in ordered])))
    return found
