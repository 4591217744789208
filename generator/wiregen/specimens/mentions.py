"""What a plan's expressions say about fields: which numbers they are compared with, and which of them measure something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wiregen.runtime.schema.protocol import Schema

__all__ = ["Mentions", "mentions_of", "nodes_in"]

_LARGEST = 2**64


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """By the name of a field, whichever declaration it is in: names that are alike mean much the same.

    Attributes:
        numbers: What it is compared with; `counts`: what its length is.
        measuring: Fields that say how long something is.
        deciding: Fields on which it depends what follows.
        asks_for_room: Something depends on the bytes that are left.
        asks_for_place: Something depends on the bytes since the frame began.
    """

    numbers: dict[str, tuple[int, ...]]
    counts: dict[str, tuple[int, ...]]
    measuring: frozenset[str]
    deciding: frozenset[str]
    asks_for_room: bool
    asks_for_place: bool


def mentions_of(plan: Schema) -> Mentions:
    """Return what the expressions of a plan say."""
    nodes = list(
        nodes_in(
            [
                getattr(plan, kind)
                for kind in ("structs", "messages", "frames", "preambles", "unions", "joins")
            ]
        )
    )
    nodes += nodes_in([plan.variants, plan.contexts])
    numbers: dict[str, list[int]] = {}
    for node in nodes:
        for name, number in (*_compared(node, plan.limits), *_of_items(node, plan.limits)):
            if number not in numbers.setdefault(name, []):
                numbers[name].append(number)
    counts: dict[str, dict[int, None]] = {}
    for node in nodes:
        for name, number in _counted(node, plan.limits):
            counts.setdefault(name, {})[number] = None
    measuring = {name for node in nodes for name in _measured(node)}
    measuring |= {
        field for entry in plan.contexts.values() for _, field, _ in entry[3] if entry[0][0] != "enum"
    }
    deciding = {name for node in nodes for name in _decided(node)}
    deciding |= {
        name for join in plan.joins.values() for _, _, when in (*join[3], *join[4]) for name in _names(when)
    }
    return Mentions(
        numbers={name: tuple(found) for name, found in numbers.items()},
        counts={name: tuple(found) for name, found in counts.items()},
        measuring=frozenset(measuring),
        deciding=frozenset(deciding),
        asks_for_room=("position", "remaining") in nodes,
        asks_for_place=("position", "offset") in nodes,
    )


def nodes_in(part: Any) -> Iterator[tuple[Any, ...]]:
    """Return every tuple below."""
    if isinstance(part, dict):
        part = tuple(part.values())
    if isinstance(part, tuple | list):
        if isinstance(part, tuple):
            yield part
        for inner in part:
            yield from nodes_in(inner)


def _compared(node: tuple[Any, ...], limits: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    match node:
        case ("operation", _, left, right):
            pairs: tuple[tuple[Any, Any], ...] = ((left, right), (right, left))
        case ("match", subject, arms) if isinstance(arms, tuple):
            pairs = (
                (subject, tuple(("number", edge) for spans, _ in arms for span in spans for edge in span)),
            )
        case _:
            return
    for side, other in pairs:
        numbers = [number for number in _numbers(other, limits) if abs(number) < _LARGEST]
        yield from ((name, number) for name in _names(side) for number in numbers)


def _of_items(node: tuple[Any, ...], limits: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the numbers that the items of a field's lists are compared with, each with the field's name."""
    match node:
        case (str(name), bool(), tuple() as type_, _, _, _, _, _, _):
            for inner in nodes_in(type_):
                match inner:
                    case ("list", _, _, _, _, (condition, str())):
                        yield from ((name, number) for number in _numbers(condition, limits))


def _counted(node: tuple[Any, ...], limits: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    match node:
        case ("operation", _, left, right):
            for side, other in ((left, right), (right, left)):
                match side:
                    case ("call", "count", (argument,)):
                        name = str(argument[1][-1]) if argument[0] == "field" and argument[1] else "value"
                        yield from ((name, number) for number in _numbers(other, limits))


def _numbers(part: Any, limits: Mapping[str, Any]) -> Iterator[int]:
    for node in nodes_in(part):
        match node:
            case ("number", int(number)):
                yield number
            case ("limit", name) if isinstance(limits.get(name), int):
                yield limits[name]


def _names(part: Any) -> Iterator[str]:
    """Return the fields that are asked for their value; of a path the last."""
    for node in nodes_in(part):
        match node:
            case ("call", _, _):
                return
            case ("field", path, _) if path:
                yield path[-1]


def _measured(node: tuple[Any, ...]) -> Iterator[str]:
    match node:
        case ("computed" | "size", expression) if isinstance(expression, tuple):
            yield from _names(expression)
            for inner in nodes_in(expression):
                if inner[:1] == ("field",):
                    yield inner[1][-1]


def _decided(node: tuple[Any, ...]) -> Iterator[str]:
    match node:
        case (str(), bool(), type_, _, condition, _, str(), _, _) if isinstance(type_, tuple):
            yield from _names(condition)
        case ("match", subject, _):
            yield from _names(subject)
        case ("message_match", subject, _, _):
            yield from _names(subject)
