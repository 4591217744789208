"""Functions of expressions over lists: queues, ranks, distinct items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from .expressions import Value, equal, integer
from .tree import Record, Variety

__all__ = ["distinct", "on_list", "rank"]


def on_list(function: str, queue: tuple[Value, ...], value: Value) -> Value:
    """Return what `push`, `drop`, `index`, `rank` or `remove` makes of a list."""
    match function:
        case "push":
            return (*queue, value)
        case "drop":
            return queue[max(0, integer(value)) :]
        case "index":
            return _index(queue, value)
        case "rank":
            return rank([integer(item) for item in queue], integer(value))
        case _:
            index = _index(queue, value)
            return queue[:index] + queue[index + 1 :]


def _index(queue: Iterable[Value], value: Value) -> int:
    number = -1
    for number, item in enumerate(queue):
        if equal(item, value):
            return number
    return number + 1


def rank(items: Iterable[Value], bound: Value) -> int:
    """Return how many items at the front are at most `bound`."""
    number = 0
    for item in items:
        if item > bound:
            break
        number += 1
    return number


def distinct(items: Sequence[Value]) -> bool:
    """Say whether all items differ."""
    return len({_identity(item) for item in items}) == len(items)


def _identity(item: Value) -> Value:
    """Return what tells an item from others. Two varieties of one code are the same key, whatever they say."""
    match item:
        case Variety(name=name, code=code):
            return (name, code)
        case Record(name=name, fields=fields):
            return (name, tuple((key, _identity(value)) for key, value in fields.items()))
        case list() | tuple():
            return tuple(_identity(value) for value in item)
        case None | bool() | int() | float() | str() | bytes() | UUID():
            return item
        case _:
            return (
                type(item).__name__,
                tuple(_identity(getattr(item, name)) for name in type(item).__slots__),
            )
