"""The shape of a type: what lies in its regions, and the blocks that belong to the declaration around it."""

from __future__ import annotations

from .types import Block, Match, Region

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import overload

    from .declarations import Field
    from .elements import Element
    from .types import Type

__all__ = ["blocks", "content", "has_blocks", "is_flat"]


if TYPE_CHECKING:

    @overload
    def content(type_: Type) -> Type: ...
    @overload
    def content(type_: Element) -> Element: ...


def content(type_: Element) -> Element:
    """Return what lies in a region, or the type itself."""
    while isinstance(type_, Region):
        type_ = type_.content
    return type_


def blocks(type_: Element) -> Iterator[tuple[Field, ...]]:
    """Return the fields of all blocks that belong to the declaration of a field of this type."""
    match content(type_):
        case Block(fields):
            yield fields
        case Match(_, arms):
            for arm in arms:
                yield from blocks(arm.type)


def has_blocks(type_: Element) -> bool:
    """Say whether a field is a block, or a choice with one: other fields of the declaration are laid in its place."""
    return next(blocks(type_), None) is not None


def is_flat(type_: Element) -> bool:
    """Say whether a field has no value of its own: it is a block, or a choice among blocks only."""
    match content(type_):
        case Block():
            return True
        case Match(_, arms):
            return all(is_flat(arm.type) for arm in arms)
        case _:
            return False
