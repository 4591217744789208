"""Where values stand in a frame that is told as values."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, TypeAlias

from wiregen.runtime.tree import FrameValue, Record, Variety

__all__ = ["bare", "places"]

Holder: TypeAlias = "dict[str, Any] | list[Any]"


def bare(item: Any) -> Any:
    """Return a copy of an item with nothing in its lists."""
    copied = copy.deepcopy(item)
    for _, holder, key in tuple(places(copied)):
        if isinstance(holder[key], list):
            holder[key] = []
    return copied


def places(value: Any) -> Iterator[tuple[str, Holder, Any]]:
    """Return every field below a value, in the first item of lists: its site, what holds it, its name there."""
    match value:
        case list():
            for item in value[:1]:
                yield from places(item)
            return
        case Variety():
            owner = f"{value.union}.{value.name}"
        case Record() | FrameValue():
            owner = value.name
        case _:
            return
    for name, part in value.fields.items():
        yield f"{owner}.{name}", value.fields, name
        yield from places(part)
    if isinstance(value, FrameValue):
        yield from places(value.message)
