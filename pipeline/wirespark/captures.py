"""The connections of a capture to columns: every task takes its share of the flows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

from wiregen.formats.capture import (
    CaptureError,
    Closed,
    Event,
    Flow,
    FlowBytes,
    Gap,
    IssueKind,
    Issues,
    assemble_batches,
    read_streams,
)
from wirespark.capture_index import SharePackets, share_packets
from wirespark.columns import NOWHERE, Columns, Origin
from wirespark.decoders import context_of
from wirespark.errors import WireSparkError
from wirespark.flow_roles import FlowRoles
from wirespark.long_flows import flow_slice_columns, long_flows_of
from wirespark.options import Wishes
from wirespark.storage import storage_of
from wirespark.stream_pools import FlowDirection, Pools

__all__ = ["Share", "share_columns"]

_MOST_WAITING = 8 << 20
"""Bytes of all flows together that may wait for their batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """About every `n_shares`-th flow of a capture: all flows between two ends are in one share.

    `is_index_kept`: whether the places of its packets are remembered for the other shares. `size`: how many bytes of the capture are
    read, so that all shares read the same of one that grows; None: all.
    """

    path: str
    index: int = 0
    n_shares: int = 1
    port: int | None = None
    role: str | None = None
    is_index_kept: bool = True
    size: int | None = None

    def events(self, counts: Counter[IssueKind] | None = None) -> Iterator[Event]:
        """Yield the events of the share; of a capture in several shares only its own packets are read, and those of an index.

        `counts` gets how often each kind of issues was noted: of the whole file by its first share only.
        """
        counts = Counter() if counts is None else counts
        if self.n_shares == 1:
            with storage_of(self.path).open(self.path) as file:
                streams = read_streams(file, port=self.port)
                yield from streams
            counts.update({issue.kind: issue.count for issue in streams.issues})
            return
        with self.packets() as packets:
            yield from self.events_of(packets, counts)

    def packets(self) -> AbstractContextManager[SharePackets]:
        """Open a capture in several shares for this one."""
        return share_packets(
            self.path,
            self.port,
            share=self.index,
            n_shares=self.n_shares,
            is_kept=self.is_index_kept,
            size=self.size,
        )

    def events_of(
        self, packets: SharePackets, counts: Counter[IssueKind], without: Collection[bytes] = ()
    ) -> Iterator[Event]:
        """Yield the same of its packets that are open, without the segments that have these keys."""
        issues = Issues()
        yield from assemble_batches(packets.batches(), port=self.port, issues=issues, without=without)
        counts.update({issue.kind: issue.count for issue in issues})
        if self.index == 0:
            counts.update(packets.issues())


def share_columns(
    share: Share, wishes: Wishes, batch_size: int, counts: Counter[IssueKind] | None = None
) -> Iterator[Columns]:
    """Yield the columns of the flows of a share, and of its slices of long ones, with their origin.

    `counts` gets the numbers of issues.

    Raises:
        WireSparkError: By the iterator: the file is not a capture.
    """
    counts = Counter() if counts is None else counts
    try:
        if share.n_shares == 1:
            yield from _flow_columns(share, share.events(counts), share.events, wishes, batch_size)
            return
        with share.packets() as packets:
            yield from _shared_columns(share, packets, wishes, batch_size, counts)
    except CaptureError as error:
        raise WireSparkError(f"{share.path}: {error}") from None


def _shared_columns(
    share: Share, packets: SharePackets, wishes: Wishes, batch_size: int, counts: Counter[IssueKind]
) -> Iterator[Columns]:
    """Yield the columns of a share of several."""
    long = long_flows_of(packets, wishes, share.port)
    again = partial(share.events_of, packets, Counter(), long.keys)
    yield from _flow_columns(share, share.events_of(packets, counts, long.keys), again, wishes, batch_size)
    for part in long.slices[share.index :: share.n_shares]:
        yield from flow_slice_columns(part, packets, wishes, batch_size, share.port)
    if share.index == 0:
        counts.update(long.issues)


def _flow_columns(
    share: Share,
    events: Iterator[Event],
    again: Callable[[], Iterator[Event]],
    wishes: Wishes,
    batch_size: int,
) -> Iterator[Columns]:
    """Yield the columns of flows by their events. `again`: returns the events once more."""
    live: dict[str, dict[bool, FlowDirection]] = {}
    pools = Pools(wishes, share.path, batch_size)
    roles = FlowRoles(wishes, again)
    waiting = 0
    for event in events:
        sides = live.get(event.flow.name)
        if sides is None:
            if isinstance(event, Closed):
                continue
            sides = live[event.flow.name] = _opened(event.flow, roles, wishes, pools)
        yield from _located(_taken(event, sides), share.path, event.flow.name)
        if not sides:
            del live[event.flow.name]
        waiting += len(event.data) if isinstance(event, FlowBytes) else 0
        if waiting >= _MOST_WAITING:
            waiting = 0
            yield from _flushed(live, pools, share.path)
    yield from _flushed(live, pools, share.path)


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
