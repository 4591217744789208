"""Rows of the grid as a picture for a page (numbers and texts of an SVG) and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wiregen.schema.offsets import offsets_of
from wiregen.site.diagrams.bit_grid import ROW, Box, GridRow, rows_of
from wiregen.site.pages.layout_cells import LayoutCell

__all__ = ["Diagram", "Drawn", "ascii_of", "diagram_of"]

_BIT: Final = 20
_HEIGHT: Final = 36
_TORN: Final = 46
_GUTTER: Final = 76
_HEAD: Final = 22
_CHARACTER: Final = 7.4
"""Width of a character of the picture's font, with a margin."""
_TOOTH: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One box. `outline`: the path of its edge; `name`: the label, cut to fit; `title`: the full text."""

    key: str
    outline: str
    kind: str
    x: int
    y: int
    text_x: int
    text_y: int
    name: str
    detail: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagram:
    """A picture: its size, the numbers of the ruler, the offsets at the left, the boxes."""

    width: int
    height: int
    title: str
    ticks: tuple[tuple[int, str], ...]
    offsets: tuple[tuple[int, str], ...]
    boxes: tuple[Drawn, ...]


def diagram_of(title: str, cells: tuple[LayoutCell, ...]) -> Diagram:
    """Return the picture of a declaration."""
    sizes = tuple(offset.size for offset in offsets_of(cell.bits for cell in cells))
    y = _HEAD
    boxes: list[Drawn] = []
    offsets: list[tuple[int, str]] = []
    for row in rows_of(cells):
        height = _TORN if any(box.is_torn for box in row.boxes) else _HEIGHT
        offsets.append((y + _HEIGHT // 2 + 4, row.offset))
        boxes += (_drawn(box, cells[box.index], sizes[box.index], y, height) for box in row.boxes)
        y += height
    ticks = tuple((_GUTTER + bit * _BIT + _BIT // 2, str(bit)) for bit in (0, 7, 8, 15, 16, 23, 24, 31))
    width = _GUTTER + ROW * _BIT + 2
    return Diagram(
        width=width, height=y + 2, title=title, ticks=ticks, offsets=tuple(offsets), boxes=tuple(boxes)
    )


def _drawn(box: Box, cell: LayoutCell, size: str, y: int, height: int) -> Drawn:
    left, right = _GUTTER + box.start * _BIT, _GUTTER + box.end * _BIT
    room = int((right - left - 8) / _CHARACTER)
    name = _cut(cell.label if box.is_named else f"… {cell.label}", room)
    detail = _detail(cell, size) if box.is_named else ""
    return Drawn(
        key=cell.key,
        outline=_outline(left, right, y, height, is_torn=box.is_torn),
        kind=_kind(cell),
        x=left,
        y=y,
        text_x=(left + right) // 2,
        text_y=y + 15 if detail and len(detail) <= room else y + 22,
        name=name,
        detail=detail if len(detail) <= room else "",
        title=f"{cell.label}: {cell.type}",
    )


def _kind(cell: LayoutCell) -> str:
    if cell.is_padding:
        return "padding"
    return "optional" if cell.is_optional else "list" if cell.is_list else "plain"


def _detail(cell: LayoutCell, size: str) -> str:
    """Return the second line of a box: its constant, its size, or the range of its size."""
    if cell.bits is None:
        word = "0 or " if cell.is_optional and cell.high == cell.least else ""
        return (
            f"{size} = {word}{_most(cell)}"
            if word
            else f"= {cell.constant}" if cell.constant else f"{size} bytes"
        )
    if cell.constant:
        return f"= {cell.constant}"
    return f"{cell.bits // 8} bytes" if cell.bits > 128 else "" if cell.bits < 8 else cell.type


def _most(cell: LayoutCell) -> str:
    return f"{cell.high} bytes" if cell.high != 1 else "1 byte"


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…" if room > 2 else ""


def _outline(left: int, right: int, top: int, height: int, *, is_torn: bool) -> str:
    """Return the path around a box; the lower edge of a torn box is jagged."""
    bottom = top + height
    if not is_torn:
        return f"M{left} {top}H{right}V{bottom}H{left}Z"
    low, high = bottom - 4, bottom - 9
    teeth = "".join(
        f"L{x} {low if number % 2 else high}" for number, x in enumerate(range(right - _TOOTH, left, -_TOOTH))
    )
    return f"M{left} {top}H{right}V{low}{teeth}L{left} {low}Z"


# ---- in characters


def ascii_of(cells: tuple[LayoutCell, ...]) -> str:
    """Return the picture in characters, as RFCs have it: two columns for each bit."""
    sizes = tuple(offset.size for offset in offsets_of(cell.bits for cell in cells))
    lines = [
        " 0" + "".join(f"{ten:>20}" for ten in (1, 2, 3)),
        " " + " ".join(str(bit % 10) for bit in range(ROW)),
    ]
    above = 0
    for row in rows_of(cells):
        end = row.boxes[-1].end
        lines += (_border(max(end, above)), *_lines(row, cells, sizes))
        above = end
    return "\n".join((*lines, _border(above)))


def _border(bits: int) -> str:
    return "+-" * bits + "+"


def _lines(row: GridRow, cells: tuple[LayoutCell, ...], sizes: tuple[str, ...]) -> Iterator[str]:
    """Yield the line of names; where a box is torn, yield a second line that shows it."""
    is_torn = any(box.is_torn for box in row.boxes)
    yield _line(row, [_named(box, cells[box.index], sizes[box.index]) for box in row.boxes], is_torn=False)
    if is_torn:
        yield _line(row, ["…" if box.is_torn else "" for box in row.boxes], is_torn=True)


def _line(row: GridRow, texts: list[str], *, is_torn: bool) -> str:
    line = ""
    for box, text in zip(row.boxes, texts, strict=True):
        width = 2 * (box.end - box.start) - 1
        line += ("/" if is_torn and box.is_torn else "|") + _cut(text, width).center(width)
    return line + ("/" if is_torn and row.boxes[-1].is_torn else "|")


def _named(box: Box, cell: LayoutCell, size: str) -> str:
    if not box.is_named:
        return f"… {cell.label}"
    if cell.bits is None:
        return f"{cell.label} ({size} bytes)"
    return f"{cell.label} = {cell.constant}" if cell.constant else cell.label
