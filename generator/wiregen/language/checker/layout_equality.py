"""A layout without its names of places: two that are equal lay the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from wiregen.runtime.schema.node import Node, fields_of
from wiregen.schema.model import Field, ItemCondition

__all__ = ["Shape", "shape_of"]

Shape: TypeAlias = "tuple[Shape, ...] | str | int | None"

_APART = frozenset({"path", "doc", "notes"})
_APART_OF_CLASSES: Mapping[type[Node], frozenset[str]] = {
    Field: frozenset({"where_text", "rule", "is_secret", "view"}),
    ItemCondition: frozenset({"text"}),
}


def shape_of(value: object) -> Shape:
    """Return what a part of the model says, as plain tuples; where it stands and what is said about it are left out."""
    if isinstance(value, Node):
        apart = _APART | _APART_OF_CLASSES.get(type(value), frozenset())
        shapes = (shape_of(getattr(value, name)) for name in fields_of(value) if name not in apart)
        return (type(value).__name__, *shapes)
    if isinstance(value, tuple):
        return tuple(shape_of(item) for item in value)
    return value if isinstance(value, str | int) else None
