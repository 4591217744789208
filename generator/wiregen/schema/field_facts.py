"""Facts about single fields and about nested structs that the compiler needs before it makes steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from wiregen.runtime.schema import shapes
from wiregen.schema import model as m
from wiregen.schema.circles import circular
from wiregen.schema.copies import replace
from wiregen.schema.declared import index_of, kept
from wiregen.schema.graph import components
from wiregen.schema.walk import (
    every_field,
    nested_expressions,
    references,
)

__all__ = [
    "MAX_UNFOLDED",
    "Part",
    "arm_of",
    "as_item",
    "bits_of",
    "called_structs",
    "condition_text",
    "expected_of",
    "fields_reach_end",
    "is_code",
    "is_literal",
    "is_padded",
    "is_simple_padding",
    "joined_conditions",
    "part_of",
]

Part: TypeAlias = Literal["value", "length", "code", "padding", "bits"]

MAX_UNFOLDED: Final = 64
"""The most fields of a struct, those of nested structs included, that are laid out inline."""


@kept
def called_structs(protocol: m.Protocol) -> frozenset[str]:
    """Return the structs that need functions; all others are laid out inline.

    They are the structs that can contain themselves, whose depth is counted, and those of more than
    `MAX_UNFOLDED` fields. Without this bound, two fields of a struct in each of 20 nested structs make a
    million fields.
    """
    inner = {struct.name: _structs_in(struct) for struct in protocol.structs}
    called: set[str] = set()
    in_circles = circular(protocol)
    n_fields: dict[str, int] = {}
    for group in components(inner, lambda name: inner[name]):
        for struct in (index_of(protocol).structs[name] for name in group):
            unfolded = sum(
                n_fields[name] for name in inner[struct.name] if name in n_fields and name not in called
            )
            n_fields[struct.name] = unfolded + sum(1 for _ in every_field(struct.fields))
            if struct.name in in_circles or n_fields[struct.name] > MAX_UNFOLDED:
                called.add(struct.name)
    return frozenset(called)


def _structs_in(struct: m.Struct) -> tuple[str, ...]:
    """Return the structs that a struct names in its types, one entry for each occurrence."""
    named = references(*(field.type for field in struct.fields))
    return tuple(reference.name for reference in named if isinstance(reference, m.StructReference))


def as_item(field: m.Field) -> m.Field:
    """Return a list's field as its items see it: its clauses belong to the list, not to the items."""
    return replace(field, value=None, view=None, condition=None, where=None)


def condition_text(field: m.Field) -> str:
    """Return the conditions on a field's value as one text; "" without conditions."""
    if isinstance(field.where_text, str):
        return field.where_text
    return joined_conditions([each.text for each in field.where_text])


def joined_conditions(texts: Sequence[str]) -> str:
    """Return conditions as the text of one condition that is true where all are."""
    if len(texts) == 1:
        return texts[0]
    return " and ".join(f"({text})" if " or " in text else text for text in texts)


def is_code(value: m.Expression) -> bool:
    return isinstance(value, m.Call) and value.function == "code"


def is_literal(value: m.Expression) -> bool:
    """Return whether an expression is a literal number, Boolean or bytes."""
    return isinstance(value, m.Number | m.Octets | m.Truth)


def is_padded(region: m.Region, name: str, fields: Mapping[str, m.Field], protocol: m.Protocol) -> bool:
    """Return whether zeros fill a lenient region: its size does not depend on its content, which may be shorter.

    `name`: the field that the region belongs to. `fields`: those of its declaration by name, including blocks
    and their fields.
    """
    if not region.lenient or not isinstance(region.carrier, m.InSize):
        return False
    if reaches_end(region.content, protocol):  # zeros after it would belong to the content
        return False
    seen: set[str] = set()
    waiting = [region.carrier.size]
    for expression in waiting:
        for each in nested_expressions(expression):
            if not isinstance(each, m.FieldReference) or not each.path or each.path[0] in seen:
                continue
            seen.add(each.path[0])
            field = fields.get(each.path[0])
            if field is None:
                continue
            seen.update(inner.name for inner in every_field((field,)))
            if isinstance(field.value, m.Derived):
                waiting.append(field.value.value)
    return name not in seen


def reaches_end(type_: m.Type, protocol: m.Protocol) -> bool:
    """Return whether a type takes all remaining bytes of its region."""
    return shapes.reaches_end(type_, index_of(protocol).struct_fields)


def fields_reach_end(fields: tuple[m.Field, ...], protocol: m.Protocol) -> bool:
    """Return whether the fields of a declaration take all remaining bytes of their region."""
    return shapes.fields_reach_end(fields, index_of(protocol).struct_fields)


def is_simple_padding(field: m.Field) -> bool:
    """Return whether a field called `_` is a block, or zeros or a constant whose value is not used."""
    type_ = shapes.content(field.type)
    if isinstance(type_, m.Block):
        return True
    if isinstance(field.value, m.Default | m.Trailing) or isinstance(field.type, m.Region):
        return False
    is_enum = isinstance(type_, m.EnumReference) and field.value is not None
    return is_enum or isinstance(type_, m.BuiltIn)


def expected_of(field: m.Field, message: m.Message | None) -> int | bytes | bool | float | None:
    match field.value:
        case m.Derived(value=value) if is_code(value):
            return message.code if message is not None else None
        case m.Constant(value=m.Octets(hex=text)):
            return bytes.fromhex(text)
        case m.Constant(value=m.Number(value=number)):
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
    """Return the arm that names a message, or None if no arm does."""
    wanted = m.MessageReference(name=message.name)
    return next((arm for arm in type_.arms if arm.type == wanted), None)


def bits_of(enums: Mapping[str, m.Enum], type_: m.Type) -> int | None:
    """Return the size in bits of a type in a run of bit fields, or None if it cannot be in one."""
    if isinstance(type_, m.EnumReference):
        type_ = enums[type_.name].type
    return type_.bits if isinstance(type_, m.FixedSize) else None
