"""Streams in chunks of any size: the same frames, errors, offsets and `needed` as at once, and work that grows with the bytes only."""

from __future__ import annotations

import importlib
import json
import random
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lines import work

from wireproto import geode, lumberjack, reactive_streams
from wireproto._runtime.stream import decoder as decoding

ROOT = Path(__file__).resolve().parents[2]
PROTOCOLS = ("geode", "lumberjack", "pravega", "pravega_documented", "pravega_proposal", "reactive_streams")
SERIALIZATIONS = ("", ".protobuf", ".msgpack")
MOST = 3000  # bytes of a vector that is put into streams


def raw(pieces: Any) -> bytes:
    """Return the bytes of a vector."""
    if isinstance(pieces, str):
        return bytes.fromhex(pieces)
    return b"".join(
        bytes.fromhex(piece.get("hex") or piece["repeat"]) * piece.get("count", 1) for piece in pieces
    )


@cache
def samples(protocol: str, kind: str) -> dict[str, list[bytes]]:
    """Return the generated vectors of a kind that need nothing before them, by the role that sends them."""
    found: dict[str, list[bytes]] = {}
    vectors = json.loads((ROOT / "generated" / "vectors" / f"{protocol}.json").read_text())["vectors"]
    for vector in vectors:
        is_plain = not vector.get("variant") and not vector.get("before") and not vector.get("limits")
        if vector["kind"] == kind and is_plain and len(raw(vector["bytes"])) <= MOST:
            found.setdefault(vector["from"], []).append(raw(vector["bytes"]))
    return found


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places})
    return [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]


def singles(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def plain(item: Any) -> Any:
    return (type(item).__name__, str(item), vars(item)) if isinstance(item, Exception) else item


def items(module: Any, role: str, chunks: list[bytes]) -> list[Any]:
    """Return the items of a decoder, with their places, and the missing bytes of a frame that is cut off."""
    decoder = module.Decoder(role, errors="yield")
    decoder.begin_inside()
    found = []
    for chunk in chunks:
        found += [(start, size, plain(item)) for start, size, item in decoder.items(chunk)]
        assert bool(decoder.needed) <= bool(decoder.pending)
    return found + [(start, size, plain(item)) for start, size, item in decoder.finish_items()]


def fed(module: Any, role: str, chunks: list[bytes], feed: str) -> list[Any]:
    """Return the items of `feed` or `messages`, and the error that ends them."""
    decoder = module.Decoder(role)
    decoder.begin_inside()
    found: list[Any] = []
    try:
        for chunk in chunks:
            for item in getattr(decoder, feed)(chunk):
                found.append(item)  # noqa: PERF402 - what came before an error is kept
        decoder.finish()
    except module.DecodeError as error:
        found.append(plain(error))
    return found


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=1000 if settings.get_current_profile_name() == "soak" else 15)
@given(data=st.data())
def test_random_cuts_change_nothing(protocol: str, data: st.DataObject) -> None:
    module = importlib.import_module(f"wireproto.{protocol}")
    good = samples(protocol, "valid")
    role = data.draw(st.sampled_from(sorted(good)))
    frames = data.draw(st.lists(st.sampled_from(good[role]), min_size=1, max_size=6))
    bad = samples(protocol, "invalid").get(role, [b"\xff" * 9])
    frames += data.draw(st.lists(st.sampled_from(bad), max_size=1))
    frames += data.draw(st.lists(st.sampled_from(good[role]), max_size=2))
    stream = b"".join(frames)
    pieces = cut(stream, data.draw(st.lists(st.integers(0, 99_999), max_size=9)))
    assert items(module, role, pieces) == items(module, role, [stream])
    for feed in ("feed", "messages"):
        assert fed(module, role, pieces, feed) == fed(module, role, [stream], feed)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_byte_by_byte_is_as_at_once(protocol: str) -> None:
    module = importlib.import_module(f"wireproto.{protocol}")
    chosen = random.Random(14)
    for role, good in sorted(samples(protocol, "valid").items()):
        frames = chosen.sample(good, min(8, len(good)))
        wrong = samples(protocol, "invalid").get(role, [])
        for bad in chosen.sample(wrong, min(4, len(wrong))):
            stream = b"".join([*frames[:2], bad, *frames[2:4]])
            assert items(module, role, singles(stream)) == items(module, role, [stream])
        stream = b"".join(frames)
        assert items(module, role, singles(stream)) == items(module, role, [stream])


@pytest.mark.parametrize("serialization", SERIALIZATIONS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_strict_prefix_asks_for_no_more_than_is_missing(protocol: str, serialization: str) -> None:
    module = importlib.import_module(f"wireproto.{protocol}{serialization}")
    native = importlib.import_module(f"wireproto.{protocol}")
    for role, good in sorted(samples(protocol, "valid").items()):
        frames = [data for data in random.Random(3).sample(good, min(12, len(good))) if len(data) < 400]
        for data in frames:
            decoder = native.Decoder(role, errors="yield")
            decoder.begin_inside()
            read = list(decoder.feed(data))
            if len(read) != 1 or isinstance(read[0], Exception):
                continue  # a preamble, or bytes that only a context explains
            try:
                check_prefixes(module, role, module.encode(read[0]) if serialization else data)
            except module.EncodeError as error:  # bytes left over, which only the native form has
                assert error.code == "unrepresentable"


def check_prefixes(module: Any, role: str, data: bytes) -> None:
    """Check that a decoder is quiet until the last byte, and never asks for more than is missing."""
    decoder = module.Decoder(role)
    decoder.begin_inside()
    for at in range(len(data) - 1):
        assert list(decoder.feed(data[at : at + 1])) == []
        assert (decoder.offset, decoder.pending) == (0, at + 1)
        assert 1 <= decoder.needed <= len(data) - at - 1
    assert len(list(decoder.feed(data[-1:]))) == 1
    assert (decoder.pending, decoder.needed) == (0, 0)


def test_a_header_says_how_much_is_needed() -> None:
    kinds = geode.GeodeValue
    message = geode.PutRequest("region", kinds.Integer(1), kinds.Null(), kinds.StringBytes("text"))
    data = message.encode(correlation_id=1)
    decoder = geode.Decoder("client")
    decoder.begin_inside()
    for size in range(1, len(data)):
        assert list(decoder.feed(data[size - 1 : size])) == []
        assert decoder.needed == (10 - size if size < 10 else len(data) - size)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_size_over_the_limit_is_refused_as_soon_as_it_is_there(size: int) -> None:
    stream = lumberjack.encode(lumberjack.Ack(3)) + b"2C\x7f\xff\xff\xff"
    decoder = lumberjack.Decoder("writer")
    found: list[Any] = []
    with pytest.raises(lumberjack.DecodeError) as caught:
        for at in range(0, len(stream), size):
            found += decoder.feed(stream[at : at + size])
    assert (len(found), caught.value.code, caught.value.frame_offset) == (1, "limit_exceeded", 6)
    assert decoder.fed == len(stream)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_wrong_number_of_a_header_that_is_cut_is_refused_as_soon_as_it_is_there(size: int) -> None:
    request = geode.encode(geode.GetAllRequest("r", [], geode.GeodeValue.Null()), correlation_id=1)
    stream = request + request[:8] + b"\x02"  # the ninth byte is a Boolean, and the header has ten
    decoder = geode.Decoder("client", errors="yield")
    decoder.begin_inside()
    found: list[Any] = []
    for at in range(0, len(stream), size):
        found += decoder.feed(stream[at : at + size])
    errors = [item for item in found if isinstance(item, geode.DecodeError)]
    assert [(error.path, error.at) for error in errors] == [("Request.is_partial", len(stream) - 1)]


def test_what_a_number_chooses_is_refused_in_a_cut_frame() -> None:
    for stream in (b"3", b"2X"):
        with pytest.raises(lumberjack.DecodeError) as caught:
            list(lumberjack.Decoder("writer").feed(stream))
        assert caught.value.at == len(stream) - 1


# ---- work


def long_data(n_pairs: int) -> bytes:
    pairs = [lumberjack.Pair(f"k{number:04}", "é" * 10) for number in range(n_pairs)]
    return lumberjack.encode(lumberjack.Data(1, pairs))


def compressed(n_pairs: int) -> bytes:
    return b"2C" + (len(body := zlib.compress(long_data(n_pairs), 0))).to_bytes(4, "big") + body


def packed(n_pairs: int, module: str) -> bytes:
    serialization = importlib.import_module(f"wireproto.lumberjack.{module}")
    return bytes(serialization.encode(lumberjack.decode(long_data(n_pairs))))


def hello(n_extensions: int) -> bytes:
    return reactive_streams.encode(reactive_streams.ClientHello(0, [300] * n_extensions))


def parts(n_parts: int) -> bytes:
    """Return a divided element: its pieces are reassembled when the last one is there."""
    pieces = [reactive_streams.OnNextPart(7, 1, bytes(30)) for _ in range(n_parts)]
    head = reactive_streams.encode(reactive_streams.Subscribed(7, 0))
    last = reactive_streams.encode(reactive_streams.OnNextLastPart(7, 1, b"x"))
    return head + b"".join(map(reactive_streams.encode, pieces)) + last


def divided(n_values: int, size: int = 100) -> bytes:
    """Return the start of a connection, and a message in fragments, which are reassembled with the last one."""
    value = geode.GetAllRequest("r", [geode.GeodeValue.Integer(1)] * n_values, geode.GeodeValue.Null())
    block = geode.encode(geode.Request(value, correlation_id=1))[10:]
    pieces = [block[at : at + size] for at in range(0, len(block), size)]
    return geode.encode(geode.Connect(geode.Mode.DIVIDED)) + b"".join(
        len(piece).to_bytes(4, "big") + b"\0\0\0\1" + bytes([piece is not pieces[-1], 0]) + piece
        for piece in pieces
    )


STREAMS = [
    pytest.param(lumberjack, "writer", long_data, 60, id="without-a-length"),
    pytest.param(lumberjack, "writer", compressed, 60, id="compressed"),
    pytest.param(importlib.import_module("wireproto.lumberjack.protobuf"), "writer", lambda n: packed(n, "protobuf"), 60, id="protobuf"),
    pytest.param(importlib.import_module("wireproto.lumberjack.msgpack"), "writer", lambda n: packed(n, "msgpack"), 60, id="msgpack"),
    pytest.param(reactive_streams, "client", hello, 400, id="varints"),
    pytest.param(reactive_streams, "server", parts, 40, id="reassembled"),
    pytest.param(geode, "client", divided, 400, id="divided"),
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 16, 200])
@pytest.mark.parametrize(("module", "role", "make", "n"), STREAMS)
def test_four_times_the_bytes_are_four_times_the_work(
    module: Any, role: str, make: Any, n: int, size: int
) -> None:
    def reading(stream: bytes) -> Callable[[], object]:
        def read() -> None:
            decoder = module.Decoder(role)
            for at in range(0, len(stream), size):
                for _ in decoder.feed(stream[at : at + size]):
                    pass
            decoder.finish()

        return read

    once, fourfold = make(n), make(4 * n)
    reading(once)()  # what is loaded and made once
    growth = work(reading(fourfold)) / work(reading(once))
    assert growth <= 1.25 * len(fourfold) / len(once)


def test_a_divided_message_is_about_as_much_work_as_a_whole_one() -> None:
    """Each piece costs the same, however many values it holds; the values are read once, by compiled code."""

    def reading(stream: bytes) -> int:
        decoder = geode.Decoder("client")
        return work(lambda: list(decoder.feed(stream)))

    head, many = geode.encode(geode.Connect(geode.Mode.DIVIDED)), divided(3000, 1000)
    reading(divided(300))  # what is loaded and made once
    value = geode.GetAllRequest("r", [geode.GeodeValue.Integer(1)] * 3000, geode.GeodeValue.Null())
    whole = reading(head + geode.encode(geode.Request(value, correlation_id=1)))
    assert reading(many) < 3 * whole


def tried(stream: bytes, size: int) -> tuple[list[int], list[int]]:
    """Return the pairs of each Lumberjack frame in chunks of `size` bytes, and the bytes of each try in vain."""
    in_vain = []

    def read(buffer: bytes, offset: int, end: int, state: Any) -> Any:
        try:
            return lumberjack.messages._read_frame(buffer, offset, end, state)
        except Exception:
            in_vain.append(end - offset)
            raise

    decoder = decoding.Decoder(lumberjack.messages._load_plan, read, from_role="writer")
    frames = [frame for at in range(0, len(stream), size) for frame in decoder.feed(stream[at : at + size])]
    return [len(frame.message.pairs) for frame in frames], in_vain


@pytest.mark.parametrize("size", [1, 3, 64, 1448])
def test_compiled_code_tries_in_vain_on_no_more_than_twice_the_bytes(size: int) -> None:
    sizes = [1, 400, 3, 30, 8, 8]
    stream = b"".join(map(long_data, sizes))
    read, in_vain = tried(stream, size)
    assert read == sizes
    assert in_vain
    assert sum(in_vain) <= 2 * len(stream)


@pytest.mark.parametrize("size", [512, 1448])
def test_the_last_bytes_of_a_chunk_are_measured_and_not_tried(size: int) -> None:
    read, in_vain = tried(long_data(8) * 100, size)
    assert read == [8] * 100
    assert len(in_vain) == 1  # the first frame that is cut: nothing measures frames before it


def test_the_reference_codec_is_not_asked_about_frames_that_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **others: Any) -> Any:
        raise AssertionError("the reference codec reads a good frame")

    monkeypatch.setattr(decoding.Decoder, "_reading", refuse)
    for protocol in PROTOCOLS:
        module = importlib.import_module(f"wireproto.{protocol}")
        for role, good in sorted(samples(protocol, "valid").items()):
            compiled = [data for data in good if is_compiled(module, role, data)]
            for size in (1, 7):
                decoder = module.Decoder(role)
                decoder.begin_inside()
                stream = b"".join(compiled)
                n_read = sum(
                    1 for at in range(0, len(stream), size) for _ in decoder.feed(stream[at : at + size])
                )
                assert n_read == len(compiled)


def is_compiled(module: Any, role: str, data: bytes) -> bool:
    """Return whether compiled code reads the frame at once."""
    decoder = module.Decoder(role)
    decoder.begin_inside()
    try:
        return len(list(decoder.feed(data))) == 1
    except (AssertionError, module.DecodeError):
        return False
