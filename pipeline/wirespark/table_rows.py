"""Columns to tables: one wide table with a struct for each message, or one message's own."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
import pyarrow as pa

from wirespark.columns import Columns, Found, Origin, frames_schema
from wirespark.packages import Package
from wirespark.untyped import ArrowArray, ArrowField, ArrowSchema, Batch

__all__ = [
    "SHARED",
    "message_schema",
    "message_table",
    "rows_schema",
    "rows_table",
    "spread",
    "wide_schema",
    "wide_table",
]

_PLACE = (
    pa.field("_file", pa.string(), metadata={"comment": "The file from which the bytes were read."}),
    pa.field("_flow", pa.string(), metadata={"comment": "The connection of a capture, opener first."}),
)
SHARED = tuple(field.name for field in _PLACE)
"""The columns whose memory all tables share."""


@cache
def rows_schema(package: Package) -> ArrowSchema:
    """Return the columns that every row of a protocol's tables has."""
    return pa.schema([*_PLACE, *frames_schema(package)])


def rows_table(columns: Columns) -> Batch:
    """Return a table with those columns: all frames and errors in their order."""
    return _placed(columns.rows, columns.origin)


@cache
def wide_schema(package: Package) -> ArrowSchema:
    """Return the columns of all messages: a struct each, null where the row is another one."""
    fields = list(rows_schema(package))
    messages = [
        pa.field(name, pa.struct(list(schema)), metadata=schema.metadata)
        for name, schema in package.messages.items()
        if len(schema)
    ]
    return pa.schema([*fields[:-1], *messages, fields[-1]])


def wide_table(columns: Columns, package: Package) -> Batch:
    """Return a table with those columns."""
    schema = wide_schema(package)
    rows = rows_table(columns)
    arrays = [
        rows.column(field.name) if field.name.startswith("_") else spread(columns, field) for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@cache
def message_schema(package: Package, name: str) -> ArrowSchema:
    """Return the columns of one message's table: those of every row, and the fields of the message."""
    schema = package.messages[name]
    rows = [field for field in rows_schema(package) if field.name not in ("_message", "_code", "_error")]
    return pa.schema([*rows, *schema], metadata=schema.metadata)


def message_table(columns: Columns, package: Package, name: str) -> Batch:
    """Return a table with those columns, or None if the message does not occur."""
    found = columns.messages.get(name)
    if found is None:
        return None
    schema = message_schema(package, name)
    kept = [field.name for field in columns.rows.schema if field.name in schema.names]
    origin = columns.origin.mapped(lambda each: each.take(found.rows))
    rows = _placed(columns.rows.select(kept).take(found.rows), origin)
    own = [] if found.columns is None else found.columns.flatten()
    return pa.RecordBatch.from_arrays([*rows.columns, *own], schema=schema)


def _placed(rows: Batch, origin: Origin) -> Batch:
    """Return rows with the columns of their origin."""
    arrays = [
        _repeated(text, rows.num_rows) if text is None or isinstance(text, str) else text
        for text in (origin.file, origin.flow)
    ]
    schema = pa.schema([*_PLACE, *rows.schema])
    return pa.RecordBatch.from_arrays([*arrays, *rows.columns], schema=schema)


def _repeated(text: str | None, n_rows: int) -> ArrowArray:
    """Return a column that repeats one text. Columns of similar length share memory."""
    return _repetition(text, n_rows.bit_length()).slice(0, n_rows)


@lru_cache(maxsize=32)
def _repetition(text: str | None, n_bits: int) -> ArrowArray:
    return pa.repeat(pa.scalar(text, pa.string()), 1 << n_bits)


def spread(columns: Columns, field: ArrowField) -> ArrowArray:
    """Return a message's struct for every row."""
    found: Found | None = columns.messages.get(field.name)
    n_rows = columns.rows.num_rows
    if found is None or found.columns is None:
        return pa.nulls(n_rows, field.type)
    if len(found.rows) == n_rows:
        return found.columns
    places = np.zeros(n_rows, np.int32)
    is_other = np.ones(n_rows, bool)
    rows = found.rows.to_numpy()
    places[rows] = np.arange(len(rows), dtype=np.int32)
    is_other[rows] = False
    return found.columns.take(pa.array(places, mask=is_other))
