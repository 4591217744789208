"""A real Pravega client and its store: every connection is read to the last byte, and the same bytes come of it."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests import commands
from tests.conformance.two_codecs import CODECS, Codec, Wire
from tests.conformance.vectors import HERE

from wireproto import pravega

ROOT: Final = HERE.parents[1]
CAPTURE: Final = ROOT / "examples" / "captures" / "pravega-write-read.pcap.gz"
STREAMS: Final = json.loads(
    gzip.decompress((HERE / "data" / "pravega-write-read.streams.json.gz").read_bytes())
)
"""The same connections as somebody else's program took them out of the capture."""

SIDES: Final = {"client": "c2s", "server": "s2c"}
each_codec = pytest.mark.parametrize("codec", CODECS)
each_stream = pytest.mark.parametrize(
    ("number", "role"),
    [pytest.param(n, role, id=f"{n}-{role}") for n in range(len(STREAMS["connections"])) for role in SIDES],
)


def stream(number: int, role: str) -> bytes:
    return bytes.fromhex(STREAMS["connections"][number][SIDES[role]])


def frames_of(number: int, role: Any) -> list[pravega.Frame]:
    decoder = pravega.Decoder(role, strict=True)
    frames = list(decoder.feed(stream(number, role)))
    decoder.finish()
    return frames


def chunkings(data: bytes) -> Iterator[list[bytes]]:
    """Yield the stream whole, in single bytes, and cut at random (the same places in every run)."""
    yield [data]
    yield [data[at : at + 1] for at in range(len(data))]
    for seed in range(5):
        places = sorted(random.Random(seed).choices(range(len(data) + 1), k=seed + 3))
        yield [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


def test_the_capture_is_what_it_was() -> None:
    sizes = [len(stream(number, role)) for number in range(3) for role in SIDES]
    assert (len(STREAMS["connections"]), sizes) == (3, [1804, 481, 2111, 3367, 683, 687])


@each_stream
def test_a_stream_is_read_to_its_last_byte_and_written_again(number: int, role: str) -> None:
    data, frames = stream(number, role), frames_of(number, role)
    assert frames
    assert [type(frame.message) for frame in frames].count(pravega.Unknown) == 0
    assert b"".join(frame.encode() for frame in frames) == data
    assert b"".join(pravega.encode(frame.message) for frame in frames) == data


@each_codec
@each_stream
def test_a_stream_is_the_same_in_any_chunks(codec: Codec, number: int, role: str) -> None:
    data, wire = stream(number, role), Wire(protocol="pravega", role=role, strict=True)
    whole = [wire.record(frame) for frame in frames_of(number, role)]
    for chunks in chunkings(data):
        reading = wire.reading(codec)
        assert [item for chunk in chunks for item in reading.feed(chunk)] == whole
        assert (reading.decoder.offset, list(reading.finish())) == (len(data), [])
    assert b"".join(wire.encode(codec, record) for record in whole) == data


def appends(number: int) -> list[pravega.AppendBlockEnd]:
    messages = [frame.message for frame in frames_of(number, "client")]
    return [message for message in messages if isinstance(message, pravega.AppendBlockEnd)]


def test_appends_hold_whole_events_as_many_as_they_say() -> None:
    found = [append for number in range(3) for append in appends(number)]
    assert found
    for append in found:
        decoder = pravega.Decoder("client", strict=True)
        events = list(decoder.feed(append.data))
        decoder.finish()
        assert {type(event.message) for event in events} == {pravega.Event}
        assert (len(events), len(append.data)) == (append.num_events, append.size_of_whole_events)


def test_what_was_appended_is_what_was_read() -> None:
    (read,) = [
        frame.message
        for number in range(3)
        for frame in frames_of(number, "server")
        if isinstance(frame.message, pravega.SegmentRead)
    ]
    assert (read.offset, read.data) == (0, b"".join(append.data for append in appends(0)))
    assert b"hello world" in read.data


# ---- the command


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("capture")
    return commands.printed(
        "decode", "pravega", "--pcap", str(CAPTURE), "--format", "jsonl", "--strict", folder=folder
    )


@each_stream
def test_the_command_reads_the_capture_and_gives_it_back(
    number: int, role: str, printed: bytes, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in printed.splitlines()]
    flow = f"127.0.0.1:{STREAMS['connections'][number]['client_port']}-127.0.0.1:{STREAMS['store_port']}"
    own = [line for line in lines if (line["flow"], line["from"]) == (flow, role)]
    ends = [line["offset"] + line["size"] for line in own]
    assert [line["offset"] for line in own] == [0, *ends[:-1]]
    assert ends[-1] == len(stream(number, role))
    assert not any({"error", "raw"} & line.keys() for line in lines)
    wire = Wire(protocol="pravega", role=role)
    records = [wire.record(frame) for frame in frames_of(number, role)]
    assert [{key: line[key] for key in ("message", "header", "fields")} for line in own] == records
    chosen = ("encode", "pravega", "-", "--flow", flow, "--from", role)
    assert commands.printed(*chosen, folder=tmp_path, data=printed) == stream(number, role)
