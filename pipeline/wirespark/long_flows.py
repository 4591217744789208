"""Long connections of a capture: each of their directions is cut where frames begin, and the shares take the slices by turns.

The connections between two ends are long if their packets would make one share much larger than others. The first task on a
computer puts their streams together. It keeps the cuts in the cache of the user, and others wait for it.
Invariants: the slices are a function of the capture, of the number of shares and of the protocol, so that all shares agree about
them, whether or not a cache can be written. Their rows are those of the connection as one task reads it.
Where frames change how later ones are read, both directions are read in the order of their bytes, so nothing is cut.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from wiregen.formats.capture import (
    Closed,
    Event,
    FlowBytes,
    Gap,
    IssueKind,
    Issues,
    PlacedEvent,
    keys_of,
    place_events,
)
from wirespark.batches import batcher_of, rows_before
from wirespark.capture_index import SharePackets
from wirespark.columns import Batcher, Columns, Origin
from wirespark.cut_finding import CutFinder, cut_finder, cutting_facts
from wirespark.decoders import has_context
from wirespark.flow_roles import FlowRoles
from wirespark.options import Wishes
from wirespark.packet_runs import runs_of
from wirespark.stream_rows import StreamCut
from wirespark.temporary_files import alone
from wirespark.user_cache import keep, kept, place_of

__all__ = ["FlowSlice", "LongFlows", "flow_slice_columns", "long_flows_of"]

_MOST_PLACES = 1 << 18
"""Packets of a direction that are remembered until a cut is confirmed; each takes 100 bytes."""
_MOST_SLICES = 4
"""Slices that a share gets of the connections between two ends; if these connect so often that there are more, they are not cut."""
_WORTH = 1 << 20
"""Bytes of a direction that are searched together."""
_BEYOND = 1 << 14
"""Bytes after a slice that are read until its last frames are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSlice:
    """A stretch of one direction of a connection; the frames that begin in it belong to it.

    Attributes:
        ends: Those of the connection, as `ends_of` returns them, in hexadecimal digits.
        flow: The name of the connection.
        sender: The end that sends the direction, with its port.
        packet: The number, among those of the share that has them, of the packet with which reading begins.
        skipped: How many bytes of the direction are read from there before `start`.
        start: The stream offset of its begin, and `end` of its end; None: the end of the direction.
        closed: The number of the packet with which the direction ends, once it is known.
    """

    ends: str
    flow: str
    sender: str
    role: str
    packet: int
    skipped: int = 0
    start: int = 0
    end: int | None = None
    closed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LongFlows:
    """The slices of all long connections of a capture.

    Attributes:
        ends: Those of the connections, as `ends_of` returns them.
        issues: How often each kind was noted while their streams were put together.
    """

    ends: tuple[bytes, ...] = ()
    slices: tuple[FlowSlice, ...] = ()
    issues: Mapping[IssueKind, int] = field(default_factory=dict)

    @property
    def keys(self) -> frozenset[bytes]:
        """Return the keys of their segments, which the shares leave out."""
        return frozenset(key for each in self.ends for key in keys_of(each))

    def text(self) -> str:
        told = {
            "ends": [each.hex() for each in self.ends],
            "slices": [asdict(each) for each in self.slices],
            "issues": {kind.value: count for kind, count in self.issues.items()},
        }
        return json.dumps(told)

    @classmethod
    def of(cls, text: str) -> LongFlows:
        """Return the slices of a text.

        Raises:
            ValueError, TypeError, KeyError, AttributeError: It is none that `text` has returned.
        """
        told = json.loads(text)
        return cls(
            ends=tuple(map(bytes.fromhex, told["ends"])),
            slices=tuple(FlowSlice(**each) for each in told["slices"]),
            issues={IssueKind(kind): int(count) for kind, count in told["issues"].items()},
        )


def long_flows_of(packets: SharePackets, wishes: Wishes, port: int | None) -> LongFlows:
    """Return the slices of long connections, of about a share each; from the cache, if they are in it."""
    if not packets.long_ends or has_context(wishes.package):
        return LongFlows()
    place = place_of("cuts", (packets.name, *cutting_facts(wishes)))
    if place is None:
        return _found(packets, wishes, port)
    with ExitStack() as held:
        with suppress(OSError):  # without space, right or such locks, tasks may find the same at once
            held.enter_context(alone(place.with_suffix(".lock")))
        known = _known(place)
        if known is None:
            known = _found(packets, wishes, port)
            keep(place, known.text())
        return known


def _known(place: Path) -> LongFlows | None:
    """Return the slices that another task has kept, or None."""
    text = kept(place)
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        return None if text is None else LongFlows.of(text)
    return None


# ---- where directions are cut


class _Place(NamedTuple):
    """The number of the packet from which a direction can be read from this offset on, or None if earlier packets have some of it."""

    offset: int
    packet: int | None


class _Direction:
    """One direction of a connection, whose slices are found; `whole`: all of it."""

    def __init__(self, whole: FlowSlice, finder: CutFinder) -> None:
        self._finder = finder
        self._places: deque[_Place] = deque(maxlen=_MOST_PLACES)
        self._pieces: list[bytes] = []
        self._waiting = 0
        self._begun = whole
        self._done: list[FlowSlice] = []

    def take(self, placed: PlacedEvent) -> None:
        event = placed.event
        if isinstance(event, FlowBytes):
            self._places.append(_Place(event.offset, placed.packet if placed.is_first else None))
            self._pieces.append(event.data)
            self._waiting += len(event.data)
            if self._waiting >= _WORTH:
                self._feed()
        elif isinstance(event, Gap):
            self._places.append(_Place(event.offset, None))
            self._feed()
            self._cut(self._finder.gap(event.size))

    def slices(self, closed: int) -> Iterator[FlowSlice]:
        """End the direction with the packet of this number, and yield its slices."""
        self._feed()
        for each in (*self._done, self._begun):
            yield replace(each, closed=closed)

    def _feed(self) -> None:
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._waiting = 0
        self._cut(self._finder.feed(data))

    def _cut(self, cuts: Iterable[StreamCut]) -> None:
        places = self._places
        for offset in (cut.offset for cut in cuts):
            while len(places) > 1 and places[1].offset <= offset:
                places.popleft()
            first = places[0]
            if first.packet is not None and first.offset <= offset:
                self._done.append(replace(self._begun, end=offset))
                skipped = offset - first.offset
                self._begun = replace(self._begun, packet=first.packet, skipped=skipped, start=offset)


def _found(packets: SharePackets, wishes: Wishes, port: int | None) -> LongFlows:
    """Put the streams of long connections together, and cut their directions."""
    ends, slices, counts = list[bytes](), list[FlowSlice](), Counter[IssueKind]()
    for each in packets.long_ends:
        issues = Issues()
        found = list(
            islice(_slices(packets, each, wishes, port, issues), packets.n_shares * _MOST_SLICES + 1)
        )
        if len(found) <= packets.n_shares * _MOST_SLICES:
            ends.append(each)
            slices += found
            counts.update({issue.kind: issue.count for issue in issues})
    return LongFlows(ends=tuple(ends), slices=tuple(slices), issues=counts)


def _slices(
    packets: SharePackets, ends: bytes, wishes: Wishes, port: int | None, issues: Issues
) -> Iterator[FlowSlice]:
    """Yield the slices of the connections between two ends."""
    roles = FlowRoles(wishes, partial(_events, packets, ends, port))
    batches, directions = packets.with_ends(ends).batches(), dict[bool, _Direction]()
    for placed in place_events(batches, keys=keys_of(ends), port=port, issues=issues, runs_of=runs_of):
        event = placed.event
        if isinstance(event, Closed):
            is_one = event.reason == "fin"
            for side in tuple(each for each in directions if not is_one or each == event.from_opener):
                yield from directions.pop(side).slices(placed.packet)
            continue
        if event.from_opener not in directions:
            whole = FlowSlice(
                ends=ends.hex(),
                flow=event.flow.name,
                sender=str(event.flow.opener if event.from_opener else event.flow.other),
                role=roles.of_sender(event),
                packet=placed.opened,
            )
            finder = cut_finder(wishes, whole.role, packets.share_size)
            directions[event.from_opener] = _Direction(whole, finder)
        directions[event.from_opener].take(placed)


def _events(packets: SharePackets, ends: bytes, port: int | None) -> Iterator[Event]:
    batches = packets.with_ends(ends).batches()
    return (each.event for each in place_events(batches, keys=keys_of(ends), port=port, issues=Issues()))


# ---- reading


def flow_slice_columns(
    part: FlowSlice, packets: SharePackets, wishes: Wishes, batch_size: int, port: int | None
) -> Iterator[Columns]:
    """Yield the columns of exactly the rows that begin in a slice, with their origin."""
    origin = Origin(file=packets.path, flow=part.flow)
    batcher = batcher_of(wishes, part.role, batch_size, offset=part.start, is_beginning=part.start == 0)
    for columns in rows_before(_fed(part, packets, batcher, port), part.end):
        yield replace(columns, origin=origin)


def _fed(part: FlowSlice, packets: SharePackets, batcher: Batcher, port: int | None) -> Iterator[Columns]:
    """Yield the columns of the slice, and of as many bytes after it as decide its last frames."""
    skipped, is_opener = part.skipped, None
    position, due = part.start, sys.maxsize if part.end is None else part.end
    ends = bytes.fromhex(part.ends)
    batches = packets.with_ends(ends).batches(part.packet)
    for placed in place_events(
        batches,
        keys=keys_of(ends),
        port=port,
        issues=Issues(),
        first=part.packet,
        last=part.closed,
        is_amid=part.start > 0,
    ):
        event, time = placed.event, round(placed.event.time * 1_000_000)
        if is_opener is None:
            is_opener = str(event.flow.opener) == part.sender
        is_own = event.from_opener is is_opener
        if isinstance(event, Closed):
            if is_own or event.reason != "fin":
                yield from batcher.finish(time)
                return
        elif is_own:
            if isinstance(event, Gap):
                yield from batcher.gap(event.size, time)
                position += event.size
            else:
                if skipped < len(event.data):
                    yield from batcher.feed(event.data[skipped:], time)
                    position += len(event.data) - skipped
                skipped = max(0, skipped - len(event.data))
            if position >= due:
                yield from batcher.flush()
                due = position + max(position - (part.end or 0), _BEYOND)
            if part.end is not None and batcher.given >= part.end:
                break
    yield from batcher.flush()
