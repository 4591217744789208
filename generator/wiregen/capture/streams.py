"""The door for streams: a capture in, the bytes of its TCP connections out, both directions in capture order."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from wiregen.capture.events import Event
from wiregen.capture.flows import FlowTable
from wiregen.capture.headers import Segment, UnusablePacket, read_segment
from wiregen.capture.issues import IssueKind, Issues
from wiregen.capture.limits import CaptureLimits
from wiregen.capture.packet import Packet
from wiregen.capture.reader import read_capture
from wiregen.capture.source import Source


class EventSource(Protocol):
    """Events in capture order; the issues are complete once the events have been taken."""

    @property
    def issues(self) -> Issues: ...

    def __iter__(self) -> Iterator[Event]: ...


class CaptureReader(Protocol):
    """What a faster reader has to offer to stand in for `read_streams`."""

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
        packets = read_capture(self._source, limits=self._limits, issues=self.issues)
        return assemble(packets, port=self._port, limits=self._limits, issues=self.issues)


def read_streams(
    source: Source, *, port: int | None = None, limits: CaptureLimits | None = None
) -> CaptureStreams:
    """Return the streams of a capture, those that touch `port` if one is given.

    Iterating raises CaptureError where the source cannot be opened or is no capture.
    """
    return CaptureStreams(source, port=port, limits=limits or CaptureLimits())


def assemble(
    packets: Iterable[Packet],
    *,
    port: int | None = None,
    limits: CaptureLimits | None = None,
    issues: Issues | None = None,
) -> Iterator[Event]:
    """Yield the events of the packets' TCP flows, holding no more than the limits allow."""
    limits = limits or CaptureLimits()
    issues = Issues() if issues is None else issues
    table = FlowTable(port=port, limits=limits, issues=issues)
    number, time = 0, 0.0
    for segment in read_segments(packets, port=port, issues=issues):
        number, time = segment.number, segment.time
        yield from table.add(segment)
    yield from table.finish(time, number)


def read_segments(packets: Iterable[Packet], *, port: int | None, issues: Issues) -> Iterator[Segment]:
    """Yield the TCP segments that touch `port`; every other packet is an issue."""
    wanted = None if port is None else port.to_bytes(2, "big")
    for packet in packets:
        try:
            segment = read_segment(packet)
        except UnusablePacket as unusable:
            issues.note(unusable.kind, packet.number, unusable.detail)
            continue
        if wanted is None or segment.key[-2:] == wanted or segment.key[-4:-2] == wanted:
            yield segment
        else:
            issues.note(IssueKind.OTHER_PORT, segment.number)
