"""Captures: pcap and pcapng files, their packets, and the TCP streams put together from them.

Invariant: whatever the bytes, only CaptureError leaves this room, and memory stays within CaptureLimits.
"""

from wiregen.capture.errors import CaptureError
from wiregen.capture.events import Closed, Endpoint, Event, Flow, Gap, Piece
from wiregen.capture.issues import Issue, IssueKind, Issues
from wiregen.capture.limits import CaptureLimits
from wiregen.capture.packet import Packet
from wiregen.capture.reader import is_capture, read_capture
from wiregen.capture.source import Source
from wiregen.capture.streams import CaptureReader, CaptureStreams, EventSource, assemble, read_streams

__all__ = [
    "CaptureError",
    "CaptureLimits",
    "CaptureReader",
    "CaptureStreams",
    "Closed",
    "Endpoint",
    "Event",
    "EventSource",
    "Flow",
    "Gap",
    "Issue",
    "IssueKind",
    "Issues",
    "Packet",
    "Piece",
    "Source",
    "assemble",
    "is_capture",
    "read_capture",
    "read_streams",
]
