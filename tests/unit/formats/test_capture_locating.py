"""The places of packets in a capture are where a reader finds them, whatever the file."""

import io
import random
import struct

from hypothesis import given
from hypothesis import strategies as st
from tests.interop import traffic
from tests.interop.traffic import LINKS, Sent
from tests.unit.formats.test_capture_fast_readers import ENDS, Trickle
from tests.unit.formats.test_capture_files import block, interface, section

from wiregen.formats.capture import CaptureError, ends_of, locate_packets, read_capture
from wiregen.formats.capture.headers import UnusablePacket, read_segment

Place = tuple[bytes, int, float, bytes, int]
PORT = ENDS[0][1].port


def located(source: io.BytesIO, data: bytes, port: int | None) -> list[Place] | str:
    """Return the key, the link type, the time, the bytes and the size of each packet, by its place."""
    try:
        return [
            (
                found.key,
                found.link_type,
                found.time,
                data[found.offset : found.offset + found.captured_size],
                max(found.size, found.captured_size),
            )
            for found in locate_packets(source, port=port)
        ]
    except CaptureError as error:
        return str(error)


def by_reading(data: bytes, port: int | None) -> list[Place] | str:
    found: list[Place] = []
    try:
        for packet in read_capture(io.BytesIO(data)):
            try:
                key = read_segment(packet).key
            except UnusablePacket:
                continue
            if port is None or port.to_bytes(2, "big") in (key[-4:-2], key[-2:]):
                found.append((key, packet.link_type, packet.time, packet.data, packet.size))
    except CaptureError as error:
        return str(error)
    return found


@given(st.integers(0, 2**32), st.booleans(), st.integers(0, 4), st.sampled_from([None, PORT]))
def test_packets_are_where_a_reader_finds_them(
    seed: int, is_pcapng: bool, n_changes: int, port: int | None
) -> None:
    chance = random.Random(seed)
    packets = [
        packet
        for number in range(8)
        for ends in [chance.choice(ENDS)]
        for packet in traffic.captured(
            Sent(
                source=ends[0],
                target=ends[1],
                sequence=number,
                data=chance.randbytes(number),
                cut=number // 7,
            ),
            chance.choice([LINKS["raw"], LINKS["ethernet"]]),
        )
    ]
    data = bytearray((traffic.pcapng if is_pcapng else traffic.pcap)(packets, order=chance.choice("<>")))
    for _ in range(n_changes):
        at = chance.randrange(len(data))
        data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
    expected = by_reading(bytes(data), port)
    assert located(io.BytesIO(data), bytes(data), port) == expected
    assert located(Trickle(data), bytes(data), port) == expected


def test_both_directions_have_the_same_ends() -> None:
    for source, target in ENDS:
        ports = source.port.to_bytes(2, "big"), target.port.to_bytes(2, "big")
        there = source.packed + target.packed + ports[0] + ports[1]
        back = target.packed + source.packed + ports[1] + ports[0]
        other = source.packed + target.packed + ports[1] + ports[0]
        assert ends_of(there) == ends_of(back) != ends_of(other)


def test_packets_in_blocks_of_every_kind_are_located() -> None:
    sent = Sent(source=ENDS[0][0], target=ENDS[0][1], sequence=1, data=b"hello")
    packet = traffic.ip_packets(sent)[0]
    n_bytes = len(packet)
    blocks = (
        block(2, struct.pack("<HHIIII", 0, 0, 0, 1, n_bytes, n_bytes) + packet),
        block(3, struct.pack("<I", n_bytes) + packet),
        block(6, struct.pack("<IIIII", 0, 0, 1, n_bytes, n_bytes) + packet),
    )
    data = section() + interface(link_type=101) + b"".join(blocks)
    expected = by_reading(data, None)
    assert len(expected) == 3 and located(io.BytesIO(data), data, None) == expected
