"""TCP conversations as a bad network leaves them in a capture: made from a seed, written in any link type and format.

A conversation knows nothing of how it is read: it is packets only, so that two readers can be held against each other.
"""

from __future__ import annotations

import ipaddress
import random
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
MODULUS = 1 << 32


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a conversation."""

    address: str
    port: int

    @property
    def packed(self) -> bytes:
        return ipaddress.ip_address(self.address).packed

    @property
    def is_v6(self) -> bool:
        return ":" in self.address


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One segment on its way; `cut` bytes of its end are not captured, `is_split` sends it as two IP fragments."""

    source: End
    target: End
    sequence: int
    acknowledged: int = 0
    flags: int = ACK
    data: bytes = b""
    window: int = 8192
    cut: int = 0
    is_split: bool = False

    @property
    def tcp(self) -> bytes:
        numbers = (self.source.port, self.target.port, self.sequence % MODULUS, self.acknowledged % MODULUS)
        return struct.pack(">HHIIBBHHH", *numbers, 5 << 4, self.flags, self.window, 0, 0) + self.data


def ip_packets(sent: Sent) -> tuple[bytes, ...]:
    """Return the segment's IP packet, or the two fragments of it."""
    if sent.source.is_v6:
        payload = sent.tcp
        head = struct.pack(">IHBB", 6 << 28, len(payload), 6, 64)
        return (head + sent.source.packed + sent.target.packed + payload,)
    if not sent.is_split:
        return (_ipv4(sent, sent.tcp, 0),)
    middle = len(sent.tcp) // 2 & ~7
    return (_ipv4(sent, sent.tcp[:middle], 0x2000), _ipv4(sent, sent.tcp[middle:], middle // 8))


def _ipv4(sent: Sent, payload: bytes, fragment: int) -> bytes:
    head = struct.pack(">BxHHHBBH", 0x45, 20 + len(payload), sent.sequence & 0xFFFF, fragment, 64, 6, 0)
    return head + sent.source.packed + sent.target.packed + payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link type, and its bytes around an IP packet."""

    number: int
    wrap: Callable[[bytes], bytes]


def _ethernet(ip: bytes, tags: bytes = b"") -> bytes:
    frame = bytes(range(12)) + tags + _ether_type(ip) + ip
    return frame + bytes(max(0, 60 - len(frame)))


def _ether_type(ip: bytes) -> bytes:
    return b"\x86\xdd" if ip[0] >> 4 == 6 else b"\x08\x00"


def _family(ip: bytes) -> int:
    return 10 if ip[0] >> 4 == 6 else 2


LINKS = {
    "ethernet": Link(number=1, wrap=_ethernet),
    "vlan": Link(number=1, wrap=lambda ip: _ethernet(ip, b"\x81\x00\x00\x07")),
    "two-vlans": Link(number=1, wrap=lambda ip: _ethernet(ip, b"\x88\xa8\x00\x07\x81\x00\x00\x09")),
    "raw": Link(number=101, wrap=lambda ip: ip),
    "loopback": Link(number=0, wrap=lambda ip: struct.pack("<I", 30 if ip[0] >> 4 == 6 else 2) + ip),
    "cooked": Link(number=113, wrap=lambda ip: struct.pack(">HHH8x", 0, 1, 6) + _ether_type(ip) + ip),
    "cooked-2": Link(number=276, wrap=lambda ip: _ether_type(ip) + struct.pack(">xxIHBB8x", 2, 1, 0, 6) + ip),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """A packet of a file: its interface, the bytes that were kept, and its original length."""

    link: Link
    data: bytes
    size: int


def captured(sent: Sent, link: Link) -> Iterator[Captured]:
    """Yield the packets that a segment is captured as."""
    for ip in ip_packets(sent):
        whole = link.wrap(ip)
        yield Captured(link=link, data=whole[: len(whole) - sent.cut], size=len(whole))


def pcap(packets: Iterable[Captured], *, order: str = "<", is_nano: bool = False) -> bytes:
    """Return a pcap file; all packets have the link type of the first."""
    packets = list(packets)
    magic = 0xA1B23C4D if is_nano else 0xA1B2C3D4
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262_144, packets[0].link.number)]
    for i, packet in enumerate(packets):
        parts += (
            struct.pack(order + "IIII", 7 + i // 1000, i % 1000, len(packet.data), packet.size),
            packet.data,
        )
    return b"".join(parts)


def pcapng(packets: Iterable[Captured], *, order: str = "<") -> bytes:
    """Return a pcapng file with an interface for each link type."""
    packets = list(packets)
    numbers = sorted({packet.link.number for packet in packets})
    parts = [_block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))]
    parts += [_block(order, 1, struct.pack(order + "HHI", number, 0, 0)) for number in numbers]
    for i, packet in enumerate(packets):
        head = (numbers.index(packet.link.number), 0, 7_000_000 + i, len(packet.data), packet.size)
        parts.append(_block(order, 6, struct.pack(order + "IIIII", *head) + packet.data))
    return b"".join(parts)


def _block(order: str, type_: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", type_) + size + body + size


class Talk:
    """Both directions of one connection while it is made; `sent` are the packets in the capture, in its order.

    An acknowledgement covers only bytes that were captured whole by then, as in a capture next to the receiver.
    """

    def __init__(
        self, chance: random.Random, opener: End, other: End, *, has_syn: bool = True, wraps: bool = True
    ) -> None:
        self._chance = chance
        self._ends = (opener, other)
        starts = [1, 2, 40, 300, 900, 1 << 31] if wraps else range(1, MODULUS)
        self._next = [MODULUS - chance.choice(starts) for _ in self._ends]
        self._seen = list(self._next)
        self.sent: list[Sent] = []
        if has_syn:
            self._open()

    def _open(self) -> None:
        self.sent.append(self._segment(0, self._next[0], flags=SYN))
        self._next[0] += 1
        self._seen[0] += 1
        self.sent.append(self._segment(1, self._next[1], flags=SYN | ACK))
        self._next[1] += 1
        self._seen[1] += 1

    def _segment(
        self,
        side: int,
        sequence: int,
        data: bytes = b"",
        *,
        flags: int = ACK,
        window: int = 8192,
    ) -> Sent:
        return Sent(
            source=self._ends[side],
            target=self._ends[1 - side],
            sequence=sequence,
            acknowledged=self._seen[1 - side] if flags & ACK else 0,
            flags=flags,
            data=data,
            window=window,
        )

    def burst(self, side: int, sizes: Sequence[int]) -> list[Sent]:
        """Return segments of new bytes, not sent yet."""
        segments = []
        for size in sizes:
            segments.append(
                self._segment(side, self._next[side], self._chance.randbytes(size), flags=ACK | PSH)
            )
            self._next[side] += size
        return segments

    def deliver(self, side: int, segments: Iterable[Sent], *, is_whole: bool = True) -> None:
        """Put segments into the capture; `is_whole`: all bytes up to now are there, and may be acknowledged."""
        self.sent += segments
        if is_whole:
            self._seen[side] = self._next[side]

    def acknowledge(self, side: int) -> None:
        """Both ends say that they have everything, whatever the capture holds; `side` speaks first."""
        self._seen = list(self._next)
        self.sent += [self._segment(each, self._next[each]) for each in (side, 1 - side)]

    def probe(self, side: int) -> None:
        """Send a closed window, a probe with the next byte, and that byte again with those after it."""
        (segment,) = self.burst(side, [20])
        self.sent.append(self._segment(1 - side, self._next[1 - side], window=0))
        self.deliver(side, [replace(segment, data=segment.data[:1]), segment])

    def keep_alive(self, side: int) -> None:
        """One byte from before the next one, whatever its value."""
        self.sent.append(self._segment(side, self._next[side] - 1, b"\0"))

    def finish(self, side: int) -> None:
        """Both ends send their FIN, `side` first."""
        for each in (side, 1 - side):
            self.sent.append(self._segment(each, self._next[each], flags=FIN | ACK))
            self._next[each] += 1
            self._seen[each] += 1

    def reset(self, side: int) -> None:
        self.sent.append(self._segment(side, self._next[side], flags=RST | ACK))


def reordered(chance: random.Random, segments: list[Sent]) -> list[Sent]:
    return chance.sample(segments, len(segments))


def repeated(chance: random.Random, segments: list[Sent]) -> list[Sent]:
    """Send some segments again, whole, at any later place."""
    again = list(segments)
    for segment in chance.sample(segments, len(segments) // 2):
        again.insert(chance.randrange(again.index(segment) + 1, len(again) + 1), segment)
    return again


def overlapping(chance: random.Random, segments: list[Sent]) -> list[Sent]:
    """Cut the same bytes anew: segments that share bytes with their neighbours, in any order."""
    data, first = b"".join(segment.data for segment in segments), segments[0].sequence
    cuts = []
    for segment in segments:
        start = segment.sequence - first
        begin = max(0, start - chance.randrange(30))
        end = min(len(data), start + len(segment.data) + chance.randrange(30))
        cuts.append(replace(segment, sequence=first + begin, data=data[begin:end]))
    return reordered(chance, cuts)


def contradicted(chance: random.Random, segments: list[Sent]) -> list[Sent]:
    """Send bytes again with other content, after the first ones have been delivered, and some new ones after them."""
    *before, last = segments
    liar = replace(
        last, sequence=before[-1].sequence, data=chance.randbytes(len(before[-1].data)) + last.data
    )
    return [*before, liar, *before[:2], replace(last, data=chance.randbytes(len(last.data)))]


def lost(chance: random.Random, segments: list[Sent]) -> list[Sent]:
    """Drop one to three segments, the last one never."""
    n_lost = chance.randrange(1, min(4, len(segments)))
    gone = chance.sample(range(len(segments) - 1), n_lost)
    return [segment for i, segment in enumerate(segments) if i not in gone]


def split(chance: random.Random, segments: list[Sent]) -> list[Sent]:
    """Send one segment, not the last, as IP fragments."""
    at = chance.randrange(len(segments) - 1)
    return [replace(segment, is_split=i == at) for i, segment in enumerate(segments)]
