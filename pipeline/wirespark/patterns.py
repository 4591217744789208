"""What the first bytes of a frame can look like: where a stream is lost, only such places are tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from wirespark.packages import package_of

__all__ = ["header_pattern"]

_MOST_BYTES = 64


@cache
def header_pattern(protocol: str, role: str | None, variant: str | None) -> re.Pattern[bytes]:
    """Return a pattern that every frame of a role begins with, as far as its first fields tell."""
    plan = package_of(protocol).plan
    frames = {**plan.frames, **(plan.variants[variant].frames if variant else {})}
    names = {plan.sends[role]} if role is not None else set(plan.sends.values())
    found = [b"".join(_fields(plan, role, name, frames[name][1])) for name in sorted(names)]
    return re.compile(b"|".join(b"(?:" + each + b")" for each in found), re.DOTALL)


def _fields(plan: Any, role: str | None, frame: str, fields: Any) -> Iterator[bytes]:
    """Yield the patterns of fields, up to the first one that says nothing; a block that comes in pieces is cut anywhere."""
    divided = {join[1] for join in plan.joins.values()}
    n_bytes = 0
    for field in fields:
        if field[4] is not None or n_bytes > _MOST_BYTES:
            return
        type_ = field[2]
        if type_[0] == "region" and type_[2][0] == "size" and type_[1][0] == "block":
            if (frame, field[0]) not in divided:
                yield from _fields(plan, role, frame, type_[1][1])
            return
        pattern = _field(plan, role, type_, field[3])
        if pattern is None:
            return
        yield pattern
        n_bytes += 8


def _field(plan: Any, role: str | None, type_: Any, value: Any) -> bytes | None:
    known = _values(plan, role, type_, value)
    if type_[0] == "enum":
        type_ = plan.enums[type_[1]][0]
    match type_:
        case ("int", size, is_signed, endian):
            if known is None:
                return b".{%d}" % size
            numbers = (_fitting(number, size, is_signed, endian) for number in known)
            return _any_of([data for data in numbers if data is not None])
        case ("varint", *_):
            return None if known is None else _any_of([_varint(number) for number in known if number >= 0])
        case ("bool", _):
            return rb"[\x00\x01]"
        case ("uuid",):
            return b".{16}"
        case ("float", size, _):
            return b".{%d}" % size
        case _:
            return None


def _values(plan: Any, role: str | None, type_: Any, value: Any) -> list[int] | None:
    """Return the numbers that a field can have; None: any."""
    match value:
        case ("derived", ("call", "code", _), _):
            roles = [role] if role is not None else list(plan.codes)
            return sorted({code for each in roles for code in plan.codes[each]})
        case ("constant", ("number", number)):
            return [number]
    if type_[0] == "enum" and not plan.enums[type_[1]][1]:
        return [number for number, _ in plan.enums[type_[1]][2]]
    return None


def _fitting(number: int, size: int, is_signed: bool, endian: Any) -> bytes | None:
    try:
        return number.to_bytes(size, endian, signed=is_signed)
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
