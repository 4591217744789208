"""Reassembly of one direction of a TCP connection: segments in any order become a stream in sequence order.

If segments overlap, the bytes that arrived first are kept. Bytes after a hole wait for those in it: until they come, or
a second after the other side has acknowledged them (the capture lacks them then), or too many wait, or the connection ends.
Invariant: the held spans are sorted, do not overlap, and are after the next byte to deliver. The budget counts their memory.
"""

from bisect import bisect_left
from operator import attrgetter
from typing import NamedTuple

from wiregen.formats.capture.events import Closed, Event, Flow, FlowBytes, FlowRun, Gap
from wiregen.formats.capture.headers import Segment, SegmentRun
from wiregen.formats.capture.issues import IssueKind, Issues
from wiregen.formats.capture.limits import CaptureLimits

_MODULUS = 1 << 32
_HALF = 1 << 31
_new = tuple.__new__  # faster than the generated `__new__` of a named tuple
_PATIENCE = 1.0  # seconds after which bytes that were acknowledged do not come any more
_SPAN_COST = 256  # the memory of a held span without its bytes, rounded up


class ReorderingBudget:
    """The bytes that all connections of a capture together hold out of order."""

    __slots__ = ("used",)

    def __init__(self) -> None:
        self.used = 0


class _Span(NamedTuple):
    """Held bytes of the stream; `data` is None if the capture truncated the packet and lacks them."""

    start: int
    end: int
    data: bytes | None
    time: float

    @property
    def cost(self) -> int:
        return _SPAN_COST + len(self.data or b"")


class _Acknowledged(NamedTuple):
    """At `time` the other side had received all bytes before the offset `end`."""

    end: int
    time: float


_start = attrgetter("start")


class OpenDirection:
    """One direction of an open connection. Offsets count from its first byte and do not wrap, unlike sequence numbers."""

    __slots__ = (
        "_acknowledged",
        "_base",
        "_budget",
        "_end",
        "_end_time",
        "_flow",
        "_from_opener",
        "_held",
        "_held_cost",
        "_issues",
        "_latest",
        "_limits",
        "_next",
        "expected",
        "is_closed",
    )

    def __init__(
        self,
        flow: Flow,
        *,
        from_opener: bool,
        limits: CaptureLimits,
        issues: Issues,
        budget: ReorderingBudget,
    ) -> None:
        self._flow = flow
        self._from_opener = from_opener
        self._limits = limits
        self._issues = issues
        self._budget = budget
        self._base: int | None = None  # the sequence number of offset 0
        self._next = 0  # the offset of the next byte to deliver
        self._end: int | None = None  # the offset of the FIN
        self._end_time = 0.0
        self._held: list[_Span] = []
        self._held_cost = 0
        self._acknowledged: _Acknowledged | None = None  # since bytes are held
        self._latest = 0.0  # the time of the last event
        self.is_closed = False
        self.expected: int | None = None  # the sequence number of data that `advance` may take

    @property
    def is_started(self) -> bool:
        """Return whether the sequence number of the first byte is known."""
        return self._base is not None

    @property
    def next_sequence(self) -> int | None:
        """Return the sequence number of the next byte to deliver."""
        return None if self._base is None else (self._base + self._next) % _MODULUS

    @property
    def is_fresh(self) -> bool:
        """Return whether the direction has neither delivered nor held bytes, nor an end."""
        return self._next == 0 and not self._held and self._end is None

    @property
    def is_holding(self) -> bool:
        """Return whether bytes wait after a hole."""
        return bool(self._held)

    def is_start(self, sequence: int) -> bool:
        """Return whether the first byte has this sequence number."""
        return self._base == sequence

    def covers(self, sequence: int) -> bool:
        """Return whether this sequence number is between those of the first byte and the next one."""
        return self._base is not None and (sequence - self._base) % _MODULUS <= self._next

    def start(self, sequence: int) -> None:
        """Set the sequence number of the first byte, unless it is set."""
        if self._base is None:
            self._base = sequence
            self._settle()

    def advance(self, sequence: int, data: bytes, time: float) -> FlowBytes:
        """Process complete data that has the expected sequence number."""
        offset = self._next
        self._next = offset + len(data)
        self._latest = time
        self.expected = (sequence + len(data)) % _MODULUS
        return _new(FlowBytes, (self._flow, self._from_opener, time, offset, data))

    def advance_run(self, run: SegmentRun) -> FlowRun:
        """Process segments of which the first has the expected sequence number."""
        offset, size = self._next, sum(map(len, run.pieces))
        self._next = offset + size
        self._latest = run.times[-1]
        self.expected = (run.sequence + size) % _MODULUS
        return FlowRun(self._flow, self._from_opener, offset, run.pieces, run.times)

    def add(self, segment: Segment) -> list[Event]:
        """Process a segment with data; return the events that it completes."""
        events = self._add(segment)
        self._settle()
        return events

    def _settle(self) -> None:
        """Set the sequence number that `advance` may take: None while there is a hole, or after a FIN."""
        is_plain = not self._held and self._end is None
        self.expected = self.next_sequence if is_plain else None

    def _add(self, segment: Segment) -> list[Event]:
        start = self._place(segment.sequence, segment.number)
        if start is None:
            return []
        end = start + segment.size
        if end <= self._next:
            self._note_early(start, segment)
            return []
        if self.is_closed:
            self._issues.note(IssueKind.AFTER_CLOSE, segment.number)
            return []
        if len(segment.data) < segment.size:
            self._issues.note(IssueKind.CUT_PACKET, segment.number)
        return self._take(start, end, segment)

    def finish(self, sequence: int, segment: Segment) -> list[Event]:
        """Process a FIN with this sequence number; the direction ends there once all bytes before it have arrived."""
        offset = self._place(sequence, segment.number)
        if offset is None or offset < self._next or self.is_closed:
            return []
        if self._end is None or offset < self._end:
            self._end, self._end_time = offset, segment.time
        self._settle()
        return self._close(segment.time, segment.number)

    def acknowledge(self, sequence: int, time: float, number: int) -> list[Event]:
        """Process that the other side has received all bytes before a sequence number, while some are held.

        Holes before it are given up if the capture does not have their bytes soon: its packets may be out of order.
        """
        if self._base is None or not self._held:
            return []
        distance = self._distance(self._base, sequence)
        if abs(distance) > self._limits.sequence_jump:
            return []
        former, present = self._acknowledged, _Acknowledged(self._next + distance, time)
        if former is None or former.end < self._held[0].start:
            self._acknowledged = present
            return []
        if time < former.time + _PATIENCE:
            return []
        self._acknowledged = present
        events: list[Event] = []
        while self._held and self._held[0].start <= former.end:
            events += self._give_up_hole()
        if events:
            events += self._close(time, number)
            self._settle()
        return events

    def flush(self, time: float, number: int) -> list[Event]:
        """Give up the holes: deliver all held bytes, with gaps, up to the FIN if there was one."""
        events: list[Event] = []
        while self._held:
            events += self._give_up_hole()
        if self._end is not None and self._next < self._end:
            events.append(self._gap(self._end - self._next, max(self._end_time, self._latest)))
        return events + self._close(time, number)

    def _take(self, start: int, end: int, segment: Segment) -> list[Event]:
        data = segment.data
        if start < self._next:
            data = data[self._next - start :]
            start = self._next
        if start == self._next and not self._held and len(data) == end - start:
            events: list[Event] = [self._piece(data, segment.time)]
        else:
            self._hold(start, start + len(data), data, segment.time)
            self._hold(start + len(data), end, None, segment.time)
            events = self._deliver(segment.time)
            events += self._relieve(segment)
        return events if self._end is None else events + self._close(segment.time, segment.number)

    def _place(self, sequence: int, number: int) -> int | None:
        """Return the offset of a sequence number: the one nearest to the next byte, or None if it is too far away."""
        if self._base is None:
            self._base = sequence
        distance = self._distance(self._base, sequence)
        if abs(distance) > self._limits.sequence_jump:
            self._issues.note(IssueKind.SEQUENCE_JUMP, number, f"{distance} bytes from the expected")
            return None
        return self._next + distance

    def _distance(self, base: int, sequence: int) -> int:
        """Return how many bytes a sequence number is after the next byte to deliver; negative before it."""
        return (sequence - base - self._next + _HALF) % _MODULUS - _HALF

    def _note_early(self, start: int, segment: Segment) -> None:
        """Note bytes before the first captured one, except a keep-alive (one byte before the next)."""
        if start < 0 and not self._flow.saw_syn and segment.size > 1:
            self._issues.note(IssueKind.BEFORE_START, segment.number)

    def _hold(self, start: int, end: int, data: bytes | None, time: float) -> None:
        """Fill the holes between `start` and `end` with the new bytes there."""
        cursor = start
        index = bisect_left(self._held, start, key=_start)
        if index and self._held[index - 1].end > start:
            cursor = self._held[index - 1].end
        while cursor < end:
            next_span = self._held[index] if index < len(self._held) else None
            stop = min(end, next_span.start) if next_span else end
            if cursor < stop:
                part = None if data is None else data[cursor - start : stop - start]
                self._insert(index, _Span(cursor, stop, part, time))
                index += 1
            if next_span is None:
                return
            cursor = next_span.end
            index += 1

    def _insert(self, index: int, span: _Span) -> None:
        if not self._held:
            self._acknowledged = None
        self._held.insert(index, span)
        self._held_cost += span.cost
        self._budget.used += span.cost

    def _deliver(self, time: float | None) -> list[Event]:
        """Deliver the held spans that now follow without a hole: at the time when it was filled, else at their own."""
        events: list[Event] = []
        cost = 0
        for span in self._held:
            if span.start > self._next:
                break
            cost += span.cost
            when = max(span.time, self._latest) if time is None else time
            if span.data is None:
                events.append(self._gap(span.end - span.start, when))
            else:
                events.append(self._piece(span.data, when))
        del self._held[: len(events)]
        self._held_cost -= cost
        self._budget.used -= cost
        return events

    def _relieve(self, segment: Segment) -> list[Event]:
        """Give up holes in order, until the held bytes are within the limits again."""
        events: list[Event] = []
        while self._held and self._is_over_limit():
            self._issues.note(IssueKind.BUFFER_FULL, segment.number)
            events += self._give_up_hole()
        return events

    def _is_over_limit(self) -> bool:
        return self._held_cost > self._limits.stream_buffer or self._budget.used > self._limits.total_buffer

    def _give_up_hole(self) -> list[Event]:
        first = self._held[0]
        return [self._gap(first.start - self._next, max(first.time, self._latest)), *self._deliver(None)]

    def _close(self, time: float, number: int) -> list[Event]:
        if self._end is None or self._next < self._end or self.is_closed:
            return []
        self.is_closed = True
        if self._held:
            self._issues.note(IssueKind.AFTER_CLOSE, number, f"{len(self._held)} held after the FIN")
            self._budget.used -= self._held_cost
            self._held, self._held_cost = [], 0
        return [Closed(flow=self._flow, from_opener=self._from_opener, time=time, reason="fin")]

    def _piece(self, data: bytes, time: float) -> FlowBytes:
        offset = self._next
        self._next = offset + len(data)
        self._latest = time
        return FlowBytes(flow=self._flow, from_opener=self._from_opener, time=time, offset=offset, data=data)

    def _gap(self, size: int, time: float) -> Gap:
        offset = self._next
        self._next = offset + size
        self._latest = time
        return Gap(flow=self._flow, from_opener=self._from_opener, time=time, offset=offset, size=size)
