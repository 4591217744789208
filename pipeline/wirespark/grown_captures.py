"""The new rows of a capture that has grown since a stream read it.

The bytes that were read before are read again, twice. The rows that their packets complete are the same however the capture
goes on. Other rows were there only because the capture ended: frames that waited for the next one, cut frames, gaps. Those of them
that the longer capture has as well are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from wiregen.formats.capture import CaptureError, Event, Packet, assemble, read_capture
from wirespark.columns import Columns, selected
from wirespark.flow_columns import Boundary, flow_columns
from wirespark.options import Wishes

if TYPE_CHECKING:
    from wirespark.captures import Share

__all__ = ["new_columns"]


class _Row(NamedTuple):
    """What tells a row from all others of its capture."""

    flow: str
    sender: str | None
    offset: int
    size: int
    message: str | None
    error: str | None


def new_columns(share: Share, wishes: Wishes, batch_size: int) -> Iterator[Columns]:
    """Yield the columns of a capture whose rows its first `share.begun` bytes do not have."""
    before, known = _Packets(share, share.begun), set[_Row]()
    with suppress(CaptureError):  # it had too few bytes to be a capture
        known = {row for columns in before.columns(wishes, batch_size) for row in _rows(columns)}
    for columns in _Packets(share, share.size, before.last).columns(wishes, batch_size):
        yield _without(columns, known)


class _Packets:
    """The packets in the first bytes of a capture, with a boundary after so many of them; None: after all.

    Attributes:
        last: The number of the last packet before the boundary.
    """

    def __init__(self, share: Share, size: int | None, most: int | None = None) -> None:
        self._share = share
        self._size = size
        self._most = most
        self._boundary = Boundary()
        self.last = 0

    def columns(self, wishes: Wishes, batch_size: int) -> Iterator[Columns]:
        """Yield the columns that the packets up to the boundary do not complete."""
        again = partial(self._events, Boundary())
        found = self._events(self._boundary)
        for columns in flow_columns(self._share.path, found, again, wishes, batch_size, self._boundary):
            if self._boundary.is_passed:
                yield columns

    def _events(self, boundary: Boundary) -> Iterator[Event]:
        with self._share.opened(self._size) as file:
            yield from assemble(self._marked(read_capture(file), boundary), port=self._share.port)

    def _marked(self, packets: Iterable[Packet], boundary: Boundary) -> Iterator[Packet]:
        for packet in packets:
            boundary.is_reached = self._most is not None and packet.number > self._most
            if not boundary.is_reached:
                self.last = packet.number
            yield packet
        boundary.is_reached = True


def _rows(columns: Columns) -> Iterator[_Row]:
    rows = columns.rows
    codes = pc.struct_field(rows.column("_error"), "code")
    given = [_flows(columns), *map(rows.column, ("_from", "_offset", "_size", "_message")), codes]
    yield from map(_Row, *(column.to_pylist() for column in given))


def _flows(columns: Columns) -> pa.Array:
    flow = columns.origin.flow
    return pa.repeat(pa.scalar(flow), columns.rows.num_rows) if isinstance(flow, str) else flow


def _without(columns: Columns, known: set[_Row]) -> Columns:
    return selected(columns, pa.array([row not in known for row in _rows(columns)], pa.bool_()))
