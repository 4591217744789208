"""Comparisons of the items of a list."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["distinct"]


def distinct(items: list[Any]) -> bool:
    """Return whether all items differ; for alternatives, whether their codes do."""
    return len({_identity(item) for item in items}) == len(items)


def _identity(item: Any) -> Any:
    """Return the identity of an item. Two alternatives with the same code are equal keys, whatever their fields."""
    if isinstance(item, list | tuple):
        return tuple(map(_identity, item))
    kind = type(item)
    slots = getattr(kind, "__match_args__", None)
    if slots is None:
        return item
    if "." in kind.__qualname__:  # an alternative is a class inside its union; other classes are at top level
        return (kind, item.code)
    return (kind, tuple(_identity(getattr(item, name)) for name in slots))
