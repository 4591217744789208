"""Groups of files, or of parts of them, that one task takes: Spark needs time for a task, and so does a file that is opened."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["filled", "packed", "packed_if_many", "shared_if_many"]

Item = TypeVar("Item")

_OPENING = 6 << 10
"""Bytes that are converted in the time that a file on a disk takes beside its bytes: 0.04 ms."""
_WORTH = 64 << 20
"""Bytes that are converted in about twice the time that Spark needs for a task, which is a fifth of a second."""
_LEAST = 1 << 20
_MANY = 64


def shared_if_many(items: Sequence[Item], sizes: Sequence[int]) -> Iterator[tuple[Item, ...]]:
    """Yield the items that one task takes, in their order: one, or if there are many, as many as are worth a task."""
    if len(items) <= _MANY:
        return ((item,) for item in items)
    return filled(items, sizes, sys.maxsize, most_cost=_WORTH)


def packed_if_many(items: Sequence[Item], sizes: Sequence[int], most: int) -> Iterator[tuple[Item, ...]]:
    """Yield the items whose rows share files, in their order: one, or if there are many, a group as `packed` yields them."""
    if len(items) <= _MANY:
        return ((item,) for item in items)
    return packed(items, sizes, most)


def packed(items: Sequence[Item], sizes: Sequence[int], most: int) -> Iterator[tuple[Item, ...]]:
    """Yield groups of items of `most` bytes together, or fewer so that there are groups of equal cost that are worth a task."""
    cost = sum(sizes) + _OPENING * len(sizes)
    n_groups = min(max(round(cost / _WORTH), 1), _MANY)
    more = (
        min(max(sizes, default=0), _WORTH) + _OPENING
    )  # so that the last item of a group is not one of its own
    return filled(items, sizes, max(most, _LEAST), most_cost=cost // n_groups + more)


def filled(
    items: Sequence[Item], sizes: Sequence[int], most: int, *, most_cost: int = sys.maxsize
) -> Iterator[tuple[Item, ...]]:
    """Yield groups of items of `most` bytes together, or one that is larger.

    `most_cost`: how many bytes could be converted instead of a group: its own, and those for which its items are opened.
    """
    group: list[Item] = []
    size = 0
    for item, more in zip(items, sizes, strict=True):
        total = size + more
        if group and (total > most or total + _OPENING * (len(group) + 1) > most_cost):
            yield tuple(group)
            group, total = [], more
        group.append(item)
        size = total
    if group:
        yield tuple(group)
