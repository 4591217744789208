"""The Arrow types for the values of the model's types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from wiregen.runtime.schema.literals import FloatName
from wiregen.schema import model as m

__all__ = ["FLOATS", "Width", "integer_of", "is_integer", "may_be_no_text", "number", "widest"]

Width: TypeAlias = tuple[int, bool]
"""The number of bits, and whether the integer is signed."""


def integer_of(type_: m.Type) -> Width:
    """Return the width of an integer."""
    assert isinstance(type_, m.WholeNumber), f"{type(type_).__name__} is not an integer"
    return type_.bits, type_.bounds[0] < 0


def is_integer(type_: m.Type) -> bool:
    return isinstance(type_, m.WholeNumber) and not (isinstance(type_, m.Bits) and type_.is_flag)


def widest(types: Iterable[m.Type]) -> Width:
    """Return a width that holds the numbers of all types: one bit more for unsigned ones next to signed ones."""
    widths = [integer_of(each) for each in types]
    is_signed = any(signed for _, signed in widths)
    bits = max(bits + (is_signed and not signed) for bits, signed in widths)
    return bits, is_signed


def number(width: Width) -> str:
    """Return the smallest Spark type for an integer; a decimal if more than 64 signed bits are needed."""
    bits, is_signed = width
    needed = bits if is_signed else bits + 1
    for size in (8, 16, 32, 64):
        if needed <= size:
            return f"pa.int{size}()"
    return "pa.decimal128(20, 0)"


FLOATS: Final[Mapping[FloatName, str]] = {"f32": "pa.float32()", "f64": "pa.float64()"}
"""The type that holds each value of a format."""


def may_be_no_text(type_: m.Text) -> bool:
    """Return whether a value may hold surrogates, which Arrow does not allow in text."""
    return type_.encoding in ("mutf8", "utf16") or (type_.encoding == "utf8" and type_.is_lenient)
