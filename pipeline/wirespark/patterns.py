"""Patterns of the first bytes of frames: in a stream that lost its frames, only matching offsets are tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from wirespark.packages import Package, package_of

if TYPE_CHECKING:
    from wireproto._runtime.reference.layout import Fields
    from wireproto._runtime.schema.declarations import Field
    from wireproto._runtime.schema.types import Integer

__all__ = ["header_pattern"]

_MOST_PATTERNS = 9


@cache
def header_pattern(protocol: str, role: str | None, variant: str | None) -> re.Pattern[bytes]:
    """Return a pattern that every frame of a role begins with, as far as its first fields determine it."""
    package = package_of(protocol)
    schema = package.schema
    frames = {**schema.frames, **(schema.variants[variant].frames if variant else {})}
    names = {schema.sends[role]} if role is not None else set(schema.sends.values())
    found = [b"".join(_fields(package, role, name, frames[name].fields)) for name in sorted(names)]
    return re.compile(b"|".join(b"(?:" + each + b")" for each in found), re.DOTALL)


def _fields(package: Package, role: str | None, frame: str, fields: Fields) -> Iterator[bytes]:
    """Yield the patterns of fields, up to the first one without any; a fragmented block is cut anywhere."""
    n, divided = package.nodes, {join.block for join in package.schema.joins.values()}
    left, n_patterns = list(fields), 0
    while left and left[0].condition is None and n_patterns < _MOST_PATTERNS:
        field = left.pop(0)
        match field.type:
            case n.Region(n.Block(inside), n.InSize()) if (frame, field.name) not in divided:
                left, n_patterns = list(inside), 0
            case _:
                pattern = _field(package, role, field)
                if pattern is None:
                    return
                yield pattern
                n_patterns += 1


def _field(package: Package, role: str | None, field: Field) -> bytes | None:
    n, known, type_ = package.nodes, _values(package, role, field), field.type
    if isinstance(type_, n.EnumReference):
        type_ = package.schema.enums[type_.name].type
    match type_:
        case n.Integer(size):
            if known is None:
                return b".{%d}" % size
            numbers = (_fitting(number, type_) for number in known)
            return _any_of([data for data in numbers if data is not None])
        case n.Varint():
            return None if known is None else _any_of([_varint(number) for number in known if number >= 0])
        case n.Boolean():
            return rb"[\x00\x01]"
        case n.Uuid() | n.Float():
            return b".{%d}" % type_.size
        case _:
            return None


def _values(package: Package, role: str | None, field: Field) -> list[int] | None:
    """Return the numbers that a field can have, or None if it can have any."""
    n, schema = package.nodes, package.schema
    match field.value:
        case n.Derived(n.Call("code")):
            roles = [role] if role is not None else list(schema.codes)
            return sorted({code for each in roles for code in schema.codes[each]})
        case n.Constant(n.Number(number)):
            return [number]
    enum = schema.enums[field.type.name] if isinstance(field.type, n.EnumReference) else None
    return None if enum is None or enum.is_open else [each.value for each in enum.members]


def _fitting(number: int, type_: Integer) -> bytes | None:
    try:
        return type_.encode(number)
    except OverflowError:
        return None


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*found, number))


def _any_of(values: list[bytes]) -> bytes:
    return b"(?:" + b"|".join(re.escape(value) for value in values) + b")" if values else rb"(?!)"
