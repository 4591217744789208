"""Values that stand for themselves, without looking at others: their bytes, and what is wrong with them."""

from __future__ import annotations

import struct
from typing import Any
from uuid import UUID

from .access import as_bytes, as_float, as_int, as_str, as_uuid, kind_of
from .errors import EncodeError
from .layout import Type
from .schema.protocol import Schema
from .text import encode_text

__all__ = ["SCALARS", "coding_bytes", "enum_name", "number", "pack_bits", "scalar", "text_bytes"]

SCALARS = frozenset({"int", "float", "bool", "varint", "uuid", "enum", "coding"})


def scalar(plan: Schema, type_: Type, value: Any, path: str) -> bytes:
    """Return the bytes of a value of one of the SCALARS.

    Raises:
        EncodeError: `invalid_value`, `invalid_enum`, `constraint` (not among `only`), `unrepresentable` (a coding).
    """
    match type_:
        case ("int", size, signed, endian):
            return number(type_, value, path).to_bytes(size, endian, signed=signed)
        case ("float", size, endian):
            return _float(value, size, endian, path)
        case ("bool", _):
            return b"\x01" if _flag(value, path) else b"\x00"
        case ("varint", _, zigzag, _):
            return _varint(number(type_, value, path), zigzag)
        case ("uuid",):
            return as_uuid(value, path)
        case ("enum", name, only, _):
            return _enum(plan, name, only, value, path)
        case _:
            return coding_bytes(plan, type_[1], value, path)


def bounds(type_: Type) -> tuple[int, int]:
    """Return the least and the greatest number of an integer type."""
    bits, signed = (8 * type_[1], type_[2]) if type_[0] == "int" else (type_[1], type_[2])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def number(type_: Type, value: Any, path: str) -> int:
    """Return a number that an `int` or `varint` can hold."""
    plain = as_int(value, path)
    low, high = bounds(type_)
    if not low <= plain <= high:
        raise EncodeError("invalid_value", path=path, expected=f"{low} to {high}", found=shown(plain))
    return plain


def shown(value: int) -> str:
    """Return a number for an error, without its digits where they are many."""
    return str(value) if value.bit_length() <= 128 else f"an integer of {value.bit_length()} bits"


def _flag(value: Any, path: str) -> bool:
    plain = as_int(value, path)
    if plain not in (0, 1):
        raise EncodeError("invalid_value", path=path, expected="a Boolean", found=shown(plain))
    return plain == 1


def _float(value: Any, size: int, endian: str, path: str) -> bytes:
    order = ">" if endian == "big" else "<"
    try:
        return struct.pack(order + ("f" if size == 4 else "d"), as_float(value, path))
    except OverflowError:
        raise EncodeError(
            "invalid_value", path=path, expected="a 32 bit float", found="a larger one"
        ) from None


def _varint(value: int, zigzag: bool) -> bytes:
    rest = (-2 * value - 1 if value < 0 else 2 * value) if zigzag else value
    data = bytearray()
    while rest > 0x7F:
        data.append(rest & 0x7F | 0x80)
        rest >>= 7
    data.append(rest)
    return bytes(data)


def enum_name(plan: Schema, enum: str, value: int) -> str | None:
    """Return the first member with that number."""
    return next((name for code, name in plan.enums[enum][2] if code == value), None)


def _enum(plan: Schema, name: str, only: tuple[str, ...] | None, value: Any, path: str) -> bytes:
    type_, is_open, _ = plan.enums[name]
    plain = number(type_, value, path)
    member = enum_name(plan, name, plain)
    if member is None and not is_open:
        rule, expected = plan.rules.get(name), f"a member of {name}"
        raise EncodeError("invalid_enum", rule=rule, path=path, expected=expected, found=shown(plain))
    if only is not None and member not in only:
        raise EncodeError("constraint", path=path, expected=" or ".join(only), found=member or shown(plain))
    return scalar(plan, type_, plain, path)


def coding_bytes(plan: Schema, name: str, value: Any, path: str) -> bytes:
    """Return a number in the first width that fits; None as the coding's null."""
    type_, widths = plan.codings[name]
    plain = None if value is None else as_int(value, path)
    for low, high, wide, is_null in widths:
        if is_null and plain is None:
            return scalar(plan, type_, low, path)
        if is_null or plain is None:
            continue
        if wide is None and low <= plain <= high:
            return scalar(plan, type_, plain, path)
        if wide is not None and bounds(wide)[0] <= plain <= bounds(wide)[1]:
            return scalar(plan, type_, low, path) + scalar(plan, wide, plain, path)
    if plain is None:
        raise EncodeError("invalid_value", path=path, expected="an integer", found="nothing")
    raise EncodeError("unrepresentable", path=path, expected=f"a width of {name}", found=shown(plain))


def text_bytes(type_: Type, value: Any, path: str) -> bytes:
    """Return the bytes of a `bytes` or `text`, without its length."""
    if type_[0] == "bytes":
        return as_bytes(value, path)
    _, encoding, _, lenient, endian = type_
    try:
        return encode_text(as_str(value, path), encoding, lenient, endian)
    except UnicodeEncodeError as error:
        found = f"U+{ord(error.object[error.start]):04X} at character {error.start}"
        raise EncodeError("invalid_text", path=path, expected=encoding, found=found) from None


def bit_number(type_: Type, value: Any, path: str) -> int:
    """Return the number of a field of bits."""
    if type_[2]:
        return int(_flag(value, path))
    plain = as_int(value, path)
    if plain >> type_[1]:
        raise EncodeError(
            "invalid_value", path=path, expected=f"0 to {(1 << type_[1]) - 1}", found=shown(plain)
        )
    return plain


def pack_bits(parts: list[tuple[int, int]], order: str, path: str) -> bytes:
    """Return a run of (number, bits) as whole bytes: from the highest bit of the first byte on, or from its lowest."""
    total = position = 0
    for value, bits in parts:
        total = total << bits | value if order == "msb" else total | value << position
        position += bits
    if position % 8:
        raise EncodeError("unrepresentable", path=path, expected="whole bytes", found=f"{position} bits")
    return total.to_bytes(position // 8, "big" if order == "msb" else "little")


def zero(type_: Type, count: int) -> Any:
    """Return what a field without meaning (`_`) and without a value holds; `count`: bytes or items of a computed length."""
    match type_[0]:
        case "bytes":
            return bytes(count)
        case "text":
            return "\0" * count
        case "uuid":
            return UUID(int=0)
        case "list":
            return [zero(type_[1], 0)] * count
        case _:
            return 0


def null(value: Any, path: str) -> EncodeError:
    """Return the error for a value that is not there and should be."""
    return EncodeError("invalid_value", path=path, expected="a value", found=kind_of(value))
