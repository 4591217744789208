"""The bytes of the reference encoder, and its refusals; the reference decoder reads all of them."""

from __future__ import annotations

import gzip
import zlib
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit import plans as p

from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.access import attribute, declared_name
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.tree import FrameValue, Record, Unknown, Variety
from wiregen.runtime.reference.writing.frames import write_frame, write_message
from wiregen.runtime.schema.protocol import Schema

MISSING: Any = object()
LENGTH = ("coding", "Length")
CODINGS: dict[str, Any] = {
    "Length": (
        p.U8,
        (
            (0, 0xFC, None, False),
            (0xFE, 0xFE, p.U16, False),
            (0xFD, 0xFD, p.I32, False),
            (0xFF, 0xFF, None, True),
        ),
    )
}
ENUMS = {"Closed": (p.U8, False, ((1, "ONE"), (2, "TWO"))), "Open": (p.U16, True, ((1, "ONE"),))}
SHAPES: dict[str, Any] = {
    "circular": ("Value",),
    "codings": CODINGS,
    "enums": ENUMS,
    "structs": {
        "Pair": (p.field("a", p.U8), p.field("b", p.U8)),
        "More": (p.field("more", ("bool", False)), p.field("v", p.U8)),
        "Chunk": (
            p.field("size", p.U8, p.derived(p.call("count", "data"))),
            p.field("more", ("bool", True)),
            p.field("data", p.octets(p.computed(p.own("size")))),
        ),
    },
    "unions": {
        "Value": (
            p.U8,
            (
                (((1, 1),), "Byte", (p.field("value", p.U8),), True),
                (((2, 4),), "Many", (), False),
                (((5, 5),), "Nest", (p.field("value", ("union", "Value", None, False)),), True),
                (((6, 6),), "Rest", (p.field("value", p.octets(p.END)),), True),
            ),
            False,
        )
    },
}


def pair(a: Any, b: Any) -> Record:
    return Record("Pair", {"a": a, "b": b})


def more(flag: bool, v: int) -> Record:
    return Record("More", {"more": flag, "v": v})


def byte(value: Any) -> Variety:
    return Variety("Value", "Byte", {"value": value}, 1)


def nest(value: Any) -> Variety:
    return Variety("Value", "Nest", {"value": value}, 5)


def message(fields: dict[str, Any], name: str = "M", absent: Any = 0) -> FrameValue:
    return FrameValue("Frame", {}, Record(name, fields, absent=absent), body="body")


def check_written(plan: Schema, value: Any, expected: str, options: Options | None = None) -> None:
    """Hold the writer to the bytes, and the reader to the value."""
    data = write_frame(plan, value, options)
    assert data.hex() == expected.replace(" ", "")
    assert explain(plan, data, 0, len(data), options or Options()).value == value


def check_refused(
    plan: Schema, value: Any, code: str, path: str, options: Options | None = None
) -> EncodeError:
    with pytest.raises(EncodeError) as caught:
        write_frame(plan, value, options)
    assert (caught.value.code, caught.value.path) == (code, path)
    return caught.value


VALUE = ("union", "Value", None, False)
LAST = ("negation", "not", ("field", ("more",), "item"))


@pytest.mark.parametrize(
    ("type_", "value", "data"),
    [
        pytest.param(p.U8, 255, "ff", id="u8"),
        pytest.param(("int", 3, False, "little"), 0x010203, "030201", id="u24le"),
        pytest.param(p.I32, -2, "fffffffe", id="i32"),
        pytest.param(p.I64, -(2**63), "8000000000000000", id="i64"),
        pytest.param(("float", "f32", "big"), 1.5, "3fc00000", id="f32"),
        pytest.param(("float", "f64", "little"), -0.1, "9a9999999999b9bf", id="f64le"),
        pytest.param(("bool", False), True, "01", id="bool"),
        pytest.param(p.VARINT, 300, "ac02", id="varint"),
        pytest.param(p.VARINT, 2**64 - 1, "ff" * 9 + "01", id="longest varint"),
        pytest.param(("varint", 64, True, False), -3, "05", id="zigzag"),
        pytest.param(("varint", 64, True, False), 2**63 - 1, "fe" + "ff" * 8 + "01", id="longest zigzag"),
        pytest.param(("uuid",), UUID(int=1), "00" * 15 + "01", id="uuid"),
        pytest.param(("enum", "Closed", None, False), 2, "02", id="enum"),
        pytest.param(("enum", "Open", None, False), 77, "004d", id="unknown member of an open enum"),
        pytest.param(LENGTH, 0xFC, "fc", id="coding, one byte"),
        pytest.param(LENGTH, 0xFD, "fe00fd", id="coding, two bytes behind"),
        pytest.param(LENGTH, 65536, "fd00010000", id="coding, four bytes behind"),
        pytest.param(LENGTH, None, "ff", id="coding, null"),
        pytest.param(p.octets(p.prefix(p.U16)), b"\0\1", "0002 0001", id="bytes[u16]"),
        pytest.param(p.octets(p.prefix(LENGTH)), None, "ff", id="null bytes"),
        pytest.param(p.octets(p.computed(p.number(3))), b"abc", "616263", id="bytes[3]"),
        pytest.param(p.octets(("delimited", "0d0a")), b"a\r", "610d0d0a", id="bytes[until]"),
        pytest.param(p.text("utf8", p.prefix(p.VARINT), lenient=True), "é\udcff", "03 c3a9ff", id="lenient utf8"),
        pytest.param(p.text("mutf8", p.prefix(p.U16)), "\0😀", "0008 c080eda0bdedb880", id="mutf8"),
        pytest.param(p.text("latin1", p.prefix(p.U8)), "é", "01e9", id="latin1"),
        pytest.param(p.text("utf16", p.prefix(p.U8), endian="little"), "a\ud800", "02 6100 00d8", id="utf16le"),
        pytest.param(p.text("ascii", ("delimited", "00")), "hi", "686900", id="ascii until NUL"),
        pytest.param(("list", p.U16, p.prefix(p.U8), 2), [1, 2], "02 0001 0002", id="list"),
        pytest.param(("list", p.U8, p.computed(p.number(2)), 1), [1, 2], "0102", id="list of two"),
        pytest.param(("list", p.octets(p.prefix(LENGTH)), p.prefix(LENGTH), 1), [b"", None], "02 00 ff", id="nulls"),
        pytest.param(("list", ("struct", "More"), ("until", LAST), 2), [more(True, 1), more(False, 2)], "0101 0002",
                     id="list until"),
        pytest.param(("list", p.U8, ("until", p.operation("==", ("field", (), "item"), p.number(0))), 1), [5, 0], "0500",
                     id="list until the item itself"),
        pytest.param(("struct", "Pair"), pair(1, 2), "0102", id="struct"),
        pytest.param(VALUE, byte(7), "0107", id="union"),
        pytest.param(VALUE, Variety("Value", "Many", {}, 3), "03", id="variety of several codes"),
        pytest.param(VALUE, nest(nest(byte(1))), "05050101", id="union in itself"),
        pytest.param(("match", p.number(5), ((((4, 6),), p.U8), ((), p.U16))), 1, "01", id="arm"),
        pytest.param(("match", p.number(7), ((((4, 6),), p.U8), ((), p.U16))), 1, "0001", id="any other arm"),
        pytest.param(("region", p.octets(p.END), ("prefix", p.U16), False), b"ab", "0002 6162", id="in u16"),
        pytest.param(("region", p.octets(p.END), ("size", p.number(2)), False), b"ab", "6162", id="in 2"),
        pytest.param(("region", VALUE, ("prefix", p.VARINT), False), Variety("Value", "Rest", {"value": b"z"}, 6), "02067a",
                     id="variety without end, last in its region"),
        pytest.param(("region", ("list", p.U8, p.END, 1), ("chunks", "Chunk", "data", LAST), False), [1, 2], "02 00 0102",
                     id="chunks"),
        pytest.param(("frame", "Frame", ("M",), False), message({"x": 5}), "01 05", id="frame"),
    ],
)  # fmt: skip
def test_bytes(type_: Any, value: Any, data: str) -> None:
    plan = p.of_field(type_, **SHAPES) if type_[0] != "frame" else None
    if plan is None:
        plan = p.plan(("Outer", 2, None, (p.field("x", type_),)), ("M", 1, None, (p.field("x", p.U8),)))
        check_written(plan, message({"x": value}, "Outer"), "02" + data)
    else:
        check_written(plan, message({"x": value}), "01" + data)


@pytest.mark.parametrize(
    ("algorithm", "inflate"),
    [
        ("zlib", zlib.decompress),
        ("gzip", gzip.decompress),
        ("deflate", lambda data: zlib.decompress(data, -15)),
    ],
)
@pytest.mark.parametrize("level", [-1, 0, 9])
def test_compressed(algorithm: str, inflate: Any, level: int) -> None:
    plan = p.of_field(("region", p.octets(p.END), ("compressed", algorithm, p.prefix(p.U32)), False))
    value = message({"x": b"a" * 1000})
    data = write_frame(plan, value, compression=level)
    assert inflate(data[5:]) == b"a" * 1000
    assert (len(data) > 1000) is (level == 0)
    assert write_frame(plan, value, compression=level) == data
    assert explain(plan, data, 0, len(data), Options()).value == value


# ---- fields ----

BITS_MSB = tuple(
    p.field(name, ("bits", n, n == 1, "msb")) for name, n in (("a", 1), ("b", 7), ("c", 3), ("d", 5))
)
BITS_LSB = tuple(
    p.field(name, ("bits", n, n == 1, "lsb")) for name, n in (("a", 1), ("b", 7), ("c", 3), ("d", 5))
)


@pytest.mark.parametrize(("fields", "data"), [(BITS_MSB, "01 81 a1"), (BITS_LSB, "01 03 0d")])
def test_bits(fields: Any, data: str) -> None:
    check_written(p.plan(("M", 1, None, fields)), message({"a": True, "b": 1, "c": 5, "d": 1}), data)


def test_what_looks_ahead() -> None:
    fields = (
        p.field("size", p.U16, p.derived(p.call("size", "body"))),
        p.field("count", p.VARINT, p.derived(p.call("count", "items"))),
        p.field("sum", p.U32, p.derived(("checksum", "crc32", "items", "tail"))),
        p.field("body", ("region", ("block", (
            p.field("items", ("list", p.U8, p.computed(p.own("count")), 1)),
            p.field("tail", p.octets(p.END)),
        )), ("size", p.own("size")), False)),
    )  # fmt: skip
    value = message({"items": [1, 2], "tail": b"z"})
    crc = zlib.crc32(b"\x01\x02z").to_bytes(4, "big").hex()
    plan = p.plan(("M", 1, None, fields))
    assert write_frame(plan, value).hex() == f"01 0003 02 {crc} 01027a".replace(" ", "")


def test_padding_follows_the_offset() -> None:
    rest = p.operation("%", ("negation", "-", ("position", "offset")), p.number(4))
    fields = (
        p.field("x", p.octets(p.prefix(p.U8))),
        p.field("_", p.octets(p.computed(rest))),
        p.field("y", p.U8),
        p.field("_", p.U8, ("constant", p.number(9))),
    )
    plan = p.plan(("M", 1, None, fields))
    check_written(plan, message({"x": b"abc", "y": 1}), "01 03 616263 000000 01 09")
    check_written(plan, message({"x": b"ab", "y": 1}), "01 02 6162 01 09")


OPTIONAL = p.plan(
    (
        "M", 1, None,
        (
            p.field("has", ("bool", False), p.derived(p.call("present", "x"))),
            p.field("x", p.U8, condition=p.own("has"), where=p.operation(">", p.own("x"), p.number(0)), where_text="x > 0"),
            p.field("y", p.U8, p.default(p.number(7))),
        ),
    ),
)  # fmt: skip


def test_optional_by_a_derived_flag() -> None:
    check_written(OPTIONAL, message({"x": None, "y": 1}), "01 00 01")
    check_written(OPTIONAL, message({"x": 5, "y": 1}), "01 01 05 01")
    assert write_frame(OPTIONAL, message({})).hex() == "010007"
    error = check_refused(OPTIONAL, message({"x": 0}), "constraint", "M.x")
    assert error.expected == "x > 0"


def test_optional_by_an_earlier_field() -> None:
    fields = (
        p.field("kind", p.U8),
        p.field("x", p.U8, condition=p.operation("==", p.own("kind"), p.number(1))),
    )
    plan = p.plan(("M", 1, None, fields))
    check_written(plan, message({"kind": 1, "x": 2}), "01 01 02")
    check_written(plan, message({"kind": 0, "x": None}), "01 00")
    check_refused(plan, message({"kind": 0, "x": 2}), "constraint", "M.x")
    check_refused(plan, message({"kind": 1, "x": None}), "invalid_value", "M.x")


TRAILING = p.plan(
    (
        "M", 1, None,
        (
            p.field("a", p.U8),
            p.field("b", p.I64, ("trailing", p.number(-1))),
            p.field("c", p.octets(p.prefix(p.U8)), ("trailing", ("octets", "")),
                    condition=p.operation(">", ("position", "remaining"), p.number(0))),
        ),
    ),
    frames={"Frame": (None, p.SIZED_FRAME, "body")},
)  # fmt: skip


@pytest.mark.parametrize(
    ("absent", "data"),
    [(0, "01 000a 05 ffffffffffffffff 00"), (1, "01 0009 05 ffffffffffffffff"), (2, "01 0001 05")],
)
def test_absent_fields_at_the_end(absent: int, data: str) -> None:
    check_written(TRAILING, message({"a": 5, "b": -1, "c": b""}, absent=absent), data)


@pytest.mark.parametrize("absent", [3, -1, True, "1", None])
def test_an_impossible_number_of_absent_fields(absent: Any) -> None:
    check_refused(TRAILING, message({"a": 5}, absent=absent), "invalid_value", "M.absent")


def test_left_over_bytes_are_written_on_request() -> None:
    body = Record("M", {"a": 5}, tail=b"zz")
    value = FrameValue("Frame", {}, body)
    assert write_frame(TRAILING, value).hex().startswith("01000a05")
    assert write_frame(TRAILING, value, is_tail_kept=True).hex() == "01000c05ffffffffffffffff007a7a"


# ---- what is refused ----


@pytest.mark.parametrize(
    ("type_", "value", "code", "path"),
    [
        pytest.param(p.U8, 256, "invalid_value", "M.x", id="too large"),
        pytest.param(p.U8, -1, "invalid_value", "M.x", id="negative"),
        pytest.param(p.U8, "1", "invalid_value", "M.x", id="text"),
        pytest.param(p.U8, None, "invalid_value", "M.x", id="nothing"),
        pytest.param(p.U8, MISSING, "invalid_value", "M.x", id="left out"),
        pytest.param(p.U8, 10**9999, "invalid_value", "M.x", id="huge"),
        pytest.param(("varint", 63, False, False), 2**63, "invalid_value", "M.x", id="64 bits in 63"),
        pytest.param(("varint", 64, True, False), 2**63, "invalid_value", "M.x", id="zigzag too large"),
        pytest.param(("float", "f32", "big"), 1e39, "invalid_value", "M.x", id="f32 too large"),
        pytest.param(("float", "f64", "big"), 10**400, "invalid_value", "M.x", id="no float so large"),
        pytest.param(("bool", True), 2, "invalid_value", "M.x", id="no Boolean"),
        pytest.param(("uuid",), b"x" * 16, "invalid_value", "M.x", id="bytes for a UUID") ,
        pytest.param(("enum", "Closed", None, False), 3, "invalid_enum", "M.x", id="no member"),
        pytest.param(("enum", "Closed", ("ONE",), False), 2, "constraint", "M.x", id="member outside only"),
        pytest.param(LENGTH, 2**31, "unrepresentable", "M.x", id="no width of a coding"),
        pytest.param(p.octets(p.prefix(p.U8)), b"x" * 256, "unrepresentable", "M.x", id="too long for its prefix"),
        pytest.param(p.octets(p.prefix(p.U8)), None, "invalid_value", "M.x", id="null without a coding"),
        pytest.param(p.octets(p.computed(p.number(3))), b"ab", "length_mismatch", "M.x", id="other length"),
        pytest.param(p.octets(("delimited", "00")), b"a\0b", "unrepresentable", "M.x", id="delimiter inside"),
        pytest.param(p.octets(p.END), b"ab", "undelimitable", "M.x", id="no end"),
        pytest.param(p.text("ascii", p.prefix(p.U8)), "é", "invalid_text", "M.x", id="not ASCII"),
        pytest.param(p.text("utf8", p.prefix(p.U8)), "\ud800", "invalid_text", "M.x", id="lone surrogate"),
        pytest.param(("list", p.U8, p.prefix(p.U8), 1), [1, "a"], "invalid_value", "M.x[1]", id="wrong item"),
        pytest.param(("list", p.U8, p.prefix(p.U8), 1), {1}, "invalid_value", "M.x", id="a set"),
        pytest.param(("list", p.U8, p.computed(p.number(3)), 1), [1], "length_mismatch", "M.x", id="other count"),
        pytest.param(("list", ("struct", "More"), ("until", LAST), 2), [], "unrepresentable", "M.x", id="empty until"),
        pytest.param(("list", ("struct", "More"), ("until", LAST), 2), [more(False, 1), more(False, 2)], "constraint",
                     "M.x[0]", id="ends too early"),
        pytest.param(("list", ("struct", "More"), ("until", LAST), 2), [more(True, 1)], "constraint", "M.x[0]",
                     id="does not end"),
        pytest.param(("struct", "Pair"), more(True, 1), "invalid_value", "M.x", id="another struct"),
        pytest.param(("struct", "Pair"), Record("Pair", {"a": 1, "b": 2, "c": 3}), "invalid_value", "M.x", id="stranger"),
        pytest.param(("struct", "Pair"), pair(1, 300), "invalid_value", "M.x.b", id="field of a struct"),
        pytest.param(VALUE, Record("Byte2", {}), "invalid_value", "M.x", id="no variety"),
        pytest.param(VALUE, byte(300), "invalid_value", "M.x.Byte.value", id="field of a variety"),
        pytest.param(VALUE, Variety("Value", "Many", {}, 9), "unknown_code", "M.x.code", id="code of another variety"),
        pytest.param(VALUE, Variety("Value", "Rest", {"value": b""}, 6), "undelimitable", "M.x", id="variety without end"),
        pytest.param(("union", "Value", ("Many",), True), byte(1), "constraint", "M.x", id="variety outside only"),
        pytest.param(("match", p.number(9), ((((4, 6),), p.U8),)), 1, "unknown_code", "M.x", id="no arm"),
        pytest.param(("match", ("context", "c", (p.number(1),)), ((((4, 6),), p.U8),)), 1, "missing_context", "M.x",
                     id="no context"),
        pytest.param(("region", p.octets(p.END), ("prefix", p.U8), False), b"x" * 256, "unrepresentable", "M.x",
                     id="region too long"),
        pytest.param(("region", p.octets(p.END), ("size", p.number(2)), False), b"x", "length_mismatch", "M.x",
                     id="region of another size"),
    ],
)  # fmt: skip
def test_refused(type_: Any, value: Any, code: str, path: str) -> None:
    plan = p.of_field(type_, **SHAPES)
    error = check_refused(plan, message({} if value is MISSING else {"x": value}), code, path)
    assert len(str(error)) < 200


def test_limits() -> None:
    items = p.of_field(("list", p.U8, p.prefix(p.U16), 1), limits={"count": 3, "messages": 5, "frame": 100})
    check_refused(items, message({"x": [1] * 4}), "limit_exceeded", "M.x")
    write_frame(items, message({"x": [1] * 4}), Options(limits={"count": 4}))
    check_refused(items, message({"x": [1] * 6}), "limit_exceeded", "M.x", Options(limits={"count": 9}))
    data = p.of_field(p.octets(p.prefix(p.U16)), limits={"frame": 10})
    assert len(write_frame(data, message({"x": b"1234567"}))) == 10
    check_refused(data, message({"x": b"12345678"}), "limit_exceeded", "Frame")


def test_depth_counts_what_is_inside_itself() -> None:
    plan = p.of_field(VALUE, limits={"depth": 2}, **SHAPES)
    check_written(plan, message({"x": nest(nest(byte(1)))}), "01 05 05 01 01")
    check_refused(
        plan, message({"x": nest(nest(nest(byte(1))))}), "too_deep", "M.x.Nest.value.Nest.value.Nest.value"
    )


def test_inflated_bytes_have_one_budget() -> None:
    envelope = p.LUMBERJACK
    ack = FrameValue("Frame", {"version": 49}, Record("Window", {"size": 1}), body="body")
    inner = FrameValue("Frame", {"version": 50}, Record("Compressed", {"frames": [ack, ack]}), body="body")
    outer = FrameValue("Frame", {"version": 50}, Record("Compressed", {"frames": [inner]}), body="body")
    data = write_frame(envelope, outer, Options(limits={"inflated": 100}))
    assert explain(envelope, data, 0, len(data), Options()).value == outer
    path = "Compressed.frames"
    check_refused(envelope, outer, "limit_exceeded", path, Options(limits={"inflated": 30}))
    check_refused(
        envelope,
        FrameValue("Frame", {}, Record("Compressed", {"frames": [outer]})),
        "too_deep",
        "Compressed.frames[0].Compressed.frames[0].Compressed",
    )
    wrong = FrameValue("Frame", {"version": 1}, Record("Window", {"size": 1}))
    check_refused(envelope, wrong, "invalid_enum", "Frame.version")
    nested = FrameValue("Frame", {}, Record("Compressed", {"frames": [wrong]}))
    check_refused(envelope, nested, "invalid_enum", "Compressed.frames[0].Frame.version")


# ---- messages and frames ----


def test_a_message_stands_for_its_frame() -> None:
    ack = Record("Ack", {"sequence": 10})
    assert write_frame(p.LUMBERJACK, ack).hex() == "32410000000a"
    assert write_message(p.LUMBERJACK, ack, header={"version": 49}).hex() == "31410000000a"
    with pytest.raises(
        EncodeError, match=r"Frame: invalid_value: expected body, version, found another field"
    ):
        write_message(p.LUMBERJACK, ack, header={"type": 1})


def test_unknown_messages_need_an_end() -> None:
    plan = p.of_field(p.U8, is_sized=True)
    check_written(plan, FrameValue("Frame", {}, Unknown(77, b"ab"), body="body"), "4d 0002 6162")
    check_refused(p.of_field(p.U8), FrameValue("Frame", {}, Unknown(77, b"")), "undelimitable", "Frame")


@pytest.mark.parametrize(
    "value", [None, 1, object(), Record("Other", {}), FrameValue("Frame", {}, None), type]
)
def test_neither_frame_nor_message(value: Any) -> None:
    with pytest.raises(EncodeError) as caught:
        write_frame(p.LUMBERJACK, value)
    assert caught.value.code == "invalid_value"


def request(**fields: Any) -> FrameValue:
    put = Record("Put", {"key": value("Integer", value=101), "value": value("Null")} | fields)
    return FrameValue("Request", {"id": 1, "notes": None}, put, body="body")


def value(name: str, code: int = 0, **fields: Any) -> Variety:
    codes = {"Null": 41, "Integer": 57, "Text": 87, "Several": 65, "Primitive": 17}
    return Variety("Value", name, fields, code or codes[name])


def test_a_request_in_a_block_with_metadata() -> None:
    client = Options("client")
    check_written(p.VALUES, request(), "0000000e 00000001 00 0001 01 39 00000065 00000001 00 29", client)
    noted = request()
    note = Variety("Note", "Flag", {"value": True}, 1)
    noted.fields["notes"] = [note, Variety("Note", "Other", {}, 2)]
    check_written(
        p.VALUES, noted, "00000015 00000001 01 0001 01 0002 0001 01 0002 39 00000065 00000001 00 29", client
    )
    noted.fields["notes"] = [note, note]
    check_refused(p.VALUES, noted, "constraint", "Request.notes")
    check_refused(p.VALUES, request(key=value("Null")), "constraint", "Put.key")


class Lookup:
    """A context of one entry."""

    def lookup(self, name: str, keys: tuple[Any, ...], sender: str | None) -> Any:
        if (name, keys, sender) != ("api", (1,), "server"):
            raise KeyError(name)
        return 1


def test_a_response_that_a_context_lays_out() -> None:
    done = FrameValue("Response", {"id": 1, "status": 1}, Record("Done", {"ok": True}), body="body")
    server = Options("server", context=Lookup())
    check_written(p.VALUES, done, "00000001 0001 01", server)
    assert write_frame(p.VALUES, done).hex() == "00000001000101"
    broken = FrameValue("Response", {"id": 1, "status": 1000}, Record("Error", {"why": "x"}), body="body")
    check_written(p.VALUES, broken, "00000001 03e8 0001 78", server)
    broken.fields["status"] = 1
    check_refused(p.VALUES, broken, "unknown_code", "Response", server)
    done.fields["status"] = 1000
    check_refused(p.VALUES, done, "invalid_value", "Error", server)


def test_a_message_that_the_other_role_would_read_otherwise() -> None:
    wrong = FrameValue("Request", {"id": 1}, Record("Done", {"ok": True}))
    check_refused(p.VALUES, wrong, "unknown_code", "Request")


def test_variants_and_preambles() -> None:
    plan = p.of_field(
        p.U16,
        variants={"other": {"messages": {"M": (1, None, (p.field("x", p.U8),))}}},
        preambles={"Hello": ("client", (p.field("mode", p.U8),))},
        opens={"client": "Hello"},
    )
    check_written(plan, message({"x": 1}), "01 0001")
    check_written(plan, message({"x": 1}), "01 01", Options(variant="other"))
    assert write_frame(plan, Record("Hello", {"mode": 9})) == b"\x09"


# ---- objects of generated classes, and hostile ones ----


class Data:
    __slots__ = ("pairs", "sequence")

    def __init__(self, sequence: Any, pairs: Any) -> None:
        self.sequence = sequence
        self.pairs = pairs


class Pair:
    __slots__ = ("key", "value")

    def __init__(self, key: Any, value: Any) -> None:
        self.key = key
        self.value = value


class Frame:
    __slots__ = ("message", "version")

    def __init__(self, message: Any, version: Any = 50) -> None:
        self.message = message
        self.version = version


class Angry:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]


class Liar(int):
    """An integer that says other things about itself."""

    def __index__(self) -> int:
        raise RuntimeError

    def __lt__(self, other: object) -> bool:
        raise RuntimeError

    __gt__ = __le__ = __ge__ = __eq__ = __lt__
    __hash__ = int.__hash__


def test_objects_by_their_attributes() -> None:
    frame = Frame(Data(1, [Pair("line", "hello")]), 49)
    expected = "31440000000100000001000000046c696e650000000568656c6c6f"
    assert write_frame(p.LUMBERJACK, frame).hex() == expected
    assert (
        write_frame(p.LUMBERJACK, Frame(Data(Liar(1), (Pair("line", "hello"),)), Liar(49))).hex() == expected
    )
    check_refused(p.LUMBERJACK, Frame(Data(1, [Pair("line", 5)])), "invalid_value", "Data.pairs[0].value")


class Unhashable(type):
    """A class of classes that raise when they are asked for their hash."""

    def __hash__(cls) -> int:
        raise RuntimeError


def test_a_class_that_has_no_hash_has_fields_and_a_name() -> None:
    class Data(metaclass=Unhashable):
        __slots__ = ("encode_",)
        encode_: int

    value = Data()
    value.encode_ = 5
    assert attribute(value, "encode", "Data") == 5
    assert declared_name(value) == "Data"


def test_a_reserved_name_has_an_underscore() -> None:
    class Message:
        __slots__ = ("encode_",)

        def __init__(self, number: int) -> None:
            self.encode_ = number

        def encode(self) -> bytes:
            raise AssertionError

    plan = p.plan(("Message", 1, None, (p.field("encode", p.U8),)))
    assert write_frame(plan, Message(5)).hex() == "0105"


SELF: list[Any] = []
SELF.append(SELF)
RELEASED = memoryview(b"abc")
RELEASED.release()


# By name: pytest would ask them for theirs.
HOSTILE: dict[str, Any] = {
    "angry": Angry(),
    "itself": SELF,
    "released": RELEASED,
    "liar": Liar(2**40),
    "function": lambda: 1,
    "huge": 10**50000,
    "nan": float("nan"),
    "class": object,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "place", ["sequence", "pairs", "item", "key", "version", "message", "frame", "fields"]
)
def test_hostile_values(name: str, place: str) -> None:
    hostile = HOSTILE[name]
    data = Data(hostile if place == "sequence" else 1, hostile if place == "pairs" else [Pair("k", "v")])
    if place == "item":
        data.pairs = [hostile]
    if place == "key":
        data.pairs[0].key = hostile
    frame: Any = Frame(data, hostile if place == "version" else 49)
    if place == "message":
        frame.message = hostile
    if place == "fields":
        frame.message = Record("Data", hostile)
    with pytest.raises(EncodeError) as caught:
        write_frame(p.LUMBERJACK, hostile if place == "frame" else frame)
    assert len(str(caught.value)) < 200


def test_attributes_that_raise() -> None:
    class Data:
        sequence = 1

        @property
        def pairs(self) -> Any:
            raise MemoryError

    check_refused(p.LUMBERJACK, Data(), "invalid_value", "Data.pairs")


def test_a_list_that_grows_without_end() -> None:
    loop: list[Any] = []
    several = value("Several", value=loop)
    loop += [several, several]
    with pytest.raises(EncodeError) as caught:
        write_frame(p.VALUES, request(value=several))
    assert caught.value.code in ("too_deep", "limit_exceeded")
    with pytest.raises(EncodeError):
        write_frame(p.VALUES, request(value=several), Options(limits={"depth": 10**9}))


def test_the_error_of_a_value_that_the_compiled_codec_refuses_is_explained() -> None:
    with pytest.raises(EncodeError) as caught:
        write_frame(p.LUMBERJACK, Record("Ack", {"sequence": -1}))
    assert str(caught.value) == "Ack.sequence: invalid_value: expected 0 to 4294967295, found -1"
    data = write_message(p.LUMBERJACK, Record("Ack", {"sequence": 1}), header={"version": 49})
    assert data == b"1A\0\0\0\x01"


# ---- properties ----

TEXT = st.binary(max_size=8).map(lambda data: data.decode("utf-8", "surrogateescape"))
PAIRS = st.lists(st.builds(lambda k, v: Record("Pair", {"key": k, "value": v}), TEXT, TEXT), max_size=3)
U32S = st.integers(0, 2**32 - 1)
PLAIN = st.one_of(
    st.builds(lambda s, pairs: Record("Data", {"sequence": s, "pairs": pairs}), U32S, PAIRS),
    st.builds(lambda s, d: Record("Json", {"sequence": s, "document": d}), U32S, st.binary(max_size=9)),
    st.builds(lambda s: Record("Ack", {"sequence": s}), U32S),
)
VERSIONS = st.sampled_from([49, 50])


def framed(version: int, inside: Any) -> FrameValue:
    return FrameValue("Frame", {"version": version}, inside, body="body")


FRAMES = st.builds(framed, VERSIONS, PLAIN)
FRAMES |= st.builds(
    lambda v, frames: framed(v, Record("Compressed", {"frames": frames})),
    VERSIONS,
    st.lists(FRAMES, max_size=3),
)
VALUES = st.recursive(
    st.integers(-(2**31), 2**31 - 1).map(lambda n: value("Integer", value=n))
    | st.text(st.characters(max_codepoint=127), max_size=5).map(lambda t: value("Text", value=t))
    | st.integers(17, 25).map(lambda code: value("Primitive", code))
    | st.just(value("Several", value=None)),
    lambda inner: st.lists(inner, max_size=3).map(lambda items: value("Several", value=items)),
    max_leaves=8,
)


@given(FRAMES)
def test_what_is_written_is_read(frame: FrameValue) -> None:
    data = write_frame(p.LUMBERJACK, frame)
    assert explain(p.LUMBERJACK, data, 0, len(data), Options()).value == frame
    assert explain(p.LUMBERJACK, data + b"more", 0, len(data) + 4, Options()).value == frame


@given(VALUES)
def test_values_in_values_are_read(inside: Variety) -> None:
    frame = request(value=inside)
    data = write_frame(p.VALUES, frame)
    assert explain(p.VALUES, data, 0, len(data), Options("client")).value == frame


@given(
    st.integers(-(2**70), 2**70),
    st.sampled_from([1, 2, 3, 5, 8]),
    st.booleans(),
    st.sampled_from(["big", "little"]),
)
def test_integers_are_written_or_refused(number: int, size: int, signed: bool, endian: Any) -> None:
    plan = p.of_field(("int", size, signed, endian))
    try:
        expected = number.to_bytes(size, endian, signed=signed)
    except OverflowError:
        check_refused(plan, message({"x": number}), "invalid_value", "M.x")
    else:
        check_written(plan, message({"x": number}), "01" + expected.hex())
