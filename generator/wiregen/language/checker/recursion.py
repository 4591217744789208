"""Cycles: declarations that never end, derived values that depend on each other, items of no size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TypeAlias

from wiregen.language.checker.absences import is_positive
from wiregen.language.checker.inspection import Inspection, Record
from wiregen.language.diagnostics import Label
from wiregen.schema.graph import components
from wiregen.schema.model import (
    Bits,
    Bytes,
    Call,
    Checksum,
    Computed,
    Derived,
    Expression,
    Field,
    FieldReference,
    Frame,
    List,
    Message,
    MessageMatch,
    Position,
    Reference,
    Struct,
    Text,
    Trailing,
    Union,
)
from wiregen.schema.sizes import Sizes
from wiregen.schema.values import number_of
from wiregen.schema.walk import flat_fields, inner_expressions, matched_messages, references

__all__ = ["RULES", "Declaration", "contained", "declarations_of"]

Declaration: TypeAlias = Struct | Message | Frame | Union
_SIZE = "size "
_END = "end "
_MAX_STEPS = 8
"""The most fields of one cycle that a diagnostic shows."""
_MAX_CHECKED = 500
"""The most fields of one checksum that are checked."""


def _declaration_without_end(inspection: Inspection) -> None:
    declarations = declarations_of(inspection)
    positions = {name: position for position, name in enumerate(declarations)}
    for group in components(declarations, lambda name: contained(declarations, name)):
        first = declarations[min(group, key=positions.__getitem__)]
        is_circle = len(group) > 1 or first.name in contained(declarations, first.name)
        if is_circle and inspection.sizes.is_endless(first):
            inspection.error(
                "WG3020",
                f"`{first.name}` always contains itself, so its values never end",
                inspection.place(first.path, "name"),
                "contains itself",
                *_way_round(inspection, declarations, first, group),
                help_="make one field of the cycle a list, an alternative of a union, or optional with `if`",
            )


def _way_round(
    inspection: Inspection,
    declarations: Mapping[str, Declaration],
    first: Declaration,
    group: tuple[str, ...],
) -> Iterator[Label | None]:
    """Yield the fields through which a declaration contains itself, the first one of each step."""
    here, passed = first, {first.name}
    for _ in range(_MAX_STEPS):
        steps = tuple(_steps(inspection, here, group))
        # The step back to the first declaration is tried first, so that the shortest cycle is found.
        home = next((step for step in steps if step[1] == first.name), None)
        step = home or next((step for step in steps if step[1] not in passed), None)
        if step is None:
            return
        field, name = step
        yield inspection.also(field.path, "part of the cycle", "type")
        if home is not None:
            return
        here = declarations[name]
        passed.add(name)


def _steps(
    inspection: Inspection, declaration: Declaration, group: tuple[str, ...]
) -> Iterator[tuple[Field, str]]:
    """Yield the fields that always lead from one declaration of a cycle to the next, with the name of the latter."""
    for owner in declaration.varieties if isinstance(declaration, Union) else (declaration,):
        for field in flat_fields(owner.fields):
            for reference in references(field.type):
                if reference.name in group and inspection.sizes.is_endless(field):
                    yield field, reference.name


def _message_without_end(inspection: Inspection) -> None:
    """Refuse messages that always carry another one by its code, if each of those carries another one again."""
    messages = inspection.protocol.messages
    carrying = {message: tuple(_always_carried(messages, message)) for message in messages}
    endless = {message.name for message, carried in carrying.items() if carried}
    while True:
        left = {
            message.name
            for message, carried in carrying.items()
            if any(endless.issuperset(names) for _, names in carried)
        }
        if left == endless:
            break
        endless = left
    for message, carried in carrying.items():
        field = next((field for field, names in carried if endless.issuperset(names)), None)
        if field is not None:
            inspection.error(
                "WG3020",
                f"`{message.name}` always contains a message that contains another one, so its values never end",
                inspection.place(field.path, "type"),
                "contains another message",
                help_="make the field optional with `if`, or allow a message that contains no other",
            )


def _always_carried(
    messages: tuple[Message, ...], message: Message
) -> Iterator[tuple[Field, frozenset[str]]]:
    """Yield the fields that are always a message which a code chooses, each with the names of these messages."""
    for field in message.fields:
        is_always = field.condition is None and not isinstance(field.value, Trailing)
        if is_always and isinstance(field.type, MessageMatch):
            names = frozenset(each.name for each in matched_messages(messages, field.type, message.role))
            if names:
                yield field, names


def declarations_of(inspection: Inspection) -> dict[str, Declaration]:
    """Return the declarations that can contain fields or alternatives, by name."""
    protocol = inspection.protocol
    kinds = (protocol.structs, protocol.messages, protocol.frames, protocol.unions)
    return {declaration.name: declaration for kind in kinds for declaration in kind}


def contained(declarations: Mapping[str, Declaration], name: str) -> tuple[str, ...]:
    """Return the names of the declarations that a declaration refers to."""
    declaration = declarations[name]
    owners = declaration.varieties if isinstance(declaration, Union) else (declaration,)
    types = (field.type for owner in owners for field in owner.fields)
    return tuple(reference.name for reference in references(*types) if reference.name in declarations)


def _derived_in_a_circle(inspection: Inspection) -> None:
    for record in inspection.records:
        derived = [field.name for field in record.flat if isinstance(field.value, Derived)]
        for group in components(derived, partial(_needed, record)):
            if len(group) == 1 and group[0] not in _needed(record, group[0]):
                continue
            first, *rest = (record.by_name[node] for node in group[::-1] if node in record.by_name)
            inspection.error(
                "WG3021",
                f"`{first.name}` cannot be computed, because it depends on itself",
                inspection.place(first.path, "value"),
                "depends on itself",
                *(inspection.also(field.path, "part of the cycle", "value") for field in rest[:3]),
            )


def _needed(record: Record, node: str) -> tuple[str, ...]:
    """Return the nodes that must be known before `node`.

    A node is the name of a field for its value, `size NAME` for its size, `end POSITION` for the offset at its end.
    """
    if node.startswith(_SIZE):
        return tuple(name for name in _inside(node.removeprefix(_SIZE), record) if name in record.by_name)
    if node.startswith(_END):
        position = int(node.removeprefix(_END))
        before = (f"{_END}{position - 1}",) if position else ()
        return (f"{_SIZE}{record.flat[position].name}", *before)
    field = record.by_name[node]
    if not isinstance(field.value, Derived):
        return ()
    operands = tuple(_operands(field.value.value))
    ends = (f"{_END}{record.positions[node]}",) if Position(what="offset") in operands else ()
    return (*(name for each in operands for name in _named(each, record)), *ends)


def _operands(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and its operands; the size of a field does not depend on its value."""
    yield expression
    if not (isinstance(expression, Call) and expression.function == "size"):
        for inner in inner_expressions(expression):
            yield from _operands(inner)


def _named(expression: Expression, record: Record) -> Iterator[str]:
    match expression:
        case FieldReference(path=path, scope="own") if path and path[0] in record.by_name:
            yield path[0]
        case Call(function="size", arguments=(FieldReference(path=(name,), scope="own"), *_)):
            yield _SIZE + name
        case Checksum(first=first, last=last):
            yield from _between(record, first, last)
        case _:
            return


def _inside(name: str, record: Record) -> Iterator[str]:
    """Yield the fields inside a field whose own size depends on their value."""
    if name in record.by_name:
        inner = flat_fields((record.by_name[name],))
        yield from (field.name for field in inner if record.sizes.fixed_bits(field) is None)


def _between(record: Record, first: str, last: str) -> Iterator[str]:
    if first in record.positions and last in record.positions:
        low, high = record.positions[first], record.positions[last] + 1
        yield from (field.name for field in record.flat[low : min(high, low + _MAX_CHECKED)])


def _items_of_no_size(inspection: Inspection) -> None:
    for record in inspection.records:
        for field, type_ in record.shapes:
            if isinstance(type_, List) and _can_be_endless(type_, record.sizes):
                if _is_item_bounded(inspection, record, field, type_):
                    continue
                inspection.error(
                    "WG3022",
                    f"an item of `{field.name}` may be 0 bytes long, so a few bytes could announce any number of items",
                    inspection.place(field.path, "type"),
                    "number not bounded",
                    _empty_item(inspection, field, type_),
                    help_="give the item at least one byte, or use a constant number of items",
                )


def _is_item_bounded(inspection: Inspection, record: Record, field: Field, list_: List) -> bool:
    """Return whether conditions imply that no item is empty: `bytes[n][c]` where n is at least 1."""
    match list_.item:
        case Bytes(length=Computed(value=value)) | Text(length=Computed(value=value)):
            return is_positive(inspection, record, field, value)
        case _:
            return False


def _empty_item(inspection: Inspection, field: Field, list_: List) -> Label | None:
    """Return where the item is laid out: its declaration, else the field itself."""
    owner = declarations_of(inspection).get(list_.item.name) if isinstance(list_.item, Reference) else None
    if owner is not None:
        return inspection.also(owner.path, "may be 0 bytes long", "name")
    return inspection.also(field.path, "its items", "name")


def _can_be_endless(list_: List, sizes: Sizes) -> bool:
    is_constant = isinstance(list_.length, Computed) and number_of(list_.length.value) is not None
    return not is_constant and not isinstance(list_.item, Bits) and sizes.smallest(list_.item) == 0


RULES = (_declaration_without_end, _message_without_end, _derived_in_a_circle, _items_of_no_size)
