"""How far the reference codec searches a frame that does not conform: no further than the limit `work` allows."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from typing import Any

import pytest

from wireproto import geode
from wireproto import lumberjack as lj


def compressed(inner: bytes) -> bytes:
    body = zlib.compress(inner)
    return b"2C" + struct.pack(">I", len(body)) + body


def error_of(module: Any, data: bytes, **more: Any) -> Any:
    with pytest.raises(module.DecodeError) as caught:
        module.decode(data, **more)
    return caught.value


MANY = compressed(lj.encode(lj.Ack(1)) * 60_000 + b"2Z")


def test_the_default_finds_the_last_of_many() -> None:
    error = error_of(lj, MANY)
    assert (error.code, error.path) == ("unknown_code", "Compressed.frames[60000].Frame.type")


def test_items_that_were_counted_and_never_came_cost_nothing() -> None:
    inner = b"2D" + struct.pack(">II", 0, 1 << 24)
    error = error_of(lj, compressed(inner))
    assert (error.code, error.path) == ("limit_exceeded", "Compressed.frames[0].Data.pairs")
    assert error.found == f"{1 << 24} items"


def test_a_search_ends_where_its_work_is_spent() -> None:
    error = error_of(lj, MANY, limits=lj.Limits(work=100))
    assert error.code == "limit_exceeded"
    assert error.expected == "a fault within 100 values of work (limits.work)"
    assert error.path.startswith("Compressed.frames[")
    assert (error.at, error.end, error.recoverable) == (6, len(MANY), True)
    assert error.partial is not None


def test_bytes_that_are_inflated_count() -> None:
    inner = lj.encode(lj.Json(1, b"x" * 1_000_000)) + b"2Z"
    assert error_of(lj, compressed(inner)).code == "unknown_code"
    assert error_of(lj, compressed(inner), limits=lj.Limits(work=200)).code == "limit_exceeded"


def test_what_conforms_is_never_refused_for_its_work() -> None:
    data = compressed(lj.encode(lj.Ack(1)) * 60_000)
    frame: Any = lj.decode(data, limits=lj.Limits(work=0))
    assert len(frame.message.frames) == 60_000


def test_values_of_a_union_are_read_one_by_one_and_bounded_by_the_default() -> None:
    request = geode.Request(
        geode.GetAllRequest("r", [geode.GeodeValue.Integer(1)] * 60_000, geode.GeodeValue.Null()),
        correlation_id=1,
    )
    data = request.encode() + b"\0"
    assert error_of(geode, data).code in ("trailing_bytes", "limit_exceeded")
    assert error_of(geode, data, limits=geode.Limits(work=1_000)).code == "limit_exceeded"
    assert error_of(geode, data, limits=geode.Limits(work=10**7)).code == "trailing_bytes"


def test_a_stream_that_may_have_pieces_is_searched_no_further() -> None:
    value = geode.GetAllRequest("r", [geode.GeodeValue.Integer(1)] * 5_000, geode.GeodeValue.Null())
    data = geode.Request(value, correlation_id=1).encode()[:-1] + b"\xff"
    for work, code in ((1_000, "limit_exceeded"), (10**7, "unknown_code")):
        decoder = geode.Decoder("client", limits=geode.Limits(work=work))
        decoder.begin_inside()
        with pytest.raises(geode.DecodeError) as caught:
            list(decoder.feed(data))
        assert caught.value.code == code


DIVIDED = geode.encode(geode.Connect(geode.Mode.DIVIDED))


def divided(n: int, last: bytes, size: int = 1000) -> bytes:
    """Return the pieces of a message of many values, the last of which is `last`."""
    value = geode.GetAllRequest("r", [geode.GeodeValue.Integer(1)] * n, geode.GeodeValue.Null())
    block = geode.Request(value, correlation_id=1).encode()[10:-1] + last
    pieces = [block[at : at + size] for at in range(0, len(block), size)]
    heads = [struct.pack(">iiBB", len(each), 1, each is not pieces[-1], 0) for each in pieces]
    return b"".join(head + each for head, each in zip(heads, pieces, strict=True))


def heard(data: bytes, **limits: int) -> Any:
    """Return the last thing that a connection hears."""
    connection = geode.Connection("server", limits=geode.Limits(**limits))
    return connection.receive(DIVIDED + data)[-1]


@pytest.mark.parametrize("n", [5_000, 60_000])
def test_what_pieces_make_whole_is_searched_no_further(n: int) -> None:
    error = heard(divided(n, b"\xff"), work=1_000).error
    assert (error.code, error.expected) == (
        "limit_exceeded",
        "a fault within 1000 values of work (limits.work)",
    )
    assert error.partial["message"] == "GetAllRequest"
    error = heard(divided(n, b"\xff"), work=10**7).error
    assert (error.code, error.path) == ("unknown_code", "GetAllRequest.callback_arg")
    assert heard(divided(n, b"\x29"), work=0).frame.message.callback_arg == geode.GeodeValue.Null()


def test_what_pieces_make_whole_is_searched_no_further_frame_by_frame() -> None:
    data = divided(5_000, b"\xff", size=20_000)
    first, last = data[:20_010], data[20_010:]
    for work, code in ((1_000, "limit_exceeded"), (10**7, "unknown_code")):
        context = geode.Context()
        geode.decode(first, context=context, from_role="client")
        error = error_of(geode, last, context=context, from_role="client", limits=geode.Limits(work=work))
        assert error.code == code


def test_pieces_of_more_than_a_frame_may_have_are_read() -> None:
    data = divided(5_000, b"\x29")
    frame = heard(data, frame=1_010, joined=26_000, work=0).frame
    assert len(frame.message.keys) == 5_000
    assert heard(divided(5_000, b"\xff"), frame=1_010, joined=26_000, work=100).error.code == "limit_exceeded"


def test_a_stream_of_chunks_is_searched_no_further() -> None:
    for size in (64, len(MANY)):
        decoder = lj.Decoder(limits=lj.Limits(work=100), errors="yield")
        found = [item for at in range(0, len(MANY), size) for item in decoder.feed(MANY[at : at + size])]
        assert [getattr(item, "code", "") for item in found] == ["limit_exceeded"]
    assert [item.code for item in lj.Decoder(errors="yield").feed(MANY)] == ["unknown_code"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("cut", [1, 5_000])
def test_a_long_frame_that_is_cut_is_truncated_however_little_is_searched(cut: int) -> None:
    data = lj.encode(lj.Data(1, [lj.Pair("key", "value")] * 1_000))
    error = error_of(lj, data[:-cut], limits=lj.Limits(work=100))
    assert isinstance(error, lj.NeedMoreData)
    assert (error.code, error.at) == ("truncated", len(data) - cut)
    assert 0 < error.needed <= cut
    faulty = data[:-cut] + b"\xff" * cut + b"2"
    assert error_of(lj, faulty, limits=lj.Limits(work=100)).code == "limit_exceeded"


def test_an_error_of_a_stream_does_not_hold_what_was_read_first() -> None:
    data = compressed(lj.encode(lj.Json(1, b"x" * (1 << 20))) * 4 + b"2Z")
    decoder = lj.Decoder(errors="yield")
    tracemalloc.start()
    try:
        (error,) = decoder.feed(data)
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(error, lj.DecodeError)
    assert held < 2 << 20
    assert most < 14 << 20  # inflated, and its values, once
