"""The fast and the thorough readers: both return the same for any capture."""

import io
import random
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.interop import traffic
from tests.interop.traffic import LINKS, End, Link, Sent

from wiregen.formats.capture import (
    CaptureError,
    CaptureLimits,
    Event,
    FlowBytes,
    Issue,
    IssueKind,
    Issues,
    Packet,
    assemble,
    read_streams,
)
from wiregen.formats.capture.headers import Segment, UnusablePacket, read_segment
from wiregen.formats.capture.packet import Batch, batch_of
from wiregen.formats.capture.reader import read_batches, read_capture
from wiregen.formats.capture.segments import read_segments

ENDS = (
    (End(address="10.0.0.1", port=51000), End(address="10.0.0.2", port=5044)),
    (End(address="fd00::1", port=51000), End(address="fd00::2", port=5044)),
)
LINKS_OF_ALL_KINDS = {
    **LINKS,
    "old-raw": Link(number=12, wrap=lambda ip: ip),
    "unknown": Link(number=9, wrap=bytes),
}


class Trickle(io.BytesIO):
    """A stream that gives a few bytes at a time, so that no packet lies whole in a window."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return self.read(3)


def segments_of(batch: Batch) -> tuple[list[Segment], list[Issue]]:
    issues = Issues()
    segments = read_segments([batch], port=None, issues=issues)
    return list(map(Segment._make, segments)), list(issues)


def by_reference(batch: Batch) -> tuple[list[Segment], list[Issue]]:
    issues = Issues()
    segments = []
    for packet in batch.packets():
        try:
            segments.append(read_segment(packet))
        except UnusablePacket as unusable:
            issues.note(unusable.kind, packet.number, unusable.detail)
    return segments, list(issues)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Draw packets of one link type, whole, cut and damaged, side by side in one piece of memory."""
    link = draw(st.sampled_from(list(LINKS_OF_ALL_KINDS.values())))
    data, places = bytearray(), []
    for number in range(draw(st.integers(1, 4))):
        source, target = draw(st.sampled_from(ENDS))
        flags = draw(st.sampled_from([traffic.ACK, traffic.SYN, traffic.FIN | traffic.ACK]))
        payload = draw(st.binary(max_size=20))
        sent = Sent(
            source=source, target=target, sequence=draw(st.integers(0, 2**32 - 1)), flags=flags, data=payload
        )
        packet = bytearray(link.wrap(traffic.ip_packets(sent)[0]))
        for _ in range(draw(st.integers(0, 2))):
            packet[draw(st.integers(0, min(79, len(packet) - 1)))] = draw(st.integers(0, 255))
        kept = draw(st.sampled_from([len(packet), draw(st.integers(0, len(packet)))]))
        places.append((number, 1.5, len(data), len(data) + kept, len(packet)))
        data += packet[:kept]
    return Batch(link.number, bytes(data), places)


@given(batches())
def test_the_fast_and_the_thorough_reader_give_the_same_segments(batch: Batch) -> None:
    assert segments_of(batch) == by_reference(batch)


@pytest.mark.parametrize("ends", ENDS, ids=["v4", "v6"])
def test_a_tcp_header_shorter_than_its_fixed_part_is_malformed_on_both(ends: tuple[End, End]) -> None:
    data = bytearray(traffic.ip_packets(Sent(source=ends[0], target=ends[1], sequence=7, data=b"hello"))[0])
    data[-5 - 8] = 4 << 4
    batch = batch_of(Packet(1, 2.5, 101, bytes(data), len(data)))
    segments, issues = segments_of(batch)
    assert (segments, [issue.kind for issue in issues]) == ([], [IssueKind.MALFORMED_PACKET])
    assert (segments, issues) == by_reference(batch)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("ends", ENDS, ids=["v4", "v6"])
def test_the_fast_reader_reads_common_packets(
    link: str, ends: tuple[End, End], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = Sent(source=ends[0], target=ends[1], sequence=7, data=b"hello")
    data = LINKS[link].wrap(traffic.ip_packets(sent)[0])
    calls: list[Packet] = []

    def counted(packet: Packet) -> Segment:
        calls.append(packet)
        return read_segment(packet)

    monkeypatch.setattr("wiregen.formats.capture.segments.read_segment", counted)
    (segment,), issues = segments_of(batch_of(Packet(1, 2.5, LINKS[link].number, data, len(data))))
    assert (segment.data, segment.sequence, issues) == (b"hello", 7, [])
    assert bool(calls) == (link == "two-vlans")


def read(source: io.BytesIO) -> tuple[list[Packet], list[Issue]] | str:
    issues = Issues()
    try:
        return list(read_capture(source, issues=issues)), list(issues)
    except CaptureError as error:
        return str(error)


@given(st.integers(0, 2**32), st.booleans(), st.integers(0, 4))
def test_the_fast_and_the_thorough_reader_give_the_same_packets_of_damaged_files(
    seed: int, is_pcapng: bool, n_changes: int
) -> None:
    chance = random.Random(seed)
    packets = [
        packet
        for number in range(6)
        for packet in traffic.captured(
            Sent(source=ENDS[0][0], target=ENDS[0][1], sequence=number, data=chance.randbytes(number)),
            chance.choice([LINKS["raw"], LINKS["ethernet"]]),
        )
    ]
    data = bytearray((traffic.pcapng if is_pcapng else traffic.pcap)(packets, order=chance.choice("<>")))
    for _ in range(n_changes):
        at = chance.randrange(len(data))
        data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
    assert read(io.BytesIO(data)) == read(Trickle(data))


@given(st.integers(0, 2**32))
def test_a_file_gives_the_events_of_its_packets(seed: int) -> None:
    chance = random.Random(seed)
    sent = []
    for opener, other in ENDS:
        made = traffic.Talk(chance, opener, other)
        for side in (0, 1, 0):
            burst = made.burst(side, [chance.randrange(1, 50) for _ in range(4)])
            damage = chance.choice(
                [traffic.reordered, traffic.overlapping, traffic.contradicted, traffic.lost]
            )
            made.deliver(side, damage(chance, burst))
        made.finish(0)
        sent += made.sent
    data = traffic.pcapng(
        packet for each in sent for packet in traffic.captured(each, chance.choice([*LINKS.values()]))
    )
    streams, issues = read_streams(io.BytesIO(data)), Issues()
    events: list[Event] = list(streams)
    assert events == list(assemble(read_capture(io.BytesIO(data), issues=issues), issues=issues))
    assert list(streams.issues) == list(issues)


class Endless(io.RawIOBase):
    """A capture of one packet over and over, made as it is read."""

    def __init__(self, head: bytes, packets: Iterator[bytes]) -> None:
        self._waiting = head
        self._packets = packets

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        while len(self._waiting) < size and (packet := next(self._packets, None)):
            self._waiting += packet
        data, self._waiting = self._waiting[:size], self._waiting[size:]
        return data


@pytest.mark.parametrize("size", [1, 60_000], ids=["many-small", "few-large"])
def test_memory_does_not_grow_with_the_capture(size: int) -> None:
    made = traffic.Talk(random.Random(1), *ENDS[0])
    link = LINKS["raw"]
    opening = traffic.pcap(packet for sent in made.sent for packet in traffic.captured(sent, link))
    n_packets = 10_000 if size == 1 else 1_000

    def records() -> Iterator[bytes]:
        for _ in range(n_packets):
            yield traffic.pcap(traffic.captured(made.burst(0, [size])[0], link))[24:]

    tracemalloc.start()
    try:
        stream = Endless(opening, records())
        pieces = (event for event in read_streams(stream) if isinstance(event, FlowBytes))  # type: ignore[arg-type]
        assert sum(len(piece.data) for piece in pieces) == n_packets * size
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_a_batch_is_bounded_however_small_its_packets() -> None:
    data = traffic.pcap(
        traffic.captured(Sent(source=ENDS[0][0], target=ENDS[0][1], sequence=1), LINKS["raw"])
    )
    empty = data[:24] + bytes(16) * 20_000
    lengths = [len(batch.places) for batch in read_batches(io.BytesIO(empty), CaptureLimits(), Issues())]
    assert sum(lengths) == 20_000
    assert max(lengths) == 4_096


def test_a_batch_has_the_packets_of_a_window() -> None:
    data = traffic.pcap(
        traffic.captured(Sent(source=ENDS[0][0], target=ENDS[0][1], sequence=1), LINKS["raw"])
    )
    empty = data[:24] + bytes(16) * 4_000
    for n_packets in (10, 1_000):
        limits = CaptureLimits(window_size=16 * n_packets)
        lengths = {len(batch.places) for batch in read_batches(io.BytesIO(empty), limits, Issues())}
        assert n_packets - 2 <= max(lengths) <= n_packets
