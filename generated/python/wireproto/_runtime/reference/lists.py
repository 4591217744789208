"""The functions of expressions over lists: queues, ranks, distinct items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index as to_integer
from uuid import UUID

from .expressions import Value
from .tree import Record, Variety

__all__ = ["distinct", "drop", "index", "push", "rank", "remove"]


def push(queue: Iterable[Value], value: Value) -> list[Value]:
    """Return a list with one more item at its end."""
    return [*queue, value]


def drop(queue: Iterable[Value], number: int) -> list[Value]:
    """Return a list without so many items at the front."""
    return [*queue][max(0, to_integer(number)) :]


def remove(queue: Sequence[Value], value: Value) -> list[Value]:
    """Return a list without the first item that is equal to a value."""
    place = index(queue, value)
    return [item for number, item in enumerate(queue) if number != place]


def index(queue: Sequence[Value], value: Value) -> int:
    """Return the index of the first equal item, or the length of the list without such an item."""
    if type(value) is bytes and len(value) == 16 and queue and isinstance(queue[0], UUID):
        value = UUID(bytes=value)
    elif isinstance(value, UUID) and queue and type(queue[0]) is bytes:
        value = value.bytes
    try:
        return queue.index(value)
    except ValueError:
        return len(queue)


def rank(items: Iterable[Value], bound: Value) -> int:
    """Return how many items at the front are at most `bound`."""
    number = 0
    for item in items:
        if item > bound:
            break
        number += 1
    return number


def distinct(items: Sequence[Value]) -> bool:
    """Return whether all items differ."""
    return len({_identity(item) for item in items}) == len(items)


def _identity(item: Value) -> Value:
    """Return the identity of an item. Two alternatives with the same code are equal keys, whatever their fields."""
    match item:
        case Variety(name=name, code=code):
            return (name, code)
        case Record(name=name, fields=fields):
            return (name, tuple((key, _identity(value)) for key, value in fields.items()))
        case list() | tuple():
            return tuple(_identity(value) for value in item)
        case bytearray() | memoryview():
            return bytes(item)
        case None | bool() | int() | float() | str() | bytes() | UUID():
            return item
        case _:
            return (
                type(item).__name__,
                tuple(_identity(getattr(item, name)) for name in type(item).__slots__),
            )
