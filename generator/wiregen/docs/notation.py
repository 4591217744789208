"""Cells as a structure in the notation of RFC 9000, section 1.3: `name (bits) = value`."""

from __future__ import annotations

from wiregen.docs.cells import Cell

__all__ = ["notation_of"]


def notation_of(name: str, cells: tuple[Cell, ...]) -> str:
    """Return the structure of a declaration; sizes are in bits."""
    return "\n".join((f"{name} {{", *(f"  {_line(cell)}," for cell in cells), "}"))


def _line(cell: Cell) -> str:
    text = f"{cell.label} ({_size(cell)})"
    if cell.is_optional:
        return f"[{text}]"
    if cell.constant:
        return f"{text} = {cell.constant}"
    return f"{text} ..." if cell.is_list else text


def _size(cell: Cell) -> str:
    if cell.bits is not None:
        return str(cell.bits)
    if cell.is_optional and cell.low == 0 and cell.high is not None and not cell.is_list:
        return str(8 * cell.high)
    low = str(8 * cell.low) if cell.low else ""
    high = "" if cell.high is None or cell.high > 0xFFFF else str(8 * cell.high)
    return low if low and low == high else f"{low}..{high}"
