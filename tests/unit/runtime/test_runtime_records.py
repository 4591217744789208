"""Records: the JSON of every type, the values that are never shown, and the errors of records."""

from __future__ import annotations

import json
import math
import struct
from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit import plans as p

from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.records.frames import frame_from_record, frame_record, message_fields
from wiregen.runtime.records.scalars import PLAIN
from wiregen.runtime.reference.tree import FrameValue, Record, Unknown, Variety
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import BuiltIn, CodingReference

ENUMS = {"Closed": (p.U8, False, ((1, "ONE"), (2, "TWO"))), "Open": (p.U64, True, ((1, "ONE"),))}
CODINGS = {"Length": (p.U8, ((0, 0xFC, None, False), (0xFF, 0xFF, None, True)))}
SHAPES: dict[str, Any] = {
    "enums": ENUMS,
    "codings": CODINGS,
    "structs": {"Pair": (p.field("key", p.U8), p.field("value", p.U8)), "Only": (p.field("a", p.U8),)},
    "unions": {
        "Value": (
            p.U8,
            (
                (((57, 57),), "Integer", (p.field("value", p.I32),), True),
                (((1, 6), (9, 9)), "Many", (), False),
            ),
            False,
        ),
        "Other": (
            p.U8,
            (
                (((1, 1),), "Integer", (p.field("value", p.U8),), True),
                (((2, 2),), "Pair", (p.field("value", p.U8),), True),
            ),
            False,
        ),
    },
}
VALUE = ("union", "Value", None, False)
UTF8 = p.text("utf8", p.prefix(p.U8), lenient=True)
CHOICE = (
    "match",
    p.number(0),
    ((((0, 0),), ("struct", "Only")), (((1, 1),), ("struct", "Pair")), ((), p.U8)),
)
UNIONS = (
    "match",
    p.number(0),
    ((((0, 0),), VALUE), (((1, 1),), ("union", "Other", None, False)), ((), ("struct", "Only"))),
)
UNION_OR_STRUCT = (
    "match",
    p.number(0),
    ((((0, 0),), ("union", "Other", None, False)), ((), ("struct", "Pair"))),
)
MIXED = ("match", p.number(0), ((((0, 0),), UTF8), ((), p.octets(p.prefix(p.U8)))))


def message(fields: dict[str, Any], absent: int = 0) -> FrameValue:
    return FrameValue("Frame", {}, Record("M", fields, absent=absent), body="body")


def check_same(plan: Schema, value: FrameValue, fields: Any) -> None:
    """Compare the record with the expected fields, and the decoded value with the original."""
    record = frame_record(plan, value)
    assert record["fields"] == fields
    assert frame_from_record(plan, json.loads(json.dumps(record))) == value


@pytest.mark.parametrize(
    ("type_", "value", "shown"),
    [
        pytest.param(p.U32, 2**32 - 1, 2**32 - 1, id="32 bits are a number"),
        pytest.param(("int", 5, False, "big"), 1, "1", id="40 bits are text"),
        pytest.param(p.I64, -(2**63), "-9223372036854775808", id="64 bits are text"),
        pytest.param(p.VARINT, 5, "5", id="varints are text"),
        pytest.param(("coding", "Length"), 5, 5, id="coding"),
        pytest.param(("coding", "Length"), None, None, id="null of a coding"),
        pytest.param(("float", "f64", "big"), 0.1, 0.1, id="f64"),
        pytest.param(("float", "f32", "big"), struct.unpack(">f", bytes.fromhex("3dcccccd"))[0], 0.1, id="shortest f32"),
        pytest.param(("float", "f32", "big"), math.inf, {"hex": "7f800000"}, id="infinity"),
        pytest.param(("float", "f64", "little"), -math.inf, {"hex": "000000000000f0ff"}, id="its bytes"),
        pytest.param(("bool", False), True, True, id="bool"),
        pytest.param(("uuid",), UUID(int=255), "00000000-0000-0000-0000-0000000000ff", id="uuid"),
        pytest.param(("enum", "Closed", None, False), 2, "TWO", id="enum"),
        pytest.param(("enum", "Open", None, False), 77, "77", id="unknown member of 64 bits"),
        pytest.param(p.octets(p.prefix(p.U8)), b"\x0a\xff", "0aff", id="bytes"),
        pytest.param(p.octets(p.prefix(("coding", "Length"))), None, None, id="null bytes"),
        pytest.param(UTF8, "café", "café", id="text"),
        pytest.param(UTF8, "caf\udce9", {"hex": "636166e9"}, id="text that is not valid"),
        pytest.param(p.text("mutf8", p.prefix(p.U8)), "\ud800", "\ud800", id="lone surrogate, valid there"),
        pytest.param(("list", ("struct", "Pair"), p.prefix(p.U8), 2), [Record("Pair", {"key": 1, "value": 2})],
                     [{"key": 1, "value": 2}], id="pairs"),
        pytest.param(VALUE, Variety("Value", "Integer", {"value": 101}, 57), {"Integer": {"value": 101}}, id="union"),
        pytest.param(VALUE, Variety("Value", "Many", {}, 4), {"Many": {}, "code": 4}, id="one of several codes"),
        pytest.param(CHOICE, Record("Only", {"a": 1}), {"Only": {"a": 1}}, id="choice of structs"),
        pytest.param(CHOICE, 7, 7, id="plain choice"),
        pytest.param(UNIONS, Variety("Value", "Integer", {"value": 1}, 57), {"Value": {"Integer": {"value": 1}}},
                     id="choice of unions with alternatives of one name"),
        pytest.param(UNIONS, Variety("Other", "Integer", {"value": 1}, 1), {"Other": {"Integer": {"value": 1}}},
                     id="the second of them"),
        pytest.param(UNIONS, Variety("Value", "Many", {}, 4), {"Value": {"Many": {}, "code": 4}},
                     id="an alternative of several codes of them"),
        pytest.param(UNION_OR_STRUCT, Variety("Other", "Pair", {"value": 1}, 2), {"Other": {"Pair": {"value": 1}}},
                     id="an alternative with the name of a struct"),
        pytest.param(UNION_OR_STRUCT, Record("Pair", {"key": 1, "value": 2}), {"Pair": {"key": 1, "value": 2}},
                     id="a struct with the name of an alternative"),
        pytest.param(MIXED, "aa", {"text": "aa"}, id="choice of text"),
        pytest.param(MIXED, b"\xaa", {"bytes": "aa"}, id="or bytes"),
        pytest.param(("region", p.U8, ("prefix", p.U8), False), 1, 1, id="region"),
        pytest.param(("message", "M2"), Record("M2", {"y": 1}), {"message": "M2", "fields": {"y": 1}}, id="message"),
        pytest.param(("frame", "Frame", None, False), FrameValue("Frame", {}, Record("M2", {"y": 1}), body="body"),
                     {"message": "M2", "header": {}, "fields": {"y": 1}}, id="frame"),
    ],
)  # fmt: skip
def test_values(type_: Any, value: Any, shown: Any) -> None:
    plan = p.plan(("M", 1, None, (p.field("x", type_),)), ("M2", 2, None, (p.field("y", p.U8),)), **SHAPES)
    check_same(plan, message({"x": value}), {"x": shown})


def test_nan_keeps_its_bytes() -> None:
    plan = p.of_field(("float", "f64", "big"))
    nan = struct.unpack(">d", bytes.fromhex("7ff8000000000123"))[0]
    record = frame_record(plan, message({"x": nan}))
    assert record["fields"] == {"x": {"hex": "7ff8000000000123"}}
    back = frame_from_record(plan, record).message.fields["x"]
    assert struct.pack(">d", back).hex() == "7ff8000000000123"


FIELDS = (
    p.field("length", p.U8, p.derived(p.call("size", "block"))),
    p.field("_", p.U8),
    p.field("flag", ("bits", 1, True, "msb")),
    p.field("rest", ("bits", 7, False, "msb")),
    p.field("block", ("region", ("block", (p.field("inside", p.U8), p.field("magic", p.U8, ("constant", p.number(1))))),
                      ("size", p.own("length")), False)),
    p.field("maybe", p.U8, condition=p.own("flag")),
    p.field("usual", p.U8, p.default(p.number(7))),
    p.field("id", ("uuid",), ("trailing", ("octets", "00" * 16))),
    p.field("late", p.I64, ("trailing", p.number(-1)), secret=True),
)  # fmt: skip
NIL = UUID(int=0)


def test_what_shows() -> None:
    plan = p.plan(("M", 1, None, FIELDS))
    values: dict[str, Any] = {
        "flag": False,
        "rest": 3,
        "inside": 9,
        "maybe": None,
        "usual": 7,
        "id": NIL,
        "late": -1,
    }
    shown = {"flag": False, "rest": 3, "inside": 9, "usual": 7, "id": str(NIL), "late": "-1"}
    check_same(plan, message(values), shown)
    check_same(plan, message(values, absent=1), {key: shown[key] for key in shown if key != "late"})
    check_same(
        plan, message(values, absent=2), {key: shown[key] for key in shown if key not in ("late", "id")}
    )
    assert message_fields(plan, Record("M", values)) == shown


def test_defaults_need_not_be_given() -> None:
    plan = p.plan(("M", 1, None, FIELDS))
    record = {"message": "M", "fields": {"flag": True, "rest": 0, "inside": 1, "maybe": 2, "late": 5}}
    value = frame_from_record(plan, record)
    assert value.message.fields["usual"] == 7
    assert value.message.fields["id"] == NIL
    assert value.message.absent == 0


def test_frames_and_what_they_carry() -> None:
    ack = FrameValue("Frame", {"version": 50}, Record("Ack", {"sequence": 1}), body="body")
    record = {"message": "Ack", "header": {"version": "V2"}, "fields": {"sequence": 1}}
    assert frame_record(p.LUMBERJACK, ack) == record
    assert list(frame_record(p.LUMBERJACK, ack)) == ["message", "header", "fields"]
    assert frame_from_record(p.LUMBERJACK, record) == ack
    assert frame_from_record(p.LUMBERJACK, {"message": "Ack", "fields": {"sequence": "1"}}) == ack
    outer = FrameValue("Frame", {"version": 50}, Record("Compressed", {"frames": [ack]}), body="body")
    assert frame_record(p.LUMBERJACK, outer)["fields"] == {"frames": [record]}
    assert frame_from_record(p.LUMBERJACK, frame_record(p.LUMBERJACK, outer)) == outer


def test_unknown_messages() -> None:
    frame = FrameValue("Frame", {"version": 50}, Unknown(77, b"\x01"), body="body")
    record = {"message": "Unknown", "code": 77, "header": {"version": "V2"}, "fields": {"data": "01"}}
    assert frame_record(p.LUMBERJACK, frame) == record
    assert frame_from_record(p.LUMBERJACK, record) == frame
    record["code"] = None
    assert frame_from_record(p.LUMBERJACK, record).message == Unknown(None, b"\x01")


def test_the_sender_decides_where_frames_differ() -> None:
    done = {"message": "Done", "header": {"id": 1}, "fields": {"ok": True}}
    assert frame_from_record(p.VALUES, done).name == "Response"
    unknown = {"message": "Unknown", "code": None, "header": {"id": 1}, "fields": {"data": ""}}
    assert frame_from_record(p.VALUES, unknown, role="server").name == "Response"
    with pytest.raises(EncodeError, match="a role that sends it"):
        frame_from_record(p.VALUES, unknown)


def test_preambles() -> None:
    plan = p.of_field(
        p.U8, preambles={"Hello": ("client", (p.field("mode", p.U8),))}, opens={"client": "Hello"}
    )
    hello = Record("Hello", {"mode": 1})
    assert frame_record(plan, hello) == {"message": "Hello", "header": {}, "fields": {"mode": 1}}
    assert frame_from_record(plan, frame_record(plan, hello)) == hello


def test_what_is_partial_shows_as_far_as_it_goes() -> None:
    partial = FrameValue("Frame", {"version": 50}, Record("Data", {"pairs": [Record("Pair", {"key": "k"})]}))
    assert frame_record(p.LUMBERJACK, partial)["fields"] == {"pairs": [{"key": "k"}]}
    assert frame_record(p.LUMBERJACK, FrameValue("Frame", {"version": 50})) == {
        "message": None, "header": {"version": "V2"}, "fields": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    "value", [None, 1, FrameValue("Frame", {"version": "V1"}), Record("Data", {"pairs": 5}), Record("Ack", {"sequence": "x"})]
)  # fmt: skip
def test_values_of_other_types_have_no_record(value: Any) -> None:
    with pytest.raises(EncodeError) as caught:
        frame_record(p.LUMBERJACK, value)
    assert caught.value.code == "invalid_value"


# ---- views ----


def document(data: bytes) -> dict[str, Any]:
    value = FrameValue(
        "Frame", {"version": 50}, Record("Json", {"sequence": 1, "document": data}), body="body"
    )
    fields: dict[str, Any] = frame_record(p.LUMBERJACK, value)["fields"]
    assert fields["document"] == data.hex()
    assert frame_from_record(p.LUMBERJACK, frame_record(p.LUMBERJACK, value)) == value
    return fields


def test_json_beside_its_bytes() -> None:
    assert document(b'{"a": [1, null]}')["document_json"] == {"a": [1, None]}
    assert document(b"null")["document_json"] is None


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b"NaN", b"[Infinity]", b"1e999", b"[" * 100_000, b"[" * 80 + b"]" * 80, b"9" * 5000],
    ids=["empty", "cut", "not text", "NaN", "infinity", "no float", "endless", "deep", "many digits"],
)
def test_what_is_no_json_has_no_view(data: bytes) -> None:
    assert "document_json" not in document(data)


# ---- what is wrong with a record ----


@pytest.mark.parametrize(
    ("type_", "data"),
    [
        (p.U32, True), (p.U32, 1.0), (p.U32, "one"), (p.U32, "١"), (p.U32, "1" * 100), (p.U32, None), (p.U32, {}),
        (("bool", True), 1), (("bits", 1, True, "msb"), 1), (("bits", 3, False, "msb"), True),
        (("float", "f64", "big"), "1"), (("float", "f64", "big"), {"hex": "00"}), (("float", "f32", "big"), 1e39),
        (("float", "f64", "big"), 10**400), (("float", "f64", "big"), True),
        (("uuid",), "00000000000000000000000000000000"), (("uuid",), 1), (("uuid",), "z" * 36),
        (p.octets(p.prefix(p.U8)), "0"), (p.octets(p.prefix(p.U8)), "0 0 "), (p.octets(p.prefix(p.U8)), "zz"),
        (p.octets(p.prefix(p.U8)), [1]), (p.octets(p.prefix(p.U8)), None),
        (UTF8, 1), (UTF8, {"hex": 1}), (UTF8, {"hex": "", "more": 1}), (UTF8, {}),
        (("list", p.U8, p.prefix(p.U8), 1), {"0": 1}),
        (("struct", "Pair"), []), (VALUE, {}), (VALUE, "Integer"), (VALUE, {"Other": {}}),
        (VALUE, {"Integer": {"value": 1}, "Many": {}}), (VALUE, {"Many": {}}), (CHOICE, {"message": "M"}),
        (("message", "M"), {"message": "None"}), (("message", "M"), []),
    ],
)  # fmt: skip
def test_values_of_another_shape(type_: Any, data: Any) -> None:
    plan = p.of_field(type_, **SHAPES)
    with pytest.raises(EncodeError) as caught:
        frame_from_record(plan, {"message": "M", "fields": {"x": data}})
    assert caught.value.code == "invalid_value"
    assert caught.value.path.startswith("M.x")
    assert caught.value.expected
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ([], "invalid_value: expected a record with a message, found a list"),
        ({}, "message: invalid_value: expected a name, found null"),
        (
            {"message": "Nobody", "fields": {}},
            "Nobody: invalid_value: expected a message of the protocol, found message 'Nobody'",
        ),
        ({"message": "Ack"}, "Ack: invalid_value: expected fields, found nothing"),
        ({"message": "Ack", "fields": {}}, "Ack.sequence: invalid_value: expected a value, found nothing"),
        (
            {"message": "Ack", "fields": {"sequenze": 1}},
            "Ack: invalid_value: expected sequence, found field 'sequenze'",
        ),
        (
            {"message": "Ack", "header": {"version": "V3"}, "fields": {"sequence": 1}},
            "Frame.version: invalid_enum: expected a member of Version, found another name",
        ),
        (
            {"message": "Ack", "header": {"type": 1}, "fields": {"sequence": 1}},
            "Frame: invalid_value: expected version, found field 'type'",
        ),
        (
            {"message": "Data", "fields": {"sequence": 1, "pairs": [{"key": "a"}]}},
            "Data.pairs[0].value: invalid_value: expected a value, found nothing",
        ),
        (
            {
                "message": "Compressed",
                "fields": {"frames": [{"message": "Ack", "fields": {"sequence": None}}]},
            },
            "Compressed.frames[0].Ack.sequence: invalid_value: expected a value, found null",
        ),
        (
            {"message": "Ack", "fields": {"sequence": 1}, "extra": 1},
            "Ack: invalid_value: expected message, fields, header, code, found field 'extra'",
        ),
    ],
)
def test_wrong_records_say_where(record: Any, text: str) -> None:
    with pytest.raises(EncodeError) as caught:
        frame_from_record(p.LUMBERJACK, record)
    assert str(caught.value) == text


def test_records_nested_without_end() -> None:
    record: dict[str, Any] = {"message": "Ack", "fields": {"sequence": 1}}
    for _ in range(5000):
        record = {"message": "Compressed", "fields": {"frames": [record]}}
    with pytest.raises(EncodeError) as caught:
        frame_from_record(p.LUMBERJACK, record)
    assert caught.value.code == "too_deep"


# ---- properties ----


@given(st.floats(width=32, allow_nan=False))
def test_floats_of_32_bits_come_back(number: float) -> None:
    plan = p.of_field(("float", "f32", "big"))
    record = json.loads(json.dumps(frame_record(plan, message({"x": number}))))
    back = frame_from_record(plan, record).message.fields["x"]
    assert struct.pack(">f", back) == struct.pack(">f", number)


@given(st.binary(max_size=20))
def test_all_text_comes_back(data: bytes) -> None:
    value = message({"x": data.decode("utf-8", "surrogateescape")})
    plan = p.of_field(UTF8)
    assert frame_from_record(plan, json.loads(json.dumps(frame_record(plan, value)))) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["message", "fields", "header", "key", "pairs", "sequence", "frames", "hex", "version"]
        ),
        inner,
    ),
)


@given(JSON, st.sampled_from(["Data", "Compressed", "Json", "Unknown", "Put", "Done"]))
def test_any_json_is_a_record_or_an_encode_error(data: Any, name: str) -> None:
    for plan in (p.LUMBERJACK, p.VALUES):
        for record in (
            data,
            {"message": name, "fields": data},
            {"message": name, "header": data, "fields": {}},
        ):
            try:
                value = frame_from_record(plan, record)
            except EncodeError:
                continue
            frame_record(plan, value)


def test_each_type_without_parts_has_json() -> None:
    assert set(PLAIN) == {*get_args(BuiltIn), CodingReference}
