"""Declarations whose values never end, because each contains another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from wiregen.language.checker.inspection import Inspection
from wiregen.language.diagnostics import Label
from wiregen.schema.graph import components
from wiregen.schema.model import (
    Field,
    Frame,
    Message,
    MessageMatch,
    Struct,
    Trailing,
    Union,
)
from wiregen.schema.walk import every_field, matched_messages, references

__all__ = ["RULES", "Declaration", "contained", "declarations_of"]

Declaration: TypeAlias = Struct | Message | Frame | Union
_MAX_STEPS = 8
"""The most fields of one cycle that a diagnostic shows."""


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
        for field in every_field(owner.fields):
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


RULES = (_declaration_without_end, _message_without_end)
