"""Runs of adjacent bit fields, as whole bytes."""

from __future__ import annotations

from ...codec.errors import EncodeError
from ...schema.types import Bits
from ..scalars import bit_number
from .cells import Cell
from .rows import CellRow

__all__ = ["pack_bits", "write_bits"]


def write_bits(row: CellRow, cell: Cell) -> bytes:
    """Return the bytes of a run of bit fields; they belong to its first field."""
    if cell is not cell.run[0]:
        return b""
    written = [part for part in cell.run if row.is_written(part)]
    types = [part.type for part in written if isinstance(part.type, Bits)]
    parts = [(_number(row, part, type_), type_.bits) for part, type_ in zip(written, types, strict=True)]
    for part in written:
        row.check_where(part)
    return pack_bits(parts, types[0].order, cell.path) if types else b""


def _number(row: CellRow, cell: Cell, type_: Bits) -> int:
    try:
        return bit_number(type_, row.value(cell), cell.path)
    except EncodeError as error:
        error.tied(cell.rule)
        raise


def pack_bits(parts: list[tuple[int, int]], order: str, path: str) -> bytes:
    """Return a run of (number, bits) as whole bytes: from the highest bit of the first byte on, or from its lowest."""
    total = position = 0
    for value, bits in parts:
        total = total << bits | value if order == "msb" else total | value << position
        position += bits
    if position % 8:
        raise EncodeError("unrepresentable", path=path, expected="whole bytes", found=f"{position} bits")
    return total.to_bytes(position // 8, "big" if order == "msb" else "little")
