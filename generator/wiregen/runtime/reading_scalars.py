"""Numbers, Booleans, identifiers, enums and codings, read carefully."""

from __future__ import annotations

import struct
from collections.abc import Generator
from uuid import UUID

from .layout import Type
from .reader import Reader, Steps
from .tree import Node
from .window import Place

__all__ = ["read_bool", "read_coding", "read_enum", "read_float", "read_int", "read_uuid", "read_varint"]

_LONGEST_VARINT = 10  # bytes: what 64 bits take


def read_int(reader: Reader, type_: Type, place: Place) -> Steps:
    start = reader.window.here
    data = yield from reader.take(type_[1], place)
    return reader.node(place, type_, start, int.from_bytes(data, type_[3], signed=type_[2]))


def read_float(reader: Reader, type_: Type, place: Place) -> Steps:
    start = reader.window.here
    data = yield from reader.take(type_[1], place)
    form = (">" if type_[2] == "big" else "<") + ("f" if type_[1] == 4 else "d")
    return reader.node(place, type_, start, struct.unpack(form, data)[0])


def read_bool(reader: Reader, type_: Type, place: Place) -> Steps:
    start = reader.window.here
    number = (yield from reader.take(1, place))[0]
    node = reader.node(place, type_, start, number != 0)
    if number > 1:
        if reader.schema.strict or not type_[1]:
            raise reader.fail("invalid_value", place, start, expected="0 or 1", found=str(number))
        node.annotate(f"written {number}")
    return node


def read_uuid(reader: Reader, type_: Type, place: Place) -> Steps:
    start = reader.window.here
    data = yield from reader.take(16, place)
    return reader.node(place, type_, start, UUID(bytes=data))


def read_varint(reader: Reader, type_: Type, place: Place) -> Steps:
    _, bits, is_zigzag, lenient = type_
    start = reader.window.here
    groups = yield from _groups(reader, place)
    raw = sum(group << 7 * index for index, group in enumerate(groups))
    if raw >= 1 << bits:
        raise reader.fail("invalid_value", place, start, expected=f"at most {bits} bits", found="more")
    node = reader.node(place, type_, start, raw >> 1 ^ -(raw & 1) if is_zigzag else raw)
    if len(groups) > 1 and groups[-1] == 0:
        if reader.schema.strict or not lenient:
            raise reader.fail(
                "not_canonical", place, start, expected="the fewest bytes", found=f"{len(groups)} bytes"
            )
        node.annotate("longer than needed")
    return node


def _groups(reader: Reader, place: Place) -> Generator[int, bool, list[int]]:
    """Return the groups of 7 bits, the lowest first."""
    start = reader.window.here
    groups: list[int] = []
    while len(groups) < _LONGEST_VARINT:
        byte = (yield from reader.take(1, place))[0]
        groups.append(byte & 0x7F)
        if byte < 0x80:
            return groups
    raise reader.fail("invalid_value", place, start, expected="at most 64 bits", found="more")


def read_enum(reader: Reader, type_: Type, place: Place) -> Steps:
    _, name, only, lenient = type_
    base, is_open, members = reader.schema.plan.enums[name]
    node = yield from reader.read(reader, base, place)
    member = next((text for number, text in members if number == node.value), None)
    found = member or str(node.value)
    if member is None and not is_open:
        expected, rule = f"a member of {name}", place.rule or reader.schema.rules.get(name)
        raise reader.fail("invalid_enum", place, blame=node, expected=expected, found=found, rule=rule)
    refuse_outside(reader, member, only, lenient, place, node, found)
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
    """Refuse what `only` does not list.

    Raises:
        DecodeError: constraint.
    """
    if only is None or name in only or (lenient and not reader.schema.strict):
        return
    raise reader.fail("constraint", place, blame=blame, expected=f"only {', '.join(only)}", found=found)


def read_coding(reader: Reader, type_: Type, place: Place) -> Steps:
    first_type, rows = reader.schema.plan.codings[type_[1]]
    start = reader.window.here
    first = yield from reader.read(reader, first_type, place.part("code"))
    number = first.value
    assert isinstance(number, int)
    row = next((index for index, (low, high, _, _) in enumerate(rows) if low <= number <= high), None)
    if row is None:
        rule = place.rule or reader.schema.rules.get(type_[1])
        expected = f"a code of {type_[1]}"
        raise reader.fail("invalid_value", place, start, expected=expected, found=str(number), rule=rule)
    _, _, wide, is_null = rows[row]
    if wide is None:
        return reader.node(place, type_, start, None if is_null else number)
    rest = yield from reader.read(reader, wide, place.part("value"))
    assert isinstance(rest.value, int)
    if any(_row_holds(earlier, rest.value) for earlier in rows[:row]):
        # A rule of a coding is about its numbers; the form has a code of its own.
        raise reader.fail(
            "not_canonical", Place(place.name, place.path), start, expected="the narrowest form"
        )
    return reader.node(place, type_, start, rest.value, (first, rest))


def _row_holds(row: tuple[int, int, Type | None, bool], number: int) -> bool:
    low, high, wide, is_null = row
    if is_null:
        return False
    if wide is None:
        return low <= number <= high
    bits = 8 * wide[1] - bool(wide[2])
    lowest = -(1 << bits) if wide[2] else 0
    return bool(lowest <= number < 1 << bits)
