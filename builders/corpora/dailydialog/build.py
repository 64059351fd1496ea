"""DailyDialog: a dialogue a line, `__eou__` after every utterance; its emotion codes in a parallel file."""

from itertools import chain

import pandas as pd

from builders.problems import Problem

SPLITS = ("train", "validation", "test")
END_OF_UTTERANCE = "__eou__"


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per utterance, in the order train, validation, test.

    Raises `Problem` naming file and record for a dialogue that has not one code per utterance.
    """
    dialogues = pd.concat([raw[f"{split}/dialogues_{split}.txt"] for split in SPLITS], ignore_index=True)
    texts = [utterances(line) for line in dialogues["utterances"]]
    codes = [line.split() for line in dialogues["emotion"]]
    for dialogue, said, felt in zip(dialogues["source_row"], texts, codes, strict=True):
        if len(said) != len(felt):
            raise Problem(
                f"{len(said)} utterances, but {len(felt)} emotion codes.",
                where=[dialogue],
                todo="The file is cut or altered, or is the older release (one dialogue lacks a code).",
            )
    turns = [len(said) for said in texts]
    names = dialogues["source_row"].repeat(turns)
    numbers = chain.from_iterable(range(1, count + 1) for count in turns)
    return pd.DataFrame(
        {
            "source_row": [f"{name}.{number}" for name, number in zip(names, numbers, strict=True)],
            "text": list(chain.from_iterable(texts)),
            "emotion": list(chain.from_iterable(codes)),
            "dialogue": names.to_list(),
        }
    )


def utterances(line: str) -> list[str]:
    """The utterances of a dialogue, without the blanks that set them off from the marker."""
    pieces = [piece.strip() for piece in line.split(END_OF_UTTERANCE)]
    return pieces if pieces[-1] else pieces[:-1]
