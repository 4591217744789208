"""The conditions under which the fields of a declaration, and of the structs that they hold, are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from wiregen.language.checker.lookup import Declared
from wiregen.schema.copies import replace
from wiregen.schema.model import (
    Arm,
    Block,
    Call,
    ContextReference,
    Expression,
    Field,
    FieldReference,
    Item,
    List,
    ListOf,
    Match,
    Negation,
    Number,
    Operation,
    Range,
    Region,
    Span,
    Trailing,
    Type,
)

__all__ = ["Fact", "Facts", "Placed", "is_one_of", "placed", "taken", "ways_inside"]

Fact: TypeAlias = tuple[Expression, bool]
"""A condition, and whether it holds."""
Facts: TypeAlias = tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """A field, the conditions under which it is there, and its types, each with the facts that hold there.

    Types are given down to blocks, whose fields are placed on their own.
    """

    field: Field
    above: Facts
    own: Facts
    laid: tuple[tuple[Facts, Type], ...]


def placed(fields: Iterable[Field], above: Facts) -> Iterator[Placed]:
    """Yield the fields of a declaration in wire order, those of blocks too."""
    for field in fields:
        own = (*above, *_own_fact(field))
        laid = tuple(_laid(field.type, own))
        yield Placed(field, above, own, laid)
        for facts, type_ in laid:
            if isinstance(type_, Block):
                yield from placed(type_.fields, facts)


def _own_fact(field: Field) -> Facts:
    """Return the condition of a field; a trailing one has a value where it is absent."""
    is_valued = field.condition is None or isinstance(field.value, Trailing)
    return () if is_valued or field.condition is None else ((field.condition, True),)


def _laid(type_: Type, facts: Facts) -> Iterator[tuple[Facts, Type]]:
    """Yield a type and the types in it, down to blocks, each with the facts that hold there."""
    yield facts, type_
    match type_:
        case Region(content=content):
            yield from _laid(content, facts)
        case List(item=item):
            yield from _laid(item, facts)
        case Match(subject=subject, arms=arms):
            for arm in arms:
                yield from _laid(arm.type, (*facts, taken(subject, arm, arms)))


def taken(subject: Expression, arm: Arm, arms: tuple[Arm, ...]) -> Fact:
    """Return the condition under which an arm is taken."""
    spans = arm.spans or tuple(span for each in arms for span in each.spans)
    return is_one_of(subject, spans), bool(arm.spans)


def is_one_of(subject: Expression, spans: tuple[Span, ...]) -> Expression:
    """Return the condition that a subject is one of some numbers."""
    items = tuple(Range(low=Number(value=each.low), high=Number(value=each.high)) for each in spans)
    return Operation(operator="in", left=subject, right=ListOf(items=items))


def ways_inside(declared: Declared, field: Field, path: tuple[str, ...]) -> list[Facts]:
    """Return the conditions under which a field inside `field` is there, one set for each place that has it.

    They are expressed in the names of the declaration that contains `field`.
    """
    inside = [each for each in placed(declared.fields_of(field.type), ()) if each.field.name == path[0]]
    if not inside:
        return [()]
    own = [each.own for each in inside]
    if path[1:]:
        own = [(*each, *more) for each in own for more in ways_inside(declared, inside[0].field, path[1:])]
    return [tuple((_within(field.name, condition), holds) for condition, holds in facts) for facts in own]


def _within(name: str, expression: Expression) -> Expression:
    """Return an expression of a struct, rewritten for the declaration whose field `name` holds the struct."""
    match expression:
        case FieldReference(path=path, scope="own"):
            return replace(expression, path=(name, *path))
        case ContextReference(keys=keys):
            return replace(expression, keys=tuple(_within(name, key) for key in keys))
        case Negation(operand=operand):
            return replace(expression, operand=_within(name, operand))
        case Operation(left=left, right=right):
            return replace(expression, left=_within(name, left), right=_within(name, right))
        case Range(low=low, high=high):
            return replace(expression, low=_within(name, low), high=_within(name, high))
        case ListOf(items=items):
            return replace(expression, items=tuple(_within(name, item) for item in items))
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(_within(name, each) for each in arguments))
        case Item(list=list_, index=index):
            return replace(expression, list=_within(name, list_), index=_within(name, index))
        case _:
            return expression
