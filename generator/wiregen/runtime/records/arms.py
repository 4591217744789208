"""The names of the arms of a choice in records, and the values that an arm accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from ..reference.access import declared_name, is_a, is_named, unknown_of
from ..reference.expressions import Value
from ..reference.layout import Layout
from ..schema.node import nodes_in, replace
from ..schema.protocol import Schema
from ..schema.shapes import content, is_flat
from ..schema.types import (
    Arm,
    Bits,
    Boolean,
    Bytes,
    CodingReference,
    EnumReference,
    Float,
    FrameReference,
    Integer,
    List,
    Match,
    MessageMatch,
    MessageReference,
    Reference,
    StructReference,
    Text,
    Type,
    UnionReference,
    Uuid,
    Varint,
    WholeNumber,
)
from .types import has_null

__all__ = ["accepts", "arm_names", "arms_of_columns", "fitting", "leaf_arms", "value_arms"]


_LIST_OF = "list of "


_PLAIN: dict[type[Any], tuple[str, tuple[type, ...]]] = {
    Integer: ("int", (int,)),
    Varint: ("varint", (int,)),
    CodingReference: ("coding", (int,)),
    EnumReference: ("enum", (int,)),
    Bits: ("bits", (int,)),
    Boolean: ("bool", (bool,)),
    Float: ("float", (float,)),
    Uuid: ("uuid", (UUID,)),
    Bytes: ("bytes", (bytes, bytearray)),
    Text: ("text", (str,)),
    List: ("list", (list, tuple)),
}
"""The names and value classes of types that have only a kind as their name in records."""


def accepts(layout: Layout, type_: Type, value: Value) -> bool:
    """Return whether a value is of the type, judged by its class."""
    type_ = content(type_)
    if value is None and has_null(layout.schema, type_):
        return True
    match type_:
        case StructReference(name) | MessageReference(name):
            return is_named(value, name)
        case UnionReference(name):
            return any(
                is_named(value, f"{name}.{each.name}") for each in layout.schema.unions[name].varieties
            )
        case FrameReference(name):
            return is_named(value, name) or _is_message(layout, value)
        case MessageMatch():
            return _is_message(layout, value)
        case Match():
            return any(accepts(layout, arm.type, value) for arm in value_arms(type_))
        case List(item):
            return is_a(value, list, tuple) and all(accepts(layout, item, each) for each in value)
        case _:
            _, classes = _PLAIN.get(type(type_), ("", (object,)))
            return is_a(value, *classes)


def fitting(layout: Layout, arms: Iterable[Type], value: Value) -> list[Type]:
    """Return the arms that accept a value, of several the closest: a Boolean arm before a number arm for a
    Boolean.

    A bare message is accepted for a frame, but belongs to the arm of the message if there is one.
    """
    found = [arm for arm in arms if accepts(layout, arm, value)]
    closest = [arm for arm in found if _is_of_truths(arm)] or [
        arm for arm in found if _is_closest(arm, value)
    ]
    return closest or found


def _is_of_truths(type_: Type) -> bool:
    type_ = content(type_)
    return isinstance(type_, Boolean) or (isinstance(type_, List) and _is_of_truths(type_.item))


def _is_closest(type_: Type, value: Value) -> bool:
    """Return whether an arm is not of frames, or is of the kind of frame that the value is."""
    match content(type_):
        case FrameReference(name, only):
            return is_named(value, name) and (only is None or declared_name(value.message) in only)
        case _:
            return True


def _is_message(layout: Layout, value: Value) -> bool:
    is_unknown = unknown_of(value, layout.messages, "") is not None
    return is_unknown or any(is_named(value, name) for name in layout.messages)


def value_arms(type_: Match) -> Iterator[Arm]:
    """Return the arms of a choice that have a value: those that are not blocks."""
    return (arm for arm in type_.arms if not is_flat(arm.type))


def leaf_arms(type_: Match) -> Iterator[Type]:
    """Return the types that a value of a choice may have, nested choices replaced by their arms.

    A value does not tell floats of several widths apart: they have the widest.
    """
    arms = tuple(_leaves(type_))
    floats = [node for arm in arms for node in nodes_in(arm) if isinstance(node, Float)]
    widest = max(floats, key=lambda each: each.size, default=None)
    return (arm if widest is None else _with_floats(arm, widest) for arm in arms)


def _leaves(type_: Match) -> Iterator[Type]:
    for arm in value_arms(type_):
        inside = content(arm.type)
        if isinstance(inside, Match):
            yield from _leaves(inside)
        else:
            yield arm.type


def _with_floats(type_: Type, widest: Float) -> Type:
    """Return a type with another float in the place of its own."""
    match content(type_):
        case Float():
            return widest
        case List(item) as list_:
            return replace(list_, item=_with_floats(item, widest))
        case _:
            return type_


def arms_of_columns(type_: Match) -> dict[str, list[Type]]:
    """Return those types by the columns that a choice has: one for each declaration and each kind of plain values."""
    arms: dict[str, list[Type]] = {}
    for arm in leaf_arms(type_):
        arms.setdefault(_column(content(arm)), []).append(arm)
    return arms


def _column(type_: Type) -> str:
    if isinstance(type_, Reference):
        return type_.name
    if isinstance(type_, WholeNumber):
        return "boolean" if isinstance(type_, Bits) and type_.is_flag else "integer"
    return "value" if isinstance(type_, MessageMatch) else type(type_).__name__.lower()


def arm_names(schema: Schema, choice: Match) -> dict[Type, str]:
    """Return the names in a record of the arms of a choice that need one.

    A struct has its name, and a union if its alternatives do not tell it from the other arms. If the plain arms are of several kinds,
    each has its kind; lists are of one kind if their items are.
    """
    arms = [content(arm) for arm in leaf_arms(choice)]
    plain = [arm for arm in arms if type(arm) in _PLAIN]
    kinds = {arm: _kind(arm) for arm in plain}
    if len({kind for kind in kinds.values() if kind.startswith(_LIST_OF)}) < 2:
        kinds = {arm: _PLAIN[type(arm)][0] for arm in plain}
    if len(set(kinds.values())) < 2:
        kinds = {}
    keys = {arm: _keys(schema, arm) for arm in arms if isinstance(arm, StructReference | UnionReference)}
    return kinds | {
        arm: arm.name
        for arm, own in keys.items()
        if isinstance(arm, StructReference)
        or any(own & others for other, others in keys.items() if other.name != arm.name)
    }


def _keys(schema: Schema, arm: StructReference | UnionReference) -> set[str]:
    """Return the keys that the record of an arm may have."""
    varieties = schema.unions[arm.name].varieties if isinstance(arm, UnionReference) else ()
    return {arm.name, *(each.name for each in varieties)}


def _kind(type_: Type) -> str:
    type_ = content(type_)
    if isinstance(type_, List):
        return f"{_LIST_OF}{_kind(type_.item)}"
    if type(type_) in _PLAIN:
        return _PLAIN[type(type_)][0]
    if isinstance(type_, Reference):
        return type_.name
    return "match" if isinstance(type_, Match) else "message_match"
