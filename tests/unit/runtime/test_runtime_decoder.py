"""The stream decoder: chunks of any size, faults in their place, and work that grows with the bytes only."""

from __future__ import annotations

import json
import struct
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.runtime import DecodeError
from wiregen.runtime.codec.compiled import Bad, ReadState
from wiregen.runtime.codec.errors import check_end
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.declarations import Frame, Preamble
from wiregen.runtime.stream.decoder import Decoder
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wiregen.schema.copies import replace

from ...conformance.names import CODES, LIMITS
from ..lumberjack_plan import PLAN, U32, field
from ..schema_notation import fields

VECTORS = Path(__file__).resolve().parents[2] / "conformance" / "data" / "lumberjack.json"

ACK = bytes.fromhex("324100000001")
WINDOW = bytes.fromhex("32570000000a")
JSON = bytes.fromhex("324a00000001000000027b7d")
DATA = bytes.fromhex("3144000000010000000100000004") + b"line" + bytes.fromhex("00000005") + b"hello"
BAD_BODY = bytes.fromhex("324300000003616263")
"""A Compressed whose end is known and whose body is not zlib."""
BAD_TYPE = b"2X\0\0\0\1"


def compressed(*frames: bytes) -> bytes:
    body = zlib.compress(b"".join(frames))
    return b"2C" + len(body).to_bytes(4, "big") + body


FRAMES = [ACK, WINDOW, JSON, DATA, compressed(), compressed(JSON, DATA), compressed(compressed(DATA), JSON)]

_HEAD = struct.Struct(">BBI").unpack_from


def decode_from(buffer: bytes, offset: int, end: int, state: ReadState | None) -> tuple[bytes, int]:
    """Return a frame's bytes: a substitute for compiled code of Lumberjack without its Data, exceptions included."""
    version, type_, number = _HEAD(buffer, offset)
    stop = offset + 6
    if type_ == ord("J"):
        stop += 4 + int(_HEAD(buffer, offset + 4)[2])
    elif type_ == ord("C"):
        stop += number
        _ = zlib.decompress(buffer[offset + 6 : stop]) if stop <= end else b""
    elif type_ not in b"AW":
        raise Bad
    if version not in b"12" or stop > end:
        raise Bad
    return buffer[offset:stop], stop


def fast_from(buffer: bytes, offset: int, end: int, state: ReadState | None) -> tuple[bytes, int]:
    try:
        return decode_from(buffer, offset, end, state)
    except zlib.error:
        raise Bad from None


def fast_decoder(errors: Any = "raise") -> Decoder[bytes]:
    return Decoder(lambda: PLAN, fast_from, from_role="writer", errors=errors)


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def values(nodes: list[Node]) -> list[Any]:
    return [node.value for node in nodes]


# ---- whole streams ----


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
def test_chunks_of_any_size_give_the_same_frames(size: int) -> None:
    stream = b"".join(FRAMES)
    whole = reference_decoder(PLAN, Options())
    expected = values(list(whole.feed(stream)))
    assert len(expected) == len(FRAMES)
    decoder = reference_decoder(PLAN, Options())
    found = [node for chunk in chunks(stream, size) for node in decoder.feed(chunk)]
    decoder.finish()
    assert values(found) == expected
    assert [(node.start, node.size) for node in found] == [
        (sum(map(len, FRAMES[:index])), len(frame)) for index, frame in enumerate(FRAMES)
    ]
    assert (decoder.offset, decoder.pending, decoder.needed) == (len(stream), 0, 0)


@given(st.lists(st.sampled_from([ACK, WINDOW, JSON, compressed(JSON)]), max_size=12), st.data())
def test_the_fast_codec_and_the_one_for_incomplete_frames_give_the_same(
    frames: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    decoder = fast_decoder()
    found: list[bytes] = []
    for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += decoder.feed(stream[start:stop])
    decoder.finish()
    assert found == frames


@pytest.mark.parametrize("frame", FRAMES, ids=range(len(FRAMES)))
def test_every_prefix_asks_for_more(frame: bytes) -> None:
    for size in range(1, len(frame)):
        decoder = reference_decoder(PLAN, Options())
        assert list(decoder.feed(frame[:size])) == []
        assert (decoder.offset, decoder.pending) == (0, size)
        assert 1 <= decoder.needed <= len(frame) - size
        with pytest.raises(DecodeError) as caught:
            decoder.finish()
        assert type(caught.value) is DecodeError
        assert (caught.value.code, caught.value.frame_offset, caught.value.at) == ("truncated", 0, size)
        with pytest.raises(DecodeError) as again:
            list(decoder.feed(frame[size:]))
        assert again.value == caught.value


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_chunk_may_be_reused_after_feed(kind: Any) -> None:
    decoder = fast_decoder()
    buffer = bytearray(ACK + WINDOW[:3])
    frames = decoder.feed(kind(buffer) if kind is not bytearray else buffer)
    if kind is bytearray:
        buffer[:] = bytes(len(buffer))
    assert list(frames) == [ACK]
    assert list(decoder.feed(WINDOW[3:])) == [WINDOW]


def test_iterators_share_what_was_fed() -> None:
    decoder = fast_decoder()
    first, second = decoder.feed(ACK + WINDOW[:2]), decoder.feed(WINDOW[2:] + JSON)
    assert next(second) == ACK
    assert next(first) == WINDOW
    assert decoder.pending == len(JSON)
    assert list(second) == [JSON]
    assert list(first) == []


def test_feeding_while_reading() -> None:
    decoder = fast_decoder()
    found = []
    for frame in decoder.feed(ACK + WINDOW):
        found.append(frame)
        if len(found) == 1:
            found += decoder.feed(JSON)
    assert found == [ACK, WINDOW, JSON]


# ---- faults ----


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    "make", [fast_decoder, lambda errors="raise": reference_decoder(PLAN, Options(), errors)]
)
def test_a_fault_comes_behind_the_frames_before_it(make: Any, size: int) -> None:
    decoder = make()
    n_frames = 0
    with pytest.raises(DecodeError) as caught:
        for chunk in chunks(ACK + WINDOW + BAD_TYPE + ACK, size):
            for _ in decoder.feed(chunk):
                n_frames += 1
    assert n_frames == 2
    error = caught.value
    assert (error.code, error.frame_offset, error.at, error.path) == ("unknown_code", 12, 13, "Frame.type")
    for retry in (lambda: list(decoder.feed(ACK)), decoder.finish):
        with pytest.raises(DecodeError) as again:
            retry()
        assert again.value == error and again.value is not error
    assert decoder.offset == 12


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_fault_before_a_known_end_costs_one_frame(size: int) -> None:
    decoder = fast_decoder()
    found: list[Any] = []
    for chunk in chunks(ACK + BAD_BODY + WINDOW + BAD_BODY, size):
        frames = decoder.feed(chunk)
        while True:
            try:
                found.append(next(frames))
            except StopIteration:
                break
            except DecodeError as error:
                found.append((error.code, error.frame_offset, error.end))
                frames = decoder.feed(b"")
    decoder.finish()
    assert found == [ACK, ("inflate_failed", 6, 15), WINDOW, ("inflate_failed", 21, 30)]


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("make", [fast_decoder, lambda errors: reference_decoder(PLAN, Options(), errors)])
def test_items_tile_the_stream(make: Any, size: int) -> None:
    decoder = make("yield")
    stream = ACK + BAD_BODY + WINDOW + BAD_TYPE + ACK
    items = [item for chunk in chunks(stream, size) for item in decoder.items(chunk)]
    items += decoder.finish_items()
    assert [(offset, length) for offset, length, _ in items] == [(0, 6), (6, 9), (15, 6), (21, 12)]
    assert [item.code if isinstance(item, DecodeError) else "" for _, _, item in items] == [
        "", "inflate_failed", "", "unknown_code",
    ]  # fmt: skip
    assert list(decoder.finish_items()) == []


def test_errors_are_items_where_the_caller_wishes() -> None:
    decoder = fast_decoder("yield")
    found: list[Any] = list(decoder.feed(ACK + BAD_BODY + WINDOW + BAD_TYPE + ACK))
    assert [item if isinstance(item, bytes) else item.code for item in found] == [
        ACK, "inflate_failed", WINDOW, "unknown_code",
    ]  # fmt: skip
    assert list(decoder.feed(ACK)) == []
    decoder.finish()


def test_a_cut_frame_is_the_last_item() -> None:
    decoder = fast_decoder("yield")
    assert list(decoder.items(ACK + WINDOW[:4])) == [(0, 6, ACK)]
    ((offset, size, error),) = decoder.finish_items()
    assert isinstance(error, DecodeError)
    assert (offset, size, error.code, error.at) == (6, 4, "truncated", 10)


def bad_before_its_end() -> Decoder[Node]:
    """Return a decoder of frames of 2 bytes, of which the second may be wrong, and of 4 bytes after them."""
    block = ("region", ("block", (field("x", ("bool", False)),)), ("prefix", ("int", 1, False, "big")), False)
    plan = replace(
        PLAN, frames={"Frame": Frame(None, fields((field("all", block), field("after", U32))), None)}
    )
    return reference_decoder(plan, Options(), "yield")


def test_an_error_waits_for_the_rest_of_its_frame() -> None:
    decoder = bad_before_its_end()
    assert list(decoder.items(b"\1\7")) == []
    assert list(decoder.items(b"\0\0")) == []
    ((offset, size, error),) = decoder.items(b"\0\0\1")
    assert isinstance(error, DecodeError)
    assert (offset, size, error.end) == (0, 6, 6)
    assert [(offset, size) for offset, size, _ in decoder.items(b"\1\0\0\0\5")] == [(6, 6)]
    assert decoder.pending == 0
    assert list(decoder.finish_items()) == []


def test_an_error_in_a_frame_that_the_stream_cuts_has_the_size_of_the_bytes_that_came() -> None:
    decoder = bad_before_its_end()
    assert list(decoder.items(b"\1\7\0\0")) == []
    ((offset, size, error),) = decoder.finish_items()
    assert isinstance(error, DecodeError)
    assert (offset, size, error.code, error.end) == (0, 4, "invalid_value", 6)
    assert list(decoder.finish_items()) == []
    again = bad_before_its_end()
    assert list(again.items(b"\1\7\0\0")) == []
    with pytest.raises(DecodeError, match="invalid_value"):
        again.finish()


def test_a_preamble_comes_first() -> None:
    plan = replace(
        PLAN,
        preambles={"Hello": Preamble("writer", fields((field("magic", U32),)))},
        opens={"writer": "Hello"},
    )
    for size in (1, 100):
        decoder = reference_decoder(plan, Options("writer"))
        found = [node for chunk in chunks(b"\0\0\0\7" + ACK, size) for node in decoder.feed(chunk)]
        assert [node.value.name for node in found] == ["Hello", "Frame"]
        assert [node.start for node in found] == [0, 4]
    assert [node.value.name for node in reference_decoder(plan, Options("reader")).feed(ACK)] == ["Frame"]


def test_one_frame_has_nothing_behind_it() -> None:
    check_end(6, 6)
    with pytest.raises(DecodeError, match="trailing_bytes at 106: expected the end, found 2 bytes"):
        check_end(6, 8, base=100)


def test_an_unknown_way_with_errors_is_refused() -> None:
    with pytest.raises(ValueError, match="raise"):
        fast_decoder("ignore")


@given(st.binary(max_size=60), st.integers(1, 20))
def test_any_bytes_in_any_chunks_come_to_the_same(data: bytes, size: int) -> None:
    data = data.replace(b"\1", b"2").replace(b"\2", b"C").replace(b"\3", b"J")

    def run(size: int) -> list[Any]:
        decoder = reference_decoder(PLAN, Options(), "yield")
        items = [item for chunk in chunks(data, size) for item in decoder.items(chunk)]
        items += decoder.finish_items()
        return [(offset, length, getattr(item, "value", item)) for offset, length, item in items]

    whole = run(1000)
    assert run(size) == whole
    assert sum(length for _, length, _ in whole) >= len(data)


# ---- work and memory ----


def test_the_work_grows_with_the_bytes_only() -> None:
    """A frame without a length is tried when it is whole, and before that only when twice as much has come."""
    document = b"x" * 5000
    stream = b"2J" + bytes(4) + len(document).to_bytes(4, "big") + document
    calls = []

    def counted(buffer: bytes, offset: int, end: int, state: ReadState | None) -> tuple[bytes, int]:
        calls.append(end - offset)
        return fast_from(buffer, offset, end, state)

    for size in (1, 16, 512):
        calls.clear()
        decoder = Decoder(lambda: PLAN, counted)
        assert [frame for chunk in chunks(stream, size) for frame in decoder.feed(chunk)] == [stream]
        assert calls[-1] == len(stream)
        assert sum(calls) < 3 * len(stream)
        assert len(calls) <= 4


def test_a_delimiter_is_searched_once() -> None:
    class Counting(bytearray):
        looked = 0

        def find(self, sub: Any, start: Any = 0, end: Any = None) -> int:
            Counting.looked += end - start
            return bytearray.find(self, sub, start, end)

    from wiregen.runtime.reference.reading.frames import read_frame

    text = ("bytes", ("delimited", "0d0a"))
    plan = replace(PLAN, frames={"Frame": Frame(None, fields((field("line", text),)), None)})
    data = Counting()
    steps = read_frame(plan, data, 0, Options())
    need = next(steps)
    stream = b"x" * 3000 + b"\r\n"
    with pytest.raises(StopIteration) as done:
        for byte in stream:
            data.append(byte)
            if len(data) >= need:
                need = steps.send(False)
    assert done.value.value.value.fields == {"line": b"x" * 3000}
    assert Counting.looked < 3 * len(stream)


def test_memory_is_a_frame_and_a_chunk() -> None:
    frame = b"2J" + bytes(4) + (20_000).to_bytes(4, "big") + b"x" * 20_000
    decoder = reference_decoder(PLAN, Options())
    n_frames = 0
    tracemalloc.start()
    for _ in range(40):
        for part in (
            (frame[3:] + frame[:2], frame[2:] + frame + frame[:3]) if n_frames else (frame + frame[:3],)
        ):
            n_frames += sum(1 for _ in decoder.feed(part))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_frames == 1 + 39 * 3
    assert peak < 12 * len(frame)


def test_a_stream_that_was_given_up_holds_nothing() -> None:
    decoder = fast_decoder("yield")
    list(decoder.feed(BAD_TYPE))
    tracemalloc.start()
    for _ in range(100):
        assert list(decoder.feed(bytes(10_000))) == []
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 50_000
    assert decoder.pending == len(BAD_TYPE) + 1_000_000


# ---- bytes that others made ----


def vectors(kind: str) -> list[Any]:
    entries = json.loads(VECTORS.read_text())[kind]
    return [
        pytest.param(entry, id=entry["id"]) for entry in entries if entry.get("stage", "codec") == "codec"
    ]


def outcome(data: bytes, size: int, options: Options) -> tuple[list[Any], DecodeError | None]:
    decoder = reference_decoder(PLAN, options)
    found: list[Any] = []
    try:
        for chunk in chunks(data, size):
            for node in decoder.feed(chunk):
                found.append(node.value)
        decoder.finish()
    except DecodeError as error:
        return found, error
    return found, None


@pytest.mark.parametrize("size", [1, 17, 10**6])
@pytest.mark.parametrize("vector", vectors("malformed"))
def test_malformed_vectors(vector: Any, size: int) -> None:
    limits = {LIMITS[name]: value for name, value in vector["limits"].items()}
    found, error = outcome(bytes.fromhex(vector["hex"]), size, Options(vector["from"], limits=limits))
    expected = vector["expect"]
    assert len(found) == expected["frames_before"]
    if expected["kind"] is None:
        assert error is None
        return
    assert error is not None
    assert error.code == CODES[expected["kind"]]
    # Their `truncated` names the beginning of the frame.
    assert (error.frame_offset if error.code == "truncated" else error.at) == expected["offset"]


@pytest.mark.parametrize("vector", vectors("valid"))
def test_valid_vectors(vector: Any) -> None:
    data = bytes.fromhex(vector["hex"])
    found, error = outcome(data, 10**6, Options(vector["from"]))
    assert error is None
    assert [frame.message.name[0] for frame in found] == [frame["type"] for frame in vector["frames"]]
    assert outcome(data, 1, Options(vector["from"])) == (found, None)
    for frame, value in zip(vector["frames"], found, strict=True):
        assert value.version == ord(str(frame["version"]))
        if "seq" in frame:
            assert value.message.sequence == frame["seq"]


def test_explain_agrees_with_the_decoder() -> None:
    for frame in FRAMES:
        (node,) = reference_decoder(PLAN, Options()).feed(frame)
        assert explain(PLAN, frame, 0, len(frame), Options()).value == node.value
