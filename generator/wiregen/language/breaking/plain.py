"""Nodes without what has no effect on bytes: documentation, places, and the names of numbers and of renamed parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar, cast

from wiregen.runtime.schema.node import Node, fields_of
from wiregen.schema import model as m
from wiregen.schema.copies import replace

__all__ = ["Renames", "plain"]

_Part = TypeVar("_Part")
_SILENT: Final = frozenset(
    {"doc", "path", "notes", "rule", "where_text", "text", "is_character", "is_secret", "view", "reserved"}
)
"""Attributes of nodes that no byte depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renames:
    """The new names of renamed declarations, fields and roles by their old ones; and the old and new byte order."""

    declarations: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    """Of the fields of the declaration that is compared."""
    roles: Mapping[str, str] = field(default_factory=dict)
    endian: Mapping[str, str] = field(default_factory=dict)

    def within(self, own: Mapping[str, str]) -> Renames:
        """Return the same inside a declaration with these renamed fields."""
        return replace(self, own=own)


def plain(part: _Part, renames: Renames) -> _Part:
    """Return a part of the model that is equal to another one if both mean the same bytes.

    Fields keep their names, by which they are matched.
    """
    return cast(_Part, _plain(part, renames))


def _plain(part: object, renames: Renames) -> object:
    if type(part) is tuple:  # a node is one, too
        return tuple(_plain(each, renames) for each in part)
    if isinstance(part, m.Number):  # constants and members of enums too
        return m.Number(value=part.value)
    if not isinstance(part, Node):
        return part
    values = {name: _value(part, name, renames) for name in fields_of(part)}
    return type(part)(**values)


def _value(node: Node, name: str, renames: Renames) -> object:
    """Return an attribute of a node: renamed, or a value that is the same in all nodes if no byte depends on it."""
    value = getattr(node, name)
    if name in _SILENT:
        return None
    match node, name:
        case m.FieldReference(scope=scope), "path":
            return _path(value, renames, is_own=scope == "own")
        case m.Checksum(), "first" | "last":
            return renames.own.get(value, value)
        case m.Field(), "name":
            return renames.own.get(value, value)
        case m.RoleReference(), "name":
            return renames.roles.get(value, value)
        case _, "role":
            return renames.roles.get(value, value)
        case (m.Integer(size=1) | m.Text(encoding="utf8" | "mutf8" | "ascii" | "latin1")), "endian":
            return "big"
        case _, "endian":
            return renames.endian.get(value, value)
        case _, "roles":
            return tuple(renames.roles.get(each, each) for each in value)
        case _, "field" | "message" if isinstance(value, str):
            return renames.declarations.get(value, renames.fields.get(value, value))
        case _, "target" | "struct":
            return renames.declarations.get(value, value)
        case _, "name" if isinstance(node, m.Reference):
            return renames.declarations.get(value, value)
        case _, "targets" | "only" if value is not None:
            return tuple(sorted(renames.declarations.get(each, each) for each in value))
        case _:
            return _plain(value, renames)


def _path(path: tuple[str, ...], renames: Renames, *, is_own: bool) -> tuple[str, ...]:
    first = renames.own if is_own else renames.fields
    return tuple((renames.fields if index else first).get(each, each) for index, each in enumerate(path))
