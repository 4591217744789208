"""Small inputs that ask for much are refused at once, and hold no memory on the way."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.built_schema import schema_of
from tests.lines import Lines, work

from wiregen.runtime.codec.errors import DecodeError, check_end
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wireproto import lumberjack as lj
from wireproto._runtime.reference.reading import records as reading_records

PLAN = schema_of("lumberjack")
MIB = 2**20
DATA = "3244 00000001 "
HUGE = {
    "count of pairs": DATA + "ffffffff",
    "length of a key": DATA + "00000001 ffffffff",
    "length of a value": DATA + "00000001 00000001 6b ffffffff",
    "length of a document": "324a 00000001 ffffffff",
    "length of an envelope": "3243 ffffffff",
    "most pairs": DATA + "00010000",
}


def fast(data: bytes, limits: dict[str, int] | None = None) -> lj.Frame:
    return lj.decode(data, limits=lj.Limits(**limits) if limits else None)


def reference(data: bytes, limits: dict[str, int] | None = None) -> Any:
    node = explain(PLAN, data, 0, len(data), Options(limits=limits))
    check_end(node.end, len(data))
    return node.value


def streamed(data: bytes, limits: dict[str, int] | None = None) -> lj.Frame:
    """Decode a frame that comes in two chunks."""
    decoder = lj.Decoder(limits=lj.Limits(**limits) if limits else None)
    frames = [frame for chunk in (data[:3], data[3:]) for frame in decoder.feed(chunk)]
    decoder.finish()
    (frame,) = frames
    return frame


CODECS = pytest.mark.parametrize("decode", [fast, reference, streamed])
Decode = Callable[..., Any]


def refusal(decode: Decode, data: bytes, limits: dict[str, int] | None = None) -> Any:
    """Return the error that the bytes are refused with."""
    with pytest.raises((DecodeError, lj.DecodeError)) as caught:
        decode(data, limits)
    return caught.value


def envelope(inner: bytes) -> bytes:
    stream = zlib.compress(inner, 9)
    return b"2C" + len(stream).to_bytes(4, "big") + stream


def nested(levels: int, inner: bytes) -> bytes:
    for _ in range(levels):
        inner = envelope(inner)
    return inner


@contextmanager
def at_most(size: int, lines: int) -> Iterator[None]:
    """Fail where the block holds more memory at its peak, or runs more lines of Python."""
    tracemalloc.start()
    try:
        with Lines() as counted:
            yield
        assert tracemalloc.get_traced_memory()[1] < size
        assert counted.count < lines
    finally:
        tracemalloc.stop()


@CODECS
@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE.keys())
def test_nothing_is_allocated_from_a_count_or_a_length(decode: Decode, text: str) -> None:
    data = bytes.fromhex(text)
    refusal(decode, data)  # what is imported at the first fault is not counted
    with at_most(MIB // 8, lines=5_000):
        refusal(decode, data)


@CODECS
@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE.keys())
def test_nothing_is_allocated_where_the_limits_would_allow_it(decode: Decode, text: str) -> None:
    data, limits = bytes.fromhex(text), {"frame": 2**40, "count": 2**40, "messages": 2**40}
    refusal(decode, data, limits)
    with at_most(MIB // 8, lines=5_000):
        error = refusal(decode, data, limits)
    assert error.code == "truncated"


@CODECS
def test_a_bomb_stops_at_the_budget(decode: Decode) -> None:
    bomb = nested(2, b"2J\0\0\0\1" + (64 * MIB).to_bytes(4, "big") + bytes(64 * MIB))
    assert len(bomb) < 400
    error = refusal(decode, bomb)
    assert (error.code, error.rule, error.at) == ("limit_exceeded", "inflate_limit", 6)
    assert (error.recoverable, error.end) == (True, len(bomb))


@CODECS
def test_a_bomb_holds_no_more_than_the_budget(decode: Decode) -> None:
    bomb, limits = nested(2, bytes(16 * MIB)), {"inflated": MIB}
    refusal(decode, bomb, limits)
    with at_most(5 * MIB, lines=10_000):
        assert refusal(decode, bomb, limits).code == "limit_exceeded"


@CODECS
def test_one_budget_holds_for_all_envelopes_of_a_frame(decode: Decode) -> None:
    inner = lj.Json(1, bytes(300_000)).encode()
    limits = {"inflated": MIB}
    decode(envelope(envelope(inner) * 3), limits)
    error = refusal(decode, envelope(envelope(inner) * 4), limits)
    assert (error.code, error.at) == ("limit_exceeded", 6)
    assert error.path.startswith("Compressed.frames[3].Compressed.frames")


@CODECS
@pytest.mark.parametrize("levels", [3, 64])
def test_envelopes_in_envelopes_stop_at_the_depth_before_they_are_inflated(
    decode: Decode, levels: int
) -> None:
    error = refusal(decode, nested(levels - 1, b"2C\0\0\0\x04none"))
    assert (error.code, error.rule, error.at) == ("too_deep", "nested_depth", 6)


EMPTY = bytes.fromhex("324a0000000000000000")


def test_an_envelope_of_millions_of_frames_stops_at_messages() -> None:
    small = nested(2, EMPTY * 6_690_000)
    assert len(small) < 600
    error = refusal(fast, small)
    assert (error.code, error.at) == ("limit_exceeded", 6)
    assert error.path.startswith("Compressed.frames[0].Compressed.frames[65536]")


@CODECS
def test_messages_hold_no_more_memory_than_their_number(decode: Decode) -> None:
    """They take no more work either: bytes after the last of them are not read."""
    small, limits = nested(2, EMPTY * 100_000), {"messages": 300}
    few = nested(2, EMPTY * 400)
    refusal(decode, few, limits)
    n_lines = work(lambda: refusal(decode, few, limits))
    with at_most(8 * MIB, lines=n_lines + n_lines // 10):
        assert refusal(decode, small, limits).code == "limit_exceeded"


@CODECS
def test_pairs_and_frames_share_one_limit(decode: Decode) -> None:
    data = lj.Data(1, [lj.Pair("k", "v")] * 3).encode()
    decode(envelope(data * 2), {"messages": 8})
    error = refusal(decode, envelope(data * 2), {"messages": 7})
    assert (error.code, error.path) == ("limit_exceeded", "Compressed.frames[1].Data.pairs")


LONG = b"2J\0\0\0\1" + (17 * MIB).to_bytes(4, "big") + bytes(17 * MIB)
OVERRIDES = [
    pytest.param(LONG, {"frame": 32 * MIB}, {}, ("limit_exceeded", "frame_too_large", 6), id="frame"),
    pytest.param(lj.Json(1, bytes(90)).encode(), {"frame": 100}, {"frame": 99}, ("limit_exceeded", "frame_too_large", 6), id="lower frame"),
    pytest.param(lj.Ack(1).encode(), {"frame": 6}, {"frame": 5}, ("limit_exceeded", "frame_too_large", 2), id="fixed frame"),
    pytest.param(lj.Data(1, [lj.Pair("", "")] * 3).encode(), {"count": 3}, {"count": 2}, ("limit_exceeded", "too_many_pairs", 6), id="count"),
    pytest.param(DATA.encode(), {"count": 70_000, "messages": 70_000}, {}, ("limit_exceeded", "too_many_pairs", 6), id="higher count"),
    pytest.param(nested(4, b""), {"depth": 3}, {"depth": 2}, ("too_deep", "nested_depth", 6), id="depth"),
    pytest.param(nested(2, b""), {}, {"depth": 0}, ("too_deep", "nested_depth", 6), id="no depth"),
    pytest.param(envelope(lj.Ack(1).encode() * 4), {"inflated": 24}, {"inflated": 23}, ("limit_exceeded", "inflate_limit", 6), id="inflated"),
    pytest.param(envelope(lj.Ack(1).encode() * 4), {"messages": 4}, {"messages": 3}, ("limit_exceeded", "too_many_items", 6), id="messages"),
]  # fmt: skip


@CODECS
@pytest.mark.parametrize(("data", "enough", "too_little", "expected"), OVERRIDES)
def test_limits_are_the_callers(
    decode: Decode, data: bytes, enough: dict[str, int], too_little: dict[str, int], expected: tuple[Any, ...]
) -> None:
    if data == DATA.encode():
        data = bytes.fromhex(DATA + "00011170") + bytes(8 * 70_000)
    decode(data, enough)
    error = refusal(decode, data, too_little)
    assert (error.code, error.rule, error.at) == expected
    (exceeded,) = set(too_little or enough) - {"messages"} or {"messages"}
    assert f"(limits.{exceeded})" in error.expected


@CODECS
def test_the_longest_data_is_taken_compressed_too(decode: Decode) -> None:
    data = bytes.fromhex(DATA + "00010000") + bytes(8 * 65536)
    decode(envelope(data))
    error = refusal(decode, envelope(data + data))
    assert (error.code, error.rule) == ("limit_exceeded", "too_many_items")
    assert (error.path, error.expected) == (
        "Compressed.frames[1].Data.pairs",
        "at most 131072 items in the frame (limits.messages)",
    )


WINDOW = lj.Window(1).encode()
PAIRS = lj.Data(1, [lj.Pair("k", "v")] * 200).encode()
FAULTS = {
    "messages": (nested(2, WINDOW * 300), {"messages": 200}),
    "messages of pairs": (nested(2, PAIRS * 3), {"messages": 500}),
    "count": (nested(2, WINDOW * 300), {"count": 200}),
    "inflated": (envelope(WINDOW * 200 + envelope(WINDOW * 100)), {"inflated": 1300}),
    "depth": (envelope(WINDOW * 100 + nested(2, WINDOW) * 2), {"depth": 1}),
    "frame": (envelope(WINDOW * 100 + PAIRS), {"frame": 100}),
    "type": (nested(2, WINDOW * 100 + b"2X"), None),
    "version": (envelope(WINDOW * 100 + b"3W" + bytes(4)), None),
    "a cut frame": (nested(2, WINDOW * 100 + b"2W"), None),
    "a bad stream": (envelope(WINDOW * 100 + b"2C\0\0\0\x04none"), None),
    "the first of all": (nested(2, b"2X"), None),
    "behind envelopes": (envelope(envelope(WINDOW * 100) * 30 + b"2X"), None),
    "behind the frame": (nested(2, WINDOW * 100) + b"2", None),
}


def fed(data: bytes, limits: dict[str, int] | None = None) -> None:
    """Decode a frame that comes whole, and refuse what follows it."""
    frames = list(lj.Decoder(limits=lj.Limits(**limits) if limits else None).feed(data))
    assert not frames, "it is decoded"


def said(error: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(error).items() if name != "partial"}


@pytest.mark.parametrize(("data", "limits"), FAULTS.values(), ids=FAULTS.keys())
def test_going_past_good_frames_changes_no_error(data: bytes, limits: dict[str, int] | None) -> None:
    slow = refusal(reference, data, limits)
    assert said(refusal(fast, data, limits)) == said(slow)
    if slow.code != "trailing_bytes":
        assert said(refusal(fed, data, limits)) == said(slow)


@pytest.mark.parametrize("decode", [fast, fed])
@pytest.mark.parametrize("tail", [b"", b"2X"], ids=["too many", "a bad type"])
def test_the_way_to_a_fault_is_not_read_by_the_reference_codec(
    decode: Decode, tail: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_read, read = 0, reading_records.read_bare_frame

    def counted(*arguments: Any) -> Any:
        nonlocal n_read
        n_read += 1
        return read(*arguments)

    monkeypatch.setattr(reading_records, "read_bare_frame", counted)
    error = refusal(decode, nested(2, WINDOW * (2000 if tail else 70_000) + tail))
    assert n_read <= 2 + 16 + 1
    assert len(error.partial["fields"]["frames"][0]["fields"]["frames"]) <= 16 + 1
