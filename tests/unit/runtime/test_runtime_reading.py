"""The reference reader: every type, length, carrier and value of a plan, right and wrong."""

from __future__ import annotations

import tracemalloc
import zlib
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.runtime import DecodeError, NeedMoreData
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain, explain_type
from wiregen.runtime.reference.tree import Node, Record, Unknown, Variety
from wiregen.runtime.schema.protocol import Schema

from ..lumberjack_plan import PLAN, field, own
from ..schema_notation import schema, type_

U8, U16, U32 = (("int", size, False, "big") for size in (1, 2, 4))
I8, I32 = ("int", 1, True, "big"), ("int", 4, True, "big")
REST = ("bytes", ("end",))
BOUNDED = ("prefix", U8)


def number(value: int) -> tuple[Any, ...]:
    return ("number", value)


def operation(symbol: str, left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    return ("operation", symbol, left, right)


def plan_of(*fields: tuple[Any, ...], **declarations: Any) -> Schema:
    """Return a plan whose one frame has these fields."""
    empty: dict[str, Any] = {kind: {} for kind in ("enums", "codings", "unions", "structs", "messages")}
    limits = {
        "frame": 4096,
        "inflated": 1000,
        "count": 100,
        "messages": 50,
        "depth": 2,
        **declarations.pop("limits", {}),
    }
    return schema(
        {
            "name": "sample",
            "endian": "big",
            "roles": ("a", "b"),
            **empty,
            "codes": {"a": {}, "b": {}},
            "frames": {"F": (None, fields, declarations.pop("body", None))},
            "sends": {"a": "F", "b": "F"},
            "preambles": {},
            "opens": {},
            "contexts": {},
            "joins": {},
            "variants": {},
            **declarations,
            "limits": limits,
        }
    )


def read(plan: Schema, digits: str, options: Options | None = None) -> Node:
    data = bytes.fromhex(digits)
    return explain(plan, data, 0, len(data), options or Options())


def refusal(plan: Schema, digits: str, options: Options | None = None) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        read(plan, digits, options)
    assert not isinstance(caught.value, NeedMoreData)
    return caught.value


def bounded(*fields: tuple[Any, ...], lenient: bool = False, **declarations: Any) -> Schema:
    """Return a plan whose frame is one region, with a size of one byte before it."""
    return plan_of(field("all", ("region", ("block", fields), BOUNDED, lenient)), **declarations)


def check_tiling(node: Node) -> None:
    """Hold every byte to one leaf, in order."""
    position = node.start
    for leaf in node.leaves():
        if leaf.size:  # a bit field has no byte of its own where another one begins it
            assert leaf.start == position
            position = leaf.end
    assert position == node.end


# ---- types ----

OPEN: dict[str, Any] = {"enums": {"E": (U8, True, ((1, "ONE"),))}}
CLOSED: dict[str, Any] = {"enums": {"E": (U8, False, ((1, "ONE"), (2, "TWO")))}}
CODING: dict[str, Any] = {
    "codings": {"N": (U8, ((0, 0xFC, None, False), (0xFE, 0xFE, U16, False), (0xFF, 0xFF, None, True)))}
}
PAIR: dict[str, Any] = {"structs": {"P": (field("x", U8), field("y", I8))}}

SCALARS = [
    pytest.param(U8, {}, "ff", 255, id="u8"),
    pytest.param(("int", 3, True, "little"), {}, "fdffff", -3, id="i24le"),
    pytest.param(("float", "f32", "big"), {}, "3fc00000", 1.5, id="f32"),
    pytest.param(("float", "f64", "little"), {}, "000000000000f83f", 1.5, id="f64le"),
    pytest.param(("bool", False), {}, "01", True, id="bool"),
    pytest.param(("bool", True), {}, "07", True, id="bool-lenient"),
    pytest.param(("varint", 64, False, False), {}, "ac02", 300, id="varint"),
    pytest.param(("varint", 64, True, False), {}, "03", -2, id="zigzag"),
    pytest.param(("varint", 64, False, True), {}, "8000", 0, id="varint-lenient"),
    pytest.param(("varint", 64, False, False), {}, "ff" * 9 + "01", 2**64 - 1, id="varint-largest"),
    pytest.param(("uuid",), {}, "00" * 15 + "01", UUID(int=1), id="uuid"),
    pytest.param(("enum", "E", None, False), OPEN, "07", 7, id="open-enum"),
    pytest.param(("enum", "E", ("ONE",), True), CLOSED, "02", 2, id="only-lenient"),
    pytest.param(("coding", "N"), CODING, "fc", 252, id="coding-narrow"),
    pytest.param(("coding", "N"), CODING, "fe0100", 256, id="coding-wide"),
    pytest.param(("coding", "N"), CODING, "ff", None, id="coding-null"),
    pytest.param(("bytes", ("prefix", U16)), {}, "0002abcd", b"\xab\xcd", id="bytes-prefix"),
    pytest.param(("bytes", ("prefix", ("coding", "N"))), CODING, "ff", None, id="bytes-null"),
    pytest.param(("bytes", ("computed", number(2))), {}, "abcd", b"\xab\xcd", id="bytes-computed"),
    pytest.param(("bytes", ("delimited", "0d0a")), {}, "610d620d0a", b"a\rb", id="bytes-delimited"),
    pytest.param(("text", "utf8", ("prefix", U8), False, "big"), {}, "02c3a9", "é", id="utf8"),
    pytest.param(("text", "utf8", ("prefix", U8), True, "big"), {}, "01e9", "\udce9", id="utf8-lenient"),
    pytest.param(("text", "mutf8", ("prefix", U8), False, "big"), {}, "02c080", "\0", id="mutf8"),
    pytest.param(("text", "mutf8", ("prefix", U8), True, "big"), {}, "0100", "\0", id="mutf8-lenient"),
    pytest.param(("text", "ascii", ("delimited", "00"), False, "big"), {}, "616200", "ab", id="ascii"),
    pytest.param(("text", "latin1", ("prefix", U8), False, "big"), {}, "01e9", "é", id="latin1"),
    pytest.param(
        ("text", "utf16", ("prefix", U8), False, "little"), {}, "0161e9"[:2] + "6100", "a", id="utf16"
    ),
    pytest.param(
        ("text", "utf16", ("delimited", "0000"), False, "big"), {}, "010001000000", "ĀĀ", id="utf16-aligned"
    ),
    pytest.param(("list", U8, ("prefix", U8), 1), {}, "020304", [3, 4], id="list-prefix"),
    pytest.param(("list", U8, ("computed", number(2)), 1), {}, "0304", [3, 4], id="list-computed"),
    pytest.param(("list", U8, ("prefix", ("coding", "N")), 1), CODING, "ff", None, id="list-null"),
    pytest.param(
        ("list", U8, ("until", operation("==", ("field", (), "item"), number(0))), 1),
        {},
        "030400",
        [3, 4, 0],
        id="until",
    ),
    pytest.param(
        ("list", ("struct", "P"), ("until", operation("<", ("field", ("y",), "item"), number(0))), 2),
        PAIR,
        "010102ff",
        [Record("P", {"x": 1, "y": 1}), Record("P", {"x": 2, "y": -1})],
        id="until-field",
    ),
    pytest.param(("struct", "P"), PAIR, "05ff", Record("P", {"x": 5, "y": -1}), id="struct"),
    pytest.param(
        ("match", number(5), ((((0, 1),), U8), (((4, 7), (9, 9)), U16), ((), U32))), {}, "0005", 5, id="match"
    ),
    pytest.param(("match", number(8), ((((0, 1),), U8), ((), U16))), {}, "0005", 5, id="match-otherwise"),
]


@pytest.mark.parametrize(("type_", "declarations", "digits", "value"), SCALARS)
def test_a_value_is_read(
    type_: tuple[Any, ...], declarations: dict[str, Any], digits: str, value: object
) -> None:
    plan = plan_of(field("v", type_), field("after", U8), **declarations)
    node = read(plan, digits + "2a")
    assert node.value.fields == {"v": value, "after": 42}
    check_tiling(node)
    data = bytes.fromhex(digits + "2a")
    for size in range(len(data)):
        with pytest.raises(NeedMoreData) as caught:
            explain(plan, data, 0, size, Options())
        assert 1 <= caught.value.needed <= len(data) - size
        assert caught.value.at == size


def u8_where(symbol: str, value: int) -> tuple[Any, ...]:
    return field("v", U8, where=operation(symbol, own("v"), number(value)), where_text="the text", rule="r")


UTF8 = ("text", "utf8", ("prefix", U8), False, "big")
MUTF8 = ("text", "mutf8", ("prefix", U8), False, "big")
REFUSED = [
    pytest.param(plan_of(field("v", ("bool", False))), "02", "invalid_value", 0, id="bool"),
    pytest.param(
        plan_of(field("v", ("varint", 64, False, False))), "8000", "not_canonical", 0, id="varint-long"
    ),
    pytest.param(
        plan_of(field("v", ("varint", 63, False, False))), "ff" * 9 + "01", "invalid_value", 0, id="varint63"
    ),
    pytest.param(
        plan_of(field("v", ("varint", 64, False, True))), "ff" * 10, "invalid_value", 0, id="varint-endless"
    ),
    pytest.param(
        plan_of(field("v", ("enum", "E", None, False)), **CLOSED), "03", "invalid_enum", 0, id="enum"
    ),
    pytest.param(
        plan_of(field("v", ("enum", "E", ("ONE",), False)), **CLOSED), "02", "constraint", 0, id="only"
    ),
    pytest.param(plan_of(field("v", ("coding", "N")), **CODING), "fd", "invalid_value", 0, id="coding"),
    pytest.param(
        plan_of(field("v", ("coding", "N")), **CODING), "fe0001", "not_canonical", 0, id="coding-wide"
    ),
    pytest.param(plan_of(field("v", UTF8)), "0361ff62", "invalid_text", 2, id="utf8"),
    pytest.param(plan_of(field("v", MUTF8)), "026100", "not_canonical", 2, id="mutf8"),
    pytest.param(
        plan_of(field("v", ("bytes", ("prefix", I8)))), "ff", "invalid_value", 0, id="negative-prefix"
    ),
    pytest.param(
        plan_of(field("n", I8), field("v", ("bytes", ("computed", own("n"))))),
        "ff",
        "invalid_value",
        0,
        id="negative",
    ),
    pytest.param(
        plan_of(field("v", ("bytes", ("prefix", U32)))), "ffffffff", "limit_exceeded", 0, id="length-limit"
    ),
    pytest.param(
        plan_of(field("n", U32), field("v", ("bytes", ("computed", own("n"))))),
        "ffffffff",
        "limit_exceeded",
        0,
        id="computed-limit",
    ),
    pytest.param(plan_of(field("x", U8), field("v", REST)), "00", "undelimitable", 1, id="endless"),
    pytest.param(
        plan_of(field("v", ("list", U8, ("prefix", I8), 1))), "ff", "invalid_value", 0, id="negative-count"
    ),
    pytest.param(plan_of(field("v", ("list", U8, ("prefix", U8), 1))), "65", "limit_exceeded", 0, id="count"),
    pytest.param(
        plan_of(field("v", ("list", U8, ("prefix", U8), 1))), "33", "limit_exceeded", 0, id="messages"
    ),
    pytest.param(
        plan_of(field("v", ("list", U32, ("prefix", U8), 4)), limits={"frame": 16}),
        "04",
        "limit_exceeded",
        0,
        id="items",
    ),
    pytest.param(
        bounded(field("v", ("list", U32, ("prefix", U8), 4))), "020100", "truncated", 3, id="items-in-region"
    ),
    pytest.param(bounded(field("v", U32)), "020000", "truncated", 3, id="region-too-short"),
    pytest.param(bounded(field("v", U8)), "020000", "trailing_bytes", 2, id="region-too-long"),
    pytest.param(
        plan_of(field("v", U8, value=("constant", number(1)))), "02", "wrong_constant", 0, id="constant"
    ),
    pytest.param(plan_of(u8_where(">", 2)), "02", "constraint", 0, id="where"),
    pytest.param(
        plan_of(field("v", ("match", number(5), ((((0, 1),), U8),)))), "", "unknown_code", 0, id="match"
    ),
    pytest.param(
        plan_of(field("t", U8), field("v", ("match", own("t"), ((((0, 1),), U8),)))),
        "02",
        "unknown_code",
        0,
        id="subject",
    ),
    pytest.param(
        plan_of(field("n", U8), field("v", ("bytes", ("computed", operation("/", number(1), own("n")))))),
        "00",
        "invalid_value",
        0,
        id="division-by-zero",
    ),
]


@pytest.mark.parametrize(("plan", "digits", "code", "at"), REFUSED)
def test_bytes_are_refused(plan: Schema, digits: str, code: str, at: int) -> None:
    error = refusal(plan, digits)
    assert (error.code, error.at, error.frame_offset, error.inner_at) == (code, at, 0, None)
    assert error.path.startswith("F.")


STRICT = [
    pytest.param(plan_of(field("v", ("bool", True))), "02", "invalid_value", id="bool"),
    pytest.param(plan_of(field("v", ("varint", 64, False, True))), "8000", "not_canonical", id="varint"),
    pytest.param(
        plan_of(field("v", ("text", "utf8", ("prefix", U8), True, "big"))), "01e9", "invalid_text", id="utf8"
    ),
    pytest.param(
        plan_of(field("v", ("text", "mutf8", ("prefix", U8), True, "big"))),
        "0100",
        "not_canonical",
        id="mutf8",
    ),
    pytest.param(plan_of(field("v", ("enum", "E", ("ONE",), True)), **CLOSED), "02", "constraint", id="only"),
    pytest.param(bounded(field("v", U8), lenient=True), "020000", "trailing_bytes", id="region"),
    pytest.param(
        plan_of(
            field("n", U8, value=("derived", ("call", "count", (own("v"),)), True)),
            field("v", ("bytes", BOUNDED)),
        ),
        "090100",
        "length_mismatch",
        id="derived",
    ),
]


@pytest.mark.parametrize(("plan", "digits", "code"), STRICT)
def test_what_is_lenient_is_refused_strictly(plan: Schema, digits: str, code: str) -> None:
    check_tiling(read(plan, digits))
    assert refusal(plan, digits, Options(strict=True)).code == code


# ---- fields ----


def test_derived_fields_look_ahead() -> None:
    plan = plan_of(
        field("size", U8, hidden=True, value=("derived", ("call", "size", (own("all"),)), False)),
        field(
            "has", ("bool", False), hidden=True, value=("derived", ("call", "present", (own("x"),)), False)
        ),
        field(
            "all",
            (
                "region",
                ("block", (field("x", U8, condition=own("has")), field("y", U8))),
                ("size", own("size")),
                False,
            ),
        ),
    )
    assert read(plan, "01000a").value.fields == {"x": None, "y": 10}
    assert read(plan, "02010b0a").value.fields == {"x": 11, "y": 10}
    assert refusal(plan, "0200" + "0a0a").code == "trailing_bytes"


@pytest.mark.parametrize(("expression", "code"), [("size", "length_mismatch"), ("present", "constraint")])
def test_a_derived_field_must_be_equal(expression: str, code: str) -> None:
    derived = ("derived", ("call", expression, (own("x"),)), False)
    error = refusal(plan_of(field("n", U8, hidden=True, value=derived), field("x", U8)), "0900")
    assert (error.code, error.at, error.path) == (code, 0, "F.n")


@pytest.mark.parametrize(
    ("algorithm", "crc"),
    [("crc32", zlib.crc32(b"\x01\x02")), ("adler32", zlib.adler32(b"\x01\x02")), ("crc16", 0x1373)],
)
def test_a_checksum_covers_its_fields(algorithm: str, crc: int) -> None:
    derived = ("derived", ("checksum", algorithm, "x", "y"), False)
    plan = plan_of(field("x", U8), field("y", U8), field("sum", U32, hidden=True, value=derived))
    assert read(plan, f"0102{crc:08x}").value.fields == {"x": 1, "y": 2}
    assert refusal(plan, f"0103{crc:08x}").at == 2


def test_trailing_fields_may_be_absent() -> None:
    trailing = [
        field(name, U16, value=("trailing", number(default))) for name, default in (("x", 7), ("y", 8))
    ]
    plan = bounded(field("v", U8), *trailing, lenient=True)
    assert read(plan, "0101").value.fields == {"v": 1, "x": 7, "y": 8}
    assert read(plan, "0101").value.absent == 2
    present = read(plan, "03010002").value
    assert (present.fields, present.absent) == ({"v": 1, "x": 2, "y": 8}, 1)
    half = read(plan, "0401000203").value
    assert (half.absent, half.tail) == (1, b"\x03")


def test_a_trailing_field_may_have_a_condition() -> None:
    more = operation(">", ("position", "remaining"), number(0))
    plan = bounded(field("v", U8), field("x", U16, value=("trailing", number(7)), condition=more))
    assert read(plan, "0101").value.fields == {"v": 1, "x": 7}
    assert refusal(plan, "020100").code == "truncated"


def test_padding_follows_the_offset() -> None:
    pad = field(
        "_",
        ("bytes", ("computed", operation("%", ("negation", "-", ("position", "offset")), number(4)))),
        hidden=True,
    )
    assert read(plan_of(field("v", ("bytes", BOUNDED)), pad, field("n", U8)), "01aa000005").value.fields == {
        "v": b"\xaa",
        "n": 5,
    }


@pytest.mark.parametrize(("order", "digits"), [("msb", "b5f0"), ("lsb", "b60f")])
def test_bits_fill_bytes(order: str, digits: str) -> None:
    fields = [
        field("flag", ("bits", 1, True, order)),
        field("three", ("bits", 3, False, order)),
        field("six", ("bits", 6, False, order)),
        field("_", ("bits", 6, False, order), hidden=True),
    ]
    node = read(plan_of(*fields), digits)
    expected = (
        {"flag": True, "three": 3, "six": 0b010111}
        if order == "msb"
        else {"flag": False, "three": 3, "six": 0b111011}
    )
    assert node.value.fields == expected
    check_tiling(node)


def test_a_wrong_bit_is_a_wrong_constant() -> None:
    pad = field("_", ("bits", 7, False, "msb"), hidden=True, value=("constant", number(0)))
    error = refusal(plan_of(field("x", U8), field("flag", ("bits", 1, True, "msb")), pad), "0081")
    assert (error.code, error.at) == ("wrong_constant", 1)


# ---- choices ----

VALUE: dict[str, Any] = {
    "circular": ("V",),
    "unions": {
        "V": (
            U8,
            (
                (((0, 0),), "Null", (), False),
                (((1, 1),), "Small", (field("value", U8),), True),
                (
                    ((2, 2),),
                    "Many",
                    (field("items", ("list", ("union", "V", None, False), BOUNDED, 1)),),
                    False,
                ),
                (((3, 5),), "Other", (field("value", REST),), True),
            ),
            False,
        )
    },
}
ANY = ("union", "V", None, False)


def test_a_union_holds_itself() -> None:
    node = read(plan_of(field("v", ANY), **VALUE), "0202" + "0107" + "00")
    items = [Variety("V", "Small", {"value": 7}, 1), Variety("V", "Null", {}, 0)]
    assert node.value.fields["v"] == Variety("V", "Many", {"items": items}, 2)
    check_tiling(node)


def test_a_variety_without_an_end_must_be_last() -> None:
    assert read(bounded(field("v", ANY), **VALUE), "0304abcd").value.fields["v"].value == b"\xab\xcd"
    for plan in (plan_of(field("v", ANY), **VALUE), bounded(field("v", ANY), field("x", U8), **VALUE)):
        assert refusal(plan, "0304abcd"[0 if "Region" in repr(plan.frames) else 2 :]).code == "unknown_code"


def test_depth_counts_a_declaration_inside_itself() -> None:
    plan = plan_of(field("v", ANY), **VALUE)
    read(plan, "0201" * 2 + "00")
    error = refusal(plan, "0201" * 3 + "00")
    assert (error.code, error.at, error.path) == (
        "too_deep",
        6,
        "F.v.Many.items[0].Many.items[0].Many.items[0]",
    )


def test_hostile_depth_does_not_reach_the_stack() -> None:
    plan = plan_of(field("v", ANY), **VALUE, limits={"depth": 10**6, "messages": 10**6})
    assert refusal(plan, "0201" * 1500 + "00").code == "too_deep"


MESSAGES: dict[str, Any] = {
    "messages": {"M": (7, "a", (field("x", U8),)), "N": (8, "b", ())},
    "codes": {"a": {7: "M"}, "b": {8: "N"}},
    "body": "body",
}
BODY = field("body", ("message_match", own("type"), None, False))


def test_an_unknown_message_is_kept_where_its_end_is_known() -> None:
    region = ("region", ("message_match", own("type"), None, False), BOUNDED, False)
    plan = plan_of(field("type", U8), field("body", region), **MESSAGES)
    assert read(plan, "070105").value.message == Record("M", {"x": 5})
    node = read(plan, "0902abcd")
    assert node.value.message == Unknown(9, b"\xab\xcd")
    check_tiling(node)
    error = refusal(plan, "0902abcd", Options(strict=True))
    assert (error.code, error.at, error.path, error.recoverable, error.end) == (
        "unknown_code",
        0,
        "F.type",
        True,
        4,
    )


def test_a_message_of_either_role_is_read() -> None:
    plan = plan_of(field("type", U8), BODY, **MESSAGES)
    assert read(plan, "08", Options("a")).value.message.name == "N"
    assert refusal(plan, "09").at == 0


def test_a_nested_frame_may_allow_only_some() -> None:
    messages = {**MESSAGES["messages"], "E": (9, "a", (field("event", ("frame", "F", ("N",), False)),))}
    plan = plan_of(
        field("type", U8),
        BODY,
        **{**MESSAGES, "messages": messages, "codes": {"a": {7: "M", 9: "E"}, "b": {8: "N"}}},
    )
    assert read(plan, "0908").value.message.event.message.name == "N"
    error = refusal(plan, "090705")
    assert (error.code, error.at, error.path) == ("constraint", 1, "E.event.F.type")


class Sizes:
    """A context with one entry."""

    def lookup(self, name: str, keys: tuple[Any, ...], sender: str | None) -> Any:
        return {("size", (7,)): 2}[name, keys]


def test_a_context_says_the_layout() -> None:
    size = ("context", "size", (own("key"),))
    plan = plan_of(field("key", U8), field("v", ("bytes", ("computed", size))))
    assert read(plan, "07abcd", Options(context=Sizes())).value.fields["v"] == b"\xab\xcd"
    for options in (Options(), Options(context=Sizes())):
        assert refusal(plan, "08abcd", options).code == "missing_context"


def test_a_message_without_context_is_kept_where_its_end_is_known() -> None:
    match = ("message_match", ("context", "code", (own("type"),)), None, False)
    plan = plan_of(field("type", U8), field("body", ("region", match, BOUNDED, False)), **MESSAGES)
    assert read(plan, "070105").value.message == Unknown(None, b"\x05")
    assert refusal(plan, "070105", Options(strict=True)).code == "missing_context"


# ---- regions ----


def test_left_over_bytes_belong_to_the_message() -> None:
    region = ("region", ("message_match", own("type"), None, False), BOUNDED, True)
    plan = plan_of(field("type", U8), field("body", region), **MESSAGES)
    node = read(plan, "0703050a0b")
    assert node.value.message.tail == b"\x0a\x0b"
    check_tiling(node)


CHUNK: dict[str, Any] = {
    "structs": {
        "C": (
            field("n", U8, hidden=True),
            field("more", ("bool", False)),
            field("d", ("bytes", ("computed", own("n")))),
        )
    }
}
CHUNKS = ("chunks", "C", "d", ("negation", "not", ("field", ("more",), "item")))


def test_chunks_are_joined_and_read_as_one() -> None:
    plan = plan_of(field("v", ("region", U32, CHUNKS, False)), field("after", U8), **CHUNK)
    node = read(plan, "0101aa" + "0001" + "0300bbccdd" + "07")
    assert node.value.fields == {"v": 0xAABBCCDD, "after": 7}
    check_tiling(node)
    error = refusal(plan, "0101aa" + "0100bb" + "07")
    assert (error.code, error.at, error.inner_at, error.end) == ("truncated", 0, 2, 7)


def compressed(algorithm: str, content: tuple[Any, ...] = REST) -> Schema:
    carrier = ("compressed", algorithm, ("prefix", U16))
    return plan_of(field("v", ("region", content, carrier, False)), field("after", U8))


def packed(data: bytes, bits: int) -> str:
    stream = zlib.compressobj(wbits=bits)
    body = stream.compress(data) + stream.flush()
    return f"{len(body):04x}{body.hex()}"


@pytest.mark.parametrize(("algorithm", "bits"), [("zlib", 15), ("gzip", 31), ("deflate", -15)])
def test_compressed_regions(algorithm: str, bits: int) -> None:
    node = read(compressed(algorithm), packed(b"hello", bits) + "07")
    assert node.value.fields == {"v": b"hello", "after": 7}
    check_tiling(node)
    assert refusal(compressed(algorithm), packed(b"x" * 1001, bits) + "07").code == "limit_exceeded"
    assert read(compressed(algorithm), packed(b"x" * 1000, bits) + "07").value.fields["after"] == 7
    assert refusal(compressed(algorithm), "0000" + "07").code == "inflate_failed"
    body = packed(b"hello", bits)[4:]
    for extra, code in ((body + "00", "trailing_bytes"), (body[:-2], "inflate_failed")):
        assert refusal(compressed(algorithm), f"{len(extra) // 2:04x}{extra}07").code == code


def test_a_fault_in_inflated_bytes_tells_both_places() -> None:
    error = refusal(compressed("zlib", ("list", ("bool", False), ("end",), 1)), packed(b"\0\1\2", 15) + "07")
    assert (error.code, error.at, error.inner_at, error.recoverable) == ("invalid_value", 2, 2, True)
    assert error.end == 2 + len(packed(b"\0\1\2", 15)[4:]) // 2 + 1


# ---- limits ----


def test_the_limits_of_the_caller_come_first() -> None:
    plan = plan_of(field("v", ("list", U8, BOUNDED, 1)))
    assert refusal(plan, "020000", Options(limits={"count": 1})).expected == "at most 1 items (limits.count)"
    assert refusal(plan, "020000", Options(limits={"messages": 1})).code == "limit_exceeded"
    assert refusal(plan, "020000", Options(limits={"frame": 2})).at == 0


def test_items_without_a_count_are_counted() -> None:
    plan = bounded(field("v", ("list", U8, ("end",), 1)), limits={"messages": 3})
    assert read(plan, "03000000").value.fields["v"] == [0, 0, 0]
    error = refusal(plan, "0400000000")
    assert (error.code, error.at) == ("limit_exceeded", 4)


def test_a_bomb_stays_within_the_budget() -> None:
    zeros = zlib.compress(b"\0" * 64 * 2**20, 9)
    twice = zlib.compress(b"2C" + len(zeros).to_bytes(4, "big") + zeros, 9)
    bomb = b"2C" + len(twice).to_bytes(4, "big") + twice
    assert len(bomb) < 300
    tracemalloc.start()
    with pytest.raises(DecodeError) as caught:
        explain(PLAN, bomb, 0, len(bomb), Options(limits={"inflated": 2**20}))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.code == "limit_exceeded"
    assert peak < 8 * 2**20


@pytest.mark.parametrize(
    "digits", ["314400000001ffffffff", "324a00000001ffffffff", "3243ffffffff", "31440000000100000001ffffffff"]
)
def test_a_length_allocates_nothing(digits: str) -> None:
    read(PLAN, "324100000001")
    tracemalloc.start()
    assert refusal(PLAN, digits).code == "limit_exceeded"
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**17


# ---- entries ----


def test_positions_are_those_of_the_stream() -> None:
    data = b"\xff\xff" + bytes.fromhex("324100000001")
    node = explain(PLAN, data, 2, 8, Options(), 1000)
    assert (node.start, node.end) == (1002, 1008)
    with pytest.raises(DecodeError) as caught:
        explain(PLAN, b"\xff\xff2X", 2, 4, Options(), 1000)
    error = caught.value
    assert (error.frame_offset, error.at, error.path) == (1002, 1003, "Frame.type")


def test_a_view_is_read_as_a_type() -> None:
    frames = type_(("list", ("frame", "Frame", ("Ack",), False), ("end",), 2))
    node = explain_type(PLAN, frames, bytes.fromhex("324100000001" * 2), Options(), name="view")
    assert [frame.message.sequence for frame in node.value] == [1, 1]
    with pytest.raises(DecodeError, match=r"view\[0\].Frame.type: constraint at 1"):
        explain_type(PLAN, frames, bytes.fromhex("325700000001"), Options(), name="view")
    with pytest.raises(DecodeError, match="trailing_bytes at 2"):
        explain_type(PLAN, type_(U16), b"\0\0\0", Options(), name="view")


def test_what_was_read_before_the_fault_is_kept() -> None:
    data = bytes.fromhex("314400000001" + "00000002" + "000000016b" + "0000000176" + "00000001")
    with pytest.raises(NeedMoreData) as caught:
        explain(PLAN, data, 0, len(data), Options())
    assert caught.value.partial == {
        "message": "Data",
        "header": {"version": "V1"},
        "fields": {"sequence": 1, "pairs": [{"key": "k", "value": "v"}, {}]},
    }


def test_a_variant_replaces_declarations() -> None:
    plan = plan_of(field("v", U8), variants={"wide": {"frames": {"F": (None, (field("v", U16),), None)}}})
    assert read(plan, "0102"[:2]).value.fields == {"v": 1}
    assert read(plan, "0102", Options(variant="wide")).value.fields == {"v": 0x102}
    with pytest.raises(ValueError, match="no variant narrow"):
        read(plan, "01", Options(variant="narrow"))


SHAPES: list[Any] = [case.values[0] for case in SCALARS]
ALL = plan_of(*(field(f"f{index}", shape) for index, shape in enumerate(SHAPES)), **OPEN, **CODING, **PAIR)


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_read_or_raise_decode_errors(data: bytes, strict: bool) -> None:
    for plan in (PLAN, ALL, bounded(field("v", ("list", ANY, ("end",), 1)), **VALUE)):
        try:
            check_tiling(explain(plan, data, 0, len(data), Options(strict=strict)))
        except DecodeError as error:
            assert 0 <= error.at <= len(data)


@given(
    st.lists(st.sampled_from([b"2C", b"2A\0\0\0\1", b"1", b"\0", b"2J\0\0\0\1\0\0\0\1x", b"x"]), max_size=6)
)
def test_any_inflated_bytes_read_or_raise_decode_errors(parts: list[bytes]) -> None:
    body = zlib.compress(b"".join(parts))
    data = b"2C" + len(body).to_bytes(4, "big") + body
    try:
        check_tiling(explain(PLAN, data, 0, len(data), Options()))
    except DecodeError as error:
        assert (error.at, error.recoverable, error.end) == (6, True, len(data))
