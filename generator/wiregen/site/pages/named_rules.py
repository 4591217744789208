"""The rules that a file names, and facts about its names, which decide what errors a decoder may report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wiregen.schema import model as m
from wiregen.schema.field_facts import fields_reach_end
from wiregen.schema.lowering import limits_of
from wiregen.schema.values import number_of
from wiregen.schema.walk import every_field

__all__ = ["NamedRules", "may_be_negative", "named_by"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRules:
    """The rules that a file names at limits and declarations, and facts about its names.

    `unsigned`: names of fields that are never negative; `contexts`: the same of contexts. `open_enums`: enums
    that accept every number. `bounds`: the default of each limit, None for no limit. `endless`: for each
    union, the alternatives that extend to the end of their region, each with its rule.
    """

    protocol: m.Protocol
    limits: Mapping[str, str]
    bounds: Mapping[str, int | None]
    types: Mapping[str, str]
    unsigned: frozenset[str]
    contexts: frozenset[str]
    open_enums: frozenset[str]
    codings: Mapping[str, m.Coding]
    endless: Mapping[str, tuple[tuple[str, str], ...]]


def named_by(protocol: m.Protocol) -> NamedRules:
    """Return the rules and facts that a file declares of its limits, unions and enums."""
    types = {each.name: each.notes.rule for each in protocol.unions}
    types |= {each.name: each.notes.rule for each in protocol.enums}
    return NamedRules(
        protocol=protocol,
        limits={limit.name: limit.notes.rule or "" for limit in protocol.limits},
        bounds=limits_of(protocol),
        types={name: rule for name, rule in types.items() if rule is not None},
        unsigned=_unsigned(protocol),
        contexts=frozenset(each.name for each in protocol.contexts if _is_unsigned(each.type)),
        open_enums=frozenset(each.name for each in protocol.enums if each.is_open),
        codings={each.name: each for each in protocol.codings},
        endless={
            union.name: tuple(
                (each.name, each.notes.rule or "")
                for each in union.varieties
                if fields_reach_end(each.fields, protocol)
            )
            for union in protocol.unions
        },
    )


def _unsigned(protocol: m.Protocol) -> frozenset[str]:
    owners: list[tuple[m.Field, ...]] = [each.fields for each in protocol.frames]
    owners += [each.fields for each in protocol.preambles]
    owners += [each.fields for each in protocol.messages]
    owners += [each.fields for each in protocol.structs]
    owners += [variety.fields for union in protocol.unions for variety in union.varieties]
    fields = [field for some in owners for field in every_field(some)]
    signed = {field.name for field in fields if not _is_unsigned(field.type)}
    return frozenset(field.name for field in fields) - signed


def _is_unsigned(type_: m.Type) -> bool:
    match type_:
        case m.Integer(is_signed=signed):
            return not signed
        case m.Varint(is_zigzag=zigzag):
            return not zigzag
        case _:
            return isinstance(type_, m.Bits)


def may_be_negative(value: m.Expression, named: NamedRules) -> bool:
    """Return whether a length may be below zero; True where that is not certain."""
    number = number_of(value)
    if number is not None:
        return number < 0
    match value:
        case m.FieldReference(path=path):
            return not path or path[-1] not in named.unsigned
        case m.ContextReference(context=name):
            return name not in named.contexts
        case m.Call(function="size" | "count") | m.LimitReference() | m.Position():
            return False
        case m.Call(function="min" | "max", arguments=parts):
            return any(may_be_negative(part, named) for part in parts)
        case m.Operation(operator="+" | "*" | "/" | "%", left=left, right=right):
            return may_be_negative(left, named) or may_be_negative(right, named)
        case _:
            return True
