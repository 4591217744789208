"""The flows of a capture to columns, from the events of its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from wiregen.formats.capture import Closed, Event, Flow, FlowBytes, FlowRun
from wirespark.columns import NOWHERE, Columns, Origin
from wirespark.decoders import Context, context_of
from wirespark.flow_roles import FlowRoles
from wirespark.options import Wishes
from wirespark.pooled_direction import PooledDirection
from wirespark.stream_pools import FlowDirection, Pools

__all__ = ["Boundary", "flow_columns"]

_MOST_WAITING = 8 << 20
"""Bytes of all flows together that may wait for their batches."""


@dataclass(slots=True)
class Boundary:
    """A place among the packets of a capture.

    Attributes:
        is_reached: Whether the next event is of a packet after it, or of the end of the capture.
        is_passed: Whether all rows were yielded that the packets before it complete.
    """

    is_reached: bool = False
    is_passed: bool = False


def flow_columns(
    path: str,
    events: Iterator[Event | FlowRun],
    again: Callable[[], Iterator[Event]],
    wishes: Wishes,
    batch_size: int,
    boundary: Boundary | None = None,
) -> Iterator[Columns]:
    """Yield the columns of flows by their events, with their origin. `again`: returns the events once more."""
    boundary = boundary or Boundary()
    flows = _LiveFlows(path, FlowRoles(wishes, again), wishes, batch_size)
    waiting = 0
    for event in events:
        if boundary.is_reached and not boundary.is_passed:
            yield from flows.flush()
            boundary.is_passed = True
        found = flows.take(event)
        if found:
            yield from found
        if isinstance(event, FlowBytes | FlowRun):
            waiting += len(event.data) if isinstance(event, FlowBytes) else sum(map(len, event.pieces))
            if waiting >= _MOST_WAITING:
                waiting = 0
                yield from flows.flush()
    yield from flows.flush()


class _LiveFlows:
    """The flows that are open, each with those of its directions that are.

    A direction is made with its first bytes, and is None before: many flows have one that sends nothing. Where frames change how
    later ones are read, both are made at once, with their common state.
    """

    def __init__(self, path: str, roles: FlowRoles, wishes: Wishes, batch_size: int) -> None:
        self._path = path
        self._roles = roles
        self._wishes = wishes
        self._pools = Pools(wishes, path, batch_size)
        self._live: dict[str, dict[bool, FlowDirection | None]] = {}

    def take(self, event: Event | FlowRun) -> Iterable[Columns]:
        """Return the columns that are complete with an event; none for most."""
        name = event.flow.name
        sides = self._live.get(name)
        if isinstance(event, Closed):
            return () if sides is None else self._located(self._ended(event, sides), name)
        if sides is None:
            sides = self._live[name] = self._opened(event.flow)
        side = event.from_opener
        if side not in sides:
            return ()
        direction = sides[side]
        if direction is None:
            direction = sides[side] = self._direction(event.flow, side, None)
        found: Iterable[Columns]
        if isinstance(event, FlowRun):
            assert isinstance(direction, PooledDirection)
            found = direction.feed_run(event.pieces, map(_microseconds, event.times))
        elif isinstance(event, FlowBytes):
            found = direction.feed(event.data, _microseconds(event.time))
        else:
            found = direction.gap(event.size, _microseconds(event.time))
        return self._located(found, name) if found else ()

    def flush(self) -> Iterator[Columns]:
        """Yield the rows that wait."""
        yield from self._pools.flush()
        for name, sides in () if self._pools.are_used else self._live.items():
            for direction in sides.values():
                if direction is not None:
                    yield from self._located(direction.flush(), name)

    def _opened(self, flow: Flow) -> dict[bool, FlowDirection | None]:
        if self._pools.are_used:
            return {True: None, False: None}
        context = context_of(self._wishes)
        return {side: self._direction(flow, side, context) for side in (True, False)}

    def _ended(self, event: Closed, sides: dict[bool, FlowDirection | None]) -> Iterator[Columns]:
        """End directions of a flow."""
        side = event.from_opener
        for each in [side] if event.reason == "fin" and side is not None else [*sides]:
            direction = sides.pop(each, None)
            if direction is not None:
                yield from direction.finish(_microseconds(event.time))
        if not sides:
            del self._live[event.flow.name]

    def _direction(self, flow: Flow, is_opener: bool, context: Context | None) -> FlowDirection:
        first, last = self._roles.of(flow)
        return self._pools.direction(first if is_opener else last, flow.name, context)

    def _located(self, found: Iterable[Columns], flow: str) -> Iterator[Columns]:
        """Yield columns with their origin; those of a pool have it already."""
        for columns in found:
            is_known = columns.origin is not NOWHERE
            yield columns if is_known else replace(columns, origin=Origin(file=self._path, flow=flow))


def _microseconds(time: float) -> int:
    return round(time * 1_000_000)
