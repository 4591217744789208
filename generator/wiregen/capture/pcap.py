"""pcap files: one header, then records to the end.

Source: draft-ietf-opsawg-pcap, "General File Structure" and "Packet Record".
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from wiregen.capture.errors import CaptureError
from wiregen.capture.issues import IssueKind, Issues
from wiregen.capture.limits import CaptureLimits
from wiregen.capture.packet import Packet
from wiregen.capture.source import Input


class _Flavour(NamedTuple):
    byte_order: str
    ticks_per_second: float


_FLAVOURS = {
    bytes.fromhex("d4c3b2a1"): _Flavour("<", 1e6),
    bytes.fromhex("a1b2c3d4"): _Flavour(">", 1e6),
    bytes.fromhex("4d3cb2a1"): _Flavour("<", 1e9),
    bytes.fromhex("a1b23c4d"): _Flavour(">", 1e9),
}
PCAP_MAGICS = tuple(_FLAVOURS)

_LINK_TYPE_MASK = 0xFFFF  # the upper half of the field tells the length of the frame check sequence


def read_pcap(magic: bytes, file: Input, limits: CaptureLimits, issues: Issues) -> Iterator[Packet]:
    """Yield the packets behind `magic`, which was read already.

    Raises:
        CaptureError: the file ends inside its header.
    """
    flavour = _FLAVOURS[magic]
    record = struct.Struct(flavour.byte_order + "IIII")
    link_type = _read_link_type(flavour, file)
    number = 0
    while len(head := file.read(record.size)) == record.size:
        seconds, ticks, captured_size, wire_size = record.unpack(head)
        number += 1
        data = read_packet_data(number, captured_size, file, limits, issues)
        if data is None:
            return
        time = seconds + ticks / flavour.ticks_per_second
        yield Packet(number, time, link_type, data, max(wire_size, captured_size))
    if head:
        issues.note(
            IssueKind.TRUNCATED_FILE, file.offset, f"{len(head)} of {record.size} bytes of a record's header"
        )


def _read_link_type(flavour: _Flavour, file: Input) -> int:
    header = struct.Struct(flavour.byte_order + "HHiIII")
    data = file.read(header.size)
    if len(data) < header.size:
        raise CaptureError(f"the capture's header is cut: expected 24 bytes, found {4 + len(data)}")
    *_, link_type = header.unpack(data)
    return int(link_type) & _LINK_TYPE_MASK


def read_packet_data(
    number: int, size: int, file: Input, limits: CaptureLimits, issues: Issues
) -> bytes | None:
    """Read a packet of `size` bytes, not more than the limit of it; None where the file ends inside."""
    kept_size = min(size, limits.packet_size)
    data = file.read(kept_size)
    if len(data) < kept_size or not file.skip(size - kept_size):
        issues.note(IssueKind.TRUNCATED_FILE, file.offset, f"inside packet {number} of {size} bytes")
        return None
    if size > kept_size:
        issues.note(IssueKind.OVERSIZED_PACKET, number, f"{size} bytes, the limit is {kept_size}")
    return data
