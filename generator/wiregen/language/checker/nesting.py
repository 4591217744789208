"""Bounds of nesting. Later stages walk types by recursion, so these rules run before all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wiregen.language.checker.inspection import Inspection
from wiregen.language.checker.recursion import Declaration, contained, declarations_of
from wiregen.schema.graph import components
from wiregen.schema.model import Field, Reference, Type, Union
from wiregen.schema.walk import inner_types

__all__ = ["MAX_DECLARATIONS", "MAX_TYPES", "check_nesting"]

MAX_TYPES: Final = 16
"""The most types inside each other in one field."""
MAX_DECLARATIONS: Final = 64
"""The most types and declarations inside each other in one message."""


def check_nesting(inspection: Inspection) -> bool:
    """Report types (WG3078) and declarations (WG3079) nested too deeply; return whether all are within the bounds.

    The work is linear in the size of the protocol.
    """
    declarations = declarations_of(inspection)
    depths: dict[str, int] = {}
    is_bounded = True
    for group in components(declarations, lambda name: contained(declarations, name)):
        for name in group:
            found = _depth(inspection, declarations[name], depths)
            is_bounded &= found is not None
            depths[name] = found or 0  # whatever contains it is not reported again
    return is_bounded


def _depth(inspection: Inspection, declaration: Declaration, depths: dict[str, int]) -> int | None:
    """Return how many levels a declaration has, itself included, or None where too many were reported."""
    deepest = 1
    for field in _fields(declaration):
        for type_, depth in _levels(field.type):
            if depth > MAX_TYPES:
                _too_many_types(inspection, field)
                return None
            inner = depths.get(type_.name, 0) if isinstance(type_, Reference) else 0
            deepest = max(deepest, 1 + depth + inner)
    if deepest <= MAX_DECLARATIONS:
        return deepest
    inspection.error(
        "WG3079",
        f"`{declaration.name}` contains more than {MAX_DECLARATIONS} levels of declarations and types",
        inspection.place(declaration.path, "name"),
        "nested too deeply",
        help_="put the fields of some declarations into the one that contains them, or make a list of them",
    )
    return None


def _too_many_types(inspection: Inspection, field: Field) -> None:
    inspection.error(
        "WG3078",
        f"the type of `{field.name}` has more than {MAX_TYPES} types inside each other",
        inspection.place(field.path, "type"),
        "nested too deeply",
        help_="declare a struct for the inner part, or use fewer lists of lists",
    )


def _fields(declaration: Declaration) -> Iterator[Field]:
    for owner in declaration.varieties if isinstance(declaration, Union) else (declaration,):
        yield from owner.fields


def _levels(root: Type) -> Iterator[tuple[Type, int]]:
    """Yield the types in a type with their depth; the root has depth 0."""
    stack = [(root, 0)]
    while stack:
        type_, depth = stack.pop()
        yield type_, depth
        stack.extend((inner, depth + 1) for inner in inner_types(type_))
