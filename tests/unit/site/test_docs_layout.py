"""Layouts in pictures: elements do not overlap, rows are 32 bits, offsets are right, texts are legible."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from tests.unit.docs_sites import SHIPPED, chapter_of, shipped_chapter

from wiregen.language.spelling import expression_text, type_text
from wiregen.schema import model as m
from wiregen.schema.offsets import offsets_of
from wiregen.site.diagrams.bit_grid import ROW, rows_of
from wiregen.site.diagrams.layout_drawings import ascii_of, diagram_of
from wiregen.site.pages.layout_cells import Cells, LayoutCell, frame_around
from wiregen.site.pages.notation import notation_of

HEAD = 'protocol p { source "None" endian big roles a, b }\nlimits { frame = 1 KiB inflated = 4 KiB }\n'


def cells_of(tmp_path: Path, text: str, name: str = "M") -> tuple[LayoutCell, ...]:
    path = tmp_path / "p.wire"
    path.write_text(HEAD + text)
    protocol = chapter_of(path).protocol
    cells = Cells(protocol)
    for message in protocol.messages:
        frame = frame_around(protocol, message)
        assert frame is not None
        return cells.of_message(frame, message)
    return cells.of(name, next(each.fields for each in protocol.structs if each.name == name))


def all_cells(protocol: m.Protocol) -> list[tuple[str, tuple[LayoutCell, ...]]]:
    cells, found = Cells(protocol), []
    for message in protocol.messages:
        frame = frame_around(protocol, message)
        made = cells.of(message.name, message.fields) if frame is None else cells.of_message(frame, message)
        found.append((message.name, made))
    found += [(struct.name, cells.of(struct.name, struct.fields)) for struct in protocol.structs]
    return found


def check_grid(cells: tuple[LayoutCell, ...]) -> None:
    rows = rows_of(cells)
    for at, row in enumerate(rows):
        assert row.boxes[0].start == 0
        assert all(one.end == other.start for one, other in pairwise(row.boxes))
        assert all(box.start < box.end for box in row.boxes)
        assert row.boxes[-1].end == ROW or at == len(rows) - 1
    drawn = [box for row in rows for box in row.boxes]
    assert [box.index for box in drawn if box.is_first] == list(range(len(cells)))
    assert sum(box.is_named for box in drawn) == len(cells)
    for index, cell in enumerate(cells):
        if cell.bits is not None and cell.bits <= 128:
            assert sum(box.end - box.start for box in drawn if box.index == index) == cell.bits


@pytest.mark.parametrize("name", SHIPPED)
def test_boxes_touch_and_rows_are_full(name: str) -> None:
    for _, cells in all_cells(shipped_chapter(name).protocol):
        check_grid(cells)
        assert len({cell.key for cell in cells}) == len(cells)


@pytest.mark.parametrize("name", SHIPPED)
def test_rows_of_the_picture_in_characters_are_as_wide_as_their_bits(name: str) -> None:
    for _, cells in all_cells(shipped_chapter(name).protocol):
        lines = ascii_of(cells).splitlines()[2:]
        rows = [line for line in lines if not line.startswith("+")]
        assert {len(line) for line in lines[:-2]} <= {2 * ROW + 1}
        assert all(line[0] in "|/" and line[-1] in "|/" for line in rows)
        assert all(len(line) % 2 for line in lines)


@pytest.mark.parametrize("name", SHIPPED)
def test_boxes_of_the_diagram_lie_inside_it(name: str) -> None:
    for title, cells in all_cells(shipped_chapter(name).protocol):
        picture = diagram_of(title, cells)
        for box in picture.boxes:
            numbers = [int(number) for number in re.findall(r"\d+", box.outline)]
            assert max(numbers) <= max(picture.width, picture.height)
            assert 0 <= box.x < picture.width and 0 <= box.y < picture.height
            assert not box.name or box.text_x < picture.width


def test_offsets_behind_what_varies_are_sums(tmp_path: Path) -> None:
    fields = "a : u16  b : utf8[u8]  c : u32  d : bytes[u16]  e : u8  f : utf8[u8]  g : utf8[u8]  h : u8"
    cells = cells_of(tmp_path, f"struct M {{ {fields} }}")
    assert {cell.key: offset.text for cell, offset in zip(cells, offsets_of(cell.bits for cell in cells), strict=True)} == {
        "M.a": "0", "M.b#length": "2", "M.b": "3", "M.c": "3+m", "M.d#length": "7+m", "M.d": "9+m", "M.e": "9+m+n",
        "M.f#length": "10+m+n", "M.f": "11+m+n", "M.g#length": "11+m+n+p", "M.g": "12+m+n+p", "M.h": "12+m+…+q",
    }  # fmt: skip


def test_offsets_begin_with_the_frame(tmp_path: Path) -> None:
    text = "frame F { type : u8 := code(body)  size : u16 := size(body)  body : match type in size }\nmessage M 7 { a : u32 }"
    cells = cells_of(tmp_path, text)
    assert [(cell.key, offset.text) for cell, offset in zip(cells, offsets_of(cell.bits for cell in cells), strict=True)] == [
        ("F.type", "0"), ("F.size", "1"), ("M.a", "3"),
    ]  # fmt: skip
    assert cells[0].constant == "7"


def test_bits_lie_as_they_are_sent(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, "struct M { a : u3  b : bit  _ : u4 == 0  c : u16 }")
    assert [(cell.label, offset.bits) for cell, offset in zip(cells, offsets_of(cell.bits for cell in cells), strict=True)] == [
        ("a", 0), ("b", 3), ("_", 4), ("c", 8),
    ]  # fmt: skip
    assert [cell.is_padding for cell in cells] == [False, False, True, False]
    check_grid(cells)


def test_bits_of_the_lowest_first_are_shown_from_the_right(tmp_path: Path) -> None:
    text = HEAD.replace("endian big", "endian big bits lsb") + "struct M { low : u3  high : u5  next : u8 }"
    path = tmp_path / "p.wire"
    path.write_text(text)
    protocol = chapter_of(path).protocol
    cells = Cells(protocol).of("M", protocol.structs[0].fields)
    assert [cell.label for cell in cells] == ["high", "low", "next"]


def test_a_row_is_filled_before_something_torn_begins_another(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, "struct M { a : u8  b : u16  c : utf8[u8]  d : u64 }")
    rows = rows_of(cells)
    assert [[(box.index, box.start, box.end, box.is_torn) for box in row.boxes] for row in rows] == [
        [(0, 0, 8, False), (1, 8, 24, False), (2, 24, 32, False)],
        [(3, 0, 32, True)],
        [(4, 0, 32, False)],
        [(4, 0, 32, False)],
    ]
    assert [row.offset for row in rows] == ["0", "4", "4+m", "8+m"]


def test_what_may_be_absent_is_dashed_and_in_brackets(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, "struct M { flag : bool  more : u64 if flag  last : u16 ?= 3 }")
    assert [(box.key, box.kind) for box in diagram_of("M", cells).boxes] == [
        ("M.flag", "plain"),
        ("M.more", "optional"),
        ("M.last", "optional"),
    ]
    assert notation_of("M", cells) == "M {\n  flag (8),\n  [more (64)],\n  [last (16)],\n}"


def test_lists_repeat_in_the_notation(tmp_path: Path) -> None:
    text = "struct S { k : u8  v : utf8[u8] }\nstruct M { items : S[u16]  all : bytes[] }"
    cells = cells_of(tmp_path, text)
    assert notation_of("M", cells) == "M {\n  items count (16),\n  items (..) ...,\n  all (..),\n}"


@pytest.mark.parametrize(
    "text",
    [
        "a + 1 in 0 .. 2 ** 24 - 1",
        "not (a == 1 or b == 2)",
        "(a + b) * 2 == 6 and a not in [1, 4 .. 7]",
        "a - (b - 1) == 0",
    ],
)
def test_an_expression_reads_back_as_itself(tmp_path: Path, text: str) -> None:
    def where(of: str) -> m.Expression:
        path = tmp_path / "p.wire"
        path.write_text(f"{HEAD}struct M {{ a : u8  b : u8 where {of} }}")
        expression = chapter_of(path).protocol.structs[0].fields[1].where
        assert expression is not None
        return expression

    assert where(expression_text(where(text))) == where(text)


@pytest.mark.parametrize(
    "text",
    [
        "u16",
        "i32le",
        "utf8[u8] lenient",
        "bytes[4]",
        "S[u16]",
        'utf8[until x"00"]',
        "Frame[] in zlib[u32]",
        "varint",
    ],
)
def test_a_type_reads_back_as_itself(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.wire"
    frame = "frame Frame { type : u8 := code(body)  body : match type }\nstruct S { a : u8 }\n"
    path.write_text(f"{HEAD}{frame}message M 1 {{ f : {text} }}")
    protocol = chapter_of(path).protocol
    assert type_text(protocol.messages[0].fields[0].type) == text
