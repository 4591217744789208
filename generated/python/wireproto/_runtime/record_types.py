"""What JSON needs to know about types: which numbers are strings, which values may be null, how arms are told apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from .access import is_a, is_named, unknown_of
from .cells import blocks, content, has_blocks, is_flat
from .layout import Fields, Layout, Type
from .schema.declarations import Default, Field, FieldValue
from .schema.expressions import Expression
from .schema.protocol import Schema
from .schema.types import Boolean, List

__all__ = [
    "accepts",
    "arm_names",
    "default_with",
    "fitting",
    "flat_fields",
    "has_null",
    "is_nullable",
    "is_trailing",
    "is_wide",
    "leaf_arms",
    "unsure_names",
    "value_arms",
]

_LIST_OF = "list of "
_CLASSES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "varint": (int,),
    "coding": (int,),
    "enum": (int,),
    "bits": (int,),
    "bool": (bool,),
    "float": (float,),
    "uuid": (UUID,),
    "bytes": (bytes, bytearray),
    "text": (str,),
    "list": (list, tuple),
}


def default_with(value: FieldValue, message: str | None) -> Expression:
    """Return the expression of a field's value; of a default with this message in the frame."""
    others = value.others if isinstance(value, Default) else ()
    return next((other.value for other in others if other.message == message), value.value)


def is_wide(plan: Schema, type_: Type) -> bool:
    """Say whether the numbers of a type are decimal strings: other languages lose digits beyond 32 bits."""
    match type_[0]:
        case "int":
            return bool(type_[1] > 4)
        case "varint":
            return True
        case "coding":
            return any(wide is not None and wide[1] > 4 for _, _, wide, _ in plan.codings[type_[1]][1])
        case "enum":
            return is_wide(plan, plan.enums[type_[1]][0])
        case _:
            return False


def is_nullable(type_: Type) -> bool:
    """Say whether None is a value of the type: a coding's null, or what such a null counts."""
    match type_:
        case ("coding", _):
            return True
        case ("bytes", length) | ("text", _, length, _, _) | ("list", _, length, *_):
            return bool(length[0] == "computed" or (length[0] == "prefix" and length[1][0] == "coding"))
        case ("region", shape, carrier, _):
            return is_nullable(shape) or (carrier[0] == "prefix" and carrier[1][0] == "coding")
        case ("match", _, arms):
            return any(is_nullable(arm) for _, arm in arms)
        case _:
            return False


def has_null(plan: Schema, type_: Type) -> bool:
    """Say whether None may be written as a value of the type, as far as a coding, or a field with the length, may be null."""
    match content(type_):
        case ("coding", name):
            return any(is_null for *_, is_null in plan.codings[name][1])
        case ("bytes", length) | ("text", _, length, _, _) | ("list", _, length, *_):
            is_field = length[0] == "computed" and length[1][0] == "field"
            return is_field or (length[0] == "prefix" and has_null(plan, length[1]))
        case _:
            return False


def accepts(schema: Layout, type_: Type, value: Any) -> bool:
    """Say whether a value is of the type, as far as its class tells."""
    type_ = content(type_)
    match type_[0]:
        case "struct":
            return is_named(value, type_[1])
        case "union":
            return any(is_named(value, variety[1]) for variety in schema.plan.unions[type_[1]][1])
        case "message":
            return is_named(value, type_[1])
        case "frame":
            return is_named(value, type_[1]) or _is_message(schema, value)
        case "message_match":
            return _is_message(schema, value)
        case "match":
            return any(accepts(schema, arm, value) for _, arm in value_arms(type_))
        case "list":
            return is_a(value, list, tuple) and all(accepts(schema, type_[1], item) for item in value)
        case kind:
            return is_a(value, *_CLASSES.get(kind, (object,)))


def fitting(schema: Layout, arms: Iterable[Type], value: Any) -> list[Type]:
    """Return the arms that take a value; where one is of truths, a truth is not taken for a number, as Python would."""
    found = [arm for arm in arms if accepts(schema, arm, value)]
    truths = [arm for arm in found if _is_of_truths(arm)]
    return truths or found


def _is_of_truths(type_: Type) -> bool:
    type_ = content(type_)
    return isinstance(type_, Boolean) or (isinstance(type_, List) and _is_of_truths(type_.item))


def _is_message(schema: Layout, value: Any) -> bool:
    is_unknown = unknown_of(value, schema.messages, "") is not None
    return is_unknown or any(is_named(value, name) for name in schema.messages)


def value_arms(type_: Type) -> Iterator[tuple[Any, Type]]:
    """Return the arms of a choice that give it a value: those that are no blocks."""
    return ((patterns, arm) for patterns, arm in type_[2] if not is_flat(arm))


def leaf_arms(type_: Type) -> Iterator[Type]:
    """Return the types that a choice may have a value of, those of choices in its arms in their place."""
    for _, arm in value_arms(type_):
        if content(arm)[0] == "match":
            yield from leaf_arms(content(arm))
        else:
            yield arm


def arm_names(choice: Type) -> dict[Type, str]:
    """Return the names in a record of the arms of a choice that need one.

    A struct has its name. If the plain arms are of several kinds, each has its kind; lists are of one kind if their items are.
    """
    arms = [content(arm) for arm in leaf_arms(choice)]
    plain = [arm for arm in arms if arm[0] in _CLASSES]
    kinds = {arm: _kind(arm) for arm in plain}
    if len({kind for kind in kinds.values() if kind.startswith(_LIST_OF)}) < 2:
        kinds = {arm: str(arm[0]) for arm in plain}
    if len(set(kinds.values())) < 2:
        kinds = {}
    return kinds | {arm: str(arm[1]) for arm in arms if arm[0] == "struct"}


def _kind(type_: Type) -> str:
    type_ = content(type_)
    match type_[0]:
        case "list":
            return f"{_LIST_OF}{_kind(type_[1])}"
        case "struct" | "union" | "message" | "frame":
            return str(type_[1])
        case kind:
            return str(kind)


def flat_fields(fields: Fields) -> Iterator[Field]:
    """Return the fields of a declaration that have a value of their own, those of blocks too.

    Fields of one name in different arms are one: the first of them.
    """
    seen: set[str] = set()
    for field in _every_field(fields):
        if field[0] == "_" or field[0] not in seen:
            seen.add(field[0])
            yield field


def _every_field(fields: Fields) -> Iterator[Field]:
    for field in fields:
        if not is_flat(field[2]):
            yield field
        for block in blocks(field[2]):
            yield from _every_field(block)


def unsure_names(fields: Fields) -> frozenset[str]:
    """Return the names of the fields that stand in a choice with blocks, or in a block that may not be there."""
    found: set[str] = set()
    for field in fields:
        if not has_blocks(field[2]):
            continue
        is_unsure = field[4] is not None or content(field[2])[0] == "match"
        if not is_flat(field[2]):
            found.add(field[0])
        for block in blocks(field[2]):
            found |= {inner[0] for inner in flat_fields(block)} if is_unsure else unsure_names(block)
    return frozenset(found)


def is_trailing(field: Field) -> bool:
    return field[3] is not None and field[3][0] == "trailing"
