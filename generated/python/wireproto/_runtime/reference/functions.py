"""The functions of expressions that are given values. `size`, `present` and `code` are about fields: the scope answers them."""

from __future__ import annotations

from operator import index

from ..lazy import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from .expressions import Value

__all__ = ["FUNCTIONS", "function_of"]

FUNCTIONS: Final[dict[str, Callable[..., Value] | Lazy]] = {
    "count": len,
    "min": lambda *numbers: min(map(index, numbers)),
    "max": lambda *numbers: max(map(index, numbers)),
    "distinct": Lazy("reference.lists", "distinct"),
    "push": Lazy("reference.lists", "push"),
    "drop": Lazy("reference.lists", "drop"),
    "remove": Lazy("reference.lists", "remove"),
    "index": Lazy("reference.lists", "index"),
    "rank": Lazy("reference.lists", "rank"),
}
"""Functions by name; those of lists are optional. A value of an unexpected kind makes them raise TypeError."""


def function_of(name: str) -> Callable[..., Value]:
    """Return the function of that name."""
    found = FUNCTIONS[name]
    return found.load() if isinstance(found, Lazy) else found
