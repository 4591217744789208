"""Lists read by choice: the number of their items, and the end of a list that ends with a condition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from wiregen.conformance.samples.boundary_values import (
    count_options,
)
from wiregen.conformance.samples.choices import Option, UngrownError
from wiregen.conformance.samples.choosing import (
    Choosing,
    ItemEnd,
    at_most_one,
    is_in_lists,
    owner_of,
    said,
    without_indexes,
)
from wiregen.runtime.reference.layout import fixed_size
from wiregen.runtime.reference.reading.lists import read_list
from wiregen.runtime.reference.reading.reader import Reader, Steps
from wiregen.runtime.reference.window import Place
from wiregen.runtime.schema.expressions import Call, Expression, FieldReference, Number, Position
from wiregen.runtime.schema.node import nodes_in, replace
from wiregen.runtime.schema.types import (
    Boolean,
    Bytes,
    Computed,
    EnumReference,
    Float,
    Integer,
    Length,
    List,
    Text,
    ToEnd,
    Type,
    Until,
    Uuid,
    Varint,
)

__all__ = ["ChosenLists"]

_PLAIN: Final = (Integer, Float, Boolean)
_SINGLE: Final = (*_PLAIN, Bytes, EnumReference, Text, Uuid, Varint)
"""Items of one choice each: with another one, the item is another one."""
_MOST_ITEMS: Final = 70_000
_MOST_RECORDS: Final = 300
_LONG_LIST: Final = 4_000
_MOST_LONG_LISTS: Final = 8
_MANY_PARTS: Final = 1000
"""Structs, lists, unions and messages in one value from which on a list in it is empty where it may be."""

_AT_LEAST_ONE: Final = tuple(option for option in count_options(None) if option[1])


class ChosenLists:
    """Reads lists according to the choices."""

    def __init__(self, choosing: Choosing) -> None:
        self._choosing = choosing

    def read(self, reader: Reader, type_: List, place: Place) -> Steps:
        item, length = type_.item, type_.length
        count: int | None
        if type_.where is not None:
            self._choosing.of_items[place.path] = type_.where.condition
            type_ = replace(type_, where=None)
        site = self._choosing.site(reader, place).path
        if isinstance(item, _SINGLE) and self._choosing.basis.fitting.is_distinct(site, place.name):
            self._choosing.distinct.add(place.path)
        match length:
            case Until(condition) if Position("remaining") in nodes_in(condition):
                # Only the region's end ends the list: any number of items is possible, and the encoder compares.
                count = self._count(reader, place, type_, ToEnd()) or 1
            case Until():
                return (yield from self._until(reader, type_, place, length))
            case Computed(expression):
                count = reader.number(expression, place)
                self._refuse_unwritable(reader, expression, count, place)
                if not 0 <= count <= (_MOST_ITEMS if isinstance(item, _PLAIN) else _MOST_RECORDS):
                    self._choosing.refuse_number(
                        reader, expression, f"{place.path} would have too many items"
                    )
                self._refuse_another(place, count)
            case _:
                count = self._count(reader, place, type_, length)
        yield from self._choosing.prefix(reader, length, place)
        if count is None:
            return (yield from said(reader, type_, place, None, b""))
        with self._last_filling(reader, place, type_, count):
            return (yield from read_list(reader, List(item, Computed(Number(count)), 0), place))

    @contextmanager
    def _last_filling(self, reader: Reader, place: Place, type_: List, count: int) -> Iterator[None]:
        """Make the last item fill the region, where the list must fill it and its items differ in size."""
        choosing = self._choosing
        before = choosing.last_item
        is_filling = (
            choosing.rest(reader, ToEnd() if isinstance(type_.length, Until) else type_.length) is not None
        )
        if is_filling and fixed_size(reader.layout, type_.item) is None:
            choosing.last_item = f"{place.path}[{count - 1}]"
        yield
        choosing.last_item = before

    def _refuse_another(self, place: Place, count: int) -> None:
        """Give up a long list where enough were tried: they take most of the time, and one shows nearly as
        much as many.
        """
        if count <= _LONG_LIST:
            return
        site = without_indexes(place.path)
        self._choosing.basis.long_lists[site] += 1
        if self._choosing.basis.long_lists[site] > _MOST_LONG_LISTS:
            raise UngrownError(f"{place.path} was long often enough")

    def _refuse_unwritable(self, reader: Reader, expression: Expression, count: int, place: Place) -> None:
        """Give up a list of more items than a frame has bytes if the field that counts them is hidden."""
        most, blame = reader.layout.limits["frame"], reader.blame(expression)
        if blame is None or most is None or count <= most:
            return
        if blame.name in self._choosing.basis.hidden.get(owner_of(reader.scope), ()):
            self._choosing.refuse_number(reader, expression, f"{place.path} would be larger than a frame")

    def _count(self, reader: Reader, place: Place, type_: List, length: Length) -> int | None:
        options = count_options(self._choosing.basis.most_said(length))
        null: tuple[Option, ...] = (("null", None),) if self._choosing.basis.can_be_null(length) else ()
        fill = self._fill(reader, length, type_.item)
        if fill:
            options, null = fill, ()
        elif self._choosing.is_deep(reader) or self._choosing.n_parts > _MANY_PARTS:
            options = tuple(option for option in options if option[1] == 0) or options
        elif is_in_lists(place):
            options = at_most_one(options)
        return self._choosing.choose_count(reader, type_, place, (*options, *null))

    def _fill(self, reader: Reader, length: Length, item: Type) -> tuple[Option, ...]:
        """Return the number of items of one fixed size that fill the region of the list; empty if it need
        not be filled.
        """
        rest, size = self._choosing.rest(reader, length), fixed_size(reader.layout, item)
        if rest is None or not size or rest % size:
            return ()
        return (("items that fill it", rest // size),)

    def _until(self, reader: Reader, type_: List, place: Place, length: Until) -> Steps:
        """Read items until a condition holds. Each takes other options than the one before, so that the
        condition eventually holds.

        If a field of an item decides, the number of items is chosen, and the items take the values that the
        condition asks for.
        """
        choosing = self._choosing
        ends, until, count = choosing.ends, choosing.until, 0
        if _is_of_item(length.condition):
            options = self._fill(reader, ToEnd(), type_.item) or _AT_LEAST_ONE
            if is_in_lists(place):
                options = at_most_one(options)
            count = choosing.choose_count(reader, type_, place, options) or 1
            choosing.ends = [*ends, ItemEnd(path=place.path, condition=length.condition, count=count)]
        choosing.until = until or place.path
        with self._last_filling(reader, place, type_, count):
            node = yield from read_list(reader, type_, place)
        choosing.ends, choosing.until = ends, until
        return node


def _is_of_item(condition: Expression) -> bool:
    """Return whether a condition depends on the value of one field of an item, or of the item itself."""
    if any(isinstance(node, Call) for node in nodes_in(condition)):
        return False
    paths = {
        node.path for node in nodes_in(condition) if isinstance(node, FieldReference) and node.scope == "item"
    }
    return len(paths) == 1 and all(len(path) < 2 for path in paths)
