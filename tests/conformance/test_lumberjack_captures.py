"""Captures decode to the events that real clients sent, and encode to the same bytes."""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.built_schema import schema_of
from tests.commands import printed
from tests.conformance.vectors import CAPTURES

from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_record
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wireproto import lumberjack as lj

PLAN = schema_of("lumberjack")
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "captures").glob("*.pcap"))
FOLDERS = sorted((CAPTURES / "lumberjack").glob("*/"))
STREAMS = [path for folder in FOLDERS for path in sorted(folder.glob("conn*.*.bin"))]
Line = dict[str, Any]
Role = Literal["writer", "reader"]
ROLES: tuple[Role, ...] = ("writer", "reader")

with_folder = pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in FOLDERS])
with_stream = pytest.mark.parametrize(
    "stream", [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in STREAMS]
)
with_example = pytest.mark.parametrize("capture", [pytest.param(path, id=path.stem) for path in EXAMPLES])


def decoded(capture: Path, folder: Path) -> list[Line]:
    text = printed("decode", "lumberjack", "--pcap", str(capture), "--format", "jsonl", folder=folder)
    lines: list[Line] = [json.loads(line) for line in text.splitlines()]
    return lines


def encoded(lines: list[Line], folder: Path) -> bytes:
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    printed("encode", "lumberjack", "-", "-o", "made.bin", folder=folder, data=text)
    return (folder / "made.bin").read_bytes()


def by_flow(lines: list[Line]) -> dict[str, list[Line]]:
    """Return the lines of each connection, in the order of the capture."""
    flows: dict[str, list[Line]] = {}
    for line in lines:
        flows.setdefault(line["flow"], []).append(line)
    return flows


def from_role(lines: list[Line], role: Role) -> list[Line]:
    return [line for line in lines if line["from"] == role]


def flat(lines: list[Line]) -> Iterator[Line]:
    """Yield the messages, those of envelopes in their place."""
    for line in lines:
        if line["message"] == "Compressed":
            yield from flat(line["fields"]["frames"])
        else:
            yield line


def events(lines: list[Line]) -> list[Line]:
    return [line for line in flat(lines) if line["message"] in ("Data", "Json")]


# ---- what was sent, as the clients were asked


def asked_for(folder: Path) -> Iterator[Line]:
    with gzip.open(folder / "expected.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def as_asked(event: Line, connection: int, like: Line) -> Line:
    """Return a decoded event in the form of the client's input; `like` has the keys of that form."""
    fields = event["fields"]
    known: Line = {"conn": connection, "seq": fields["sequence"]}
    if "document" in fields:
        document = bytes.fromhex(fields["document"])
        known |= {"json": fields.get("document_json"), "payload_b64": base64.b64encode(document).decode()}
    else:
        pairs = [[octets(pair["key"]), octets(pair["value"])] for pair in fields["pairs"]]
        known["pairs_b64"] = [[base64.b64encode(part).decode() for part in pair] for pair in pairs]
        known["pairs"] = [[part.decode("utf-8", "replace") for part in pair] for pair in pairs]
    return {key: known.get(key) for key in like}


def octets(text: Any) -> bytes:
    return bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode()


@with_folder
def test_a_capture_holds_what_was_sent(folder: Path, tmp_path: Path) -> None:
    flows = by_flow(decoded(folder / "capture.pcap", tmp_path))
    numbered = [
        (n, event) for n, lines in enumerate(flows.values()) for event in events(from_role(lines, "writer"))
    ]
    asked = list(asked_for(folder))
    assert len(numbered) == len(asked) > 0
    assert [as_asked(event, n, like) for (n, event), like in zip(numbered, asked, strict=True)] == asked


@with_folder
def test_a_capture_gives_back_the_bytes_of_both_directions(folder: Path, tmp_path: Path) -> None:
    flows = by_flow(decoded(folder / "capture.pcap", tmp_path))
    assert len(flows) == len(list(folder.glob("conn*.c2s.bin")))
    for connection, lines in enumerate(flows.values()):
        for role, suffix in zip(ROLES, ("c2s", "s2c"), strict=True):
            sent = (folder / f"conn{connection}.{suffix}.bin").read_bytes()
            assert encoded(from_role(lines, role), tmp_path) == sent


@with_example
def test_every_event_of_an_example_was_announced_and_acknowledged(capture: Path, tmp_path: Path) -> None:
    for lines in by_flow(decoded(capture, tmp_path)).values():
        sent = from_role(lines, "writer")
        announced = sum(line["fields"]["size"] for line in flat(sent) if line["message"] == "Window")
        assert len(events(sent)) == announced > 0
        last_ack = from_role(lines, "reader")[-1]
        assert last_ack["message"] == "Ack"
        assert last_ack["fields"]["sequence"] == events(sent)[-1]["fields"]["sequence"]


@with_example
def test_the_lines_of_an_example_tile_its_streams_and_are_its_bytes(capture: Path, tmp_path: Path) -> None:
    for lines in by_flow(decoded(capture, tmp_path)).values():
        for role in ROLES:
            own = from_role(lines, role)
            ends = [line["offset"] + line["size"] for line in own]
            assert [line["offset"] for line in own] == [0, *ends[:-1]]
            made = encoded(own, tmp_path)
            assert len(made) == ends[-1]
            again = [frame_record(PLAN, frame) for frame in lj.Decoder(role).feed(made)]
            assert again == [{key: line[key] for key in ("message", "header", "fields")} for line in own]


def test_the_example_of_the_demonstration_is_its_bytes(tmp_path: Path) -> None:
    folder = ROOT / "examples" / "captures"
    lines = from_role(decoded(folder / "pylogbeat-unicode.pcap", tmp_path), "writer")
    assert encoded(lines, tmp_path) == (folder / "pylogbeat-unicode.writer.bin").read_bytes()


# ---- streams, in any chunks


def sender(stream: Path) -> Role:
    return "writer" if ".c2s" in stream.name else "reader"


def chunkings(data: bytes) -> Iterator[list[bytes]]:
    """Yield the stream whole, in single bytes, and cut at random (the same places in every run)."""
    yield [data]
    yield [data[at : at + 1] for at in range(len(data))]
    for seed in range(10):
        places = sorted(random.Random(seed).choices(range(len(data) + 1), k=seed + 3))
        yield [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


@with_stream
def test_a_stream_is_the_same_frames_in_any_chunks(stream: Path) -> None:
    data, role = stream.read_bytes(), sender(stream)
    whole = [frame_record(PLAN, frame) for frame in lj.Decoder(role).feed(data)]
    assert whole
    for chunks in chunkings(data):
        fast, reference = lj.Decoder(role), reference_decoder(PLAN, Options(role))
        frames = [frame for chunk in chunks for frame in fast.feed(chunk)]
        nodes = [node for chunk in chunks for node in reference.feed(chunk)]
        fast.finish()
        reference.finish()
        assert [frame_record(PLAN, frame) for frame in frames] == whole
        assert [frame_record(PLAN, node.value) for node in nodes] == whole
        assert fast.offset == reference.offset == len(data)


@with_stream
def test_a_stream_is_written_again_as_it_was(stream: Path) -> None:
    """Two builds of zlib may compress differently; in that case the inflated frames are compared."""
    data, role = stream.read_bytes(), sender(stream)
    frames = list(lj.Decoder(role).feed(data))
    made = b"".join(frame.encode() for frame in frames)
    if any(isinstance(frame.message, lj.Compressed) for frame in frames):
        assert list(lj.Decoder(role).feed(made)) == frames
    else:
        assert made == data
