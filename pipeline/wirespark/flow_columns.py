"""The flows of a capture to columns, from the events of its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from wiregen.formats.capture import Closed, Event, Flow, FlowBytes, Gap
from wirespark.columns import NOWHERE, Columns, Origin
from wirespark.decoders import context_of
from wirespark.flow_roles import FlowRoles
from wirespark.options import Wishes
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
    events: Iterator[Event],
    again: Callable[[], Iterator[Event]],
    wishes: Wishes,
    batch_size: int,
    boundary: Boundary | None = None,
) -> Iterator[Columns]:
    """Yield the columns of flows by their events, with their origin. `again`: returns the events once more."""
    boundary = boundary or Boundary()
    live: dict[str, dict[bool, FlowDirection]] = {}
    pools = Pools(wishes, path, batch_size)
    roles = FlowRoles(wishes, again)
    waiting = 0
    for event in events:
        if boundary.is_reached and not boundary.is_passed:
            yield from _flushed(live, pools, path)
            boundary.is_passed = True
        sides = live.get(event.flow.name)
        if sides is None:
            if isinstance(event, Closed):
                continue
            sides = live[event.flow.name] = _opened(event.flow, roles, wishes, pools)
        yield from _located(_taken(event, sides), path, event.flow.name)
        if not sides:
            del live[event.flow.name]
        waiting += len(event.data) if isinstance(event, FlowBytes) else 0
        if waiting >= _MOST_WAITING:
            waiting = 0
            yield from _flushed(live, pools, path)
    yield from _flushed(live, pools, path)


def _opened(flow: Flow, roles: FlowRoles, wishes: Wishes, pools: Pools) -> dict[bool, FlowDirection]:
    """Return both directions of a flow."""
    first, last = roles.of(flow)
    context = context_of(wishes)
    sides = {True: first, False: last}
    return {side: pools.direction(role, flow.name, context) for side, role in sides.items()}


def _taken(event: Event, sides: dict[bool, FlowDirection]) -> Iterator[Columns]:
    time = round(event.time * 1_000_000)
    match event:
        case FlowBytes(from_opener=side) if side in sides:
            yield from sides[side].feed(event.data, time)
        case Gap(from_opener=side) if side in sides:
            yield from sides[side].gap(event.size, time)
        case Closed(reason="fin", from_opener=bool() as side):
            yield from sides.pop(side).finish(time) if side in sides else ()
        case Closed():
            for side in tuple(sides):
                yield from sides.pop(side).finish(time)


def _flushed(live: dict[str, dict[bool, FlowDirection]], pools: Pools, file: str) -> Iterator[Columns]:
    yield from pools.flush()
    for flow, sides in () if pools.are_used else live.items():
        for direction in sides.values():
            yield from _located(direction.flush(), file, flow)


def _located(found: Iterable[Columns], file: str, flow: str) -> Iterator[Columns]:
    """Yield columns with their origin; those of a pool have it already."""
    for columns in found:
        is_known = columns.origin is not NOWHERE
        yield columns if is_known else replace(columns, origin=Origin(file=file, flow=flow))
