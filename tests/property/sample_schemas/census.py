"""Which constructs of the language schemas have: classes of the model's nodes, options of their attributes, and what stands in what."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections import Counter
from collections.abc import Iterator
from typing import Any

from wiregen.schema import model

__all__ = ["Census", "every_construct"]

_LITERALS = {
    "Operation": "operator",
    "Call": "function",
    "Checksum": "algorithm",
    "Text": "encoding",
    "InCompressed": "algorithm",
    "FieldReference": "scope",
    "Position": "what",
    "View": "form",
    "Reference": "target",
    "Bits": "order",
    "Integer": "endian",
}
"""Attributes whose values are constructs of their own."""
_CLAUSES = ("view", "value", "condition", "where", "notes")
"""Attributes of a field that are clauses of the grammar."""


class Census:
    """Counts the constructs of protocols, and the pairs of a node and one that stands directly in it."""

    def __init__(self) -> None:
        self.constructs: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()

    def take(self, protocol: model.Protocol) -> None:
        waiting: list[tuple[Any, str]] = [(protocol, "")]
        while waiting:
            node, owner = waiting.pop()
            names = list(_names(node))
            self.constructs.update(names)
            self.pairs.update((owner, name) for name in names if owner)
            for field in dataclasses.fields(node):
                value = getattr(node, field.name)
                for each in value if isinstance(value, tuple) else (value,):
                    if dataclasses.is_dataclass(each):
                        clause = isinstance(node, model.Field) and field.name in _CLAUSES
                        waiting.append((each, f"Field.{field.name}" if clause else names[0]))


def _names(node: Any) -> Iterator[str]:
    name = type(node).__name__
    yield name
    if name in _LITERALS:
        yield f"{name} {getattr(node, _LITERALS[name])}"
    if getattr(node, "lenient", False):
        yield f"{name} lenient"
    if getattr(node, "only", None) is not None:
        yield f"{name} only"
    if isinstance(node, model.Field):
        yield from (f"Field.{clause}" for clause in _CLAUSES if _is_used(getattr(node, clause)))


def _is_used(clause: Any) -> bool:
    return clause is not None and clause != model.Notes()


def every_construct() -> set[str]:
    """Return the constructs that the model can hold, by its classes and their annotations."""
    found: set[str] = set()
    for name in model.__all__:
        node = getattr(model, name)
        if not (isinstance(node, type) and dataclasses.is_dataclass(node)):
            continue
        found.add(name)
        hints = typing.get_type_hints(node)
        if name in _LITERALS:
            found |= {f"{name} {value}" for value in _values(hints[_LITERALS[name]])}
        found |= {f"{name} {word}" for word in ("lenient", "only") if word in hints}
        if node is model.Field:
            found |= {f"Field.{clause}" for clause in _CLAUSES}
    return found


def _values(hint: Any) -> Iterator[str]:
    if isinstance(hint, types.UnionType):
        for each in typing.get_args(hint):
            yield from _values(each)
    yield from (value for value in typing.get_args(hint) if isinstance(value, str))
