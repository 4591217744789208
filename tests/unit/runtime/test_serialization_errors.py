"""Errors of generated protobuf and msgpack say where: a path, and the byte wherever that is known."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.hostile_serializations import field, varint

from wiregen.runtime.serial.conversion import Misfit, Unreadable
from wiregen.runtime.serial.msgpack import place_of_raw
from wireproto import geode, lumberjack
from wireproto.geode import msgpack as geode_msgpack
from wireproto.geode import protobuf as geode_protobuf
from wireproto.lumberjack import msgpack, protobuf
from wireproto.reactive_streams import msgpack as rs_msgpack
from wireproto.reactive_streams import protobuf as rs_protobuf


def fault(module: Any, octets: str, **told: Any) -> Any:
    with pytest.raises(module.DecodeError) as caught:
        module.decode(bytes.fromhex(octets), **told)
    return caught.value


PLACES = [
    pytest.param(rs_msgpack, "920da1ff", "invalid_text", "Goodbye.reason", 2, id="msgpack: no text"),
    pytest.param(rs_msgpack, "920d80", "invalid_value", "Goodbye.reason", 2, id="msgpack: a map"),
    pytest.param(rs_msgpack, "920d8190a1ff", "invalid_value", "Goodbye.reason", 2, id="msgpack: a full map"),
    pytest.param(rs_msgpack, "920dd40000", "invalid_value", "Goodbye.reason", 2, id="msgpack: an extension"),
    pytest.param(rs_msgpack, "92a1ff80", "invalid_text", "", 1, id="msgpack: a code that is no text"),
    pytest.param(rs_msgpack, "80", "invalid_value", "", 0, id="msgpack: nothing but a map"),
    pytest.param(msgpack, "938000c0", "invalid_value", "", 1, id="msgpack: a map for a code"),
    pytest.param(
        msgpack, "944431019292c4016bc4017692c401c1d40000", "invalid_value", "Data.pairs[1].value", 16,
        id="msgpack: an extension deep inside",
    ),
    pytest.param(msgpack, "944431019292c4016bc4017692c1", "invalid_value", "Data.pairs[1].key", 13, id="msgpack: c1"),
    pytest.param(rs_protobuf, "056a030a01ff", "invalid_text", "Goodbye.reason", 5, id="protobuf: no text"),
    pytest.param(
        rs_protobuf, "09120708021203000196", "truncated", "ServerHello.extensions[2]", 10,
        id="protobuf: cut packed numbers",
    ),
    pytest.param(protobuf, "06083322020803", "invalid_enum", "Frame.version", 2, id="protobuf: no member"),
    pytest.param(protobuf, "06083122020a00", "invalid_value", "Ack.sequence", 6, id="protobuf: a wire type"),
    pytest.param(protobuf, "080831220478000803", "unknown_code", "Ack", 5, id="protobuf: an unknown field"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "octets", "code", "path", "at"), PLACES)
def test_errors_have_their_path_and_byte(module: Any, octets: str, code: str, path: str, at: int) -> None:
    error = fault(module, octets)
    assert (error.code, error.path, error.at) == (code, path, at)
    assert error.frame_offset == 0


SMALL = lumberjack.Data(1, [lumberjack.Pair("k", "v")] * 3)
NAMED = [
    pytest.param(SMALL, {"count": 2}, id="count"),
    pytest.param(SMALL, {"messages": 2}, id="messages"),
    pytest.param(lumberjack.Json(1, bytes(90)), {"frame": 9}, id="frame"),
    pytest.param(lumberjack.Compressed([lumberjack.Frame(SMALL)]), {"inflated": 9}, id="inflated"),
    pytest.param(
        lumberjack.Compressed([lumberjack.Frame(lumberjack.Compressed([]))]), {"depth": 0}, id="depth"
    ),
]


@pytest.mark.parametrize("module", [lumberjack, msgpack, protobuf])
@pytest.mark.parametrize(("value", "limits"), NAMED)
def test_errors_name_the_limit_that_is_exceeded(module: Any, value: Any, limits: dict[str, int]) -> None:
    name, bounds = f"(limits.{next(iter(limits))}", module.Limits(**limits)
    with pytest.raises(module.DecodeError) as met:
        module.decode(module.encode(value), limits=bounds)
    with pytest.raises(module.EncodeError) as told:
        module.encode(value, limits=bounds)
    assert name in met.value.expected and name in str(met.value)
    assert name in told.value.expected


Value = geode.GeodeValue
IN_NATIVE_BYTES = [
    pytest.param(Value.StringBytes("QQQ"), "StringBytes.value", id="a value"),
    pytest.param(Value.ArrayList([Value.Null(), Value.StringBytes("QQQ")]), "ArrayList.value[1].StringBytes.value", id="deep inside"),
]  # fmt: skip


def put_of_no_ascii(module: Any, value: Any, times: int = 1) -> bytes:
    key = Value.Integer(1) if times == 1 else value
    good = module.encode(geode.PutRequest("r", key, Value.Null(), value), correlation_id=1)
    assert good.count(b"QQQ") == times
    return bytes(good.replace(b"QQQ", "éQ".encode()))


@pytest.mark.parametrize("module", [geode_msgpack, geode_protobuf])
@pytest.mark.parametrize(("value", "path"), IN_NATIVE_BYTES)
def test_a_fault_in_native_bytes_has_its_path_and_byte(module: Any, value: Any, path: str) -> None:
    data = put_of_no_ascii(module, value)
    error = fault(module, data.hex(), from_role="client")
    assert (error.code, error.path) == ("invalid_text", f"PutRequest.value.{path}")
    assert error.at == data.index("é".encode())
    with pytest.raises(geode.EncodeError) as told:
        geode.encode(
            geode.PutRequest("r", Value.Integer(1), Value.Null(), _no_ascii(value)), correlation_id=1
        )
    assert told.value.path == error.path


def _no_ascii(value: Any) -> Any:
    if isinstance(value, Value.ArrayList):
        return Value.ArrayList([_no_ascii(each) for each in value.value or ()])
    return Value.StringBytes("éQ") if isinstance(value, Value.StringBytes) else value


@pytest.mark.parametrize(
    ("raw", "path", "inside"), [("", "", 0), ("2900", "", 1), ("4101ff", ".ArrayList.value[0]", 2)]
)
def test_native_bytes_that_are_cut_or_too_long_have_their_byte(raw: str, path: str, inside: int) -> None:
    octets = bytes.fromhex(raw)
    get = geode_msgpack.encode(geode.GetRequest("r", Value.Integer(1), Value.Null()), correlation_id=1)
    assert get.endswith(b"\xc4\x01\x29")
    data = get[:-2] + bytes([len(octets)]) + octets
    error = fault(geode_msgpack, data.hex(), from_role="client")
    assert (error.path, error.at) == (f"GetRequest.callback_arg{path}", len(get) - 1 + inside)


@pytest.mark.parametrize("module", [geode_msgpack, geode_protobuf])
def test_of_equal_native_bytes_the_refused_ones_have_the_place(module: Any) -> None:
    data = put_of_no_ascii(module, Value.StringBytes("QQQ"), times=2)
    assert data.count("é".encode()) == 2
    assert fault(module, data.hex(), from_role="client").at == data.index("é".encode())


def test_native_bytes_with_a_long_length_have_their_place_in_msgpack() -> None:
    get = geode_msgpack.encode(geode.GetRequest("r", Value.Integer(1), Value.Null()), correlation_id=1)
    data = get[:-3] + b"\xc5\0\2\x29\0"
    error = fault(geode_msgpack, data.hex(), from_role="client")
    assert (error.path, error.at) == ("GetRequest.callback_arg", len(data) - 1)


def refused_at(rows: list[Any], n_before: int) -> Any:
    """Return the error of unpacking values of a byte, if those of some places are always accepted."""

    def unpack() -> None:
        for index, value in enumerate(rows):
            if type(value) is Unreadable:
                raise value.misfit.within(f"values[{index}]")
            if index == n_before:
                raise Misfit("invalid_value", "another", path=f"values[{index}]", raw=(value, 0))

    return unpack


@pytest.mark.parametrize("n_before", [0, 1, 5, 6, 11])
def test_of_equal_single_bytes_the_refused_one_has_the_place(n_before: int) -> None:
    byte = b"\x01"
    rows: list[Any] = [byte] * 12
    data = b"\x9c" + b"\xc4\1\1" * 12
    unpack = refused_at(rows, n_before)
    with pytest.raises(Misfit) as caught:
        unpack()
    assert place_of_raw(data, rows, caught.value, unpack) == 1 + 3 * n_before + 2
    assert rows == [byte] * 12


@pytest.mark.parametrize(
    ("module", "bad", "at"),
    [
        pytest.param(protobuf, "06083122020a00", 6, id="protobuf"),
        pytest.param(msgpack, "93413180", 3, id="msgpack"),
    ],
)
def test_places_count_in_the_stream(module: Any, bad: str, at: int) -> None:
    good = module.encode(lumberjack.Ack(1))
    _, error, after = module.Decoder(errors="yield").feed(good + bytes.fromhex(bad) + good)
    assert (error.frame_offset, error.at, error.path) == (len(good), len(good) + at, "Ack.sequence")
    assert after.message == lumberjack.Ack(1)


@pytest.mark.parametrize(("octets", "size"), [("90", 0), ("91e4", 1)])
def test_an_array_is_told_by_its_length(octets: str, size: int) -> None:
    assert fault(msgpack, octets).found == f"an array of {size}"


def test_members_of_a_oneof_are_named() -> None:
    assert fault(protobuf, "0a0831220208032a020804").found == "Ack and Window"
    assert fault(protobuf, "0a08312202080322020804").found == "two Ack"


@pytest.mark.parametrize("module", [geode_protobuf, geode_msgpack])
def test_a_role_that_was_not_given_is_mentioned(module: Any) -> None:
    answer = geode.Response(geode.GetResponse(geode.GeodeValue.Null()), correlation_id=1)
    data = module.encode(answer)
    assert "(read without from_role)" in str(fault(module, data.hex()))
    assert "from_role" not in str(fault(module, data.hex(), from_role="client"))
    assert module.decode(data, from_role="server") == answer


def test_a_path_of_many_levels_is_cut() -> None:
    body = b"\x78\x00"
    for _ in range(45):
        body = b"\x08\x32" + field(0x32, field(0x0A, body))
    error = fault(protobuf, (varint(len(body)) + body).hex())
    assert (error.code, len(error.path)) == ("unknown_code", 193)
    assert error.path.startswith("Compressed.frames[0].") and "…" in error.path
    assert len(str(error)) < 300
