"""Operands of a program's rows: the form of a number, and the columns that take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirespark.kernels import ops
from wirespark.kernels.layout import Column

if TYPE_CHECKING:
    from wireproto._runtime.schema.literals import Endian
    from wireproto._runtime.schema.types import Integer

__all__ = ["column_rows", "endian_flag", "integer_form"]


def endian_flag(endian: Endian) -> int:
    """Return the flag of the byte order."""
    return ops.LITTLE if endian == "little" else 0


def integer_form(type_: Integer) -> int:
    """Return the size in bytes of an integer with the flags of its sign and byte order."""
    return type_.size + (ops.SIGNED if type_.is_signed else 0) + endian_flag(type_.endian)


def column_rows(kind: int, group: list[Column], form: int) -> tuple[tuple[int, ...], ...]:
    """Return the rows of the first column of a group, or none without a column."""
    return tuple((kind, column.index, form, -1, -1) for column in group[:1])
