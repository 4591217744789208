"""Comparisons of the items of a list."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["distinct"]


def distinct(items: list[Any]) -> bool:
    """Say whether all items differ; of varieties, whether their codes do."""
    return len({_identity(item) for item in items}) == len(items)


def _identity(item: Any) -> Any:
    """Return what tells an item from others. Two varieties of one code are the same key, whatever they say."""
    if isinstance(item, list | tuple):
        return tuple(map(_identity, item))
    kind = type(item)
    slots = getattr(kind, "__match_args__", None)
    if slots is None:
        return item
    if "." in kind.__qualname__:  # a variety stands inside its union, everything else by itself
        return (kind, item.code)
    return (kind, tuple(_identity(getattr(item, name)) for name in slots))
