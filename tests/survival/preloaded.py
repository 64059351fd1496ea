"""What the victims need, imported once."""

import pyarrow.parquet  # noqa: F401

import cards.card  # noqa: F401
