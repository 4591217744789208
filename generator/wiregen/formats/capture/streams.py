"""Reads streams: a capture in, the bytes of its TCP connections out, both directions in capture order."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from wiregen.formats.capture.events import Event
from wiregen.formats.capture.flows import FlowTable
from wiregen.formats.capture.headers import Values
from wiregen.formats.capture.issues import Issues
from wiregen.formats.capture.limits import CaptureLimits
from wiregen.formats.capture.packet import Batch, Packet, batch_of
from wiregen.formats.capture.reader import read_batches
from wiregen.formats.capture.segments import read_segments
from wiregen.formats.capture.source import Source

Keeps = Callable[[bytes], bool]
"""Whether the connections of two ends are kept: their addresses and ports, in an order of their own."""


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

    def __init__(
        self, source: Source, *, port: int | None, limits: CaptureLimits, keeps: Keeps | None = None
    ) -> None:
        self._source = source
        self._port = port
        self._keeps = keeps
        self._limits = limits
        self.issues = Issues()

    def __iter__(self) -> Iterator[Event]:
        self.issues = Issues()
        batches = read_batches(self._source, self._limits, self.issues)
        return _assemble(batches, self._port, self._limits, self.issues, self._keeps)


def read_streams(
    source: Source,
    *,
    port: int | None = None,
    limits: CaptureLimits | None = None,
    keeps: Keeps | None = None,
) -> CaptureStreams:
    """Return the streams of a capture, only those with an end at `port` if one is given.

    `keeps` is asked once for each two ends that have a connection: the others are not reassembled. Its argument
    is the same for both directions and for all connections of these ends. Iterating raises CaptureError if the source cannot be opened or is not a capture.
    """
    return CaptureStreams(source, port=port, limits=limits or CaptureLimits(), keeps=keeps)


def assemble(
    packets: Iterable[Packet],
    *,
    port: int | None = None,
    limits: CaptureLimits | None = None,
    issues: Issues | None = None,
) -> Iterator[Event]:
    """Yield the events of the packets' TCP flows, with memory within the limits."""
    return _assemble(
        map(batch_of, packets), port, limits or CaptureLimits(), Issues() if issues is None else issues
    )


def _assemble(
    batches: Iterable[Batch],
    port: int | None,
    limits: CaptureLimits,
    issues: Issues,
    keeps: Keeps | None = None,
) -> Iterator[Event]:
    table = FlowTable(port=port, limits=limits, issues=issues)
    values = None
    segments = read_segments(batches, port=port, issues=issues)
    for values in segments if keeps is None else _kept(segments, keeps):
        yield from table.add(values)
    if values is not None:
        number, time = values[:2]
        yield from table.finish(time, number)


def _kept(segments: Iterable[Values], keeps: Keeps) -> Iterator[Values]:
    """Yield the segments of ends that are kept."""
    known: dict[bytes, bool] = {}
    for segment in segments:
        key = segment[2]
        is_kept = known.get(key)
        if is_kept is None:
            half, ports = (len(key) - 4) // 2, key[-4:]
            ends = sorted((key[:half] + ports[:2], key[half : 2 * half] + ports[2:]))
            is_kept = known[key] = keeps(b"".join(ends))
        if is_kept:
            yield segment
