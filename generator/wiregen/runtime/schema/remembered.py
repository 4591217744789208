"""Facts about the fields of a declaration, computed once.

Fields are found by identity, as hashing them takes as long as computing most facts. A known tuple is kept alive, so
that its identity is not reused.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from .declarations import Field

    Fact = TypeVar("Fact")

__all__ = ["remembered"]

_MOST = 4096
"""Known tuples, so that a process that reads many schemas does not keep all of them."""


class _Known:
    """A tuple of fields and the fact about it."""

    __slots__ = ("fact", "fields")

    def __init__(self, fields: tuple[Field, ...], fact: object) -> None:
        self.fields = fields
        self.fact = fact


def remembered(compute: Callable[[tuple[Field, ...]], Fact]) -> Callable[[tuple[Field, ...]], Fact]:
    """Return a function that computes a fact once for each tuple of fields."""
    known: dict[int, _Known] = {}

    def fact(fields: tuple[Field, ...]) -> Fact:
        found = known.get(id(fields))
        if found is None:
            if len(known) >= _MOST:
                known.clear()
            found = known[id(fields)] = _Known(fields, compute(fields))
        value: Fact = found.fact  # type: ignore[assignment]
        return value

    return fact
