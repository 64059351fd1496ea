"""Packaging: the items of a task to Parquet files with exact types, and digests of what they hold."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.declaration import Task

PAIR_JOINT = " [SEP] "
SPLIT_FILES = ("train", "validation", "test", "sockette")

LEDGER_SCHEMA = pa.schema(
    [
        pa.field("corpus", pa.string()),
        pa.field("task", pa.string()),
        pa.field("source_row", pa.string()),
        pa.field("id", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("kept_id", pa.string()),
        pa.field("detail", pa.string()),
    ]
)

OVERLAPS_SCHEMA = pa.schema(
    [pa.field(f"{side}{name}", pa.string()) for side in ("", "other_") for name in ("task", "id", "split")]
)


def schema(task: Task) -> pa.Schema:
    """The columns of a task's Parquet files: `text` and `label` first, then what the format adds."""
    label = {
        "regression": pa.float64(),
        "span": pa.struct([pa.field(task.labels[0].name, pa.list_(pa.string()))]),
    }.get(task.format, pa.int64())
    extra = {
        "pair": [pa.field("text_a", pa.string()), pa.field("text_b", pa.string())],
        "span": [pa.field("spans", pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64())])))],
    }.get(task.format, [])
    return pa.schema([pa.field("text", pa.string()), pa.field("label", label), pa.field("id", pa.string()), *extra])


def data_path(task: Task, split: str) -> str:
    """Where a split of a task lies in a release."""
    return data_path_of(task.name, split)


def data_path_of(task: str, split: str) -> str:
    """The same by the task's name, for whoever has a lock and no declaration."""
    return f"data/{task.replace('#', '--')}/{split}.parquet"


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write `table` so that equal tables give equal bytes (for one version of pyarrow).

    No Arrow or library schema is embedded: the column types are plain Parquet, and class names come from the
    card, so that every version of `datasets` reads the same thing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        table.combine_chunks().replace_schema_metadata(None),
        path,
        compression="zstd",
        compression_level=3,
        row_group_size=65_536,
        store_schema=False,
        write_page_index=False,
    )


def type_name(kind: pa.DataType) -> str:
    """A type in words, without what differs between writers of the same thing: the name of the elements of a list, and
    how many bytes its offsets have."""
    return str(kind).replace("<element:", "<item:").replace("large_", "")


def content_digest(table: pa.Table) -> str:
    """A SHA-256 of what a table holds, independent of the Parquet writer and of row groups.

    Per column, in order: its name and type; then, as 8-byte little-endian integers, the number of rows and
    for strings the byte length of every value (-1 for null) followed by all bytes; for lists the length of every
    value followed by its elements as a column; for structs every field as a column; for integers and floats
    the 8-byte little-endian values.
    """
    digest = sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        digest.update(f"{name}\x1f".encode())
        for part in _parts(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column):
            digest.update(part)
    return digest.hexdigest()


def _parts(array: pa.Array) -> Iterable[bytes | memoryview]:
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    yield f"{type_name(array.type)}\x1f".encode()
    yield len(array).to_bytes(8, "little")
    if pa.types.is_struct(array.type):
        for index, field in enumerate(array.type):
            yield f"{field.name}\x1f".encode()
            yield from _parts(array.field(index))
    elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        yield _numbers(pc.list_value_length(array))
        yield from _parts(array.flatten())
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        array = array.cast(pa.string())
        yield _numbers(pc.binary_length(array))
        yield from _bytes(array)
    else:
        yield memoryview(
            np.ascontiguousarray(array.to_numpy(zero_copy_only=False)).astype(
                "<" + {"int64": "i8", "double": "f8"}[str(array.type)]
            )
        )


def _numbers(lengths: pa.Array) -> bytes:
    return pc.fill_null(lengths.cast(pa.int64()), -1).to_numpy(zero_copy_only=False).astype("<i8").tobytes()


def _bytes(array: pa.Array) -> Iterable[memoryview]:
    """The UTF-8 bytes of all values, end to end."""
    array = pc.fill_null(array, "")
    if len(array):
        offsets = np.frombuffer(array.buffers()[1], dtype="<i4")[array.offset : array.offset + len(array) + 1]
        if array.buffers()[2] is not None:
            yield memoryview(array.buffers()[2])[int(offsets[0]) : int(offsets[-1])]
