"""Captures: pcap and pcapng files, their packets, and the TCP streams reassembled from them.

Invariant: for any bytes, only CaptureError leaves this package, and memory stays within CaptureLimits.
"""

from wiregen.formats.capture.compression import LONGEST_MAGIC, compression_of
from wiregen.formats.capture.errors import CaptureError, CutHeaderError, NotCaptureError
from wiregen.formats.capture.events import Closed, Endpoint, Event, Flow, FlowBytes, FlowRun, Gap
from wiregen.formats.capture.headers import TURNS, SegmentRun
from wiregen.formats.capture.issues import Issue, IssueKind, Issues
from wiregen.formats.capture.limits import CaptureLimits
from wiregen.formats.capture.packet import BATCH_LENGTH, Batch, Packet, Place
from wiregen.formats.capture.reader import (
    is_capture,
    may_be_capture,
    may_become_capture,
    read_batches,
    read_capture,
)
from wiregen.formats.capture.segment_keys import ends_of, keys_in, keys_of
from wiregen.formats.capture.segments import LINKS, Link
from wiregen.formats.capture.source import Source
from wiregen.formats.capture.streams import (
    CaptureReader,
    CaptureStreams,
    EventSource,
    PlacedEvent,
    assemble,
    assemble_batches,
    assemble_runs,
    place_events,
    read_streams,
)
from wiregen.formats.capture.writer import ConnectionWriter, PcapWriter

__all__ = [
    "BATCH_LENGTH",
    "LINKS",
    "LONGEST_MAGIC",
    "TURNS",
    "Batch",
    "CaptureError",
    "CaptureLimits",
    "CaptureReader",
    "CaptureStreams",
    "Closed",
    "ConnectionWriter",
    "CutHeaderError",
    "Endpoint",
    "Event",
    "EventSource",
    "Flow",
    "FlowBytes",
    "FlowRun",
    "Gap",
    "Issue",
    "IssueKind",
    "Issues",
    "Link",
    "NotCaptureError",
    "Packet",
    "PcapWriter",
    "Place",
    "PlacedEvent",
    "SegmentRun",
    "Source",
    "assemble",
    "assemble_batches",
    "assemble_runs",
    "compression_of",
    "ends_of",
    "is_capture",
    "keys_in",
    "keys_of",
    "may_be_capture",
    "may_become_capture",
    "place_events",
    "read_batches",
    "read_capture",
    "read_streams",
]
