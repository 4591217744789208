"""The constructs of the language in schemas: classes of the model's nodes, options of their attributes, and
their nesting.
"""

from __future__ import annotations

import typing
from collections import Counter
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, Literal

from wiregen.runtime.schema import literals
from wiregen.runtime.schema.node import Node, fields_of
from wiregen.schema import model

__all__ = ["Census", "every_construct"]

_LITERALS = {
    "Operation": "operator",
    "Call": "function",
    "Checksum": "algorithm",
    "Text": "encoding",
    "Compressed": "algorithm",
    "FieldReference": "scope",
    "Position": "what",
    "Bits": "order",
    "Integer": "endian",
}
"""Attributes whose values are constructs of their own."""
_CLAUSES = {"Field": ("view", "value", "condition", "where"), "About": ("notes",)}
"""Attributes of a field, and of the facts about it, that are clauses of the grammar."""
_VIEWS = ("json", "dict", "type")


_UNIMPORTED = {**vars(literals), "Literal": Literal, "Field": model.Field, "View": model.View}
"""Names in annotations that modules of nodes import only for who checks types."""


class Census:
    """Counts the constructs of protocols, and the pairs of a node and one directly in it."""

    def __init__(self) -> None:
        self.constructs: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()

    def add(self, other: Census) -> None:
        """Add the counts of other protocols."""
        self.constructs += other.constructs
        self.pairs += other.pairs

    def take(self, protocol: model.Protocol) -> None:
        waiting: list[tuple[Node, str]] = [(protocol, "")]
        while waiting:
            node, owner = waiting.pop()
            names = list(_names(node))
            self.constructs.update(names)
            self.pairs.update((owner, name) for name in names if owner)
            for name in fields_of(node):
                value = getattr(node, name)
                for each in _held(value):
                    if isinstance(each, Node):
                        is_clause = name in _CLAUSES.get(names[0], ())
                        waiting.append((each, f"{names[0]}.{name}" if is_clause else names[0]))


def _held(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Mapping):
        return tuple(value.values())
    return value if type(value) is tuple else (value,)


def _names(node: Node) -> Iterator[str]:
    name = type(node).__name__
    yield name
    if name in _LITERALS:
        yield f"{name} {getattr(node, _LITERALS[name])}"
    if any(getattr(node, word, False) for word in ("lenient", "is_lenient")):
        yield f"{_family(type(node))} lenient"
    if getattr(node, "only", None) is not None:
        yield f"{_family(type(node))} only"
    yield from (f"{name}.{clause}" for clause in _CLAUSES.get(name, ()) if _is_used(getattr(node, clause)))
    if isinstance(node, model.Field) and node.view is not None:
        yield f"Field.view {node.view if isinstance(node.view, str) else 'type'}"


def _family(node: type) -> str:
    return "Reference" if issubclass(node, model.Reference) else node.__name__


def _is_used(clause: Any) -> bool:
    return clause is not None and clause != model.Notes()


def every_construct() -> set[str]:
    """Return the constructs that the model can hold, by its classes and their annotations."""
    found: set[str] = set()
    for name in model.__all__:
        node = getattr(model, name)
        if not isinstance(node, type) or node is Node:  # an alias of types
            continue
        found.add(name)
        hints = typing.get_type_hints(node, localns=_UNIMPORTED)
        if name in _LITERALS:
            found |= {f"{name} {value}" for value in _values(hints[_LITERALS[name]])}
        words = {word.removeprefix("is_") for word in ("lenient", "is_lenient", "only") if word in hints}
        found |= {f"{_family(node)} {word}" for word in words}
        found |= {f"{name}.{clause}" for clause in _CLAUSES.get(name, ())}
    return found | {f"Field.view {form}" for form in _VIEWS}


def _values(hint: Any) -> Iterator[str]:
    if isinstance(hint, UnionType):
        for each in typing.get_args(hint):
            yield from _values(each)
    yield from (value for value in typing.get_args(hint) if isinstance(value, str))
