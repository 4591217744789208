"""Declarations that can contain themselves: `limits.depth` counts how many of them are inside each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.declared import kept
from wiregen.schema.graph import components
from wiregen.schema.walk import nested_types, references

__all__ = ["around_circular", "circular", "inside_circular", "varied"]

_Declared = TypeVar("_Declared", m.Frame, m.Struct, m.Message, m.Preamble)


@kept
def circular(protocol: m.Protocol) -> frozenset[str]:
    """Return the structs, messages, frames and unions that can contain themselves."""
    held = _held(protocol)
    groups = components(held, lambda name: held.get(name, ()))
    return frozenset(
        name for group in groups if len(group) > 1 or group[0] in held.get(group[0], ()) for name in group
    )


@kept
def inside_circular(protocol: m.Protocol) -> frozenset[str]:
    """Return the declarations that a declaration which can contain itself can contain."""
    held = _held(protocol)
    found: set[str] = set()
    waiting = list(circular(protocol))
    while waiting:
        new = set(held.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return frozenset(found)


@kept
def around_circular(protocol: m.Protocol) -> frozenset[str]:
    """Return the declarations that can contain themselves, and those that can contain one of these."""
    held, found = _held(protocol), set(circular(protocol))
    for (name, *_) in components(held, lambda name: held.get(name, ())):  # each after those that it leads to
        if not found.isdisjoint(held.get(name, ())):
            found.add(name)
    return frozenset(found)


def varied(protocol: m.Protocol, variant: m.Variant) -> m.Protocol:
    """Return the protocol with a variant's layouts in place of its own."""
    return replace(
        protocol,
        frames=_replaced(protocol.frames, variant.frames),
        structs=_replaced(protocol.structs, variant.structs),
        messages=_replaced(protocol.messages, variant.messages),
        preambles=_replaced(protocol.preambles, variant.preambles),
    )


def _replaced(own: tuple[_Declared, ...], others: tuple[_Declared, ...]) -> tuple[_Declared, ...]:
    names = {other.name: other for other in others}
    return tuple(names.get(each.name, each) for each in own)


def _held(protocol: m.Protocol) -> dict[str, frozenset[str]]:
    """Return for each declaration those that its fields name; a match of messages names all messages with codes."""
    owners: tuple[m.Struct | m.Message | m.Frame, ...] = (
        *protocol.structs, *protocol.messages, *protocol.frames,
    )  # fmt: skip
    fields = {owner.name: owner.fields for owner in owners}
    for union in protocol.unions:
        fields[union.name] = tuple(field for variety in union.varieties for field in variety.fields)
    return {name: frozenset(_named(protocol, each)) for name, each in fields.items()}


def _named(protocol: m.Protocol, fields: tuple[m.Field, ...]) -> Iterator[str]:
    types = tuple(field.type for field in fields)
    if any(isinstance(type_, m.MessageMatch) for type_ in nested_types(*types)):
        yield from (each.name for each in protocol.messages if each.code is not None)
    yield from (reference.name for reference in references(*types))
