"""Columns from objects: messages of the generated decoders, a column at a time.

This path works for every protocol.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from wirespark.arrow_building import Fillers, RecordFiller
from wirespark.columns import (
    ERROR,
    NOWHERE,
    PART,
    Columns,
    Found,
    Origin,
    frames_schema,
    header_type,
    joined_type,
)
from wirespark.decoders import Snapshot
from wirespark.options import Wishes
from wirespark.packages import Package, package_of
from wirespark.stream_rows import StreamRow, Walk
from wirespark.untyped import ArrowArray, ArrowType, Batch

if TYPE_CHECKING:
    from wireproto._runtime.codec.fragment import Part

__all__ = ["ObjectBatcher", "Recording", "RowTaker", "recording_of"]


class ObjectBatcher:
    """Decodes one direction of a connection with objects; rows wait until they fill a batch."""

    def __init__(self, wishes: Wishes, walk: Walk, role: str | None, batch_size: int) -> None:
        self._walk = walk
        self._taker = RowTaker(wishes)
        self._role = role
        self._batch_size = batch_size
        self._rows: list[StreamRow] = []
        self._begun = walk.given

    @property
    def given(self) -> int:
        return self._walk.given

    def feed(self, data: bytes, time: int | None = None) -> Iterator[Columns]:
        self._take(self._walk.feed(data, time))
        if self._walk.given - self._begun >= self._batch_size:
            yield from self.flush()

    def take(self, rows: Iterable[StreamRow]) -> Iterator[Columns]:
        """Return rows of the walk as columns."""
        self._take(rows)
        yield from self.flush()

    def gap(self, size: int, time: int | None = None) -> Iterator[Columns]:
        self._take(self._walk.gap(size, time))
        yield from self.flush()

    def finish(self, time: int | None = None) -> Iterator[Columns]:
        self._take(self._walk.finish(time))
        yield from self.flush()

    def snapshot(self) -> Snapshot | None:
        return self._walk.snapshot()

    def flush(self) -> Iterator[Columns]:
        rows, self._rows = self._rows, []
        if rows or self._walk.given > self._begun:
            yield self._taker.recording.columns(rows, self._role, self._walk.given)
        self._begun = self._walk.given

    def _take(self, rows: Iterable[StreamRow]) -> None:
        self._rows += self._taker.taken(rows)


class RowTaker:
    """Takes the wanted rows of walks, with the recording that makes columns from them."""

    def __init__(self, wishes: Wishes) -> None:
        self.recording = recording_of(wishes)
        self._wanted = None if wishes.messages is None else frozenset(wishes.messages)
        self._keeps_faults = wishes.mode == "FAILFAST"

    def taken(self, rows: Iterable[StreamRow]) -> list[StreamRow]:
        """Return the wanted rows."""
        was_enabled = gc.isenabled()
        gc.disable()  # these objects live until their batch is done: collecting garbage among them again and again is a waste
        try:
            found = list(rows)
        finally:
            if was_enabled:
                gc.enable()
        if self._wanted is None:
            return found
        wanted, faults = self._wanted, self._keeps_faults
        return [row for row in found if self.recording.is_of(row.item, wanted, faults=faults)]


def recording_of(wishes: Wishes) -> Recording:
    """Return the recording that builds columns from the rows of a protocol."""
    return _recording(wishes.protocol, wishes.variant)


@cache
def _recording(protocol: str, variant: str | None) -> Recording:
    return Recording(package_of(protocol), variant)


class Recording:
    """Converts the rows of one protocol to columns."""

    def __init__(self, package: Package, variant: str | None) -> None:
        self._package = package
        self._schema = package.schema
        self._error: type[Exception] = package.native.DecodeError
        self._fillers = Fillers(package, variant)
        self._arrow_schema = frames_schema(package)
        self._records: dict[str, RecordFiller] = {}
        self._headers = {
            name: self._fillers.header(name, schema)
            for name, schema in package.columns.HEADERS.items()
            if len(schema)
        }
        self._names: dict[type, str] = {}

    def columns(
        self, rows: list[StreamRow], role: str | None, end: int, *, origin: Origin = NOWHERE
    ) -> Columns:
        """Return the columns of rows.

        `role` is the role that sent them; `end` is the stream offset of their end; `origin`: where they were read, if it is known.
        """
        items = [row.item for row in rows]
        messages = [
            None if isinstance(item, self._error) else getattr(item, "message", item) for item in items
        ]
        names = [None if message is None else self._name_of(message) for message in messages]
        return Columns(
            rows=self._rows(rows, items, messages, names, role),
            messages={
                name: self._found(name, messages, names) for name in dict.fromkeys(names) if name is not None
            },
            end=end,
            origin=origin,
        )

    def is_of(self, item: object, wanted: frozenset[str], *, faults: bool) -> bool:
        """Return whether an item is one of the wanted messages; for an error, return `faults`."""
        if isinstance(item, self._error):
            return faults
        return self._name_of(getattr(item, "message", item)) in wanted

    def _name_of(self, message: object) -> str:
        class_ = type(message)
        if class_ not in self._names:
            self._names[class_] = self._package.declared_name(message)
        return self._names[class_]

    def _found(self, name: str, messages: list[object], names: list[str | None]) -> Found:
        rows = [row for row, own in enumerate(names) if own == name]
        schema = self._package.messages[name]
        if name not in self._records:
            self._records[name] = self._fillers.named(name, schema)
        arrays = self._records[name]([messages[row] for row in rows])
        columns = pa.StructArray.from_arrays(arrays, fields=list(schema)) if arrays else None
        return Found(rows=pa.array(rows, pa.int32()), columns=columns)

    # ---- what every row has

    def _rows(
        self,
        rows: list[StreamRow],
        items: list[object],
        messages: list[object],
        names: list[str | None],
        role: str | None,
    ) -> Batch:
        n_rows = len(rows)
        senders = (
            [role] * n_rows
            if role is not None
            else [self._sender(name, item) for name, item in zip(names, items, strict=True)]
        )
        arrays = {
            "_offset": pa.array([row.offset for row in rows], pa.int64()),
            "_size": pa.array([row.size for row in rows], pa.int64()),
            "_from": pa.array(senders, pa.string()),
            "_time": pa.array([row.time for row in rows], pa.timestamp("us", tz="UTC")),
            "_message": pa.array(names, pa.string()),
            "_code": pa.array([self._code(n, m) for n, m in zip(names, messages, strict=True)], pa.int64()),
            "_error": self._errors(rows),
        }
        if "_header" in self._arrow_schema.names:
            arrays["_header"] = self._header(items)
        if "_part" in self._arrow_schema.names:
            arrays |= self._parts(items)
        return pa.RecordBatch.from_arrays(
            [arrays[name] for name in self._arrow_schema.names], schema=self._arrow_schema
        )

    def _sender(self, name: str | None, item: object) -> str | None:
        """Return the sender of a message if only one role sends it.

        For an error, its partial message counts.
        """
        if name is None:
            name = (getattr(item, "partial", None) or {}).get("message")
        known = self._schema.messages.get(name or "")
        return None if known is None else known.role

    def _code(self, name: str | None, message: object) -> int | None:
        if name == "Unknown" and name not in self._schema.messages:
            return getattr(message, "code", None)
        known = self._schema.messages.get(name or "")
        return None if known is None else known.code

    def _header(self, items: list[object]) -> ArrowArray:
        type_ = header_type(self._package)
        arrays = []
        for name, fill in self._headers.items():
            class_ = type(self)._class_of(self._package, name)
            frames = [item if type(item) is class_ else None for item in items]
            schema = self._package.columns.HEADERS[name]
            mask = pa.array([frame is None for frame in frames], pa.bool_())
            arrays.append(pa.StructArray.from_arrays(fill(frames), fields=list(schema), mask=mask))
        if len(self._package.columns.HEADERS) == 1:
            return arrays[0]
        return pa.StructArray.from_arrays(arrays, fields=list(type_))

    @staticmethod
    def _class_of(package: Package, name: str) -> type:
        found: type = getattr(package.native, name, None) or getattr(package.native, f"{name}_")
        return found

    def _errors(self, rows: list[StreamRow]) -> ArrowArray:
        if not any(isinstance(row.item, self._error) for row in rows):
            return pa.nulls(len(rows), ERROR)
        return pa.array([self._error_of(row) for row in rows], ERROR)

    def _error_of(self, row: StreamRow) -> dict[str, object] | None:
        error = row.item
        if not isinstance(error, self._error):
            return None
        names = ("code", "rule", "path", "at", "inner_at", "expected", "found", "recoverable")
        raw = row.raw or b""
        return {name: getattr(error, name) for name in names} | {
            "raw": raw,
            "raw_truncated": len(raw) < row.size,
        }

    # ---- pieces

    def _parts(self, items: list[object]) -> dict[str, ArrowArray]:
        parts = [getattr(item, "part", None) for item in items]
        found = {"_part": pa.array([None if part is None else self._part(part) for part in parts], PART)}
        type_ = joined_type(self._package)
        if type_ is not None:
            found["_joined"] = self._joined(parts, type_)
        return found

    def _part(self, part: Part) -> dict[str, object]:
        key = dict(zip(self._schema.joins[part.join].keys, map(_plain, part.key), strict=True))
        return {"join": part.join, "key": json.dumps(key), "index": part.index, "last": part.last}

    def _joined(self, parts: list[Part | None], struct: ArrowType) -> ArrowArray:
        arrays: list[ArrowArray] = []
        for name, schema in self._package.columns.JOINED.items():
            own = [
                part.joined if part is not None and part.join == name and part.last else None
                for part in parts
            ]
            type_ = self._schema.joins[name].type
            assert type_ is not None
            arrays.extend(self._fillers.of(type_, list(schema))(own))
        mask = pa.array([part is None or not part.last for part in parts], pa.bool_())
        return pa.StructArray.from_arrays(arrays, fields=list(struct), mask=mask)


def _plain(value: object) -> bool | int | str | None:
    """Return a component of a key as a JSON value."""
    return value if isinstance(value, bool | int | str) or value is None else str(value)
