"""The shape of a layout, without places and names: two layouts of equal shape encode the same bytes."""

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
    """Return a part of the model as plain tuples, without its places and its documentation."""
    if isinstance(value, Node):
        apart = _APART | _APART_OF_CLASSES.get(type(value), frozenset())
        shapes = (shape_of(getattr(value, name)) for name in fields_of(value) if name not in apart)
        return (type(value).__name__, *shapes)
    if isinstance(value, tuple):
        return tuple(shape_of(item) for item in value)
    return value if isinstance(value, str | int) else None
