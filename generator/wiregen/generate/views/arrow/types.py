"""The Arrow types for the values of the model's types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias, assert_never

from wiregen.runtime.schema.literals import FloatName
from wiregen.runtime.schema.scalars import FLOATS
from wiregen.schema import model as m

__all__ = ["Scalar", "Width", "integer_of", "is_integer", "may_be_no_text", "number", "scalar", "widest"]

_MOST_BITS: Final = 65
"""Signed bits that a decimal of 20 digits holds: those of every integer of 64 bits, signed or not."""

Width: TypeAlias = tuple[int, bool]
"""The number of bits, and whether the integer is signed."""

Scalar: TypeAlias = m.Integer | m.Varint | m.Bits | m.Float | m.Boolean | m.Uuid | m.Bytes | m.Text
"""Types whose value is one column."""


def scalar(type_: Scalar) -> str:
    """Return the type of the column of a value."""
    match type_:
        case m.Boolean() | m.Bits(is_flag=True):
            return "pa.bool_()"
        case m.Integer() | m.Varint() | m.Bits():
            return number(integer_of(type_))
        case m.Float(format=format_):
            return _real(format_)
        case m.Uuid() | m.Text():
            return "pa.string()"
        case m.Bytes():
            return "pa.binary()"
        case _:
            assert_never(type_)


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
    """Return the smallest Spark type for an integer of at most 64 bits; a decimal if more than 64 signed bits are needed."""
    bits, is_signed = width
    needed = bits if is_signed else bits + 1
    assert needed <= _MOST_BITS, f"an integer of {bits} bits needs a column of its own: see CONTRIBUTING.md"
    for size in (8, 16, 32, 64):
        if needed <= size:
            return f"pa.int{size}()"
    return "pa.decimal128(20, 0)"


def _real(format_: FloatName) -> str:
    """Return the smallest type of Arrow that holds each value of a format."""
    about, single = FLOATS[format_], FLOATS["f32"]
    extremes = (about.unpack(about.largest), about.unpack(about.least))
    is_single = about.digits <= single.digits and not any(single.differs(each, each) for each in extremes)
    return "pa.float32()" if is_single else "pa.float64()"


def may_be_no_text(type_: m.Text) -> bool:
    """Return whether a value may hold surrogates, which Arrow does not allow in text."""
    return type_.encoding in ("mutf8", "utf16") or (type_.encoding == "utf8" and type_.is_lenient)
