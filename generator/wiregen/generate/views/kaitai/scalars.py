"""Numbers, bytes and text as entries of an attribute of Kaitai Struct."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, assert_never

from wiregen.generate.steps.step import UnsupportedError
from wiregen.generate.views.kaitai.expressions import is_plain
from wiregen.generate.views.kaitai.file import KaitaiFile
from wiregen.generate.views.kaitai.numbers import (
    coding_type,
    is_built_in,
    primitive,
    signed_type,
    varint_types,
)
from wiregen.generate.views.kaitai.parts import (
    Identifiers,
    KaitaiAttribute,
    KaitaiEntry,
    KaitaiEnum,
    KaitaiType,
    order_of,
    quoted,
    type_entry,
    valid,
)
from wiregen.generate.views.kaitai.shapes import (
    TO_THE_END,
    KaitaiLevel,
    KaitaiShape,
)
from wiregen.runtime.schema import declarations as d
from wiregen.runtime.schema.protocol import Schema
from wiregen.schema import model as m

__all__ = ["enum_shape", "number_shape", "prefix", "scalar_shape", "sized_shape", "text_shape"]

_ENCODINGS: Final = {"utf8": "UTF-8", "ascii": "ASCII", "latin1": "ISO-8859-1"}


def number_shape(file: KaitaiFile, type_: m.Integer | m.Varint | m.CodingReference) -> KaitaiShape:
    """Return the entries for a number."""
    made: tuple[KaitaiType, ...]
    match type_:
        case m.Integer() if is_built_in(type_):
            return KaitaiShape(entries=(type_entry(primitive(type_)),))
        case m.Integer():
            made = (signed_type(type_),)
        case m.Varint():
            made = tuple(varint_types(type_))
        case m.CodingReference(name=name):
            id_, is_new = file.named(name)
            made = (coding_type(id_, name, file.schema.codings[name]),) if is_new else (file.types[id_],)
        case _:
            assert_never(type_)
    for each in made:
        file.types.setdefault(each.name, each)
    return KaitaiShape(entries=(type_entry(made[0].name),))


def scalar_shape(file: KaitaiFile, type_: m.Float | m.Boolean | m.Bits | m.Uuid, id_: str) -> KaitaiShape:
    """Return the entries for a float, a Boolean, bits or a uuid."""
    match type_:
        case m.Float(size=size, letter=letter, endian=endian):
            if not letter or size not in (4, 8):
                file.left_out.append(f"`{type_.format}` is shown as bytes")
                return KaitaiShape(entries=(KaitaiEntry(key="size", value=str(size)),))
            return KaitaiShape(entries=(type_entry(f"f{size}{order_of(endian)}"),))
        case m.Boolean(is_lenient=is_lenient):
            return KaitaiShape(entries=(type_entry("u1"),), checks=() if is_lenient else (f"{id_} <= 1",))
        case m.Bits(bits=bits, order=order):
            return KaitaiShape(entries=(type_entry(f"b{bits}{'be' if order == 'msb' else 'le'}"),))
        case m.Uuid(size=size):
            return KaitaiShape(entries=(KaitaiEntry(key="size", value=str(size)),))
        case _:
            assert_never(type_)


def enum_shape(file: KaitaiFile, type_: m.EnumReference, id_: str, level: KaitaiLevel) -> KaitaiShape:
    """Return the entries for a member of an enum."""
    enum = file.schema.enums[type_.name]
    shape = number_shape(file, enum.type)
    is_limited = type_.only is not None and not type_.is_lenient
    numbers = [each.value for each in enum.members if not is_limited or each.name in (type_.only or ())]
    membership = _is_one_of(level.spell.number_of(type_, id_), numbers)
    if is_plain(enum.type):
        return shape if enum.is_open and not is_limited else replace(shape, checks=(membership,))
    entries = (*shape.entries, KaitaiEntry(key="enum", value=_declared_enum(file, type_.name, enum)))
    if is_limited:
        return replace(shape, entries=entries, checks=(membership,))
    return replace(shape, entries=entries, membership="" if enum.is_open else membership)


def _is_one_of(access: str, numbers: Iterable[int]) -> str:
    return " or ".join(f"{access} == {number}" for number in dict.fromkeys(numbers)) or "false"


def _declared_enum(file: KaitaiFile, name: str, enum: d.Enum) -> str:
    id_, is_new = file.named(name)
    if is_new:
        identifiers = Identifiers()
        members = {each.value: each for each in reversed(enum.members)}
        file.enums[id_] = KaitaiEnum(
            name=id_,
            members=tuple(
                KaitaiEntry(key=str(number), value=identifiers.new(member.name))
                for number, member in sorted(members.items())
            ),
        )
    return id_


def sized_shape(
    file: KaitaiFile, length: m.ByteLength, id_: str, level: KaitaiLevel, unit: int
) -> KaitaiShape:
    """Return the entries for a number of bytes; `unit`: bytes of one unit of the length."""
    factor = "" if unit == 1 else f"{unit} * "
    match length:
        case m.Prefix():
            before, number = prefix(file, length, f"{id_}_length", level)
            return KaitaiShape(
                entries=(KaitaiEntry(key="size", value=quoted(factor + number)),), before=(before,)
            )
        case m.Computed(value=value):
            text = quoted(factor + level.spell.number(value))
            return KaitaiShape(entries=(KaitaiEntry(key="size", value=text),))
        case m.ToEnd():
            return KaitaiShape(entries=TO_THE_END)
        case m.Delimited(delimiter=digits):
            octets = bytes.fromhex(digits)
            if len(octets) != 1:
                raise UnsupportedError("", f"a delimiter of {len(octets)} bytes")
            return KaitaiShape(entries=(KaitaiEntry(key="terminator", value=str(octets[0])),))
        case _:
            assert_never(length)


def prefix(file: KaitaiFile, length: m.Prefix, name: str, level: KaitaiLevel) -> tuple[KaitaiAttribute, str]:
    """Return the attribute of a length, and its value as an expression."""
    id_ = level.identifiers.new(name)
    number = level.spell.number_of(length.type, id_)
    entries = number_shape(file, length.type).entries
    if _can_be_negative(length.type, file.schema):
        entries = (*entries, valid((f"{number} >= 0",)))
    return KaitaiAttribute(id=id_, entries=entries), number


def text_shape(file: KaitaiFile, type_: m.Text, id_: str, level: KaitaiLevel) -> KaitaiShape:
    """Return the entries for a text; modified UTF-8 is bytes."""
    unit = 2 if type_.encoding == "utf16" else 1
    shape = sized_shape(file, type_.length, id_, level, unit)
    if type_.encoding == "mutf8":
        file.left_out.append("`mutf8` is shown as bytes")
        return shape
    encoding = f"UTF-16{order_of(type_.endian).upper()}" if unit == 2 else _ENCODINGS[type_.encoding]
    entries = (type_entry("str"), *shape.entries, KaitaiEntry(key="encoding", value=encoding))
    return replace(shape, entries=entries)


def _can_be_negative(type_: m.Integer | m.Varint | m.CodingReference, schema: Schema) -> bool:
    """Return whether a length may be less than 0."""
    match type_:
        case m.Integer(is_signed=is_signed):
            return is_signed
        case m.Varint(is_zigzag=is_zigzag):
            return is_zigzag
        case m.CodingReference(name=name):
            return any(each.wide is not None and each.wide.is_signed for each in schema.codings[name].widths)
        case _:
            assert_never(type_)
