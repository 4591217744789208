"""Captures that are written here: our reader and tshark get the same streams back, and no checksum is wrong."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from wiregen.formats.capture import (
    Closed,
    ConnectionWriter,
    Endpoint,
    FlowBytes,
    Gap,
    PcapWriter,
    read_streams,
)

PAIRS = {
    "ipv4": ("127.0.0.1", "10.1.2.3"),
    "ipv6": ("::1", "fe80::1%eth0"),
    "both": ("127.0.0.1", "::1"),
}
SIZES = (1, 2, 7, 1460, 2048, 2049, 32_768, 32_769, 100_001)


def written(addresses: tuple[str, str], *, is_reset: bool = False) -> tuple[bytes, dict[bool, bytes]]:
    """Return a capture of one connection, and the bytes of its directions by whether they are the opener's."""
    file, chance = io.BytesIO(), random.Random(3)
    opener, other = (
        Endpoint(address=address, port=port) for address, port in zip(addresses, (51_000, 5044), strict=True)
    )
    connection = ConnectionWriter(PcapWriter(file), opener, other)
    connection.open(1_700_000_000.25)
    sent = {True: b"", False: b""}
    for number, size in enumerate(SIZES * 2):
        data, from_opener = chance.randbytes(size), chance.random() < 0.6
        connection.send(data, 1_700_000_001.0 + number / 8, from_opener=from_opener)
        sent[from_opener] += data
    if is_reset:
        connection.reset(1_700_000_009.0, from_opener=False)
    else:
        connection.finish(1_700_000_009.0, from_opener=True)
        connection.finish(1_700_000_009.5, from_opener=False)
    return file.getvalue(), sent


@pytest.mark.parametrize("addresses", PAIRS.values(), ids=PAIRS)
def test_the_reader_gets_the_same_streams_back(addresses: tuple[str, str]) -> None:
    data, sent = written(addresses)
    found = {True: b"", False: b""}
    streams = read_streams(io.BytesIO(data))
    ends = []
    for event in streams:
        assert event.flow.saw_syn
        assert not isinstance(event, Gap)
        if isinstance(event, FlowBytes):
            found[event.from_opener] += event.data
        if isinstance(event, Closed):
            ends.append((event.reason, event.from_opener, event.time))
    assert found == sent
    assert ends == [("fin", True, 1_700_000_009.0), ("fin", False, 1_700_000_009.5)]
    assert not list(streams.issues)


def test_a_reset_ends_both_directions() -> None:
    data, _ = written(PAIRS["ipv4"], is_reset=True)
    ends = [event for event in read_streams(io.BytesIO(data)) if isinstance(event, Closed)]
    assert [(event.reason, event.from_opener) for event in ends] == [("rst", False)]


@pytest.mark.parametrize("addresses", PAIRS.values(), ids=PAIRS)
def test_tshark_finds_right_checksums_and_the_same_bytes(addresses: tuple[str, str], tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    data, sent = written(addresses)
    path = tmp_path / "made.pcap"
    path.write_bytes(data)
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    fields = ("tcp.srcport", "tcp.checksum.status", "ip.checksum.status", "tcp.analysis.flags", "tcp.payload")
    asked = [word for name in fields for word in ("-e", name)]
    done = subprocess.run(
        ["tshark", "-r", str(path), *checks, "-T", "fields", *asked],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    found = {True: b"", False: b""}
    for line in done.stdout.splitlines():
        port, checksum, ip_checksum, analysis, payload = line.split("\t")
        assert (checksum, ip_checksum, analysis) in (("1", "1", ""), ("1", "", ""))
        found[port == "51000"] += bytes.fromhex(payload.replace(":", ""))
    assert found == sent
