"""The connections of a capture to columns: every task takes its share of the flows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

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
from wirespark.capture_index import share_packets
from wirespark.columns import NOWHERE, Columns, Origin
from wirespark.decoders import context_of
from wirespark.errors import WireSparkError
from wirespark.flow_roles import FlowRoles
from wirespark.options import Wishes
from wirespark.storage import storage_of
from wirespark.stream_pools import FlowDirection, Pools

__all__ = ["Share", "share_columns"]

_MOST_WAITING = 8 << 20
"""Bytes of all flows together that may wait for their batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """About every `n_shares`-th flow of a capture: all flows between two ends are in one share.

    `is_index_kept`: whether the places of its packets are remembered for the other shares.
    """

    path: str
    index: int = 0
    n_shares: int = 1
    port: int | None = None
    role: str | None = None
    is_index_kept: bool = True

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
        issues = Issues()
        with share_packets(
            self.path, self.port, share=self.index, n_shares=self.n_shares, is_kept=self.is_index_kept
        ) as packets:
            yield from assemble_batches(packets.batches(), port=self.port, issues=issues)
            counts.update({issue.kind: issue.count for issue in issues})
            if self.index == 0:
                counts.update(packets.issues())


def share_columns(
    share: Share, wishes: Wishes, batch_size: int, counts: Counter[IssueKind] | None = None
) -> Iterator[Columns]:
    """Yield the columns of the flows of a share, with their origin. `counts` gets the numbers of issues.

    Raises:
        WireSparkError: By the iterator: the file is not a capture.
    """
    live: dict[str, dict[bool, FlowDirection]] = {}
    pools = Pools(wishes, share.path, batch_size)
    roles = FlowRoles(wishes, share.events)
    waiting = 0
    try:
        for event in share.events(counts):
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
    except CaptureError as error:
        raise WireSparkError(f"{share.path}: {error}") from None


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
