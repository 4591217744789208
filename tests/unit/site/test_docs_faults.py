"""The errors that a page lists can happen: each is caused by bytes of a small protocol, and impossible ones
are not listed.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from tests.unit.docs_sites import chapter_of

from wiregen.conformance.vectors.reference_verdicts import ReferenceVerdicts, Scene
from wiregen.runtime.codec.errors import DecodeError
from wiregen.schema.lowering import lower
from wiregen.site.pages.decode_errors import faults_of
from wiregen.site.pages.named_rules import named_by

HEAD = 'protocol p { source "None" endian big roles a, b }\nlimits { frame = 64 inflated = 64 depth = 2 messages = 8 }\n'
FRAME = "frame Frame { type : u8 := code(body)  body : match type }\n"
TYPES = """
enum Kind : u8 { ONE = 1 }
open enum Fault : u8 { LOST = 4 }
coding Whole : u8 { 0 .. 253  254 => u16  255 => u32 }
coding Gap : u8 { 0 .. 9  254 => u16  255 => null }
coding One : u8 { 0 .. 255 }
"""


def listed(tmp_path: Path, fields: str) -> set[tuple[str, str]]:
    path = tmp_path / "p.wire"
    path.write_text(f"{HEAD}{FRAME}{TYPES}message M 1 from a {{ {fields} }}\n")
    protocol = chapter_of(path).protocol
    found = faults_of("M", protocol.messages[0].fields, named_by(protocol))
    return {(fault.code, fault.path) for fault in found if fault.path}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param("x : ascii[4]", {("invalid_text", "M.x")}, id="text of a fixed size"),
        pytest.param("x : bytes[4]", set(), id="bytes of a fixed size"),
        pytest.param("x : latin1[2]", set(), id="an encoding without wrong bytes"),
        pytest.param("x : Fault", set(), id="an open enum"),
        pytest.param("x : Kind", {("invalid_enum", "M.x")}, id="an enum"),
        pytest.param("n : u8  x : bytes[n]", {("limit_exceeded", "M.x")}, id="an unsigned length"),
        pytest.param("n : u8  x : bytes[n * 2 + 1]", {("limit_exceeded", "M.x")}, id="a sum of lengths"),
        pytest.param("n : i8  x : bytes[n]", {("invalid_value", "M.n"), ("limit_exceeded", "M.x")}, id="a signed length"),
        pytest.param("n : u8  x : bytes[n - 1]", {("invalid_value", "M.n"), ("limit_exceeded", "M.x")}, id="a difference"),
        pytest.param("n : u8  x : { y : u8 } in n", {("trailing_bytes", "M.x"), ("limit_exceeded", "M.x")}, id="an unsigned size"),
        pytest.param("n : u8  x : bytes[] in n", {("limit_exceeded", "M.x")}, id="what takes all of its region"),
        pytest.param("_ : u4 == 0  x : u4", {("wrong_constant", "M._")}, id="padding"),
        pytest.param("x : u8 := max(1, 2)", {("constraint", "M.x")}, id="derived of no size"),
        pytest.param("x : Whole", {("not_canonical", "M.x")}, id="a coding without gaps"),
        pytest.param("x : Gap", {("not_canonical", "M.x"), ("invalid_value", "M.x")}, id="a coding with gaps"),
        pytest.param("x : One", set(), id="a coding of one width"),
        pytest.param(
            "x : bytes[Gap]", {("not_canonical", "M.x"), ("invalid_value", "M.x"), ("limit_exceeded", "M.x")}, id="a coding that may be null"
        ),
        pytest.param("x : bytes[Whole]", {("not_canonical", "M.x"), ("limit_exceeded", "M.x")}, id="a coding as a length"),
        pytest.param(
            "x : bytes[] in zlib[u8]",
            {("trailing_bytes", "M.x"), ("inflate_failed", "M.x"), ("limit_exceeded", "M.x")}, id="compressed bytes",
        ),
    ],
)  # fmt: skip
def test_what_can_go_wrong_is_listed_and_nothing_else(
    tmp_path: Path, fields: str, expected: set[tuple[str, str]]
) -> None:
    assert listed(tmp_path, fields) == expected
    possible = {each for each in expected if each[0] != "limit_exceeded"}  # lengths of these fields are short
    assert possible <= met(tmp_path / "p.wire") <= expected


def met(path: Path) -> set[tuple[str, str]]:
    """Return the errors of the reference codec for short messages: each two bytes, and each byte with others after it."""
    bench = ReferenceVerdicts(lower(chapter_of(path).protocol))
    bodies = [bytes((first, second)) for first in range(0, 256, 3) for second in (0, 1, 2, 128, 255)]
    bodies += [bytes((first, second, *bytes(80))) for first in range(256) for second in (0, 1, 200)]
    bodies.append(b"\x09" + zlib.compress(b"") + b"\x00")
    found = set()
    for body in bodies:
        try:
            items, _ = bench.read(Scene(role="a", before=()), b"\x01" + body)
        except DecodeError as error:
            items = ((0, 0, error),)
        faults = [each for _, _, each in items[:1] if isinstance(each, DecodeError)]
        found |= {(fault.code, fault.path) for fault in faults if fault.code != "truncated"}
    return {(code, path) for code, path in found if path.startswith("M")}


@pytest.mark.parametrize(("encoding", "is_taken"), [("mutf8", False), ("utf8", True)])
def test_what_a_lenient_text_takes(tmp_path: Path, encoding: str, is_taken: bool) -> None:
    path = tmp_path / "p.wire"
    path.write_text(f"{HEAD}{FRAME}message M 1 from a {{ x : {encoding}[u8] lenient }}\n")
    protocol = chapter_of(path).protocol
    found = faults_of("M", protocol.messages[0].fields, named_by(protocol))
    assert [fault.strict for fault in found if fault.code == "invalid_text"] == [is_taken]


@pytest.mark.parametrize(("type_", "is_listed"), [("u8", False), ("varint", False), ("i8", True)])
def test_a_size_from_a_context_is_negative_where_the_context_may_be(
    tmp_path: Path, type_: str, is_listed: bool
) -> None:
    path = tmp_path / "p.wire"
    path.write_text(
        f"{HEAD}{FRAME}context sizes : {type_} per id {{ set Size.size  clear End }}\n"
        f"message Size 1 from a {{ id : u8  size : {type_} }}\n"
        "message End 3 from a { id : u8 }\n"
        "message M 2 from a { id : u8  count : u8  x : bytes[count * sizes[id]] }\n"
    )
    protocol = chapter_of(path).protocol
    found = faults_of("M", protocol.messages[-1].fields, named_by(protocol))
    assert any("negative" in fault.when for fault in found) is is_listed


def beyond(tmp_path: Path, limits: str, field: str) -> list[tuple[str, str]]:
    path = tmp_path / "p.wire"
    path.write_text(
        f'protocol p {{ source "None" endian big roles a, b }}\nlimits {{ {limits} }}\n{FRAME}'
        f"message M 1 from a {{ {field} }}\n"
        'rule most "So many."\n'
    )
    protocol = chapter_of(path).protocol
    found = faults_of("M", protocol.messages[0].fields, named_by(protocol))
    return [(fault.when, fault.rule) for fault in found if fault.code in ("limit_exceeded", "too_deep")]


def test_limits_are_listed_with_the_number_that_holds_by_default(tmp_path: Path) -> None:
    items = "beyond limits.messages (65,536 items in all lists of a frame by default)"
    assert beyond(tmp_path, "frame = 1 KiB", "x : u8[u8]") == [
        ("beyond limits.frame (1,024 bytes by default)", ""),
        (f"{items} or limits.count, where the reader sets one", ""),
    ]
    assert beyond(tmp_path, "frame = 1 KiB  count = 7 @rule(most)", "x : u8[u8]") == [
        ("beyond limits.count (7 items by default)", "most"),
        ("beyond limits.frame (1,024 bytes by default)", ""),
        (items, ""),
    ]
    assert beyond(tmp_path, "inflated = 4 KiB", "x : Frame[] in zlib[u8]") == [
        ("beyond limits.frame (16,777,216 bytes by default)", ""),
        ("beyond limits.inflated (4,096 bytes by default)", ""),
        (f"{items} or limits.count, where the reader sets one", ""),
        ("frames inside frames beyond limits.depth (32 levels by default)", ""),
    ]  # fmt: skip
