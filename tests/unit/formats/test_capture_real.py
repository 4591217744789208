"""Captures of real clients, and one written by dpkt: their streams byte for byte."""

import gzip
import io
import json
from pathlib import Path

import dpkt
import pytest

from wiregen.formats.capture import Closed, FlowBytes, read_capture, read_streams
from wiregen.formats.capture.source import Source

CAPTURES = Path(__file__).resolve().parents[2] / "conformance" / "data" / "captures"
NAMES = (
    "golumber-async-pipelined",
    "golumber-c0-w10",
    "npm-w10-plain",
    "pylogbeat-unicode",
    "pylogbeat-w10",
    "ruby-d-unicode",
)


def streams_of(source: Source, *, port: int | None = None) -> dict[str, tuple[bytes, bytes]]:
    """Return by flow the bytes from the opener and those from the other end; no gap and no issue is allowed."""
    streams = read_streams(source, port=port)
    found: dict[str, tuple[bytearray, bytearray]] = {}
    for event in streams:
        from_opener, from_other = found.setdefault(event.flow.name, (bytearray(), bytearray()))
        assert isinstance(event, FlowBytes | Closed)
        if isinstance(event, FlowBytes):
            (from_opener if event.from_opener else from_other).extend(event.data)
    assert [str(issue) for issue in streams.issues if not issue.is_harmless] == []
    return {name: (bytes(one), bytes(two)) for name, (one, two) in found.items()}


@pytest.mark.parametrize("name", NAMES)
def test_lumberjack_captures(name: str) -> None:
    folder = CAPTURES / "lumberjack" / name
    numbers = range(len(list(folder.glob("conn*.c2s.bin"))))
    expected = [
        tuple((folder / f"conn{number}.{way}.bin").read_bytes() for way in ("c2s", "s2c"))
        for number in numbers
    ]
    assert list(streams_of(folder / "capture.pcap").values()) == expected


def test_pravega_capture() -> None:
    folder = CAPTURES / "pravega" / "write_read"
    text = json.loads(gzip.decompress((folder / "write_read.streams.json.gz").read_bytes()))
    port = text["store_port"]
    streams = streams_of(folder / "write_read.pcap.gz", port=port)
    expected = {
        f"127.0.0.1:{connection['client_port']}-127.0.0.1:{port}": (
            bytes.fromhex(connection["c2s"]),
            bytes.fromhex(connection["s2c"]),
        )
        for connection in text["connections"]
    }
    assert streams == expected


@pytest.mark.parametrize("name", NAMES)
def test_dpkt_reads_the_same_packets(name: str) -> None:
    raw = (CAPTURES / "lumberjack" / name / "capture.pcap").read_bytes()
    theirs = [(round(time, 5), data) for time, data in dpkt.pcap.Reader(io.BytesIO(raw))]
    assert [(round(packet.time, 5), packet.data) for packet in read_capture(io.BytesIO(raw))] == theirs


def test_a_conversation_written_by_dpkt() -> None:
    file = io.BytesIO()
    writer = dpkt.pcap.Writer(file, snaplen=65535, linktype=1)
    for i in range(100):
        writer.writepkt(dpkt_frame(51000, 5044, 1 + 10 * i, b"%010d" % i), ts=i)
        writer.writepkt(dpkt_frame(5044, 51000, 2**32 - 250 + 5 * i, b"%05d" % i), ts=i + 0.5)
    file.seek(0)
    forth = b"".join(b"%010d" % i for i in range(100))
    back = b"".join(b"%05d" % i for i in range(100))
    assert streams_of(file, port=5044) == {"127.0.0.1:51000-127.0.0.1:5044": (forth, back)}


def dpkt_frame(sport: int, dport: int, sequence: int, data: bytes) -> bytes:
    segment = dpkt.tcp.TCP(sport=sport, dport=dport, seq=sequence % 2**32, flags=dpkt.tcp.TH_ACK, data=data)
    loopback = bytes([127, 0, 0, 1])
    packet = dpkt.ip.IP(src=loopback, dst=loopback, p=6, data=segment)
    packet.len = len(packet)
    return bytes(dpkt.ethernet.Ethernet(type=0x0800, data=packet))
