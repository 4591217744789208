"""A schema as JSON: a node is an object of its class and its values, defaults at the end left out, a tuple an array, a mapping an object of pairs."""

from __future__ import annotations

import json

from . import declarations, expressions, protocol, sessions, types
from .node import Node, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .protocol import Schema

__all__ = ["CLASSES", "dump", "load"]

CLASSES: dict[str, type[Node]] = {
    name: value
    for module in (types, expressions, declarations, sessions, protocol)
    for name, value in vars(module).items()
    if isinstance(value, type) and issubclass(value, Node) and value is not Node and name == value.__name__
}


def dump(schema: Schema) -> str:
    """Return the schema of a protocol as JSON, each declaration on a line of its own."""
    parts = (_lines(getattr(schema, name)) for name in fields_of(schema))
    return f'{{"{type(schema).__name__}":[\n' + ",\n".join(parts) + "\n]}\n"


def _lines(value: object) -> str:
    if not isinstance(value, dict) or not value:
        return _text(_plain(value))
    entries = ",\n".join(_text([key, _plain(each)]) for key, each in value.items())
    return f'{{"":[\n{entries}\n]}}'


def _text(plain: object) -> str:
    return json.dumps(plain, separators=(",", ":"))


def load(text: str) -> Schema:
    """Return the schema that `dump` wrote."""
    schema: Schema = _node(json.loads(text))
    return schema


def _plain(value: object) -> object:
    if isinstance(value, Node):
        return {type(value).__name__: [_plain(each) for each in _told(value)]}
    if isinstance(value, dict):
        return {"": [[key, _plain(each)] for key, each in value.items()]}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def _told(node: Node) -> list[object]:
    """Return the values of a node's fields, without those at its end that are defaults."""
    names, defaults = list(fields_of(node)), type(node)._defaults
    while names and names[-1] in defaults and getattr(node, names[-1]) == defaults[names[-1]]:
        names.pop()
    return [getattr(node, name) for name in names]


def _node(plain: object) -> Any:
    if type(plain) is list:
        return tuple([_node(each) for each in plain])
    if type(plain) is not dict:
        return plain
    ((name, values),) = plain.items()
    if name:
        return CLASSES[name](*[_node(each) for each in values])
    return {key: _node(each) for key, each in values}
