"""Layouts in words, one line each: the fields in wire order, with the types of the `.wire` file."""

from __future__ import annotations

from typing import assert_never

from wiregen.schema import model as m

__all__ = ["layout_text"]


def layout_text(fields: tuple[m.Field, ...]) -> str:
    """Return the fields of a declaration as `name type, …`; "" without fields."""
    return ", ".join(_field(field) for field in fields)


def _field(field: m.Field) -> str:
    name = "" if field.name == "_" else f"{field.name} "
    match field.value:
        case m.Constant(value=m.Number(value=value)):
            after = f" == {value}"
        case m.Trailing():
            after = "?"
        case _:
            after = "?" if field.condition is not None else ""
    return f"{name}{_type(field.type)}{after}"


def _type(type_: m.Type) -> str:
    match type_:
        case m.Integer(bits=bits, is_signed=signed, endian=endian):
            return f"{'i' if signed else 'u'}{bits}{_little(endian, bits)}"
        case m.Float(format=word, endian=endian):
            return f"{word}{_little(endian, type_.bits)}"
        case m.Boolean():
            return "bool"
        case m.Bits(bits=bits):
            return f"bits{bits}"
        case m.Varint(bits=bits, is_zigzag=zigzag):
            return "zigzag" if zigzag else "varint"
        case m.Uuid():
            return "uuid"
        case m.Bytes(length=length):
            return f"bytes[{_length(length)}]"
        case m.Text(encoding=encoding, length=length):
            return f"{encoding}[{_length(length)}]"
        case m.List(item=item, length=length):
            return f"{_type(item)}[{_length(length)}]"
        case m.MessageMatch():
            return "message"
        case m.Match(arms=arms):
            return f"({' or '.join(dict.fromkeys(_type(arm.type) for arm in arms))})"
        case m.Block(fields=fields):
            return f"{{ {layout_text(fields)} }}"
        case m.Region(content=content, carrier=carrier):
            return f"{_type(content)} in {_carrier(carrier)}"
        case _ if isinstance(type_, m.Reference):
            return type_.name
        case _:
            assert_never(type_)


def _little(endian: m.Endian, bits: int) -> str:
    return " little" if endian == "little" and bits > 8 else ""


def _length(length: m.Length) -> str:
    match length:
        case m.Prefix(type=type_):
            return _type(type_)
        case m.Computed(value=m.Number(value=value)):
            return str(value)
        case m.Computed(value=m.FieldReference(path=path)):
            return ".".join(path)
        case m.Computed():
            return "computed"
        case m.ToEnd():
            return ".."
        case m.Delimited(delimiter=delimiter):
            return f"to {bytes.fromhex(delimiter)!r}"
        case m.Until():
            return "until"
        case _:
            assert_never(length)


def _carrier(carrier: m.Carrier) -> str:
    match carrier:
        case m.InSize(size=m.FieldReference(path=path)):
            return ".".join(path)
        case m.InSize():
            return "a computed size"
        case m.Prefix(type=type_):
            return _type(type_)
        case m.Compressed(algorithm=algorithm, length=length):
            return f"{algorithm}[{_length(length)}]"
        case m.Chunks(struct=struct):
            return f"chunks of {struct}"
        case _:
            assert_never(carrier)
