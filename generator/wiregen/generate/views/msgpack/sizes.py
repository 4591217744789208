"""The most msgpack values of a list's item, without those of lists inside it: it bounds a frame before it is built."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wiregen.schema.value_shapes import AnyOf, Carried, Form, FrameRecord, Many, Nullable, One, Record

__all__ = ["ItemSize", "item_size"]

_Owner = Record | FrameRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSize:
    """A number of values; `n_loops`: the places where the item can contain itself without a list or frame between."""

    n_values: int
    n_loops: int = 0

    def __add__(self, other: ItemSize) -> ItemSize:
        return ItemSize(n_values=self.n_values + other.n_values, n_loops=self.n_loops + other.n_loops)


_ONE = ItemSize(n_values=1)
_TWO = _ONE + _ONE


def item_size(carried: Carried) -> ItemSize:
    """Return the size of the largest item of a protocol; its frames count as items."""
    sizes = [_Item(carried).frame(frame) for frame in carried.frames]
    owners: tuple[_Owner, ...] = (*carried.records, *carried.frames)
    for owner in owners:
        forms = [field.form for field in owner.fields]
        forms += [form for choice in owner.choices for form in choice.forms]
        sizes += [_Item(carried).form(owner, item) for form in forms for item in _items(form)]
    return _largest(sizes)


def _items(form: Form) -> tuple[Form, ...]:
    match form:
        case Many(item=inner):
            return (inner, *_items(inner))
        case Nullable(value=inner):
            return _items(inner)
        case _:
            return ()


class _Item:
    """Counts the values of one item; each declaration is counted once."""

    def __init__(self, carried: Carried) -> None:
        self._carried = carried
        self._open: list[One] = []
        self._known: dict[One, ItemSize] = {}

    def form(self, owner: _Owner, form: Form) -> ItemSize:
        match form:
            case Nullable(value=inner):
                return _ONE + self.form(owner, inner)
            case AnyOf(name=name):
                choice = next(each for each in owner.choices if each.name == name)
                return _TWO + _largest(self.form(owner, each) for each in choice.forms)  # number and array
            case One(kind="frame"):
                return _ONE  # the native codec counts it as an item
            case One() if form in self._open:
                return ItemSize(n_values=1, n_loops=1)
            case One():
                return self._one(form)
            case _:
                return _ONE

    def frame(self, frame: FrameRecord) -> ItemSize:
        messages = (One(kind="message", name=name) for name in frame.messages)
        return self._record(frame) + _largest(self.form(frame, each) for each in messages)

    def _one(self, one: One) -> ItemSize:
        known = self._known.get(one)
        if known is None:
            self._open.append(one)
            self._known[one] = known = self._declared(one)
            self._open.pop()
        elif known.n_loops:  # it branches: its values count, but not its loops
            return ItemSize(n_values=known.n_values, n_loops=known.n_loops + 1)
        return known

    def _declared(self, one: One) -> ItemSize:
        if one.kind == "union":
            return _largest(self._record(each) for each in self._carried.varieties(one.name))
        return self._record(self._carried.record(one.kind, one.name))

    def _record(self, record: _Owner) -> ItemSize:
        return sum((self.form(record, field.form) for field in record.fields), _TWO)  # array and code


def _largest(sizes: Iterable[ItemSize]) -> ItemSize:
    """Return a size that bounds all of them; without any, it is one value."""
    found = (_ONE, *sizes)
    return ItemSize(
        n_values=max(each.n_values for each in found), n_loops=max(each.n_loops for each in found)
    )
