"""Numbers, Booleans, identifiers, enums and variable-width integers, as the reference decoder reads them."""

from __future__ import annotations

from uuid import UUID

from ...schema.types import Boolean, EnumReference, Float, Integer, Uuid
from ..tree import Node
from ..window import Place
from .reader import Reader, Steps

TYPE_CHECKING = False

__all__ = ["read_bool", "read_enum", "read_number", "read_uuid"]


def read_number(reader: Reader, type_: Integer | Float, place: Place) -> Steps:
    start = reader.window.here
    data = yield from reader.take(type_.size, place)
    return reader.node(place, type_, start, type_.decode(data))


def read_bool(reader: Reader, type_: Boolean, place: Place) -> Steps:
    start = reader.window.here
    number = (yield from reader.take(1, place))[0]
    node = reader.node(place, type_, start, number != 0)
    if number > 1:
        if reader.layout.strict or not type_.is_lenient:
            raise reader.fail("invalid_value", place, start, expected="0 or 1", found=str(number))
        node.annotate(f"written {number}")
    return node


def read_uuid(reader: Reader, type_: Uuid, place: Place) -> Steps:
    start = reader.window.here
    data = yield from reader.take(16, place)
    return reader.node(place, type_, start, UUID(bytes=data))


def read_enum(reader: Reader, type_: EnumReference, place: Place) -> Steps:
    name = type_.name
    enum = reader.layout.schema.enums[name]
    node = yield from reader.read(reader, enum.type, place)
    member = next((each.name for each in enum.members if each.value == node.value), None)
    found = member or str(node.value)
    if member is None and not enum.is_open:
        expected, rule = f"a member of {name}", place.rule or reader.layout.rules.get(name)
        raise reader.fail("invalid_enum", place, blame=node, expected=expected, found=found, rule=rule)
    refuse_outside(reader, member, type_.only, type_.is_lenient, place, node, found)
    node.type = type_
    node.annotate(member or "unknown")
    return node


def refuse_outside(
    reader: Reader,
    name: str | None,
    only: tuple[str, ...] | None,
    lenient: bool,
    place: Place,
    blame: Node | None,
    found: str,
) -> None:
    """Refuse a value that is not in `only`.

    Raises:
        DecodeError: constraint.
    """
    if only is None or name in only or (lenient and not reader.layout.strict):
        return
    raise reader.fail("constraint", place, blame=blame, expected=f"only {', '.join(only)}", found=found)
