"""Values that are encoded independently of others: their bytes, and their errors."""

from __future__ import annotations

from uuid import UUID

from ..codec.errors import EncodeError
from ..codec.text import encode_text
from ..schema.protocol import Schema
from ..schema.types import (
    Bits,
    Boolean,
    Bytes,
    CodingReference,
    EnumReference,
    Float,
    Integer,
    List,
    Text,
    Uuid,
    Varint,
)
from .access import as_bytes, as_float, as_int, as_str, as_uuid, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from ..schema.types import Type
    from .expressions import Value

    Scalar: TypeAlias = Integer | Float | Boolean | Varint | Uuid | EnumReference | CodingReference
else:
    Scalar = object

__all__ = [
    "SCALARS", "Scalar", "coding_bytes", "enum_name", "number", "number_shown", "real", "scalar", "text_bytes",
]  # fmt: skip

SCALARS = (Integer, Float, Boolean, Varint, Uuid, EnumReference, CodingReference)
"""Types whose bytes depend only on the value."""


def scalar(schema: Schema, type_: Scalar, value: object, path: str) -> bytes:
    """Return the bytes of a value of one of the SCALARS.

    Raises:
        EncodeError: `invalid_value`, `invalid_enum`, `constraint` (not among `only`), `unrepresentable` (a coding).
    """
    match type_:
        case Integer():
            return type_.encode(number(type_, value, path))
        case Float():
            return _float(type_, value, path)
        case Boolean():
            return b"\x01" if _flag(value, path) else b"\x00"
        case Varint():
            return _varint(number(type_, value, path), type_.is_zigzag)
        case Uuid():
            return as_uuid(value, path)
        case EnumReference(name, only):
            return _enum(schema, name, only, value, path)
        case _:
            return coding_bytes(schema, type_.name, value, path)


def number(type_: Integer | Varint, value: object, path: str) -> int:
    """Return a number that the type can hold."""
    plain = as_int(value, path)
    low, high = type_.bounds
    if not low <= plain <= high:
        raise EncodeError("invalid_value", path=path, expected=f"{low} to {high}", found=shown(plain))
    return plain


def shown(value: int) -> str:
    """Return a number for an error, without its digits if they are many."""
    return str(value) if value.bit_length() <= 128 else f"an integer of {value.bit_length()} bits"


def number_shown(type_: Type, value: object) -> str:
    """Return the part of a field's value that an error shows: a number; "" for any other value."""
    return (
        shown(value) if isinstance(type_, Integer | Varint | EnumReference) and isinstance(value, int) else ""
    )


def _flag(value: object, path: str) -> bool:
    plain = as_int(value, path)
    if plain not in (0, 1):
        raise EncodeError("invalid_value", path=path, expected="a Boolean", found=shown(plain))
    return plain == 1


def real(type_: Float, value: object, path: str) -> float:
    """Return the float that the bytes of a value are, which a reader sees."""
    return type_.decode(_float(type_, value, path))


def _float(type_: Float, value: object, path: str) -> bytes:
    try:
        return type_.encode(as_float(value, path))
    except OverflowError:
        raise EncodeError(
            "invalid_value", path=path, expected=f"a {type_.bits} bit float", found="a larger one"
        ) from None


def _varint(value: int, zigzag: bool) -> bytes:
    rest = (-2 * value - 1 if value < 0 else 2 * value) if zigzag else value
    data = bytearray()
    while rest > 0x7F:
        data.append(rest & 0x7F | 0x80)
        rest >>= 7
    data.append(rest)
    return bytes(data)


def enum_name(schema: Schema, enum: str, value: int) -> str | None:
    """Return the first member with that number."""
    return next((member.name for member in schema.enums[enum].members if member.value == value), None)


def _enum(schema: Schema, name: str, only: tuple[str, ...] | None, value: object, path: str) -> bytes:
    enum = schema.enums[name]
    plain = number(enum.type, value, path)
    member = enum_name(schema, name, plain)
    if member is None and not enum.is_open:
        rule, expected = schema.rules.get(name), f"a member of {name}"
        raise EncodeError("invalid_enum", rule=rule, path=path, expected=expected, found=shown(plain))
    if only is not None and member not in only:
        raise EncodeError("constraint", path=path, expected=" or ".join(only), found=member or shown(plain))
    return scalar(schema, enum.type, plain, path)


def coding_bytes(schema: Schema, name: str, value: object, path: str) -> bytes:
    """Return a number in the first width that fits; None is written as the null of the variable-width integer."""
    coding = schema.codings[name]
    plain = None if value is None else as_int(value, path)
    for width in coding.widths:
        wide = width.wide
        if width.is_null and plain is None:
            return scalar(schema, coding.type, width.low, path)
        if width.is_null or plain is None:
            continue
        if wide is None and width.low <= plain <= width.high:
            return scalar(schema, coding.type, plain, path)
        if wide is not None and wide.bounds[0] <= plain <= wide.bounds[1]:
            return scalar(schema, coding.type, width.low, path) + scalar(schema, wide, plain, path)
    if plain is None:
        raise EncodeError("invalid_value", path=path, expected="an integer", found="nothing")
    raise EncodeError("unrepresentable", path=path, expected=f"a width of {name}", found=shown(plain))


def text_bytes(type_: Bytes | Text, value: object, path: str) -> bytes:
    """Return the bytes of bytes or text, without their length."""
    if isinstance(type_, Bytes):
        return as_bytes(value, path)
    try:
        return encode_text(as_str(value, path), type_.encoding, type_.is_lenient, type_.endian)
    except UnicodeEncodeError as error:
        found = f"U+{ord(error.object[error.start]):04X} at character {error.start}"
        raise EncodeError("invalid_text", path=path, expected=type_.encoding, found=found) from None


def bit_number(type_: Bits, value: object, path: str) -> int:
    """Return the number of a field of bits."""
    if type_.is_flag:
        return int(_flag(value, path))
    plain = as_int(value, path)
    if plain >> type_.bits:
        raise EncodeError(
            "invalid_value", path=path, expected=f"0 to {(1 << type_.bits) - 1}", found=shown(plain)
        )
    return plain


def zero(type_: Type, count: int) -> Value:
    """Return the value of a field without meaning (`_`) and without a value; `count`: bytes or items of a
    computed length.
    """
    match type_:
        case Bytes():
            return bytes(count)
        case Text():
            return "\0" * count
        case Uuid():
            return UUID(int=0)
        case List(item):
            return [zero(item, 0)] * count
        case _:
            return 0


def null(value: object, path: str) -> EncodeError:
    """Return the error for a required value that is missing."""
    return EncodeError("invalid_value", path=path, expected="a value", found=kind_of(value))
