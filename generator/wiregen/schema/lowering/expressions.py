"""Expressions as codecs have them: those of the model without the names of numbers."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from wiregen.runtime.schema.expressions import Number
from wiregen.runtime.schema.node import Node, fields_of

__all__ = ["unnamed"]

_Part = TypeVar("_Part")


def unnamed(part: _Part) -> _Part:
    """Return an expression, or None, with plain numbers where the file has a constant or a member of an enum."""
    plain: Any = part
    if isinstance(part, Number):
        plain = Number(part.value)
    elif isinstance(part, Node):
        plain = type(part)(*(unnamed(getattr(part, name)) for name in fields_of(part)))
    elif isinstance(part, tuple):
        plain = tuple(map(unnamed, part))
    return cast(_Part, plain)
