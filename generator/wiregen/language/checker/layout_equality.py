"""A layout without its names of places: two that are equal lay the same bytes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TypeAlias

from wiregen.runtime.schema.node import Node, fields_of

__all__ = ["Shape", "shape_of"]

Shape: TypeAlias = "tuple[Shape, ...] | str | int | None"

_APART = frozenset({"path", "doc", "notes", "where_text", "where_rules", "view"})


def shape_of(value: object) -> Shape:
    """Return what a part of the model says, as plain tuples; where it stands and what is said about it are left out."""
    if isinstance(value, Node):
        return (type(value).__name__, *(shape_of(getattr(value, name)) for name in fields_of(value)))
    if isinstance(value, tuple):
        return tuple(shape_of(item) for item in value)
    if is_dataclass(value):
        names = (field.name for field in fields(value) if field.name not in _APART)
        return (type(value).__name__, *(shape_of(getattr(value, name)) for name in names))
    return value if isinstance(value, str | int) else None
