"""The shape of a type: the content of its regions, and the blocks that belong to the enclosing declaration."""

from __future__ import annotations

from .types import Block, Counted, Match, Region, StructReference, ToEnd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import overload

    from .declarations import Field
    from .elements import Element
    from .types import Type

__all__ = [
    "blocks",
    "content",
    "fields_reach_end",
    "has_blocks",
    "is_flat",
    "is_to_the_end",
    "reaches_end",
]


if TYPE_CHECKING:

    @overload
    def content(type_: Type) -> Type: ...
    @overload
    def content(type_: Element) -> Element: ...


def content(type_: Element) -> Element:
    """Return the content of a region, or the type itself."""
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
    """Return whether a field is a block, or a choice with one: other fields of the declaration are laid in its place."""
    return next(blocks(type_), None) is not None


def is_flat(type_: Element) -> bool:
    """Return whether a field has no value of its own: it is a block, or a choice among blocks only."""
    match content(type_):
        case Block():
            return True
        case Match(_, arms):
            return all(is_flat(arm.type) for arm in arms)
        case _:
            return False


def is_to_the_end(type_: Type) -> bool:
    """Return whether a type itself has the length `[]`: up to the end of its region."""
    if isinstance(type_, Region):
        return isinstance(type_.carrier.length, ToEnd)
    return isinstance(type_, Counted) and isinstance(type_.length, ToEnd)


def reaches_end(type_: Type, structs: Mapping[str, tuple[Field, ...]], seen: tuple[str, ...] = ()) -> bool:
    """Return whether a type, or the last field of it, takes all bytes left in its region."""
    match type_:
        case StructReference(name):
            return name not in seen and fields_reach_end(structs[name], structs, (*seen, name))
        case Block(fields):
            return fields_reach_end(fields, structs, seen)
        case _:
            return is_to_the_end(type_)


def fields_reach_end(
    fields: tuple[Field, ...], structs: Mapping[str, tuple[Field, ...]], seen: tuple[str, ...] = ()
) -> bool:
    """Return whether one of the fields of a declaration or block takes all bytes left in its region."""
    return bool(fields) and reaches_end(fields[-1].type, structs, seen)
