"""A layout without its names of places: two that are equal lay the same bytes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TypeAlias

__all__ = ["Shape", "shape_of"]

Shape: TypeAlias = "tuple[Shape, ...] | str | int | None"

_APART = frozenset({"path", "doc", "notes", "where_text", "where_rules", "view"})


def shape_of(value: object) -> Shape:
    """Return what a part of the model says, as plain tuples; where it stands and what is said about it are left out."""
    if isinstance(value, tuple):
        return tuple(shape_of(item) for item in value)
    if is_dataclass(value):
        parts = tuple(
            shape_of(getattr(value, field.name)) for field in fields(value) if field.name not in _APART
        )
        return (type(value).__name__, *parts)
    return value if isinstance(value, str | int) else None
