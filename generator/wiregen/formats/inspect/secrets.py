"""Finds the fields that a terminal must not show."""

from collections.abc import Mapping
from typing import Any

from wiregen.formats.inspect.values import HIDDEN
from wiregen.runtime.schema.declarations import Field
from wiregen.runtime.schema.node import Node, nodes_in
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import (
    MessageMatch,
    RecordReference,
    StructReference,
    UnionReference,
)

__all__ = ["holds_secret", "may_hold_secret", "secret_names", "without_secrets"]

_BYTES = ("raw", "bytes")
"""The keys of a line whose values are a frame's bytes."""


def secret_names(schema: Schema) -> frozenset[str]:
    """Return the names of all `@secret` fields of a schema.

    A name that is secret in one declaration is hidden in all, because the partial message of an error lacks
    its declaration.
    """
    return frozenset(each.name for each in nodes_in(schema) if isinstance(each, Field) and each.is_secret)


def holds_secret(node: Any, names: frozenset[str]) -> bool:
    """Return whether a tree's node, or one below it, belongs to a secret field."""
    return bool(names) and any(below.name in names for below in node.walk())


def may_hold_secret(schema: Schema, message: str | None) -> bool:
    """Return whether the bytes of a message can hold those of a secret field; for an unknown one, whether any can."""
    if message is None or message not in schema.messages:
        return bool(secret_names(schema))
    return _reaches_secret(schema, schema.messages[message], set())


def without_secrets(line: Mapping[str, object], schema: Schema) -> dict[str, object]:
    """Return a line of decoded JSON in which the values of secret fields, and bytes that may hold them, are hidden."""
    names = secret_names(schema)
    if not names:
        return dict(line)
    shown = {key: _masked(value, names) for key, value in line.items()}
    partial = line.get("partial")
    message = partial.get("message") if isinstance(partial, dict) else line.get("message")
    if may_hold_secret(schema, message if isinstance(message, str) else None):
        shown |= dict.fromkeys((key for key in _BYTES if key in shown), HIDDEN)
    return shown


def _masked(value: object, names: frozenset[str]) -> object:
    match value:
        case dict():
            return {key: HIDDEN if key in names else _masked(each, names) for key, each in value.items()}
        case list():
            return [_masked(each, names) for each in value]
        case _:
            return value


def _reaches_secret(schema: Schema, part: object, seen: set[Node]) -> bool:
    for node in nodes_in(part):
        match node:
            case Field(is_secret=True):
                return True
            case StructReference(name) | UnionReference(name):
                declared = schema.structs if isinstance(node, StructReference) else schema.unions
                if node in seen:
                    continue
                seen.add(node)
                if _reaches_secret(schema, declared.get(name), seen):
                    return True
            case _ if isinstance(node, MessageMatch | RecordReference) and secret_names(schema):
                return True
    return False
