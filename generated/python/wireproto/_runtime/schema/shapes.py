"""The shape of a type: the content of its regions, and the blocks that belong to the enclosing declaration."""

from __future__ import annotations

from .types import Block, Counted, Match, Region, StructReference, ToEnd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeVar, overload

    from .declarations import Field
    from .elements import Element
    from .types import Type

    T = TypeVar("T")

__all__ = [
    "blocks",
    "content",
    "every_field",
    "fields_below",
    "fields_reach_end",
    "has_blocks",
    "is_flat",
    "is_to_the_end",
    "leaves",
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


def leaves(type_: Element) -> Iterator[Element]:
    """Yield what is left of a type without its regions and choices: the types of all arms, or its own."""
    match content(type_):
        case Match(_, arms):
            for arm in arms:
                yield from leaves(arm.type)
        case leaf:
            yield leaf


def blocks(type_: Element) -> Iterator[tuple[Field, ...]]:
    """Yield the fields of each block that belongs to the declaration of a field of this type."""
    return (leaf.fields for leaf in leaves(type_) if isinstance(leaf, Block))


def every_field(fields: Iterable[Field]) -> Iterator[Field]:
    """Yield the fields of one declaration in wire order; those of a block come after the field that holds it."""
    return (field for field, _ in fields_below(fields, None, lambda field, above: None))


def fields_below(
    fields: Iterable[Field], above: T, below: Callable[[Field, T], T]
) -> Iterator[tuple[Field, T]]:
    """Yield the same fields, each with a value for its place: `above`, and in the block of a field the result of `below`."""
    for field in fields:
        yield field, above
        if isinstance(field.type, (Block, Match, Region)):
            inside = below(field, above)
            for block in blocks(field.type):
                yield from fields_below(block, inside, below)


def has_blocks(type_: Element) -> bool:
    """Return whether a field is a block, or a choice with one: other fields of the declaration are laid in its place."""
    return next(blocks(type_), None) is not None


def is_flat(type_: Element) -> bool:
    """Return whether a field has no value of its own: it is a block, or a choice among blocks only."""
    may_be = isinstance(type_, (Block, Match, Region))
    return may_be and all(isinstance(leaf, Block) for leaf in leaves(type_))


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
