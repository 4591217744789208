"""Schemas from JSON: a node is an object of its class and its values, defaults at the end left out, a tuple an array, a mapping an object of pairs."""

from __future__ import annotations

import json

from . import declarations, expressions, protocol, sessions, types
from .node import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .protocol import Schema

__all__ = ["CLASSES", "load"]

CLASSES: dict[str, type[Node]] = {
    name: value
    for module in (types, expressions, declarations, sessions, protocol)
    for name, value in vars(module).items()
    if isinstance(value, type) and issubclass(value, Node) and value is not Node and name == value.__name__
}


def load(text: str) -> Schema:
    """Return the schema that `wiregen.schema.notation.dump` wrote."""
    schema: Schema = _node(json.loads(text))
    return schema


def _node(plain: object) -> Any:
    if type(plain) is list:
        return tuple([_node(each) for each in plain])
    if type(plain) is not dict:
        return plain
    ((name, values),) = plain.items()
    if name:
        return CLASSES[name](*[_node(each) for each in values])
    return {key: _node(each) for key, each in values}
