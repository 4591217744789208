"""The facts about fields in the expressions of a schema: the numbers they are compared with, and which are
lengths or counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wiregen.runtime.schema.declarations import Field
from wiregen.runtime.schema.expressions import (
    Call,
    Checksum,
    ContextReference,
    Expression,
    FieldReference,
    JoinReference,
    LimitReference,
    Number,
    Operation,
    Position,
    RoleReference,
    VariableReference,
)
from wiregen.runtime.schema.node import Node, nodes_in
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import Computed, EnumReference, InSize, List, Match, MessageMatch

__all__ = ["Mentions", "mentions_of", "own_fields"]

_LARGEST = 2**64
_ELSEWHERE = (ContextReference, VariableReference, JoinReference, RoleReference, Position, Checksum)
_MOST_REMAINING = 33
"""Bytes after a field, in messages with small values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """Facts by the name of a field, whichever its declaration: equal names have similar meanings.

    Attributes:
        numbers: Numbers that it is compared with; `counts`: numbers that its length is compared with.
        measuring: Fields that hold the length of another element.
        deciding: Fields on which later elements depend.
        asks_for_room: An expression depends on the number of remaining bytes.
        asks_for_place: An expression depends on the offset in the frame.
    """

    numbers: dict[str, tuple[int, ...]]
    counts: dict[str, tuple[int, ...]]
    measuring: frozenset[str]
    deciding: frozenset[str]
    asks_for_room: bool
    asks_for_place: bool


def mentions_of(schema: Schema) -> Mentions:
    """Return the facts in the expressions of a schema."""
    parts = (schema.structs, schema.messages, schema.frames, schema.preambles, schema.unions, schema.joins)
    nodes = list(nodes_in((*parts, schema.variants, schema.contexts)))
    numbers: dict[str, dict[int, None]] = {}
    for node in nodes:
        for name, number in (*_compared(node, schema.limits), *_of_items(node, schema.limits)):
            numbers.setdefault(name, {})[number] = None
    counts: dict[str, dict[int, None]] = {}
    for node in nodes:
        for name, number in _counted(node, schema.limits):
            counts.setdefault(name, {})[number] = None
    measuring = {name for node in nodes for name in _measured(node)}
    measuring |= {
        setting.field
        for entry in schema.contexts.values()
        for setting in entry.settings
        if not isinstance(entry.type, EnumReference)
    }
    deciding = {name for node in nodes for name in _decided(node)}
    deciding |= {
        name
        for join in schema.joins.values()
        for setting in (*join.parts, *join.lasts)
        for name in _names(setting.when)
    }
    return Mentions(
        numbers={name: tuple(found) for name, found in numbers.items()},
        counts={name: tuple(found) for name, found in counts.items()},
        measuring=frozenset(measuring),
        deciding=frozenset(deciding),
        asks_for_room=Position("remaining") in nodes,
        asks_for_place=Position("offset") in nodes,
    )


def own_fields(expression: Expression) -> frozenset[str] | None:
    """Return the fields of the same declaration that determine an expression, or None if something else does too."""
    nodes = tuple(nodes_in(expression))
    names = [each for each in nodes if isinstance(each, FieldReference)]
    if any(isinstance(each, _ELSEWHERE) for each in nodes) or any(each.scope != "own" for each in names):
        return None
    return frozenset(each.path[0] for each in names)


def _compared(node: Node, limits: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    pairs: list[tuple[Expression, Iterable[int]]] = []
    match node:
        case Operation(_, left, right):
            pairs = [(left, _numbers(right, limits)), (right, _numbers(left, limits))]
        case Match(subject, arms):
            spans = [span for arm in arms for span in arm.spans]
            pairs = [(subject, [edge for span in spans for edge in (span.low, span.high)])]
    for side, found in pairs:
        numbers = [number for number in found if abs(number) < _LARGEST]
        yield from ((name, number) for name in _names(side) for number in numbers)


def _of_items(node: Node, limits: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the numbers that the items of a field's lists are compared with, each with the field's name."""
    if isinstance(node, Field):
        for inner in nodes_in(node.type):
            if isinstance(inner, List) and inner.where is not None:
                yield from ((node.name, number) for number in _numbers(inner.where.condition, limits))


def _counted(node: Node, limits: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    if isinstance(node, Operation):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            match side:
                case Call("count", (argument,)):
                    path = argument.path if isinstance(argument, FieldReference) else ()
                    name = path[-1] if path else "value"
                    yield from ((name, number) for number in _numbers(other, limits))


def _numbers(part: Expression, limits: Mapping[str, Any]) -> Iterator[int]:
    for node in nodes_in(part):
        match node:
            case Number(number):
                yield number
            case LimitReference(name) if isinstance(limits.get(name), int):
                yield limits[name]
            case Position("remaining"):  # known only when the later fields have values: one of these is right
                yield from range(_MOST_REMAINING)


def _names(part: Expression | None) -> Iterator[str]:
    """Return the fields whose value an expression uses; of a path its last field."""
    for node in nodes_in(part):
        match node:
            case Call():
                return
            case FieldReference(path) if path:
                yield path[-1]


def _measured(node: Node) -> Iterator[str]:
    match node:
        case Computed(expression) | InSize(expression):
            yield from (inner.path[-1] for inner in nodes_in(expression) if isinstance(inner, FieldReference))


def _decided(node: Node) -> Iterator[str]:
    match node:
        case Field(condition=condition):
            yield from _names(condition)
        case Match(subject) | MessageMatch(subject):
            yield from _names(subject)
