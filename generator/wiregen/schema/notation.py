"""Schemas as JSON, as generated packages hold them and `runtime.schema.notation` reads them."""

from __future__ import annotations

import json

from wiregen.runtime.schema.node import Node, fields_of
from wiregen.runtime.schema.protocol import Schema

__all__ = ["dump"]


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


def _plain(value: object) -> object:
    if isinstance(value, Node):
        return {type(value).__name__: [_plain(each) for each in _values(value)]}
    if isinstance(value, dict):
        return {"": [[key, _plain(each)] for key, each in value.items()]}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def _values(node: Node) -> list[object]:
    """Return the values of a node's fields, without defaults at its end."""
    names, defaults = list(fields_of(node)), type(node)._defaults
    while names and names[-1] in defaults and getattr(node, names[-1]) == defaults[names[-1]]:
        names.pop()
    return [getattr(node, name) for name in names]
