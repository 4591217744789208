"""Writes captures: TCP connections as pcap, with the packets that a capture next to the opener would have.

Invariant: lengths, sequence numbers and checksums are right, so that any reader gets the same streams back.
"""

import ipaddress
import struct
from typing import BinaryIO, Final

from wiregen.formats.capture.events import Endpoint

__all__ = ["ConnectionWriter", "PcapWriter"]

_FIN, _SYN, _RST, _PSH, _ACK = 1, 2, 4, 8, 16
_ETHERNET: Final = 1
_MICROSECONDS: Final = 0xA1B2C3D4
_SNAP_LENGTH: Final = 262_144
_LONGEST_SEGMENT: Final = 32_768
"""Bytes of a packet's payload: an IP packet has at most 65,535, and readers hold whole packets."""
_ADDRESSES: Final = (b"\x02\0\0\0\0\1", b"\x02\0\0\0\0\2")
"""Ethernet addresses of the opener and the other end: locally administered, as no device has them."""
_PIECE: Final = 2048
"""Bytes that are added as one number; an even number."""
_MODULUS: Final = 1 << 32


class PcapWriter:
    """Writes a pcap file of Ethernet frames, times in microseconds."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        file.write(struct.pack("<IHHiIII", _MICROSECONDS, 2, 4, 0, 0, _SNAP_LENGTH, _ETHERNET))

    def packet(self, frame: bytes, time: float) -> None:
        """Write one frame, which was captured whole; `time`: seconds since 1970."""
        seconds, micros = divmod(round(time * 1e6), 10**6)
        self._file.write(struct.pack("<IIII", seconds, micros, len(frame), len(frame)))
        self._file.write(frame)

    def flush(self) -> None:
        """Hand all packets to the system, for programs that read the file while it grows."""
        self._file.flush()


class ConnectionWriter:
    """Writes the packets of one TCP connection.

    Addresses of two families are both written as IPv6, the one of IPv4 mapped (RFC 4291, 2.5.5.2).
    """

    def __init__(self, pcap: PcapWriter, opener: Endpoint, other: Endpoint) -> None:
        self._pcap = pcap
        self._ports = (opener.port, other.port)
        addresses = tuple(ipaddress.ip_address(each.address.partition("%")[0]) for each in (opener, other))
        self._is_v6 = any(each.version == 6 for each in addresses)
        self._addresses = tuple(_mapped(each) if self._is_v6 else each.packed for each in addresses)
        self._next = [0, 0]

    def open(self, time: float) -> None:
        """Write the handshake."""
        self._write(0, _SYN, time, acknowledges=False)
        self._write(1, _SYN | _ACK, time)
        self._write(0, _ACK, time)

    def send(self, data: bytes, time: float, *, from_opener: bool) -> None:
        """Write bytes of one direction."""
        for start in range(0, len(data), _LONGEST_SEGMENT):
            self._write(int(not from_opener), _PSH | _ACK, time, data[start : start + _LONGEST_SEGMENT])

    def finish(self, time: float, *, from_opener: bool) -> None:
        """Write the end of one direction."""
        self._write(int(not from_opener), _FIN | _ACK, time)

    def reset(self, time: float, *, from_opener: bool) -> None:
        """Write the abrupt end of both directions."""
        self._write(int(not from_opener), _RST | _ACK, time)

    def _write(
        self, side: int, flags: int, time: float, data: bytes = b"", *, acknowledges: bool = True
    ) -> None:
        acknowledged = self._next[1 - side] if acknowledges else 0
        head = struct.pack(
            ">HHIIBBHHH",
            self._ports[side],
            self._ports[1 - side],
            self._next[side],
            acknowledged,
            5 << 4,
            flags,
            0xFFFF,
            0,
            0,
        )
        self._next[side] = (self._next[side] + len(data) + bool(flags & (_SYN | _FIN))) % _MODULUS
        source, target = self._addresses[side], self._addresses[1 - side]
        pseudo = source + target + struct.pack(">II", len(head) + len(data), 6)
        head = head[:16] + _checksum(pseudo + head, data) + head[18:]
        size = len(head) + len(data)
        ip = _ipv6(size) if self._is_v6 else _ipv4(source + target, size)
        kind = b"\x86\xdd" if self._is_v6 else b"\x08\x00"
        addresses = _ADDRESSES[1 - side] + _ADDRESSES[side]
        between = source + target if self._is_v6 else b""
        self._pcap.packet(addresses + kind + ip + between + head + data, time)


def _ipv4(addresses: bytes, size: int) -> bytes:
    """Return the whole header of a packet with so many bytes after it, which may not be fragmented."""
    head = struct.pack(">BxHHHBBH", 0x45, 20 + size, 0, 0x4000, 64, 6, 0) + addresses
    return head[:10] + _checksum(head) + head[12:]


def _ipv6(size: int) -> bytes:
    """Return the header up to the addresses."""
    return struct.pack(">IHBB", 6 << 28, size, 6, 64)


def _mapped(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bytes:
    return address.packed if address.version == 6 else bytes(10) + b"\xff\xff" + address.packed


def _checksum(head: bytes, data: bytes = b"") -> bytes:
    """Return the Internet checksum (RFC 1071) of a head of even length, and data after it."""
    total = (_sum(head) + _sum(data)) % 0xFFFF
    return (0xFFFF - (total or 0xFFFF)).to_bytes(2)


def _sum(data: bytes) -> int:
    """Return a number that is equal to the sum of the 16-bit words modulo 65,535.

    Data as one number is, because 65,536 is 1 modulo 65,535. Sums of short pieces take half the time of one long number.
    """
    data += bytes(len(data) % 2)
    return sum(int.from_bytes(data[start : start + _PIECE]) for start in range(0, len(data), _PIECE))
