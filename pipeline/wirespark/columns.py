"""Columns of a stretch of one direction, from which tables are made: those per message, and those of every row.

This is the common result of all decoding paths: objects of the generated packages, and compiled kernels. Both
give equal columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from wirespark.decoders import Snapshot
from wirespark.packages import Package
from wirespark.untyped import ArrowArray, ArrowField, ArrowSchema, ArrowType, Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NOWHERE", "Batcher", "Columns", "Found", "Origin", "first_rows", "frames_schema", "in_order", "joined_columns", "selected"]  # fmt: skip

ERROR = pa.struct(
    [
        pa.field("code", pa.string(), metadata={"comment": "One of the closed list of codes."}),
        pa.field("rule", pa.string(), metadata={"comment": "The protocol's own name of the broken rule."}),
        pa.field("path", pa.string(), metadata={"comment": "The field with the error."}),
        pa.field("at", pa.int64(), metadata={"comment": "The place of the error in the stream, in bytes."}),
        pa.field("inner_at", pa.int64(), metadata={"comment": "The place in inflated or reassembled bytes."}),
        pa.field("expected", pa.string()),
        pa.field("found", pa.string()),
        pa.field("recoverable", pa.bool_(), metadata={"comment": "Whether the end of the frame was known."}),
        pa.field("raw", pa.binary(), metadata={"comment": "The bytes of the frame, or the first of them."}),
        pa.field("raw_truncated", pa.bool_()),
    ]
)
PART = pa.struct(
    [
        pa.field("join", pa.string()),
        pa.field("key", pa.string(), metadata={"comment": "The key of the reassembly, as JSON."}),
        pa.field("index", pa.int32(), metadata={"comment": "How many pieces came before."}),
        pa.field("last", pa.bool_()),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The rows of one message: their indexes in the stretch (int32, ascending), and their columns."""

    rows: ArrowArray
    columns: ArrowArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where rows were read: their file, and their connection if it is a capture. An array has that of each row."""

    file: str | ArrowArray
    flow: str | ArrowArray | None = None

    def mapped(self, change: Callable[[ArrowArray], ArrowArray]) -> Origin:
        """Return the origin of other rows; `change` makes their array from that of these rows."""
        return Origin(
            file=self.file if isinstance(self.file, str) else change(self.file),
            flow=self.flow if self.flow is None or isinstance(self.flow, str) else change(self.flow),
        )


NOWHERE = Origin(file="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The content of a stretch of one direction.

    Attributes:
        rows: A RecordBatch of `frames_schema`, one row for each frame and error, in the order of the bytes.
        messages: The rows of each message by name. Messages that do not occur are missing.
        end: The stream offset of its end; it says nothing if the rows are of several streams.
        origin: Where the rows were read, if who decodes them is told.
    """

    rows: Batch
    messages: Mapping[str, Found]
    end: int
    origin: Origin = NOWHERE


class Batcher(Protocol):
    """One direction of a connection: bytes in pieces go in, columns come out."""

    @property
    def given(self) -> int:
        """Return the stream offset at which the rows that are complete end, returned or waiting."""

    def feed(self, data: bytes, time: int | None = None) -> Iterator[Columns]:
        """Add the next bytes, received at `time` (microseconds)."""

    def gap(self, size: int, time: int | None = None) -> Iterator[Columns]:
        """Record that `size` bytes are missing."""

    def finish(self, time: int | None = None) -> Iterator[Columns]:
        """End the stream."""

    def flush(self) -> Iterator[Columns]:
        """Return the rows that wait for a full batch."""

    def snapshot(self) -> Snapshot | None:
        """Return the state from which decoding can continue after the returned rows."""


@cache
def header_type(package: Package) -> ArrowType:
    """Return the type of `_header`: that of the only frame, or a struct for each of several.

    Return None if no header has a field.
    """
    headers = {name: schema for name, schema in package.columns.HEADERS.items() if len(schema)}
    types = {name: pa.struct(list(schema)) for name, schema in headers.items()}
    if len(package.columns.HEADERS) == 1:
        return next(iter(types.values()), None)
    return pa.struct([pa.field(name, type_) for name, type_ in types.items()]) if types else None


@cache
def joined_type(package: Package) -> ArrowType:
    joined = package.columns.JOINED
    return pa.struct([field for schema in _named(joined) for field in schema]) if joined else None


def _named(joined: Mapping[str, ArrowSchema]) -> Iterator[list[ArrowField]]:
    """Yield the columns of each join under its own name."""
    for name, schema in joined.items():
        first, *beside = list(schema)
        yield [first.with_name(name), *(each.with_name(f"{name}_{i}") for i, each in enumerate(beside))]


@cache
def frames_schema(package: Package) -> ArrowSchema:
    """Return the columns that every row has, without those of its file and flow."""
    header, joined = header_type(package), joined_type(package)
    fields = [
        _field("_offset", pa.int64(), "Where the frame begins in its direction's stream."),
        _field("_size", pa.int64(), "Size of the frame in bytes; the rows cover the whole stream."),
        _field("_from", pa.string(), "The role that sent it."),
        _field("_time", pa.timestamp("us", tz="UTC"), "The time at which its last byte was captured."),
        _field("_message", pa.string(), "The name of the message; null if it could not be decoded."),
        _field("_code", pa.int64(), "The type code of the message."),
    ]
    if header is not None:
        fields.append(_field("_header", header, "The header fields of the frame."))
    if package.schema.joins:
        fields.append(_field("_part", PART, "The reassembled message that the frame is a piece of."))
    if joined is not None:
        fields.append(_field("_joined", joined, "The reassembled message, in the row of its last piece."))
    return pa.schema([*fields, _field("_error", ERROR, "The error in the bytes.")])


def _field(name: str, type_: ArrowType, doc: str) -> ArrowField:
    return pa.field(name, type_, metadata={"comment": doc})


def first_rows(columns: Columns, n_rows: int) -> Columns:
    """Return only the first `n_rows` rows, at least one."""
    rows = columns.rows
    end = rows.column("_offset")[n_rows - 1].as_py() + rows.column("_size")[n_rows - 1].as_py()
    is_kept = np.arange(rows.num_rows) < n_rows
    return replace(selected(columns, pa.array(is_kept)), end=end)


def selected(columns: Columns, is_kept: ArrowArray) -> Columns:
    """Return only the rows for which `is_kept`, an array of Booleans, holds."""
    kept = is_kept.to_numpy(zero_copy_only=False)
    places = np.cumsum(kept, dtype=np.int32) - 1
    messages = {}
    for name, found in columns.messages.items():
        is_found = kept[found.rows.to_numpy()]
        if is_found.any():
            own = None if found.columns is None else found.columns.filter(pa.array(is_found))
            rows = pa.array(places[found.rows.to_numpy()[is_found]], pa.int32())
            messages[name] = Found(rows=rows, columns=own)
    origin = columns.origin.mapped(lambda each: each.filter(is_kept))
    return Columns(rows=columns.rows.filter(is_kept), messages=messages, end=columns.end, origin=origin)


def in_order(columns: Columns, order: ArrowArray) -> Columns:
    """Return all rows in another order, an array of their present places."""
    places = np.empty(len(order), np.int32)
    places[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    origin = columns.origin.mapped(lambda each: each.take(order))
    messages = {
        name: _found_at(places[found.rows.to_numpy()], found) for name, found in columns.messages.items()
    }
    return Columns(rows=columns.rows.take(order), messages=messages, end=columns.end, origin=origin)


def _found_at(places: NDArray[np.int32], found: Found) -> Found:
    """Return the rows of a message, which are at other places now."""
    order = np.argsort(places)
    own = None if found.columns is None else found.columns.take(pa.array(order))
    return Found(rows=pa.array(places[order]), columns=own)


def joined_columns(stretches: Sequence[Columns]) -> Columns:
    """Return consecutive stretches, at least one, as a single one."""
    if len(stretches) == 1:
        return stretches[0]
    rows, found, n_rows = [], dict[str, list[Found]](), 0
    for columns in stretches:
        for name, own in columns.messages.items():
            moved = pa.array(own.rows.to_numpy() + np.int32(n_rows))
            found.setdefault(name, []).append(Found(rows=moved, columns=own.columns))
        rows.append(columns.rows)
        n_rows += columns.rows.num_rows
    table = pa.Table.from_batches(rows).combine_chunks()
    batches = table.to_batches()
    messages = {name: _joined_found(parts) for name, parts in found.items()}
    return Columns(rows=batches[0] if batches else rows[0], messages=messages, end=stretches[-1].end)


def _joined_found(parts: list[Found]) -> Found:
    rows = pa.concat_arrays([part.rows for part in parts])
    columns = [part.columns for part in parts]
    return Found(rows=rows, columns=None if columns[0] is None else pa.concat_arrays(columns))
