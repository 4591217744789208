"""The lock of a protocol's numbers, as its template prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wiregen.schema.value_shapes.field_numbers import NumberedPart

__all__ = ["LockView", "lock_view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockView:
    """Each part with its number, by owner and number."""

    name: str
    rows: tuple[tuple[str, int], ...]


def lock_view(name: str, entries: tuple[NumberedPart, ...], lock: Mapping[str, int]) -> LockView:
    """Return the lock with the numbers of the former one and the present ones."""
    numbers = {**lock, **{entry.name: entry.number for entry in entries}}
    rows = sorted(numbers.items(), key=lambda row: (row[0].rpartition(".")[0], row[1], row[0]))
    return LockView(name=name, rows=tuple(rows))
