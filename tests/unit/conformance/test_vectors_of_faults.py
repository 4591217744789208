"""A vector of a fault shows that fault: checksums are correct again, reserved fields are covered, and names
match the content.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from wiregen.conformance.vectors.building import Built, build_vectors
from wiregen.conformance.vectors.coverage import fields_of, fields_shown
from wiregen.conformance.vectors.drafts import Drafting
from wiregen.conformance.vectors.format import Invalid, Unwritable, Valid, octets
from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema.lowering import lower

HEAD = 'protocol p { source "no document" endian big roles a, b }\n'
SUMMED = """
frame Frame {
  magic : u16 == 0xBEEF
  type  : u8 := code(body)
  size  : u16 := size(body)
  body  : match type in size
  check : u32 := crc32(type .. body)
}
open enum Unit : u16 { KELVIN = 1 }
type Name = utf8[u8] where count(value) > 0
struct Cell { data : bytes[u8]  sum : u16 := crc16(data .. data) }
message Report 1 {
  id    : u32
  unit  : Unit
  name  : Name
  temp  : u8 where temp <= 100
  cells : Cell[u8] where count(cells) != 0
  low   : u8
  high  : u8 where high > low
}
"""
RESERVED = """
frame Frame { type : u8 := code(body)  body : match type }
message Bits 1 { flags : u3  _ : u5 == 0  a : u8 }
message Bytes 2 { _ : u16  _ : u16 == 9  a : u8  _ : u8 == 3 }
"""
LSB = HEAD.replace("big", "big bits lsb") + RESERVED
OPENING = """
preamble Hello from a { version : u8 == 1 }
frame Frame { type : u8 := code(body)  body : match type }
message Go 1 { a : u8 }
"""


@cache
def built(text: str) -> Built:
    report = Report()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.wire"
        path.write_text(text if text.startswith("protocol") else HEAD + text)
        subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None, report
    made = build_vectors(lower(subject.protocol))
    assert not made.unheld()
    return made


def refused(text: str) -> list[Invalid]:
    return [each for each in built(text).file.vectors if isinstance(each, Invalid)]


def test_only_what_is_wrong_with_a_checksum_is_told_of_it() -> None:
    told = [each for each in refused(SUMMED) if each.error.path in ("Frame.check", "Cell.sum")]
    of_limits = [each for each in told if each.error.code in ("limit_exceeded", "truncated")]
    assert len(told) > len(of_limits)
    for each in told:
        if each not in of_limits:
            assert all("Frame.check" in name or "Cell.sum" in name for name in each.covers), each


def test_a_strange_code_is_read_where_the_checksum_is_right() -> None:
    unknown = [
        each
        for each in built(SUMMED).file.vectors
        if isinstance(each, Valid) and each.id.startswith("unknown")
    ]
    assert {each.frames[0]["code"] for each in unknown} >= {0, 2}


def test_faults_inside_what_is_summed_are_told_themselves() -> None:
    told = {(each.error.code, each.error.path) for each in refused(SUMMED)}
    assert {
        ("constraint", "Report.temp"),
        ("constraint", "Report.name"),
        ("constraint", "Report.cells"),
    } <= told
    assert {("wrong_constant", "Frame.magic"), ("invalid_text", "Report.name")} <= told


def test_a_condition_of_another_field_is_named() -> None:
    for each in refused(SUMMED):
        for name in each.covers if each.error.code == "constraint" else ():
            if "constraint broken" in name or "bad enum" in name:
                assert each.error.path.split(".")[-1].split("[")[0] in name, each
    assert any("breaks Report.high" in name for each in refused(SUMMED) for name in each.covers)
    assert not [
        each for each in refused(SUMMED) if "Report.id" in each.covers[0] or "bad enum" in each.covers[0]
    ]


@pytest.mark.parametrize(
    "covers",
    [
        "Bits._ reserved: wrong constant first bit",
        "Bits._ reserved: wrong constant last bit",
        "Bytes._ reserved 2: wrong constant bit 0",
        "Bytes._ reserved 3: wrong constant bit 7",
    ],
)
@pytest.mark.parametrize("text", [RESERVED, LSB], ids=["msb", "lsb"])
def test_what_is_reserved_must_be_so(text: str, covers: str) -> None:
    [vector] = [each for each in refused(text) if covers in each.covers]
    assert vector.error.code == "wrong_constant"
    assert built(text).coverage.is_full


def test_what_is_reserved_counts_only_where_something_else_is_refused() -> None:
    made = built(RESERVED)
    assert {"Bits._", "Bytes._"} <= {*fields_of(made.schema)}
    right = [each for each in made.file.vectors if isinstance(each, Valid)]
    drafts = [Drafting(made.schema).draft(Scene(role="a"), octets(each.bytes)) for each in right]
    assert fields_shown(drafts) == {"Frame.type", "Frame.body", "Bits.flags", "Bits.a", "Bytes.a"}


def test_a_preamble_that_is_always_the_same_is_shown_right_and_wrong() -> None:
    made = built(OPENING)
    vectors = {each.id: each for each in made.file.vectors}
    assert vectors["hello-which-is-always-the-same"].kind == "valid"
    assert any(
        each.error.path == "Hello.version" and each.error.code == "wrong_constant"
        for each in refused(OPENING)
    )
    assert made.coverage.is_full


MIXED = """
limits { frame = 4 KiB }
frame Frame { type : u8 := code(body)  body : match type }
message Report 1 { temp : u8 where temp <= 100  note : utf8[u16]  last : utf8[u8] }
"""


def test_what_is_refused_is_refused_for_what_it_is_named_for() -> None:
    told = [each for each in built(MIXED).file.vectors if isinstance(each, Unwritable)]
    for each in told:
        if any(name.startswith("Report.note") for name in each.covers):
            assert each.error.path != "Report.temp", each
    longest = [each for each in built(MIXED).file.vectors if "Report.last longest" in each.covers]
    assert [each.kind for each in longest] == ["valid"]


REPEATED = """
struct Pair { key : u8  value : u8 }
message Pairs 1 { pairs : Pair[u8] where distinct(pairs) @rule(twice) }
message Any 2 { pairs : Pair[u8] }
rule twice "Each pair comes once." { source "no document" }
frame Frame { size : u8 := size(body)  type : u8 := code(body)  body : match type in size }
"""


def test_an_item_that_comes_twice_is_shown_where_a_condition_forbids_it() -> None:
    (found,) = (each for each in refused(REPEATED) if "an-item-twice" in each.id)
    assert (found.error.path, found.error.rule) == ("Pairs.pairs", "twice")
    data = octets(found.bytes)
    assert data[:3] == bytes((len(data) - 2, 1, (len(data) - 3) // 2))
    assert data[3:5] == data[5:7]


def test_a_message_that_nobody_knows_and_without_data_is_shown() -> None:
    found = [each for each in built(REPEATED).file.vectors if "without-data" in each.id]
    tolerated, strict = found
    assert isinstance(tolerated, Valid) and isinstance(strict, Invalid)
    assert octets(tolerated.bytes) == octets(strict.bytes) == bytes((0, 0))
    assert strict.strict and strict.error.code == "unknown_code"
