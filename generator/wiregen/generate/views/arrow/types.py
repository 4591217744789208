"""Which Arrow type holds the values of a type of the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from wiregen.schema import model as m

__all__ = ["Width", "arm_key", "integer_of", "is_integer", "may_be_no_text", "number", "widest"]

Width: TypeAlias = tuple[int, bool]
"""Bits, and whether it is signed."""


def integer_of(type_: m.Type) -> Width:
    """Return what an integer takes."""
    match type_:
        case m.Integer(bits=bits, signed=signed):
            return bits, signed
        case m.Varint(bits=bits, zigzag=zigzag):
            return bits, zigzag
        case m.Bits(bits=bits):
            return bits, False
        case _:
            raise AssertionError(f"{type_.kind} is no integer")


def is_integer(type_: m.Type) -> bool:
    return isinstance(type_, m.Integer | m.Varint) or (isinstance(type_, m.Bits) and not type_.is_flag)


def widest(types: Iterable[m.Type | Width]) -> Width:
    """Return what holds the numbers of all; of unsigned beside signed ones one bit more."""
    widths = [each if isinstance(each, tuple) else integer_of(each) for each in types]
    is_signed = any(signed for _, signed in widths)
    bits = max(bits + (is_signed and not signed) for bits, signed in widths)
    return bits, is_signed


def number(width: Width) -> str:
    """Return the smallest type that Spark has for an integer; beyond 64 bits with a sign a decimal."""
    bits, is_signed = width
    needed = bits if is_signed else bits + 1
    for size in (8, 16, 32, 64):
        if needed <= size:
            return f"pa.int{size}()"
    return "pa.decimal128(20, 0)"


def may_be_no_text(type_: m.Text) -> bool:
    """Say whether a value may hold surrogates, which no text of Arrow can."""
    return type_.encoding in ("mutf8", "utf16") or (type_.encoding == "utf8" and type_.lenient)


def arm_key(type_: m.Type) -> str:
    """Return what the arm of a choice is called: what it is a value of."""
    match type_:
        case m.Region(content=content):
            return arm_key(content)
        case m.Reference(name=name):
            return name
        case m.Integer() | m.Varint() | m.Bits(is_flag=False):
            return "integer"
        case m.Boolean() | m.Bits():
            return "boolean"
        case m.List():
            return "list"
        case m.MessageMatch() | m.Match() | m.Block():
            return "value"
        case _:
            return type_.kind
