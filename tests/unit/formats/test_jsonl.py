"""Lines: their exact text, their refusals, and that decode | encode keeps every byte."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.schemas import built
from tests.unit import plans as p

from wiregen.formats.jsonl import (
    LineEncoder,
    LineError,
    decoded_line,
    dumps,
    encode_lines,
    error_line,
    loads,
)
from wiregen.formats.line_maker import LineMaker
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.schema.protocol import Schema

DATA = bytes.fromhex("3244000000010000000100000004 6c696e65 00000005 68656c6c6f")
ACK = bytes.fromhex("32410000000a")


def lines_of(plan: Schema, data: bytes, role: str | None = None) -> list[str]:
    """Decode a stream as the command does, with an error line for the rest that cannot be read."""
    maker = LineMaker(plan)
    found = []
    offset = 0
    while offset < len(data):
        try:
            node = explain(plan, data, offset, len(data), Options(role))
        except DecodeError as error:
            end = error.end if error.recoverable and error.end is not None else len(data)
            line = error_line(error, data[offset:end], offset=offset, role=role)
            found.append(dumps(line))
            offset = end
        else:
            found.append(dumps(maker.decoded(node.value, data[offset : node.end], offset=offset, role=role)))
            offset = node.end
    return found


def test_a_line_is_the_promised_text() -> None:
    (line,) = lines_of(p.LUMBERJACK, DATA, "writer")
    assert line == (
        '{"offset":0,"size":27,"from":"writer","message":"Data","header":{"version":"V2"},'
        '"fields":{"sequence":1,"pairs":[{"key":"line","value":"hello"}]}}'
    )


def test_where_a_frame_was_seen() -> None:
    record = {"message": "Ack", "header": {}, "fields": {"sequence": 1}}
    part = {"join": "J", "key": [1], "index": 0, "last": True}
    line = decoded_line(record, offset=3, size=6, role="reader", flow="a-b", time=1.5, part=part, raw=b"\xff")
    assert dumps(line) == (
        '{"offset":3,"size":6,"from":"reader","flow":"a-b","time":1.5,"message":"Ack","header":{},'
        '"fields":{"sequence":1},"part":{"join":"J","key":[1],"index":0,"last":true},'
        '"canonical":false,"raw":"ff"}'
    )


def test_an_error_is_a_line() -> None:
    error = DecodeError(
        "truncated", path="Data.sequence", at=9, expected="4 bytes", found="3 bytes", partial={"a": 1}
    )
    line = error_line(error, b"\x01\x02\x03", offset=2, role="writer")
    assert line == {
        "offset": 2, "size": 3, "from": "writer",
        "error": {
            "code": "truncated", "rule": None, "path": "Data.sequence", "at": 9, "expected": "4 bytes",
            "found": "3 bytes", "recoverable": False,
        },
        "partial": {"a": 1}, "bytes": "010203", "bytes_truncated": False,
    }  # fmt: skip
    inner = DecodeError("partial_inner", at=4, inner_at=7)
    assert error_line(inner, b"", offset=0)["error"]["inner_at"] == 7
    cut = error_line(error, b"\x01\x02\x03", offset=2, most_bytes=2)
    assert (cut["bytes"], cut["bytes_truncated"], cut["size"]) == ("0102", True, 3)
    with pytest.raises(LineError, match="the bytes of an error are cut"):
        LineEncoder(p.LUMBERJACK).encode(cut)


def test_lone_surrogates_survive() -> None:
    line = {"message": "M", "fields": {"x": "\ud800é"}}
    assert dumps(line).isascii()
    assert loads(dumps(line)) == line
    assert loads(dumps(line).encode()) == line


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON: expecting value at column 1"),
        ('{"a": 1', "not JSON: expecting ',' delimiter at column 8"),
        ("[1]", "expected a JSON object"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "key 'c' occurs twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        (b'{"a": "\xff"}', "not UTF-8 at byte 8"),
        ('{"a": ' + "[" * 100_000, "nested too deep"),
        ('{"a": ' + "1" * 5000 + "}", "a number with too many digits"),
    ],
)
def test_lines_that_are_refused(text: str | bytes, why: str) -> None:
    with pytest.raises(LineError) as caught:
        loads(text, 3)
    assert str(caught.value) == f"line 3: {why}"
    assert caught.value.number == 3


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({}, "neither a message nor an error"),
        ({"message": "Ack", "from": "nobody", "fields": {}}, "no role 'nobody'; there are writer, reader"),
        ({"message": "Ack", "from": 1, "fields": {}}, "from: expected the name of a role"),
        (
            {"message": "Ack", "fields": {"sequence": -1}},
            "Ack.sequence: invalid_value: expected 0 to 4294967295, found -1",
        ),
        ({"message": "Ack", "fields": {"sequence": 1}, "raw": "x"}, "raw: expected hexadecimal text"),
        ({"error": {}}, "bytes: expected hexadecimal text"),
    ],
)
def test_lines_that_cannot_be_written(line: Any, why: str) -> None:
    with pytest.raises(LineError) as caught:
        list(encode_lines(LineEncoder(p.LUMBERJACK), ["\n", dumps(line)]))
    assert str(caught.value) == f"line 2: {why}"


def test_what_is_not_canonical_has_its_bytes() -> None:
    packed = zlib.compress(ACK, 1)
    data = b"2C" + len(packed).to_bytes(4, "big") + packed
    (text,) = lines_of(p.LUMBERJACK, data)
    line = loads(text)
    assert (line["canonical"], line["raw"]) == (False, data.hex())
    assert LineEncoder(p.LUMBERJACK).encode(line) == data
    anew = LineEncoder(p.LUMBERJACK, is_canonical=True).encode(line)
    assert anew != data
    assert "raw" not in loads(lines_of(p.LUMBERJACK, anew)[0])


def test_left_over_bytes_are_not_canonical() -> None:
    plan = p.of_field(p.U8, is_sized=True)
    data = bytes.fromhex("01 0003 05 7a7a")
    (text,) = lines_of(plan, data)
    assert loads(text)["raw"] == data.hex()
    assert LineEncoder(plan, is_canonical=True).encode(loads(text)).hex() == "01000105"


def test_fields_that_were_absent_are_canonical() -> None:
    fields = (p.field("a", p.U8), p.field("b", p.U8, ("trailing", p.number(0))))
    plan = p.plan(("M", 1, None, fields), frames={"Frame": (None, p.SIZED_FRAME, "body")})
    for data in (bytes.fromhex("01000105"), bytes.fromhex("0100020500")):
        (text,) = lines_of(plan, data)
        assert "raw" not in loads(text)
        assert LineEncoder(plan).encode(loads(text)) == data


def test_earlier_lines_lay_out_later_ones() -> None:
    fields = (p.field("size", p.U8),)
    element = (
        p.field("x", ("match", ("context", "size", ()), ((((0, 0),), p.octets(p.prefix(p.U8))), ((), p.octets(
            p.computed(("context", "size", ()))))))),
    )  # fmt: skip
    contexts = {"size": (p.U8, (), "client", (("Set", "size", None),), ())}
    plan = p.plan(("Set", 1, "client", fields), ("Next", 2, "client", element), contexts=contexts)
    lines = [
        {"from": "client", "message": "Set", "fields": {"size": 2}},
        {"from": "client", "message": "Next", "fields": {"x": "6162"}},
        {"from": "client", "message": "Set", "fields": {"size": 0}, "raw": "0100"},
        {"from": "client", "message": "Next", "fields": {"x": "61"}},
    ]
    written = list(encode_lines(LineEncoder(plan), map(dumps, lines)))
    assert [data.hex() for data in written] == ["0102", "026162", "0100", "020161"]
    with pytest.raises(LineError, match=r"line 1: Next\.x: missing_context"):
        list(encode_lines(LineEncoder(plan), [dumps({**lines[1], "flow": "other"})]))


PIECES = st.sampled_from(
    [DATA, ACK, b"2C\0\0\0\x0e" + zlib.compress(ACK), b"1W\0\0\0\1", b"2J\0\0\0\1\0\0\0\2{}"]
)
STREAMS = st.lists(PIECES | st.binary(max_size=12), max_size=5).map(b"".join)


@given(STREAMS, st.integers(0, 60), st.integers(0, 255))
def test_decode_and_encode_change_no_byte(data: bytes, place: int, value: int) -> None:
    mutated = data[:place] + bytes((value,)) + data[place + 1 :]
    for stream in (data, mutated):
        lines = lines_of(p.LUMBERJACK, stream)
        assert b"".join(encode_lines(LineEncoder(p.LUMBERJACK), lines)) == stream
        sizes = [json.loads(line)["size"] for line in lines]
        assert [json.loads(line)["offset"] for line in lines] == [sum(sizes[:n]) for n in range(len(sizes))]


@given(
    st.lists(st.integers(0, 8) | st.integers(0, 255), max_size=40).map(bytes),
    st.sampled_from(["client", "server"]),
)
def test_decode_and_encode_change_no_byte_of_regions(data: bytes, role: str) -> None:
    head = bytes((0, 0, 0, len(data) + 8 & 0xFF, 0, 0, 0, 1, 0, 0, 1, 1)) if role == "client" else b""
    stream = head + data
    lines = lines_of(p.VALUES, stream, role)
    assert b"".join(encode_lines(LineEncoder(p.VALUES), lines)) == stream


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["00", "Null"]),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(st.sampled_from(["Null", "Integer", "value", "id", "message", "fields"]), inner),
)
LINES = st.fixed_dictionaries(
    {"message": st.sampled_from(["Put", "Done", "Error", "Unknown"]) | JSON, "fields": JSON},
    optional={
        "from": st.sampled_from(["client", "server"]) | JSON,
        "header": st.just({"id": 1}) | JSON,
        "raw": st.just("00") | JSON,
        "code": JSON,
        "flow": JSON,
        "error": JSON,
        "bytes": JSON,
    },
)


@given(LINES)
def test_any_line_is_bytes_or_a_line_error(line: Any) -> None:
    encoder = LineEncoder(p.VALUES)
    try:
        assert isinstance(b"".join(encode_lines(encoder, [dumps(line), dumps(line)])), bytes)
    except LineError as error:
        assert error.number in (1, 2)


def test_an_object_or_a_list_is_the_value_of_an_arm_that_has_such(tmp_path: Path) -> None:
    """The arm of plain values is the first in both choices."""
    text = """protocol p { source "s"  endian big  roles a, b }
limits { frame = 64 KiB }
union Kind : u8 { Low 1 : u8  High 2 : u16 }
frame Frame { code : u8 := code(body)  size : u8 := size(body)  body : match code in size }
message M 1 { n : u8  one : match n { 0 => zigzag  _ => Kind }  two : match n { 0 => u8  _ => u8[u8] } }
"""
    with built(text, tmp_path, "arms_in_lines") as codecs:
        for data in (bytes.fromhex("01 03 00 02 07"), bytes.fromhex("01 06 01 0105 02 0809")):
            (line,) = lines_of(codecs.schema, data)
            assert "raw" not in loads(line)
            assert LineEncoder(codecs.schema).encode(loads(line)) == data
