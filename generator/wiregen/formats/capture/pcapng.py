"""pcapng files: sections, interfaces and packets in blocks; other content of blocks is skipped.

A block's length is trusted only as far as there are bytes: a fixed part is read, the rest is skipped in
pieces. Source: draft-ietf-opsawg-pcapng, "General File Structure".
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wiregen.formats.capture.errors import CutHeaderError, NotCaptureError
from wiregen.formats.capture.issues import IssueKind, Issues
from wiregen.formats.capture.limits import CaptureLimits
from wiregen.formats.capture.packet import BATCH_LENGTH, Batch, Packet, Place, batch_of
from wiregen.formats.capture.resynchronisation import find_block
from wiregen.formats.capture.source import CaptureInput

PCAPNG_MAGIC = bytes.fromhex("0a0d0d0a")

_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800  # other times have no date
_BYTE_ORDERS = {bytes.fromhex("4d3c2b1a"): "<", bytes.fromhex("1a2b3c4d"): ">"}
_OPTION_END, _OPTION_RESOLUTION, _OPTION_TIME_OFFSET = 0, 9, 14
_FRAME_SIZE = 12  # type and length before the body, the length again after it
_HEAD_OF_BLOCK = 8  # type and length
_PACKET_START = 28  # of the packet in its block
_PACKET_FRAME_SIZE = _PACKET_START + 4
_LARGEST_BLOCK = 1 << 24  # the limit of Wireshark
_LOOK_SIZE = 1 << 20
_HEAD_SIZE = 64 * 1024  # more than the fixed part of any block, and enough for an interface's options


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interface:
    link_type: int
    snap_size: int  # 0: unlimited
    ticks_per_second: int = 1_000_000
    time_offset: int = 0  # seconds


class _Lost(Exception):
    """The offset of the next block is unknown."""

    def __init__(self, kind: IssueKind, at: int, detail: str) -> None:
        super().__init__(kind, at, detail)
        self.kind = kind
        self.at = at
        self.detail = detail


class _BadBlock(Exception):
    """The current block holds an impossible value; it is skipped."""


class _Reader:
    """Reads the blocks of one file; holds the section's byte order and interfaces, and the number of packets so far."""

    def __init__(self, file: CaptureInput, limits: CaptureLimits, issues: Issues) -> None:
        self._file = file
        self._limits = limits
        self._issues = issues
        self._number = 0
        self._time = 0.0
        self._block_offset = 0
        self._waiting: Packet | None = None  # of the block that was read last
        self._waiting_offset = 0
        self._interfaces: list[_Interface] = []
        self._structs = _Structs("<")
        self._packet_blocks: dict[int, Callable[[bytes], Packet]] = {
            _PACKET: self._packet,
            _OLD_PACKET: self._old_packet,
            _SIMPLE_PACKET: self._simple_packet,
        }

    def batches(self) -> Iterator[Batch]:
        """Yield the packets of every section; the first section's magic was read already."""
        is_open = self._go(self._start_section)
        while is_open:
            if batch := self._index():
                yield batch
            else:
                is_open = self._go(self._read_block)
                if self._waiting is not None:
                    yield batch_of(self._waiting, self._waiting_offset)

    def _go(self, step: Callable[[], bool]) -> bool:
        """Take a step; after damage, resume at the next valid block. Return False at the end."""
        self._waiting = None
        try:
            return step()
        except _Lost as lost:
            start = self._block_offset
            self._file.back_to(start + 1)
            is_found = find_block(self._file, self._structs.byte_order, self._limits.packet_size)
            if is_found:
                detail = f"{lost.detail}, going on {self._file.offset - start} bytes later"
                self._issues.note(IssueKind.DAMAGED_BLOCK, start, detail)
            elif lost.kind is IssueKind.TRUNCATED_FILE:
                self._file.note_cut(lost.at, lost.detail)
            else:
                self._issues.note(lost.kind, lost.at, lost.detail)
            return is_found

    def _index(self) -> Batch | None:
        """Return the next packet blocks that are complete in the window, valid, and of one link type; skip them."""
        window, position = self._file.window, self._file.position
        unpack, unpack_length = self._structs.packet_block.unpack_from, self._structs.length.unpack_from
        size, largest = len(window), self._limits.packet_size
        last = size - _PACKET_FRAME_SIZE
        interface, current, index = None, -1, self._number
        places: list[Place] = []
        while position <= last and len(places) < BATCH_LENGTH:
            type_, length, number, high, low, captured_size, wire_size = unpack(window, position)
            end = position + length
            if type_ != _PACKET or end > size or length & 3 or captured_size > largest:
                break
            if captured_size > length - _PACKET_FRAME_SIZE or unpack_length(window, end - 4) != (length,):
                break
            if number != current:
                found = self._same_link(interface, number)
                if found is None:
                    break
                interface, current = found, number
                ticks_per_second, time_offset = found.ticks_per_second, found.time_offset
            start = position + _PACKET_START
            time = time_offset + (high << 32 | low) / ticks_per_second
            if not _YEAR_1 <= time < _YEAR_10000:
                break
            index += 1
            places.append((index, time, start, start + captured_size, wire_size))
            position = end
        if interface is None or not places:
            return None
        self._file.position = position
        self._number, self._time = index, places[-1][1]
        return Batch(interface.link_type, window, places, self._file.start_of_window)

    def _same_link(self, interface: _Interface | None, number: int) -> _Interface | None:
        """Return the numbered interface if it exists and has the link type of the given one."""
        if number >= len(self._interfaces):
            return None
        found = self._interfaces[number]
        return found if interface is None or found.link_type == interface.link_type else None

    def _read_block(self) -> bool:
        """Read the next block, of any kind; return False at the end."""
        self._block_offset = self._file.offset
        self._file.widen(_FRAME_SIZE)  # so that the window keeps its first byte for a way back
        head = self._file.read(4)
        if len(head) < 4:
            if head:
                raise self._truncated()
            return False
        if head == PCAPNG_MAGIC:  # the same in both byte orders
            return self._start_section()
        (type_,) = self._structs.length.unpack(head)
        body = self._read_body(type_, self._file.read(4))
        try:
            self._take(type_, body)
        except (_BadBlock, struct.error) as error:
            self._issues.note(IssueKind.DAMAGED_BLOCK, self._block_offset, f"block type {type_}: {error}")
        return True

    def _take(self, type_: int, body: bytes) -> None:
        if type_ in self._packet_blocks:
            self._number += 1
            self._waiting = self._packet_blocks[type_](body)
        elif type_ == _INTERFACE:
            self._add_interface(body)

    def _start_section(self) -> bool:
        """Read the rest of a section header; its byte order also determines how to read its own length.

        Raises:
            CaptureError: The file's first section lacks the byte-order magic; a CutHeaderError if the file ends before it.
        """
        length, magic = self._file.read(4), self._file.read(4)
        if magic not in _BYTE_ORDERS:
            if self._file.offset <= _FRAME_SIZE:
                found = magic.hex() or "the end"
                error = CutHeaderError if len(magic) < 4 else NotCaptureError
                raise error(f"not a pcapng file: expected byte-order magic 1a2b3c4d, found {found}")
            raise _Lost(IssueKind.DAMAGED_FILE, self._block_offset, f"byte-order magic {magic.hex()}")
        self._structs = _Structs(_BYTE_ORDERS[magic])
        self._interfaces = []
        self._read_body(_SECTION, length, already_read=4)
        return True

    def _read_body(self, type_: int, length: bytes, *, already_read: int = 0) -> bytes:
        """Return the body, without the bytes after the kept size.

        Raises:
            _Lost: The length is impossible, or exceeds the file.
        """
        if len(length) < 4:
            raise self._truncated()
        (block_size,) = self._structs.length.unpack(length)
        body_size = block_size - _FRAME_SIZE - already_read
        if body_size < 0 or block_size > _LARGEST_BLOCK:
            raise _Lost(IssueKind.DAMAGED_FILE, self._block_offset, f"block length {block_size}")
        padded_size = body_size + -body_size % 4  # some writers leave the padding out of the length
        # Checked before any byte is skipped: if the file ends sooner, there may be valid blocks up to there.
        if not self._file.widen(min(padded_size + 4, _LOOK_SIZE), behind=_FRAME_SIZE):
            raise _Lost(IssueKind.TRUNCATED_FILE, self._file.end_of_window, "inside a block")
        kept_size = min(padded_size, self._kept_size(type_))
        body = self._file.read(kept_size)
        if not self._file.skip(padded_size - kept_size) or not self._read_trailer(length):
            raise self._truncated()
        return body

    def _kept_size(self, type_: int) -> int:
        if type_ in self._packet_blocks:
            return self._limits.packet_size + self._structs.packet.size
        return _HEAD_SIZE if type_ == _INTERFACE else 0

    def _read_trailer(self, length: bytes) -> bool:
        """Read the length after a block; if it differs, that is noted, and the length before the block is used."""
        trailer = self._file.read(4)
        if len(trailer) == 4 and trailer != length:
            detail = f"length {length.hex()} before the block, {trailer.hex()} after it"
            self._issues.note(IssueKind.DAMAGED_BLOCK, self._block_offset, detail)
        return len(trailer) == 4

    def _truncated(self) -> _Lost:
        return _Lost(IssueKind.TRUNCATED_FILE, self._file.offset, "inside a block")

    def _add_interface(self, body: bytes) -> None:
        if len(self._interfaces) >= self._limits.n_interfaces:
            raise _BadBlock(f"more than {self._limits.n_interfaces} interfaces")
        self._interfaces.append(_read_interface(self._structs, body))

    def _packet(self, body: bytes) -> Packet:
        number, high, low, captured_size, wire_size = self._structs.packet.unpack_from(body)
        interface = self._interface(number)
        self._set_time(interface, high << 32 | low)
        return self._make(interface, body, 20, captured_size, wire_size)

    def _old_packet(self, body: bytes) -> Packet:
        number, _drops, high, low, captured_size, wire_size = self._structs.old_packet.unpack_from(body)
        interface = self._interface(number)
        self._set_time(interface, high << 32 | low)
        return self._make(interface, body, 20, captured_size, wire_size)

    def _set_time(self, interface: _Interface, ticks: int) -> None:
        """Set the time of a packet; one before the year 1 or after 9999 is damaged, as if it lacked."""
        time = interface.time_offset + ticks / interface.ticks_per_second
        if _YEAR_1 <= time < _YEAR_10000:
            self._time = time
        else:
            self._issues.note(IssueKind.NO_TIMESTAMP, self._number)

    def _simple_packet(self, body: bytes) -> Packet:
        (wire_size,) = self._structs.length.unpack_from(body)
        interface = self._interface(0)
        self._issues.note(IssueKind.NO_TIMESTAMP, self._number)
        captured_size = min(wire_size, interface.snap_size or wire_size, len(body) - 4)
        return self._make(interface, body, 4, captured_size, wire_size)

    def _interface(self, number: int) -> _Interface:
        if number >= len(self._interfaces):
            raise _BadBlock(f"interface {number} of {len(self._interfaces)}")
        return self._interfaces[number]

    def _make(
        self, interface: _Interface, body: bytes, start: int, captured_size: int, wire_size: int
    ) -> Packet:
        kept_size = min(captured_size, self._limits.packet_size)
        if kept_size > len(body) - start:
            raise _BadBlock(f"packet of {captured_size} bytes in {len(body) - start}")
        if kept_size < captured_size:
            detail = f"{captured_size} bytes, the limit is {kept_size}"
            self._issues.note(IssueKind.OVERSIZED_PACKET, self._number, detail)
        data = body[start : start + kept_size]
        self._waiting_offset = self._block_offset + _HEAD_OF_BLOCK + start
        return Packet(self._number, self._time, interface.link_type, data, max(wire_size, captured_size))


class _Structs:
    """The fixed parts of blocks in one byte order."""

    __slots__ = (
        "byte_order",
        "interface",
        "length",
        "old_packet",
        "option",
        "packet",
        "packet_block",
        "time_offset",
    )

    def __init__(self, byte_order: str) -> None:
        self.byte_order = byte_order
        self.length = struct.Struct(byte_order + "I")
        self.interface = struct.Struct(byte_order + "HHI")
        self.option = struct.Struct(byte_order + "HH")
        self.packet = struct.Struct(byte_order + "IIIII")
        self.packet_block = struct.Struct(byte_order + "IIIIIII")
        self.old_packet = struct.Struct(byte_order + "HHIIII")
        self.time_offset = struct.Struct(byte_order + "q")


def read_pcapng(file: CaptureInput, limits: CaptureLimits, issues: Issues) -> Iterator[Batch]:
    """Yield the packets after the first section's block type, which was read already.

    Raises:
        CaptureError: The first section header lacks the byte-order magic.
    """
    return _Reader(file, limits, issues).batches()


def _read_interface(structs: _Structs, body: bytes) -> _Interface:
    link_type, _reserved, snap_size = structs.interface.unpack_from(body)
    ticks_per_second, time_offset = 1_000_000, 0
    for code, value in _options(structs, body, structs.interface.size):
        if code == _OPTION_RESOLUTION and len(value) == 1:
            base = 2 if value[0] & 0x80 else 10
            ticks_per_second = base ** (value[0] & 0x7F)
        elif code == _OPTION_TIME_OFFSET and len(value) == structs.time_offset.size:
            (time_offset,) = structs.time_offset.unpack(value)
    return _Interface(
        link_type=link_type, snap_size=snap_size, ticks_per_second=ticks_per_second, time_offset=time_offset
    )


def _options(structs: _Structs, body: bytes, offset: int) -> Iterator[tuple[int, bytes]]:
    while offset + structs.option.size <= len(body):
        code, size = structs.option.unpack_from(body, offset)
        if code == _OPTION_END:
            return
        offset += structs.option.size
        yield code, body[offset : offset + size]
        offset += size + -size % 4
