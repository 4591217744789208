"""The places of packets in a capture are where a reader finds them, whatever the file and the headers."""

from __future__ import annotations

import io
import random
import struct

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from hypothesis import given
from hypothesis import strategies as st
from tests.interop import traffic
from tests.interop.traffic import LINKS, Sent
from tests.unit.formats.test_capture_fast_readers import (
    ENDS,
    LINKS_OF_ALL_KINDS,
    Trickle,
    batches,
    by_reference,
)
from tests.unit.formats.test_capture_files import block, interface, section

from wiregen.formats.capture import Batch, CaptureError, IssueKind, Issues, keys_in, read_capture
from wiregen.formats.capture.headers import SYN, UnusablePacket, read_segment
from wirespark.packet_headers import read_headers
from wirespark.packet_locating import locate_packets

Place = tuple[bytes, int, float, bytes, int]
Counts = dict[IssueKind, int]
PORT = ENDS[0][1].port


def located(source: io.BytesIO, data: bytes, port: int | None) -> tuple[list[Place], Counts] | str:
    """Return the key, the link type, the time, the bytes and the size of each packet, by its place; and the issues."""
    places: list[Place] = []
    issues = Issues()
    try:
        for found in locate_packets(source, port=port, issues=issues):
            for key, (offset, time, captured, size, link) in zip(
                found.keys, found.records.tolist(), strict=True
            ):
                places.append((key, link, time, data[offset : offset + captured], max(size, captured)))
    except CaptureError as error:
        return str(error)
    return places, {issue.kind: issue.count for issue in issues}


def by_reading(data: bytes, port: int | None) -> tuple[list[Place], Counts] | str:
    places: list[Place] = []
    issues = Issues()
    try:
        for packet in read_capture(io.BytesIO(data), issues=issues):
            try:
                key = read_segment(packet).key
            except UnusablePacket as unusable:
                issues.note(unusable.kind, packet.number)
                continue
            if port is None or port.to_bytes(2, "big") in (key[-4:-2], key[-2:]):
                places.append((key, packet.link_type, packet.time, packet.data, packet.size))
            else:
                issues.note(IssueKind.OTHER_PORT, packet.number)
    except CaptureError as error:
        return str(error)
    return places, {issue.kind: issue.count for issue in issues}


@given(st.integers(0, 2**32), st.booleans(), st.integers(0, 4), st.sampled_from([None, PORT, 9]))
def test_packets_are_where_a_reader_finds_them(
    seed: int, is_pcapng: bool, n_changes: int, port: int | None
) -> None:
    chance = random.Random(seed)
    links = chance.sample(list(LINKS_OF_ALL_KINDS.values()), 2)
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
                is_split=chance.random() < 0.1,
            ),
            chance.choice(links),
        )
    ]
    data = bytearray((traffic.pcapng if is_pcapng else traffic.pcap)(packets, order=chance.choice("<>")))
    for _ in range(n_changes):
        at = chance.randrange(len(data))
        data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
    expected = by_reading(bytes(data), port)
    assert located(io.BytesIO(data), bytes(data), port) == expected
    assert located(Trickle(data), bytes(data), port) == expected


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
    assert isinstance(expected, tuple) and len(expected[0]) == 3
    assert located(io.BytesIO(data), data, None) == expected


@given(batches())
def test_usual_headers_are_those_that_the_reader_of_packets_finds(batch: Batch) -> None:
    """Each column is that of its segment; nothing but usual packets counts."""
    headers = read_headers(batch)
    segments = {segment.number: segment for segment in by_reference(batch)[0]}
    usual = [
        number
        for number, is_usual in zip(headers.places.numbers.tolist(), headers.is_usual, strict=True)
        if is_usual
    ]
    assert segments.keys() >= set(usual)
    for index in headers.is_usual.nonzero()[0].tolist():
        segment, fields = segments[int(headers.places.numbers[index])], headers.fields[index]
        assert fields["key"].tobytes() == segment.key
        assert fields["flags"] == segment.flags
        assert (int(fields["sequence"]) + bool(segment.flags & SYN)) % (1 << 32) == segment.sequence
        assert batch.data[headers.begins[index] : headers.stops[index]] == segment.data


@pytest.mark.parametrize("link", LINKS)
def test_usual_packets_are_not_read_one_by_one(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those between others that have unusual headers are not either."""
    sent = Sent(source=ENDS[0][0], target=ENDS[0][1], sequence=7, data=b"hello")
    other = Sent(source=ENDS[1][0], target=ENDS[1][1], sequence=7, data=b"hello")
    packets = [packet for each in (sent, other, sent, sent) for packet in traffic.captured(each, LINKS[link])]
    data = traffic.pcap(packets)
    expected = by_reading(data, None)
    numbers: list[int] = []

    def counted(batch: Batch, *, port: int | None, issues: Issues) -> dict[int, bytes]:
        numbers.extend(number for number, *_ in batch.places)
        return keys_in(batch, port=port, issues=issues)

    monkeypatch.setattr("wirespark.packet_locating.keys_in", counted)
    assert located(io.BytesIO(data), data, None) == expected
    are_usual = "vlan" not in link
    assert numbers == ([2] if are_usual else [1, 2, 3, 4])
