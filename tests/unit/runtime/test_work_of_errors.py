"""How far the reference codec searches a frame that does not conform: no further than the limit `work` allows.

So also where protobuf or msgpack carried it: there a frame is judged by writing it.
"""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from typing import Any

import msgpack as python_msgpack
import pytest
from tests.built_schema import schema_of
from tests.lines import work as n_lines
from tests.peaks import peak_of

from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.serial.context_use import asks_context
from wireproto import geode
from wireproto import lumberjack as lj
from wireproto.geode import msgpack as geode_msgpack
from wireproto.geode import protobuf as geode_protobuf
from wireproto.lumberjack import msgpack, protobuf


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


# ---- what protobuf and msgpack carried


def many_inside(n_frames: int) -> lj.Frame:
    return lj.Frame(lj.Compressed([lj.Frame(lj.Data(i, [lj.Pair("k", "v")])) for i in range(n_frames)]))


def with_bad_last(n_frames: int) -> bytes:
    """Return Data of msgpack in a Compressed, and after them an invalid Ack."""
    row = python_msgpack.unpackb(msgpack.encode(many_inside(n_frames)))
    row[2].append([0x41, 0x32, 1 << 40])
    packed: bytes = python_msgpack.packb(row)
    return packed


def test_the_last_of_many_carried_frames_is_found() -> None:
    error = error_of(msgpack, with_bad_last(20_000))
    assert (error.code, error.path) == ("invalid_value", "Compressed.frames[20000].Ack.sequence")


def test_a_judgement_ends_where_its_work_is_spent() -> None:
    error = error_of(msgpack, with_bad_last(20_000), limits=lj.Limits(work=100))
    assert error.end is not None and error.recoverable
    assert error.code == "limit_exceeded"
    assert error.expected == "a fault within 100 values of work (limits.work)"
    assert error.path.startswith("Compressed.frames[9")


def test_a_judgement_costs_little_more_than_a_good_frame() -> None:
    good, bad = msgpack.encode(many_inside(1_000)), with_bad_last(1_000)
    least = n_lines(lambda: msgpack.decode(good))
    assert n_lines(lambda: error_of(msgpack, bad)) < 3 * least
    assert n_lines(lambda: error_of(msgpack, bad, limits=lj.Limits(work=100))) < 3 * least


def nested(n_levels: int, n_frames: int) -> bytes:
    """Return a frame with the same content at each of many levels, and an invalid value at the bottom."""
    row: list[Any] = [0x41, 0x32, 1 << 40]
    good = [0x44, 0x31, 0, [[b"k", b"v"]]]
    for level in range(n_levels):
        row = [0x43, 0x32, [*[good] * (n_frames if level == 0 else 0), row]]
    packed: bytes = python_msgpack.packb(row)
    return packed


def test_levels_do_not_multiply_the_work() -> None:
    limits = lj.Limits(depth=32, work=1_000)
    flat, deep = nested(1, 1_000), nested(30, 1_000)
    least = n_lines(lambda: error_of(msgpack, flat, limits=limits))
    assert n_lines(lambda: error_of(msgpack, deep, limits=limits)) < 3 * least


@pytest.mark.parametrize("module", [msgpack, protobuf])
@pytest.mark.parametrize("told", [{}, {"work": 100}])
def test_a_limit_that_is_exceeded_is_told_without_much_work(module: Any, told: dict[str, int]) -> None:
    data = module.encode(many_inside(2_000))
    limits = lj.Limits(inflated=20_000, **told)
    error = error_of(module, data, limits=limits)
    assert (error.code, error.path) == ("limit_exceeded", "Compressed.frames")
    assert error.expected == "at most 20000 inflated bytes (limits.inflated)"
    assert n_lines(lambda: error_of(module, data, limits=limits)) < 2 * n_lines(lambda: module.decode(data))


@pytest.mark.parametrize("module", [msgpack, protobuf])
def test_what_conforms_is_never_refused_for_the_work_of_judging(module: Any) -> None:
    frame = many_inside(2_000)
    assert module.decode(module.encode(frame), limits=lj.Limits(work=0), strict=True) == frame


def test_what_is_encoded_is_explained_whatever_it_costs() -> None:
    frame = many_inside(2_000)
    assert isinstance(frame.message, lj.Compressed)
    frame.message.frames.append(lj.Frame(lj.Ack(1 << 40)))
    for module in (lj, msgpack, protobuf):
        with pytest.raises(lj.EncodeError) as caught:
            module.encode(frame, limits=lj.Limits(work=0))
        assert (caught.value.code, caught.value.path) == (
            "invalid_value",
            "Compressed.frames[2000].Ack.sequence",
        )


# ---- values that are carried as native bytes

SERIALIZATIONS = pytest.mark.parametrize("module", [geode_msgpack, geode_protobuf])
Value = geode.GeodeValue


def put_of_many(module: Any, n_values: int) -> tuple[bytes, bytes]:
    """Return a frame with a value that has many inside, and one whose last value is not ASCII."""
    texts: list[Any] = [Value.StringBytes("x")] * n_values + [Value.StringBytes("Q" * 9)]
    put = geode.PutRequest("r", Value.Integer(1), Value.ArrayList(texts), Value.Null())
    good = module.encode(put, correlation_id=1, limits=geode.Limits(count=100_000, messages=100_000))
    bad = good.replace(b"Q" * 9, "é".encode() * 4 + b"Q")
    assert bad != good
    return good, bad


@SERIALIZATIONS
def test_a_search_in_native_bytes_ends_where_its_work_is_spent(module: Any) -> None:
    _, bad = put_of_many(module, 5_000)
    told = {"from_role": "client"}
    assert error_of(module, bad, **told).code == "invalid_text"
    error = error_of(module, bad, limits=geode.Limits(work=100), **told)
    assert (error.code, error.expected) == (
        "limit_exceeded",
        "a fault within 100 values of work (limits.work)",
    )
    assert error.path.startswith("PutRequest.callback_arg.ArrayList.value[1")


@SERIALIZATIONS
def test_native_bytes_take_no_more_when_something_is_wrong(module: Any) -> None:
    good, bad = put_of_many(module, 60_000)

    module.decode(good, from_role="client")
    error_of(module, bad, from_role="client")  # what is loaded for it does not count
    most, _ = peak_of(lambda: module.decode(good, from_role="client"))
    assert peak_of(lambda: error_of(module, bad, from_role="client"), 2 * most)[0] < 2 * most


def test_native_bytes_are_read_within_the_limits_that_are_given() -> None:
    null, limits = Value.Null(), geode.Limits(count=100_000, messages=100_000, work=0)
    few, many = (
        geode.encode(geode.PutRequest("r", Value.Integer(1), value, null), correlation_id=1, limits=limits)
        for value in (null, Value.ArrayList([null] * 70_000))
    )
    row = python_msgpack.unpackb(
        geode_msgpack.encode(geode.decode(few, from_role="client"), from_role="client")
    )
    row[6] = many[len(few) - 7 : -6]
    data = python_msgpack.packb(row)
    assert error_of(geode_msgpack, data, from_role="client").code == "limit_exceeded"
    frame: Any = geode_msgpack.decode(data, from_role="client", limits=limits)
    assert len(frame.message.callback_arg.value) == 70_000


# ---- what only the reference codec can tell


def test_frames_that_need_a_context_are_known() -> None:
    layout = Layout(schema_of("reactive_streams"), Options())
    asking = {name for name in layout.messages if asks_context(layout, "Message", name)}
    assert asking == {"OnNext", "OnNextPacked"}
    layout = Layout(schema_of("geode"), Options())
    assert not any(
        asks_context(layout, frame, name) for frame in ("Request", "Response") for name in layout.messages
    )
