"""Cells on a grid of 32 bits: where each box lies, and at which offset.

Invariant: boxes of a row touch and do not overlap; every row but the last one is full. A cell of variable
size ends its row, as the next cell begins at an unknown bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from wiregen.schema.offsets import Offset, offsets_of
from wiregen.site.pages.layout_cells import LayoutCell

__all__ = ["ROW", "Box", "GridRow", "rows_of"]

ROW: Final = 32
_NARROW: Final = 12
"""Bits below which the rest of a row is too narrow for a name."""
_LONG: Final = 128
"""Fixed cells above this many bits are drawn as one torn row."""


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
class GridRow:
    """`offset`: of the first box, "" where the row continues a cell of variable size."""

    offset: str
    boxes: tuple[Box, ...]


def rows_of(cells: tuple[LayoutCell, ...]) -> tuple[GridRow, ...]:
    """Return the rows of a picture."""
    offsets = offsets_of(cell.bits for cell in cells)
    rows: list[GridRow] = []
    boxes: list[Box] = []
    for box in _boxes(cells):
        boxes.append(box)
        if box.end == ROW:
            rows.append(_row(boxes, cells, offsets, rows))
            boxes = []
    if boxes:
        rows.append(_row(boxes, cells, offsets, rows))
    return tuple(rows)


def _boxes(cells: tuple[LayoutCell, ...]) -> Iterator[Box]:
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
    boxes: list[Box], cells: tuple[LayoutCell, ...], offsets: tuple[Offset, ...], rows: list[GridRow]
) -> GridRow:
    first = boxes[0]
    if first.is_first:
        return GridRow(offset=offsets[first.index].text, boxes=tuple(boxes))
    offset = offsets[first.index]
    if cells[first.index].is_fixed and not first.is_torn:
        before = (box for row in rows[-_LONG // ROW :] for box in row.boxes if box.index == first.index)
        done = sum(box.end - box.start for box in before)
        return GridRow(offset=replace(offset, bits=offset.bits + done).text, boxes=tuple(boxes))
    return GridRow(offset="", boxes=tuple(boxes))
