"""A page's text outside its table, compared with decoders: optional tails, sizes, byte order, varints, the
effect of `lenient`.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest
from tests.unit.docs_sites import SHIPPED, chapter_of, shipped_chapter

from wiregen.conformance.vectors.format import Invalid
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.declarations import fields_page, message_page, type_page
from wiregen.site.pages.overview import protocol_page
from wiregen.site.pages.views import LayoutView, MessageView
from wireproto import pravega

HEAD = 'protocol p { source "None" endian big roles a, b }\nlimits { frame = 1 KiB inflated = 4 KiB }\n'


def layout_of(tmp_path: Path, text: str, name: str = "M", head: str = HEAD) -> LayoutView:
    path = tmp_path / "p.wire"
    path.write_text(head + text)
    book = Book(chapter_of(path))
    for message in book.protocol.messages:
        return message_page(book, message).layout
    return fields_page(book, next(each for each in book.protocol.structs if each.name == name)).layout


def shipped(protocol: str, name: str) -> MessageView:
    book = Book(shipped_chapter(protocol))
    return message_page(book, next(each for each in book.protocol.messages if each.name == name))


def said(layout: LayoutView) -> str:
    return " ".join(each.text for each in layout.legend)


# ---- offsets


@pytest.mark.parametrize("name", SHIPPED)
def test_a_letter_of_a_table_is_the_size_of_one_field_alone(name: str) -> None:
    book = Book(shipped_chapter(name))
    for message in book.protocol.messages:
        rows = message_page(book, message).layout.rows
        letters = [found[1] for row in rows if (found := re.match(r"([m-z][0-9]*)\b", row.size))]
        assert len(letters) == len(set(letters)), message.name


def test_offsets_of_items_count_by_letters_of_their_own(tmp_path: Path) -> None:
    text = "struct P { key : utf8[u8]  value : utf8[u8]  n : u8 }\nstruct M { a : utf8[u8]  ps : P[u8]  b : utf8[u8]  qs : P[u8] }"
    rows = layout_of(tmp_path, text).rows
    assert [(row.name, row.offset, row.size.partition(":")[0]) for row in rows if row.size[0].isalpha()] == [
        ("a", "1", "m"), ("ps", "2+m", "n"), ("ps[].key", "item + 1", "r"), ("ps[].value", "item + 2+r", "s"),
        ("b", "3+m+n", "p"), ("qs", "4+m+n+p", "q"), ("qs[].key", "item + 1", "t"), ("qs[].value", "item + 2+t", "u"),
    ]  # fmt: skip


# ---- optional tails


def test_an_optional_tail_is_there_where_the_page_says_so() -> None:
    """A codec that is written from the page reads what the generated one reads, whatever is left of the tail."""
    layout = shipped("pravega", "ConditionalAppend").layout
    row = next(each for each in layout.rows if each.name == "request_id")
    found = re.fullmatch(r"if at least (\d+) bytes are left", row.constraint)
    assert found is not None and row.size.endswith(": 0 or 8") and row.default == "-1"
    message = pravega.decode_message(bytes.fromhex(sample("ConditionalAppend")))
    assert isinstance(message, pravega.ConditionalAppend)
    message.request_id = 7
    data = pravega.encode(message)
    for left in range(9):
        cut = bytearray(data[: len(data) - 8 + left])
        cut[4:8] = (len(cut) - 8).to_bytes(4, "big")
        got = pravega.decode_message(bytes(cut))
        is_there = left >= int(found[1])
        assert isinstance(got, pravega.ConditionalAppend) and got.request_id == (7 if is_there else -1)
        if 0 < left < 8:
            with pytest.raises(pravega.DecodeError) as caught:
                pravega.decode_message(bytes(cut), strict=True)
            assert (caught.value.code, caught.value.path) == ("trailing_bytes", "Frame.body")
    assert (
        "the tail of `Frame.body`: passed over, and refused by a strict reader alone (`trailing_bytes`)"
        in said(layout)
    )


def sample(name: str) -> str:
    view = shipped("pravega", name).sample
    assert view is not None
    return view.hex


FRAME = "frame F { type : u8 := code(body)  size : u16 := size(body)  body : match type in size }\n"


@pytest.mark.parametrize(
    ("field", "constraint", "size", "words"),
    [
        ("x : u32 ?= 3", "if at least 4 bytes are left", "m: 0 or 4", "are refused (`trailing_bytes`)"),
        ("x : u8 ?= 3", "if at least 1 byte is left", "m: 0 or 1", "may be missing at the end of `F.body`"),
        ('x : utf8[u8] ?= ""', "if at least 1 byte is left", "m: 0 or 1 to 256", "A field that is present must be whole (`truncated`)"),
        ("x : u32 ?= 3 if remaining > 2", "if remaining > 2", "m: 0 or 4", "`remaining` is the number of bytes left there"),
    ],
)  # fmt: skip
def test_optional_tails_of_each_kind(
    tmp_path: Path, field: str, constraint: str, size: str, words: str
) -> None:
    layout = layout_of(tmp_path, f"{FRAME}message M 7 {{ a : u32  {field} }}")
    row = layout.rows[-1]
    assert (row.constraint, row.size) == (constraint, size)
    assert words in said(layout)


def test_of_two_optional_tails_the_second_goes_with_the_first(tmp_path: Path) -> None:
    layout = layout_of(tmp_path, f"{FRAME}message M 7 {{ x : u16 ?= 1  y : u8 ?= 2 }}")
    assert "`x`, `y` may be missing" in said(layout) and "and so are all optional fields after it" in said(
        layout
    )


# ---- sizes


@pytest.mark.parametrize(
    ("fields", "line", "size"),
    [
        ("has : bool  x : utf8[u8] if has", "[x (8..2048)]", "m: 0 or 1 to 256"),
        ("has : bool  x : utf8[u16] if has", "[x (16..524296)]", "m: 0 or 2 to 65,537"),
        ("has : bool  x : u16 if has", "[x (16)]", "m: 0 or 2"),
        ("has : bool  x : varint if has", "[x (8..80)]", "m: 0 or 1 to 10"),
        ("has : bool  x : u16[u8] if has", "[x (8..4088)]", "m: 0 or 1 to 511"),
        ("has : bool  x : bytes[] if has", "[x (..)]", "m"),
        ("x : bytes[u32]", "x (..)", "m"),
        ("x : utf8[u16]", "x (..524280)", "m: 0 to 65,535"),
    ],
)  # fmt: skip
def test_sizes_of_what_may_be_absent(tmp_path: Path, fields: str, line: str, size: str) -> None:
    layout = layout_of(tmp_path, f"struct M {{ {fields} }}")
    assert f"  {line},\n" in layout.notation
    assert layout.rows[-1].size == size


@pytest.mark.parametrize("name", SHIPPED)
def test_no_optional_field_that_varies_has_one_size(name: str) -> None:
    book = Book(shipped_chapter(name))
    for message in book.protocol.messages:
        layout = message_page(book, message).layout
        fixed = set(re.findall(r"^  \[(\w+) \(\d+\)\],$", layout.notation, re.MULTILINE))
        for row in layout.rows:
            if row.name in fixed:
                assert re.search(r": 0 or \d+$", row.size), (message.name, row.name, row.size)


@pytest.mark.parametrize(("algorithm", "least"), [("zlib", 8), ("gzip", 20), ("deflate", 2)])
def test_a_compressed_field_holds_a_stream_even_of_nothing(
    tmp_path: Path, algorithm: str, least: int
) -> None:
    layout = layout_of(tmp_path, f"struct M {{ x : bytes[] in {algorithm}[u32] }}")
    assert layout.rows[-1].size == f"m ≥ {least}" and f"x ({8 * least}..)" in layout.notation
    shortest = min(len(_packed(algorithm, level)) for level in range(10))
    assert shortest == least and layout.size.startswith(f"{4 + least} to ")


def _packed(algorithm: str, level: int) -> bytes:
    bits = {"zlib": 15, "gzip": 31, "deflate": -15}[algorithm]
    return zlib.compressobj(level, zlib.DEFLATED, bits).flush()


# ---- numbers, leniences


def test_pages_say_the_byte_order(tmp_path: Path) -> None:
    assert shipped("lumberjack", "Window").layout.byte_order == "big-endian"
    assert (
        layout_of(tmp_path, "struct M { x : u16  y : u32le }").byte_order
        == "big-endian; types with le: little-endian"
    )
    little = HEAD.replace("endian big", "endian little")
    assert layout_of(tmp_path, "struct M { x : u16  y : u8 }", head=little).byte_order == "little-endian"
    mixed = layout_of(tmp_path, "struct M { x : u16  y : u32be }", head=little).byte_order
    assert mixed == "little-endian; types without le: big-endian"


def test_pages_say_how_varints_and_bits_lie(tmp_path: Path) -> None:
    layout = layout_of(tmp_path, "struct M { a : u3  _ : u5 == 0  x : bytes[varint]  y : zigzag }")
    text = said(layout)
    assert "Bit 0 is the highest" in text and "the lowest seven first" in text and "`zigzag`" in text
    assert "and so is one in more bytes than it needs (`not_canonical`)" in text
    assert said(layout_of(tmp_path, "struct M { a : u8 }")) == ""


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("x : bool lenient", "invalid_value"), ("x : varint lenient", "not_canonical"), ("x : utf8[u8] lenient", "invalid_text"),
        ("x : mutf8[u8] lenient", "not_canonical"), ("x : u8 lenient := size(y)  y : bytes[u8]", "length_mismatch"),
        ("s : u8  x : u8[2] in s lenient", "trailing_bytes"),
    ],
)  # fmt: skip
def test_pages_say_what_lenient_takes_and_what_a_strict_reader_reports(
    tmp_path: Path, field: str, code: str
) -> None:
    layout = layout_of(tmp_path, f"struct M {{ {field} }}")
    note = next(each.text for each in layout.legend if each.text.startswith("`lenient`"))
    assert "(`x`)" in note and f"`{code}`" in note


FRAMED = "frame F { type : u8 := code(body)  size : u8 := size(body)  body : match type in size lenient }\n"


@pytest.mark.parametrize(
    ("fields", "can_be"),
    [
        ("x : u8", True),
        ("x : u8  y : bytes[]", False),
        ("x : u8  y : { z : utf8[] }", False),
        ("x : u8  y : S", False),
        ("x : u8  y : u16[]", False),
        ("x : u8  y : bytes[] if x > 1", True),
        ('x : u16 ?= 0  y : bytes[] ?= x""', True),
    ],
)
def test_bytes_are_left_over_only_where_the_last_field_leaves_some(
    tmp_path: Path, fields: str, can_be: bool
) -> None:
    path = tmp_path / "p.wire"
    path.write_text(f"{HEAD}{FRAMED}struct S {{ z : bytes[] }}\nmessage M 1 from a {{ {fields} }}\n")
    book = Book(chapter_of(path))
    view = message_page(book, book.protocol.messages[0])
    text = " ".join(each.text for each in view.layout.legend)
    assert ("left over" in text) is can_be
    assert any(fault.code.text == "trailing_bytes" for fault in view.faults) is can_be


def test_a_region_that_its_content_fills_is_not_called_lenient(tmp_path: Path) -> None:
    assert "left over" not in said(layout_of(tmp_path, "struct M { s : u8  x : utf8[] in s lenient }"))


# ---- vectors of errors


@pytest.mark.parametrize("name", SHIPPED)
def test_vectors_of_an_error_break_its_rule(name: str) -> None:
    book = Book(shipped_chapter(name))
    assert book.chapter.vectors is not None
    rules = {
        each.id: each.error.rule or "" for each in book.chapter.vectors.vectors if isinstance(each, Invalid)
    }
    pages = [message_page(book, each) for each in book.protocol.messages]
    pages += [fields_page(book, each) for each in book.protocol.frames]
    pages += [fields_page(book, each) for each in book.protocol.structs]
    listed = [(fault, vector) for page in pages for fault in page.faults for vector in fault.vectors]
    assert listed
    wrong = [
        (fault.place.text, fault.when, vector.text)
        for fault, vector in listed
        if rules[vector.text] != (fault.rule.text if fault.rule is not None else "")
    ]
    assert wrong == []


CODES = """
enum Letter : u8 { A = 'A'  B = 'B' }
open enum Number : u16 { LOW = 5  AT = 64  reserved 0x80 .. 0xff "later" }
union Value : u8 { Small 1 .. 12 : u8  Text 'T' : utf8[u8]  Sum 65 : u32 }
frame Frame { type : u8 := code(body)  body : match type }
message Ask 65 from a { letter : Letter  number : Number  value : Value }
message Say 'S' from b { }
"""


def test_codes_are_hexadecimal_too_and_characters_where_the_file_writes_characters(tmp_path: Path) -> None:
    path = tmp_path / "p.wire"
    path.write_text(HEAD + CODES)
    book = Book(chapter_of(path))
    protocol = book.protocol
    pages = [
        *(type_page(book, each) for each in protocol.enums),
        *(type_page(book, each) for each in protocol.unions),
    ]
    numbers = {member.name: member.number for page in pages for member in page.members}
    assert numbers == {
        "A": "65 (0x41, 'A')",
        "B": "66 (0x42, 'B')",
        "LOW": "5",
        "AT": "64 (0x40)",
        "Small": "1 .. 12 (0x01 .. 0x0c)",
        "Text": "84 (0x54, 'T')",
        "Sum": "65 (0x41)",
    }
    assert [numbers for page in pages for numbers, _ in page.reserved] == ["128 .. 255 (0x80 .. 0xff)"]
    codes = [message_page(book, message).code for message in protocol.messages]
    assert codes == ["65 (0x41)", "83 (0x53, 'S')"]


def test_a_row_names_the_rules_of_all_its_conditions(tmp_path: Path) -> None:
    text = 'rule too_small "It is 2 or more."\nrule too_large "It is 8 or less."\n'
    text += "struct M { n : u8 where n > 1 @rule(too_small) where n < 9 @rule(too_large) }"
    [row] = [each for each in layout_of(tmp_path, text).rows if each.name == "n"]
    assert [rule.text for rule in row.rules] == ["too_small", "too_large"]


def test_a_code_is_never_passed_over_whatever_its_number_may_be() -> None:
    text = said(shipped("reactive_streams", "Goodbye").layout)
    assert "a number in more bytes than it needs" in text
    assert "any value is taken" not in text


# ---- types, byte order, rules of codes


def test_modified_utf8_is_told_where_a_field_has_it(tmp_path: Path) -> None:
    """A codec that is written from the page writes U+0000 and U+1F600 as Java does, and counts their bytes."""
    layout = layout_of(
        tmp_path,
        "message M 1 from a { x : mutf8[u16] }\nframe F { type : u8 := code(body)  body : match type }",
    )
    assert "U+0000 is `c0 80`" in said(layout) and "two surrogates of three bytes each" in said(layout)
    data = pravega.encode(pravega.SegmentAlreadyExists(1, "\0\U0001f600", ""))
    assert bytes.fromhex("0008 c080 eda0bd edb880") in data
    assert "mutf8" not in said(layout_of(tmp_path, "struct M { x : utf8[u16] }"))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("x : u8  y : bytes[x]", ""),
        ("x : varint  y : utf8[varint]", ""),
        ("x : u16", "big-endian"),
        ("x : bytes[u16]", "big-endian"),
        ("x : K", "big-endian"),
    ],
)
def test_a_byte_order_is_told_where_numbers_have_one(tmp_path: Path, fields: str, expected: str) -> None:
    assert layout_of(tmp_path, f"enum K : u16 {{ ONE = 1 }}\nstruct M {{ {fields} }}").byte_order == expected


def test_the_count_of_an_optional_list_is_told() -> None:
    layout = shipped("geode", "PutRequest").layout
    assert "`metadata` begins with its count, in `i16`" in said(layout)


def test_a_page_names_the_rules_that_are_tied_to_its_codes_alone() -> None:
    rules = [rule.name for rule in shipped("lumberjack", "Compressed").rules]
    assert {"inflate_error", "inflate_truncated", "inflate_trailing", "partial_inner"} <= set(rules)
    rules = [rule.name for rule in shipped("reactive_streams", "Cancel").rules]
    assert {"varint_overflow", "varint_not_minimal"} <= set(rules)
    rules = [rule.name for rule in shipped("geode", "PutResponse").rules]
    assert "truncated_in_frame" in rules and "negative_count" not in rules


def test_the_first_page_lists_the_names_of_types() -> None:
    names = {each.name: each for each in protocol_page(Book(shipped_chapter("geode")), ()).aliases}
    assert names["ByteArray"].type_text == "bytes[u16]" and "0002 0102" in names["ByteArray"].doc.text
    assert names["Count"].rule is not None and names["Count"].rule.text == "negative_count"
