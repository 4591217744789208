"""pcap files: one header, then records to the end.

Source: draft-ietf-opsawg-pcap, "General File Structure" and "Packet Record".
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from wiregen.formats.capture.errors import CutHeaderError
from wiregen.formats.capture.issues import IssueKind, Issues
from wiregen.formats.capture.limits import CaptureLimits
from wiregen.formats.capture.packet import BATCH_LENGTH, Batch, Packet, Place, batch_of
from wiregen.formats.capture.source import CaptureInput


class _Flavour(NamedTuple):
    header: struct.Struct
    record: struct.Struct
    ticks_per_second: float


def _flavour(byte_order: str, ticks_per_second: float) -> _Flavour:
    header, record = struct.Struct(byte_order + "HHiIII"), struct.Struct(byte_order + "IIII")
    return _Flavour(header, record, ticks_per_second)


_FLAVOURS = {
    bytes.fromhex("d4c3b2a1"): _flavour("<", 1e6),
    bytes.fromhex("a1b2c3d4"): _flavour(">", 1e6),
    bytes.fromhex("4d3cb2a1"): _flavour("<", 1e9),
    bytes.fromhex("a1b23c4d"): _flavour(">", 1e9),
}
PCAP_MAGICS = tuple(_FLAVOURS)

_LINK_TYPE_MASK = 0xFFFF  # the upper half of the field is the length of the frame check sequence


def read_pcap(magic: bytes, file: CaptureInput, limits: CaptureLimits, issues: Issues) -> Iterator[Batch]:
    """Yield the packets after `magic`, which was read already.

    Raises:
        CutHeaderError: The file ends inside its header.
    """
    flavour = _FLAVOURS[magic]
    link_type = _read_link_type(flavour, file)
    number = 0
    while True:
        places = _index(flavour, number, file, limits.packet_size)
        if places:
            number += len(places)
            yield Batch(link_type, file.window, places, file.start_of_window)
        else:
            start = file.offset + flavour.record.size
            packet = _read_packet(flavour, number + 1, link_type, file, limits, issues)
            if packet is None:
                return
            number += 1
            yield batch_of(packet, start)


def _index(flavour: _Flavour, number: int, file: CaptureInput, largest: int) -> list[Place]:
    """Return the places of the next packets that are complete in the window and not too long, and skip them."""
    window, position = file.window, file.position
    unpack, ticks_per_second = flavour.record.unpack_from, flavour.ticks_per_second
    size = len(window)
    last = size - flavour.record.size
    places: list[Place] = []
    while position <= last and len(places) < BATCH_LENGTH:
        seconds, ticks, captured_size, wire_size = unpack(window, position)
        start = position + 16
        end = start + captured_size
        if end > size or captured_size > largest:
            break
        number += 1
        places.append((number, seconds + ticks / ticks_per_second, start, end, wire_size))
        position = end
    file.position = position
    return places


def _read_packet(
    flavour: _Flavour, number: int, link_type: int, file: CaptureInput, limits: CaptureLimits, issues: Issues
) -> Packet | None:
    """Read the next packet, of any length, or return None at the end."""
    head = file.read(flavour.record.size)
    if len(head) < flavour.record.size:
        if head:
            detail = f"{len(head)} of {flavour.record.size} bytes of a record's header"
            file.note_cut(file.offset, detail)
        return None
    seconds, ticks, captured_size, wire_size = flavour.record.unpack(head)
    data = _read_data(number, captured_size, file, limits, issues)
    if data is None:
        return None
    time = seconds + ticks / flavour.ticks_per_second
    return Packet(number, time, link_type, data, max(wire_size, captured_size))


def _read_link_type(flavour: _Flavour, file: CaptureInput) -> int:
    data = file.read(flavour.header.size)
    if len(data) < flavour.header.size:
        raise CutHeaderError(f"the capture's header is cut: expected 24 bytes, found {4 + len(data)}")
    *_, link_type = flavour.header.unpack(data)
    return int(link_type) & _LINK_TYPE_MASK


def _read_data(
    number: int, size: int, file: CaptureInput, limits: CaptureLimits, issues: Issues
) -> bytes | None:
    """Read a packet of `size` bytes, up to the limit of packets, or return None if the file ends inside it."""
    kept_size = min(size, limits.packet_size)
    data = file.read(kept_size)
    if len(data) < kept_size or not file.skip(size - kept_size):
        file.note_cut(file.offset, f"inside packet {number} of {size} bytes")
        return None
    if size > kept_size:
        issues.note(IssueKind.OVERSIZED_PACKET, number, f"{size} bytes, the limit is {kept_size}")
    return data
