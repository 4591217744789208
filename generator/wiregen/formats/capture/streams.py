"""Reads streams: a capture in, the bytes of its TCP connections out, both directions in capture order."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from wiregen.formats.capture.events import Event, Flow, FlowBytes, FlowRun
from wiregen.formats.capture.flows import FlowTable
from wiregen.formats.capture.headers import SYN, SegmentRun, Values
from wiregen.formats.capture.issues import Issues
from wiregen.formats.capture.limits import CaptureLimits
from wiregen.formats.capture.packet import Batch, Packet, batch_of
from wiregen.formats.capture.reader import read_batches
from wiregen.formats.capture.segments import read_segments
from wiregen.formats.capture.source import Source


class EventSource(Protocol):
    """Events in capture order; the issues are complete after the last event."""

    @property
    def issues(self) -> Issues: ...

    def __iter__(self) -> Iterator[Event]: ...


class CaptureReader(Protocol):
    """The interface by which a faster reader replaces `read_streams`."""

    def __call__(
        self, source: Source, *, port: int | None = None, limits: CaptureLimits | None = None
    ) -> EventSource: ...


class CaptureStreams:
    """The streams of one capture; each iteration reads it again and counts its issues anew."""

    def __init__(self, source: Source, *, port: int | None, limits: CaptureLimits) -> None:
        self._source = source
        self._port = port
        self._limits = limits
        self.issues = Issues()

    def __iter__(self) -> Iterator[Event]:
        self.issues = Issues()
        batches = read_batches(self._source, self._limits, self.issues)
        return assemble_batches(batches, port=self._port, limits=self._limits, issues=self.issues)


def read_streams(
    source: Source, *, port: int | None = None, limits: CaptureLimits | None = None
) -> CaptureStreams:
    """Return the streams of a capture, only those with an end at `port` if one is given.

    Iterating raises CaptureError if the source cannot be opened or is not a capture.
    """
    return CaptureStreams(source, port=port, limits=limits or CaptureLimits())


def assemble(
    packets: Iterable[Packet],
    *,
    port: int | None = None,
    limits: CaptureLimits | None = None,
    issues: Issues | None = None,
) -> Iterator[Event]:
    """Yield the events of the packets' TCP flows, with memory within the limits."""
    return assemble_batches(map(batch_of, packets), port=port, limits=limits, issues=issues)


def assemble_batches(
    batches: Iterable[Batch],
    *,
    port: int | None = None,
    limits: CaptureLimits | None = None,
    issues: Issues | None = None,
    without: Collection[bytes] = (),
) -> Iterator[Event]:
    """Yield the same of packets in batches. `without`: keys of segments that are left out."""
    noted = Issues() if issues is None else issues
    table = FlowTable(port=port, limits=limits or CaptureLimits(), issues=noted)
    values: Values | None = None
    segments = read_segments(batches, port=port, issues=noted)
    for values in segments if not without else (each for each in segments if each[2] not in without):
        yield from table.add(values)
    if values is not None:
        number, time = values[:2]
        yield from table.finish(time, number)


Runs: TypeAlias = Callable[[Batch, Callable[[bytes], bool] | None], Sequence[SegmentRun] | None]
"""Returns the segments of a batch whose keys are wanted (None: all) as one run for each key, or None if they are not such runs."""
_MOST_SKIPPED = 15


def assemble_runs(
    batches: Iterable[Batch],
    *,
    runs_of: Runs,
    port: int | None,
    issues: Issues,
    without: Collection[bytes] = (),
) -> Iterator[Event | FlowRun]:
    """Yield the same as `assemble_batches`, with bytes of several packets at once where `runs_of` puts these together.

    The events of each direction are in the order of its packets; those of others may be between them at other places. Connections
    that are open at the end of the capture end with its last packet, whichever it is. After batches without runs, as many are not
    tried, at most 15.
    """
    table = FlowTable(port=port, limits=CaptureLimits(), issues=issues)
    is_wanted = (lambda key: key not in without) if without else None
    number, time, n_missed, n_skipped = 0, 0.0, 0, 0
    for batch in batches:
        number, time, *_ = batch.places[-1]
        runs = None
        if n_skipped < n_missed:
            n_skipped += 1
        else:
            runs = _runs_in(batch, table, is_wanted, runs_of)
            n_missed, n_skipped = min(2 * n_missed + 1, _MOST_SKIPPED) if runs is None else 0, 0
        if runs is None:
            for values in _segments_in(batch, is_wanted, port, issues):
                yield from table.add(values)
        else:
            yield from map(table.add_run, runs)
    yield from table.finish(time, number)


class PlacedEvent(NamedTuple):
    """An event, and the packets with which reading can begin to have it again; a tuple for the same reason as a packet.

    `opened` is the number of the packet with which its flow begins, `packet` that of the packet that made it possible. If
    `is_first`, it has all bytes of that packet (of a run, of its packets), and no earlier one has later bytes of its direction.
    """

    event: Event
    opened: int
    packet: int
    is_first: bool


def place_events(
    batches: Iterable[Batch],
    *,
    keys: Collection[bytes],
    port: int | None,
    issues: Issues,
    first: int = 1,
    last: int | None = None,
    is_amid: bool = False,
    runs_of: Runs = lambda _batch, _keys: None,
) -> Iterator[PlacedEvent]:
    """Yield the events of the flows between two ends, whose segments have these keys, from one packet to another.

    `first` and `last` are their numbers. `is_amid`: the flow was open before, and is open up to `last`; a SYN between is then a late
    copy of its own, whose sequence number is not known. Only the issues of streams are noted, not those of packets.
    `runs_of` returns the runs of a batch, or None; they are used where no earlier byte lacks.
    """
    table = FlowTable(port=port, limits=CaptureLimits(), issues=issues)
    flow: Flow | None = None
    number, time, opened, former = 0, 0.0, 0, 0
    for values in _values_of(batches, table, keys, port, runs_of):
        own, when, key, _sequence, _acknowledged, flags, _data, size = values
        if own < first or (is_amid and flags & SYN and own != last):
            continue
        number, time = own, when
        events = table.add(values)
        present = table.flow_of(key)
        if present is not None and present is not flow:
            flow, former, opened = present, opened, number
        is_all = len(events) == 1 and isinstance(events[0], FlowBytes) and len(events[0].data) == size
        for event in events:
            is_first = is_all and table.expected(key) is not None
            yield PlacedEvent(event, opened if event.flow is flow else former, number, is_first)
        if number == last:
            break
    for event in table.finish(time, number):
        yield PlacedEvent(event, opened, number, is_first=False)


def _values_of(
    batches: Iterable[Batch], table: FlowTable, keys: Collection[bytes], port: int | None, runs_of: Runs
) -> Iterator[Values]:
    """Yield the segments with these keys, joined where the table expects them next."""
    for batch in batches:
        runs = _runs_in(batch, table, keys.__contains__, runs_of)
        if runs is None:
            yield from _segments_in(batch, keys.__contains__, port, Issues())
        else:
            yield from (run.joined for run in runs)


def _runs_in(
    batch: Batch, table: FlowTable, is_wanted: Callable[[bytes], bool] | None, runs_of: Runs
) -> Sequence[SegmentRun] | None:
    """Return the runs of a batch if each begins with the byte that the table expects, or None.

    The acknowledgements of a run's packets are lost. They matter while data waits for earlier ones.
    """
    runs = None if table.is_holding else runs_of(batch, is_wanted)
    if runs is None or any(table.expected(run.key) != run.sequence for run in runs):
        return None
    return runs


def _segments_in(
    batch: Batch, is_wanted: Callable[[bytes], bool] | None, port: int | None, issues: Issues
) -> Iterator[Values]:
    """Return the segments of a batch whose keys are wanted."""
    segments = read_segments((batch,), port=port, issues=issues)
    return segments if is_wanted is None else (values for values in segments if is_wanted(values[2]))
