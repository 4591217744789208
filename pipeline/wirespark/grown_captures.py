"""The new rows of a capture that has grown since a stream read it.

The bytes that were read before are read again, twice. The rows that their packets complete are the same however the capture
goes on. Other rows were there only because the capture ended: frames that waited for the next one, cut frames, gaps and frames
after them. Those of them that the longer capture has as well are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from wiregen.formats.capture import CaptureError, Event, Packet, assemble, read_capture
from wirespark.columns import Columns, selected
from wirespark.flow_columns import Boundary, flow_columns
from wirespark.options import Wishes
from wirespark.table_rows import wide_table

if TYPE_CHECKING:
    from wirespark.captures import Share

__all__ = ["new_columns"]


class _Place(NamedTuple):
    """The place of a row."""

    flow: str
    sender: str | None
    offset: int


def new_columns(share: Share, wishes: Wishes, batch_size: int) -> Iterator[Columns]:
    """Yield the columns of a capture whose rows its first `share.begun` bytes do not have."""
    before, known = _Packets(share, share.begun), dict[_Place, set[str]]()
    with suppress(CaptureError):  # it had too few bytes to be a capture
        for columns in before.columns(wishes, batch_size):
            for place, text in zip(_places(columns), _texts(columns, wishes), strict=True):
                known.setdefault(place, set()).add(text)
    for columns in _Packets(share, share.size, before.last).columns(wishes, batch_size):
        yield _without(columns, known, wishes)


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


def _places(columns: Columns) -> Iterator[_Place]:
    flow, rows = columns.origin.flow, columns.rows
    assert flow is not None
    flows = [flow] * rows.num_rows if isinstance(flow, str) else flow.to_pylist()
    yield from map(_Place, flows, *(rows.column(name).to_pylist() for name in ("_from", "_offset")))


def _texts(columns: Columns, wishes: Wishes) -> Iterator[str]:
    """Yield the values of each row, without its time: that of a row after a late packet differs."""
    for row in wide_table(columns, wishes.package).to_pylist():
        yield repr(row | {"_time": None})


def _without(columns: Columns, known: Mapping[_Place, Collection[str]], wishes: Wishes) -> Columns:
    """Return columns without the rows that are known."""
    known_there = [known.get(place, ()) for place in _places(columns)]
    if not any(known_there):
        return columns
    some = selected(columns, pa.array(map(bool, known_there), pa.bool_()))
    texts = _texts(some, wishes)
    return selected(columns, pa.array([not there or next(texts) not in there for there in known_there]))
