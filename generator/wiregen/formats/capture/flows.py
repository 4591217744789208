"""The flows of a capture: the connection of each segment, and the begin and end of each connection.

A flow is a 4-tuple and a SYN: the same ends with another SYN are the next generation.
Invariant: the memory for live and for ended flows is bounded by the limits.
"""

import ipaddress
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from wiregen.formats.capture.events import Closed, Endpoint, Event, Flow, FlowRun
from wiregen.formats.capture.headers import ACK, FIN, RST, SYN, TURNS, Segment, SegmentRun, Values
from wiregen.formats.capture.issues import IssueKind, Issues
from wiregen.formats.capture.limits import CaptureLimits
from wiregen.formats.capture.tcp_reassembly import OpenDirection, ReorderingBudget

_HALF = 1 << 31
_MODULUS = 1 << 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conversation:
    """A live flow; `key` is that of the opener's segments."""

    flow: Flow
    key: bytes
    opener: OpenDirection
    other: OpenDirection


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """The stored state of an ended flow's direction; `next_sequence` is None if the flow may continue."""

    generation: int
    next_sequence: int | None


class _Sides(NamedTuple):
    """A live flow, the side that sends, and the other one; a tuple because one is read for each packet."""

    conversation: _Conversation
    side: OpenDirection
    peer: OpenDirection

    @property
    def are_closed(self) -> bool:
        return self.side.is_closed and self.peer.is_closed


class FlowTable:
    """All flows of one capture, fed with segments in capture order."""

    def __init__(self, *, port: int | None, limits: CaptureLimits, issues: Issues) -> None:
        self._port = port
        self._limits = limits
        self._issues = issues
        self._budget = ReorderingBudget()
        self._live: OrderedDict[bytes, _Conversation] = OrderedDict()  # least recently used first
        self._sides: dict[bytes, _Sides] = {}  # by each sender's key
        self._past: dict[bytes, _Past] = {}
        self._n_forgotten = 0  # the highest generation among the forgotten, so that a name is never reused

    def add(self, values: Values) -> Sequence[Event]:
        """Return the events that become possible with the segment of these values."""
        _number, time, key, sequence, _acknowledged, flags, data, size = values
        found = self._sides.get(key)
        if (
            found is not None
            and found.peer.expected is None
            and found.peer.is_holding
            and flags & (ACK | SYN) == ACK
        ):
            events = self._acknowledge(found, Segment._make(values))
            if events:
                return [*events, *self.add(values)]
        if found is None or flags & TURNS:
            return self._turn(found, Segment._make(values))
        conversation, side, _ = found
        self._live.move_to_end(conversation.key)
        if not size:
            return ()
        if sequence == side.expected and len(data) == size:  # true for most segments
            return (side.advance(sequence, data, time),)
        return self._advance(found, Segment._make(values))

    def _acknowledge(self, found: _Sides, segment: Segment) -> list[Event]:
        """Process that a segment acknowledges bytes of the peer, which waits for some."""
        events = found.peer.acknowledge(segment.acknowledged, segment.time, segment.number)
        if found.are_closed:
            self._retire(found.conversation, may_go_on=False)
        return events

    def _turn(self, found: _Sides | None, segment: Segment) -> Sequence[Event]:
        """Process a segment with which a flow may begin or end."""
        if segment.flags & RST:
            return self._reset(found, segment) if found else ()
        if segment.flags & SYN:
            return self._synchronize(segment)
        if found is None:
            return self._join(segment) if segment.size else ()
        return self._advance(found, segment)

    def flow_of(self, key: bytes) -> Flow | None:
        """Return the live flow whose segments have this key, or None."""
        found = self._sides.get(key)
        return None if found is None else found.conversation.flow

    def expected(self, key: bytes) -> int | None:
        """Return the sequence number of the next data with this key, or None if no flow has it, or if data came before others that lack."""
        found = self._sides.get(key)
        return None if found is None else found.side.expected

    @property
    def is_holding(self) -> bool:
        """Return whether any data waits for earlier ones."""
        return self._budget.used > 0

    def add_run(self, run: SegmentRun) -> FlowRun:
        """Return the event of segments that follow each other."""
        conversation, side, _ = self._sides[run.key]
        self._live.move_to_end(conversation.key)
        return side.advance_run(run)

    def finish(self, time: float, number: int) -> Iterator[Event]:
        """End every flow that is still open at the end of the capture."""
        while self._live:
            yield from self._end(next(iter(self._live.values())), time, number)

    def _advance(self, found: _Sides, segment: Segment) -> list[Event]:
        side = found.side
        self._live.move_to_end(found.conversation.key)
        events = side.add(segment) if segment.size else []
        if segment.flags & FIN:
            events += side.finish((segment.sequence + segment.size) % _MODULUS, segment)
        if found.are_closed:
            self._retire(found.conversation, may_go_on=False)
        return events

    def _synchronize(self, segment: Segment) -> list[Event]:
        """Process a SYN: it belongs to a flow that it matches, or else begins the next generation."""
        events: list[Event] = []
        found = self._sides.get(segment.key)
        if found and not _fits(found, segment):
            events += self._end(found.conversation, segment.time, segment.number)
            found = None
        if found is None:
            found, evicted = self._open(segment)
            events += evicted
        found.side.start(segment.sequence)
        if segment.flags & ACK:
            found.peer.start(segment.acknowledged)
        return events + self._advance(found, segment)

    def _join(self, segment: Segment) -> list[Event]:
        """Process data of an unknown flow: one from its middle, or late data of an ended one."""
        past = self._past.get(segment.key)
        if past and past.next_sequence is not None:
            end = segment.sequence + segment.size
            if 0 < (end - past.next_sequence) % _MODULUS < _HALF:
                self._issues.note(IssueKind.AFTER_CLOSE, segment.number)
            return []
        found, events = self._open(segment)
        return events + self._advance(found, segment)

    def _reset(self, found: _Sides, segment: Segment) -> list[Event]:
        conversation = found.conversation
        events = self._flush(conversation, segment.time, segment.number)
        self._retire(conversation, may_go_on=False)
        from_opener = found.side is conversation.opener
        return [
            *events,
            Closed(flow=conversation.flow, from_opener=from_opener, time=segment.time, reason="rst"),
        ]

    def _end(self, conversation: _Conversation, time: float, number: int) -> list[Event]:
        events = self._flush(conversation, time, number)
        self._retire(conversation, may_go_on=True)
        return [*events, Closed(flow=conversation.flow, from_opener=None, time=time, reason="end")]

    def _flush(self, conversation: _Conversation, time: float, number: int) -> list[Event]:
        return conversation.opener.flush(time, number) + conversation.other.flush(time, number)

    def _open(self, segment: Segment) -> tuple[_Sides, list[Event]]:
        """Open a flow; return it with the sender's side, and the events of one that was ended for the limit."""
        events: list[Event] = []
        if len(self._live) >= self._limits.n_flows:
            self._issues.note(IssueKind.TOO_MANY_FLOWS, segment.number)
            events = self._end(next(iter(self._live.values())), segment.time, segment.number)
        past = self._past.get(segment.key)
        generation = 1 + (past.generation if past else self._n_forgotten)
        flow, from_opener = _identify(segment, generation, self._port)
        self._new_conversation(flow, segment.key if from_opener else _reverse(segment.key))
        return self._sides[segment.key], events

    def _new_conversation(self, flow: Flow, key: bytes) -> None:
        opener = self._new_side(flow, from_opener=True)
        other = self._new_side(flow, from_opener=False)
        conversation = _Conversation(flow=flow, key=key, opener=opener, other=other)
        self._live[key] = conversation
        self._sides[_reverse(key)] = _Sides(conversation, other, opener)
        self._sides[key] = _Sides(conversation, opener, other)

    def _new_side(self, flow: Flow, *, from_opener: bool) -> OpenDirection:
        return OpenDirection(
            flow, from_opener=from_opener, limits=self._limits, issues=self._issues, budget=self._budget
        )

    def _retire(self, conversation: _Conversation, *, may_go_on: bool) -> None:
        del self._live[conversation.key]
        generation = conversation.flow.generation
        for key, side in (
            (conversation.key, conversation.opener),
            (_reverse(conversation.key), conversation.other),
        ):
            self._sides.pop(key, None)
            self._past.pop(key, None)  # so that it becomes the youngest
            next_sequence = None if may_go_on else side.next_sequence
            self._past[key] = _Past(generation=generation, next_sequence=next_sequence)
        while len(self._past) > 2 * self._limits.n_flows:
            forgotten = self._past.pop(next(iter(self._past)))
            self._n_forgotten = max(self._n_forgotten, forgotten.generation)


def _fits(found: _Sides, segment: Segment) -> bool:
    """Return whether a SYN belongs to this flow: a retransmission, the answer to its SYN, or a simultaneous open."""
    if found.side.is_started:
        return found.side.is_start(segment.sequence)
    if segment.flags & ACK:
        return found.peer.covers(segment.acknowledged)
    return found.conversation.flow.saw_syn and found.peer.is_fresh


def _identify(segment: Segment, generation: int, port: int | None) -> tuple[Flow, bool]:
    """Decide which end of a new flow is its opener; return the flow, and whether the opener sent this segment."""
    sender, receiver = _endpoints(segment.key)
    saw_syn = bool(segment.flags & SYN)
    by_port = not saw_syn and port is not None and (sender.port == port) != (receiver.port == port)
    is_answer = bool(segment.flags & ACK) if saw_syn else by_port and sender.port == port
    opener, other = (receiver, sender) if is_answer else (sender, receiver)
    flow = Flow(opener=opener, other=other, generation=generation, saw_syn=saw_syn, by_port=by_port)
    return flow, not is_answer


def _endpoints(key: bytes) -> tuple[Endpoint, Endpoint]:
    middle = (len(key) - 4) // 2
    return _endpoint(key[:middle], key[-4:-2]), _endpoint(key[middle:-4], key[-2:])


@lru_cache(maxsize=1024)  # that of a server is in many flows
def _endpoint(address: bytes, port: bytes) -> Endpoint:
    return Endpoint(address=str(ipaddress.ip_address(address)), port=int.from_bytes(port, "big"))


def _reverse(key: bytes) -> bytes:
    middle = (len(key) - 4) // 2
    return key[middle:-4] + key[:middle] + key[-2:] + key[-4:-2]
