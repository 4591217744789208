"""Columns to tables: one wide table with a struct for each message, or one message's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from wirespark.columns import Columns, Found, frames_schema
from wirespark.packages import Package

__all__ = [
    "message_schema",
    "message_table",
    "rows_schema",
    "rows_table",
    "spread",
    "wide_schema",
    "wide_table",
]

_PLACE = (
    pa.field("_file", pa.string(), metadata={"comment": "Where it was read from."}),
    pa.field("_flow", pa.string(), metadata={"comment": "The connection of a capture, opener first."}),
)


def rows_schema(package: Package) -> Any:
    """Return the columns that every row of a protocol's tables has."""
    return pa.schema([*_PLACE, *frames_schema(package)])


def rows_table(columns: Columns, file: str, flow: str | None) -> Any:
    """Return these columns: the order of everything, frames and faults alike."""
    return _placed(columns.rows, file, flow)


def wide_schema(package: Package) -> Any:
    """Return the columns of all messages: a struct each, null where the row is another one."""
    fields = list(rows_schema(package))
    messages = [
        pa.field(name, pa.struct(list(schema)), metadata=schema.metadata)
        for name, schema in package.messages.items()
        if len(schema)
    ]
    return pa.schema([*fields[:-1], *messages, fields[-1]])


def wide_table(columns: Columns, package: Package, file: str, flow: str | None) -> Any:
    """Return a table with those columns."""
    schema = wide_schema(package)
    rows = _placed(columns.rows, file, flow)
    arrays = [
        rows.column(field.name) if field.name.startswith("_") else spread(columns, field) for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def message_schema(package: Package, name: str) -> Any:
    """Return the columns of one message's table: what every row has, and its fields."""
    schema = package.messages[name]
    rows = [field for field in rows_schema(package) if field.name not in ("_message", "_code", "_error")]
    return pa.schema([*rows, *schema], metadata=schema.metadata)


def message_table(columns: Columns, package: Package, name: str, file: str, flow: str | None) -> Any:
    """Return a table with those columns; None where there is no such message."""
    found = columns.messages.get(name)
    if found is None:
        return None
    schema = message_schema(package, name)
    rows = _placed(columns.rows, file, flow).take(found.rows)
    own = [] if found.columns is None else found.columns.flatten()
    n_rows = len(schema) - len(package.messages[name])
    arrays = [rows.column(field.name) for field in list(schema)[:n_rows]]
    return pa.RecordBatch.from_arrays([*arrays, *own], schema=schema)


def _placed(rows: Any, file: str, flow: str | None) -> Any:
    n_rows = rows.num_rows
    arrays = [pa.repeat(pa.scalar(text, pa.string()), n_rows) for text in (file, flow)]
    schema = pa.schema([*_PLACE, *rows.schema])
    return pa.RecordBatch.from_arrays([*arrays, *rows.columns], schema=schema)


def spread(columns: Columns, field: Any) -> Any:
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
