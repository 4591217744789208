"""Generated protobuf and msgpack next to the native codec: values carried as its bytes, values that only it
carries, its rules.
"""

from __future__ import annotations

from typing import Any

import msgpack as python_msgpack
import pytest
from tests.built_schema import schema_of
from tests.property.any_values import AnyValues

from wireproto import geode, pravega, pravega_documented, reactive_streams
from wireproto import lumberjack as lj
from wireproto.geode import msgpack as geode_msgpack
from wireproto.geode import protobuf as geode_protobuf
from wireproto.lumberjack import msgpack, protobuf
from wireproto.pravega import msgpack as pravega_msgpack
from wireproto.pravega import protobuf as pravega_protobuf
from wireproto.pravega_documented import msgpack as documented_msgpack
from wireproto.reactive_streams import msgpack as rs_msgpack

ACK = lj.Frame(lj.Ack(3), version=lj.Version.V1)
KEY = geode.GeodeValue.String("key")
PUT = geode.PutRequest("region", KEY, geode.GeodeValue.Null(), geode.GeodeValue.ArrayList([KEY, KEY]))


@pytest.mark.parametrize("module", [geode_protobuf, geode_msgpack])
def test_raw_values_need_no_reference_codec(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("write_type", "explain_type"):
        monkeypatch.setattr(f"wireproto._runtime.serial.conversion.{name}", None)
    frame = geode.Request(PUT, correlation_id=1)
    assert module.decode(module.encode(frame), from_role="client") == frame


@pytest.mark.parametrize(
    ("raw", "code"),
    [("", "truncated"), ("2900", "trailing_bytes"), ("2e05", "truncated"), ("ff", "unknown_code")],
)
def test_the_reference_codec_says_what_is_wrong_with_a_raw_value(raw: str, code: str) -> None:
    value = bytes.fromhex(raw)
    frame = geode_msgpack.encode(geode.GetRequest("r", KEY, geode.GeodeValue.Null()), correlation_id=1)
    assert frame.endswith(b"\xc4\x01\x29")
    wrong = frame[:-2] + bytes([len(value)]) + value
    with pytest.raises(geode_msgpack.DecodeError) as caught:
        geode_msgpack.decode(wrong, from_role="client")
    assert (caught.value.code, caught.value.path.startswith("GetRequest.callback_arg")) == (code, True)


@pytest.mark.parametrize("module", [pravega_protobuf, pravega_msgpack])
def test_what_was_left_over_is_refused(module: Any) -> None:
    frame: Any = pravega.decode(bytes.fromhex("00000064 00000002 abcd"))
    with pytest.raises(module.EncodeError) as caught:
        module.encode(frame)
    assert (caught.value.code, caught.value.path) == ("unrepresentable", "KeepAlive.tail")
    assert caught.value.found == "2 bytes"
    frame.message.tail = b""
    assert module.decode(module.encode(frame)) == frame


def test_a_field_named_tail_is_no_tail() -> None:
    read = next(
        frame
        for _, frame in AnyValues(pravega_documented, schema_of("pravega_documented")).frames(1)
        if type(frame.message) is pravega_documented.SegmentRead
    )
    read = read.replace(message=read.message.replace(tail_=True))
    assert documented_msgpack.decode(documented_msgpack.encode(read)) == read


GET = geode_msgpack.encode(geode.GetRequest("r", KEY, geode.GeodeValue.Null()), correlation_id=1)
SUBSCRIBED = rs_msgpack.encode(reactive_streams.Subscribed(7, 0))
RULES: dict[str, tuple[Any, bytes, int, Any, dict[str, Any], tuple[str, str]]] = {
    "an enum's field": (msgpack, msgpack.encode(ACK), 1, 0x33, {}, ("bad_version", "Frame.version")),
    "a where": (
        rs_msgpack,
        SUBSCRIBED,
        2,
        1 << 40,
        {"from_role": "server"},
        ("length_over_limit", "Subscribed.element_size"),
    ),
    "an only": (
        geode_msgpack,
        GET,
        5,
        b"\x29",
        {"from_role": "client"},
        ("key_type_not_allowed", "GetRequest.key"),
    ),
    "a header's where": (
        geode_msgpack,
        GET,
        3,
        [[1, True], [1, False]],
        {"from_role": "client"},
        ("duplicate_metadata_key", "Request.metadata"),
    ),
    "a raw value": (
        geode_msgpack,
        GET,
        6,
        b"\xff",
        {"from_role": "client"},
        ("unknown_type_code", "GetRequest.callback_arg"),
    ),
    "a limit": (
        msgpack,
        msgpack.encode(lj.Data(1, [lj.Pair("a", "b")])),
        3,
        [[b"", b""]] * 2,
        {"limits": lj.Limits(count=1)},
        ("too_many_pairs", "Data.pairs"),
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_an_error_names_the_rule_that_is_broken(name: str) -> None:
    module, good, place, value, told, rule_and_path = RULES[name]
    row = python_msgpack.unpackb(good)
    row[place] = value
    with pytest.raises(module.DecodeError) as caught:
        module.decode(python_msgpack.packb(row), **told)
    assert (caught.value.rule, caught.value.path) == rule_and_path


NONE_SET = bytes.fromhex("0802")
"""A request in protobuf with a correlation id only."""


NATIVE_GET = geode.encode(geode.GetRequest("r", KEY, geode.GeodeValue.Null()), correlation_id=1)
PROTOBUF_GET = geode_protobuf.encode(geode.decode(NATIVE_GET, from_role="client"))
EMPTY_METADATA = bytes([len(PROTOBUF_GET) + 3]) + NONE_SET + b"\x1a\2\n\0" + PROTOBUF_GET[3:]


def with_row(place: int, value: Any) -> bytes:
    row = python_msgpack.unpackb(GET)
    row[place] = value
    packed: bytes = python_msgpack.packb(row)
    return packed


@pytest.mark.parametrize(
    ("decode", "octets", "rule"),
    [
        pytest.param(geode.decode, NATIVE_GET[:10] + b"\x63" + NATIVE_GET[11:], "unknown_api", id="message"),
        pytest.param(geode_msgpack.decode, with_row(0, 99), "unknown_api", id="message-msgpack"),
        pytest.param(geode_protobuf.decode, b"\2" + NONE_SET, "unknown_api", id="message-protobuf"),
        pytest.param(geode_msgpack.decode, with_row(3, [[9, True]]), "unknown_metadata_key", id="variety-msgpack"),
        pytest.param(
            geode_protobuf.decode, EMPTY_METADATA, "unknown_metadata_key", id="variety-protobuf"
        ),
        pytest.param(lj.decode, b"2z\0\0\0\1", "bad_type", id="another protocol"),
        pytest.param(msgpack.decode, bytes.fromhex("937a3201"), "bad_type", id="another-msgpack"),
    ],
)  # fmt: skip
def test_a_code_that_is_none_breaks_the_rule_of_its_field_or_union(
    decode: Any, octets: bytes, rule: str
) -> None:
    role = "client" if decode.__module__.startswith("wireproto.geode") else None
    with pytest.raises(lj.DecodeError) as caught:
        decode(octets, from_role=role)
    assert caught.value.code in ("unknown_code", "invalid_enum")  # the native code is a number of an enum
    assert caught.value.rule == rule


def test_an_error_of_a_field_without_a_rule_has_none() -> None:
    with pytest.raises(msgpack.DecodeError) as caught:
        msgpack.decode(bytes.fromhex("934131cf0000000100000000"))
    assert (caught.value.path, caught.value.rule) == ("Ack.sequence", None)


def test_an_encoder_names_the_rule_too() -> None:
    wrong = lj.Frame(lj.Ack(3), version=9)  # type: ignore[arg-type]
    for encode in (lj.encode, msgpack.encode, protobuf.encode):
        with pytest.raises(lj.EncodeError) as caught:
            encode(wrong)
        assert (caught.value.code, caught.value.rule) == ("invalid_enum", "bad_version")
