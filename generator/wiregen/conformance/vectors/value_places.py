"""The places of values in a frame that is given as values."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TypeAlias

from wiregen.runtime.reference.expressions import Value
from wiregen.runtime.reference.tree import FrameValue, Record, Variety

__all__ = ["ValuePlace", "bare", "fields_below", "places"]

Holder: TypeAlias = "dict[str, Value] | list[Value]"
ValuePlace: TypeAlias = tuple[str, Holder, Value, str]
"""The site, its holder, its name there, and the declaration that encloses the holder."""


def bare(item: object) -> object:
    """Return a copy of an item with empty lists."""
    copied = copy.deepcopy(item)
    for _, holder, key in tuple(places(copied)):
        if isinstance(holder[key], list):
            holder[key] = []
    return copied


def places(value: object) -> Iterator[tuple[str, Holder, Value]]:
    """Yield every field below a value, in the first item of lists: its site, its holder, its name there."""
    return ((site, holder, key) for site, holder, key, _ in fields_below(value, 1))


def fields_below(value: object, n_items: int, around: str = "") -> Iterator[ValuePlace]:
    """Yield the same in `n_items` items of lists, with the declaration that encloses the holder."""
    match value:
        case list():
            for item in value[:n_items]:
                yield from fields_below(item, n_items, around)
            return
        case Variety():
            owner = f"{value.union}.{value.name}"
        case Record() | FrameValue():
            owner = value.name
        case _:
            return
    for name, part in list(value.fields.items()):
        yield f"{owner}.{name}", value.fields, name, around
        yield from fields_below(part, n_items, owner)
    if isinstance(value, FrameValue):
        yield from fields_below(value.message, n_items, owner)
