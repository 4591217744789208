"""What can be said of one field, or of structs inside structs, before any step is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from wiregen import model as m
from wiregen.plan.steps import (
    Part,
)
from wiregen.walk import (
    references,
)

__all__ = [
    "arm_of",
    "as_item",
    "bits_of",
    "expected_of",
    "is_code",
    "is_literal",
    "is_simple_padding",
    "part_of",
    "recursive_structs",
]


def recursive_structs(protocol: m.Protocol) -> frozenset[str]:
    """Return the structs that can stand inside themselves with nothing but structs between, so that they need functions."""
    inner = {
        struct.name: {
            reference.name
            for reference in references(*(field.type for field in struct.fields))
            if reference.target == "struct"
        }
        for struct in protocol.structs
    }
    return frozenset(name for name in inner if name in _reached(name, inner))


def _reached(name: str, inner: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for each in inner.get(waiting.pop(), ()):
            if each not in found:
                found.add(each)
                waiting.append(each)
    return found


def as_item(field: m.Field) -> m.Field:
    """Return the field as its items see it: clauses are the list's, not theirs."""
    return replace(field, value=None, view=None, condition=None, where=None)


def is_code(value: m.Expression) -> bool:
    return isinstance(value, m.Call) and value.function == "code"


def is_literal(value: m.Expression) -> bool:
    """Tell whether an expression is a number or bytes written out."""
    return isinstance(value, m.Number | m.Octets | m.Truth | m.MemberReference | m.ConstantReference)


def is_simple_padding(field: m.Field) -> bool:
    """Tell whether a field called `_` is a block, or zeros or a constant that nobody looks at."""
    type_ = field.type
    while isinstance(type_, m.Region):
        type_ = type_.content
    if isinstance(type_, m.Block):
        return True
    if isinstance(field.value, m.Default | m.Trailing) or isinstance(field.type, m.Region):
        return False
    is_enum = isinstance(type_, m.Reference) and type_.target == "enum" and field.value is not None
    plain = m.Integer | m.Float | m.Boolean | m.Uuid | m.Bits | m.Varint | m.Bytes | m.Text
    return is_enum or isinstance(type_, plain)


def expected_of(field: m.Field, message: m.Message | None) -> int | bytes | bool | float | None:
    match field.value:
        case m.Derived(value=value) if is_code(value):
            return message.code if message is not None else None
        case m.Constant(value=m.Octets(hex=text)):
            return bytes.fromhex(text)
        case m.Constant(value=m.Number(value=number)):
            return number
        case m.Constant(value=m.ConstantReference(value=number) | m.MemberReference(value=number)):
            return number
        case m.Constant(value=m.Truth(value=truth)):
            return truth
        case _:
            return None


def part_of(field: m.Field) -> Part:
    if isinstance(field.value, m.Derived) and is_code(field.value.value):
        return "code"
    return "padding" if field.name == "_" and field.value is None else "value"


def arm_of(type_: m.Match, message: m.Message) -> m.Arm | None:
    """Return the arm that names a message; None where none does."""
    wanted = m.Reference(target="message", name=message.name)
    return next((arm for arm in type_.arms if arm.type == wanted), None)


def bits_of(enums: Mapping[str, m.Enum], type_: m.Type) -> int | None:
    """Return how many bits a type of a run takes; None where it cannot stand in one."""
    match type_:
        case m.Integer(bits=bits) | m.Float(bits=bits) | m.Bits(bits=bits):
            return bits
        case m.Boolean():
            return 8
        case m.Uuid():
            return 128
        case m.Reference(target="enum", name=name):
            return bits_of(enums, enums[name].type)
        case _:
            return None
