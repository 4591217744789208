"""Cells as a structure in the notation of RFC 9000, section 1.3: `name (bits) = value`."""

from __future__ import annotations

from typing import Final

from wiregen.site.pages.layout_cells import LayoutCell

__all__ = ["notation_of"]

_ENDLESS: Final = 2**24
"""Bytes above which a bound is not shown: the limit of a frame is lower."""


def notation_of(name: str, cells: tuple[LayoutCell, ...]) -> str:
    """Return the structure of a declaration; sizes are in bits."""
    return "\n".join((f"{name} {{", *(f"  {_line(cell)}," for cell in cells), "}"))


def _line(cell: LayoutCell) -> str:
    text = f"{cell.label} ({_size(cell)})"
    if cell.is_optional:
        return f"[{text}]"
    if cell.constant:
        return f"{text} = {cell.constant}"
    return f"{text} ..." if cell.is_list else text


def _size(cell: LayoutCell) -> str:
    """Return the size in bits; of an optional cell, its size where it is present."""
    if cell.bits is not None:
        return str(cell.bits)
    least = cell.least if cell.is_optional else cell.low
    low = str(8 * least) if least else ""
    high = "" if cell.high is None or cell.high >= _ENDLESS else str(8 * cell.high)
    return low if low and low == high else f"{low}..{high}"
