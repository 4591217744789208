"""Cells on a grid of 32 bits: where each box lies, and at which offset.

Invariant: boxes of a row touch and do not overlap; every row but the last one is full. A cell of variable
size ends its row, as the next cell begins at an unknown bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from wiregen.site.pages.layout_cells import Cell

__all__ = ["ROW", "Box", "Offset", "Row", "offsets_of", "rows_of"]

ROW: Final = 32
_LETTERS: Final = "mnpqrstuvwxyz"
_NARROW: Final = 12
"""Bits below which the rest of a row is too narrow for a name."""
_LONG: Final = 128
"""Fixed cells above this many bits are drawn as one torn row."""
_MOST_TERMS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """Bits from the start of the frame, plus the sizes that `terms` name."""

    bits: int
    terms: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the offset in bytes, as `10+m`; of many terms only the first and the last."""
        terms = self.terms
        if len(terms) > _MOST_TERMS:
            terms = (terms[0], "…", terms[-1])
        number = str(self.bits // 8)
        return "+".join(terms if terms and number == "0" else (number, *terms))


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Columns `start` to `end` of a row, for the cell number `index`.

    `is_named`: the widest box of its cell.
    """

    index: int
    start: int
    end: int
    is_first: bool
    is_last: bool
    is_torn: bool
    is_named: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`offset`: of the first box, "" where the row continues a cell of variable size."""

    offset: str
    boxes: tuple[Box, ...]


def _letter(number: int) -> str:
    """Return the name of the size of the n-th cell that varies."""
    turn, place = divmod(number, len(_LETTERS))
    return _LETTERS[place] + (str(turn) if turn else "")


def offsets_of(cells: Iterable[Cell], *, first: int = 0) -> tuple[tuple[Offset, str], ...]:
    """Return the offset of each cell, and the letter that names its size; "" where the size is fixed.

    `first`: how many sizes of the same table have a letter already.
    """
    bits = 0
    terms: tuple[str, ...] = ()
    found: list[tuple[Offset, str]] = []
    for cell in cells:
        name = "" if cell.is_fixed else _letter(first + len(terms))
        found.append((Offset(bits=bits, terms=terms), name))
        bits += cell.bits or 0
        terms = (*terms, name) if name else terms
    return tuple(found)


def rows_of(cells: tuple[Cell, ...]) -> tuple[Row, ...]:
    """Return the rows of a picture."""
    offsets = offsets_of(cells)
    rows: list[Row] = []
    boxes: list[Box] = []
    for box in _boxes(cells):
        boxes.append(box)
        if box.end == ROW:
            rows.append(_row(boxes, cells, offsets, rows))
            boxes = []
    if boxes:
        rows.append(_row(boxes, cells, offsets, rows))
    return tuple(rows)


def _boxes(cells: tuple[Cell, ...]) -> Iterator[Box]:
    column = 0
    for index, cell in enumerate(cells):
        is_torn = cell.bits is None or cell.bits > _LONG
        pieces = list(_torn(column) if is_torn else _whole(column, cell.bits or 0))
        widest = max(range(len(pieces)), key=lambda at: pieces[at][1] - pieces[at][0], default=0)
        for at, (start, end) in enumerate(pieces):
            is_last = at == len(pieces) - 1
            yield Box(
                index=index,
                start=start,
                end=end,
                is_first=at == 0,
                is_last=is_last,
                is_torn=is_torn and is_last,
                is_named=at == widest,
            )
            column = 0 if is_torn else end % ROW


def _torn(column: int) -> Iterator[tuple[int, int]]:
    yield column, ROW
    if ROW - column < _NARROW:
        yield 0, ROW


def _whole(column: int, bits: int) -> Iterator[tuple[int, int]]:
    while bits > 0:
        taken = min(ROW - column, bits)
        yield column, column + taken
        bits -= taken
        column = 0


def _row(
    boxes: list[Box], cells: tuple[Cell, ...], offsets: tuple[tuple[Offset, str], ...], rows: list[Row]
) -> Row:
    first = boxes[0]
    if first.is_first:
        return Row(offset=offsets[first.index][0].text, boxes=tuple(boxes))
    offset = offsets[first.index][0]
    if cells[first.index].is_fixed and not first.is_torn:
        before = (box for row in rows[-_LONG // ROW :] for box in row.boxes if box.index == first.index)
        done = sum(box.end - box.start for box in before)
        return Row(offset=Offset(bits=offset.bits + done, terms=offset.terms).text, boxes=tuple(boxes))
    return Row(offset="", boxes=tuple(boxes))
