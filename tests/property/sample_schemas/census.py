"""Which constructs of the language schemas have: classes of the model's nodes, options of their attributes, and what stands in what."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wiregen.runtime.schema import expressions
from wiregen.runtime.schema.node import Node, fields_of
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


def _literal_types() -> dict[str, Any]:
    """Return the names that the module of expressions gives to types only for who checks types: it imports no `typing` when it runs."""
    text = (
        Path(expressions.__file__)
        .read_text(encoding="utf-8")
        .replace("TYPE_CHECKING = False", "TYPE_CHECKING = True")
    )
    names: dict[str, Any] = {"__name__": expressions.__name__, "__package__": expressions.__package__}
    exec(compile(text, expressions.__file__, "exec"), names)  # noqa: S102 - a module of this project
    return names


_LITERAL_TYPES = _literal_types()


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
            for name in _parts(node):
                value = getattr(node, name)
                for each in value if type(value) is tuple else (value,):
                    if _is_node(each):
                        clause = isinstance(node, model.Field) and name in _CLAUSES
                        waiting.append((each, f"Field.{name}" if clause else names[0]))


def _is_node(value: Any) -> bool:
    return isinstance(value, Node) or dataclasses.is_dataclass(value)


def _parts(node: Any) -> tuple[str, ...]:
    if isinstance(node, Node):
        return fields_of(node)
    return tuple(field.name for field in dataclasses.fields(node))


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
        is_node = isinstance(node, type) and (dataclasses.is_dataclass(node) or issubclass(node, Node))
        if not is_node or node is model.Expression:
            continue
        found.add(name)
        hints = typing.get_type_hints(node, localns=_LITERAL_TYPES)
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
