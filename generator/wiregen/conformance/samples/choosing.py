"""The shared state of types that are read by choice: the choices, the value so far, the ends of enclosing regions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from wiregen.conformance.samples.basis import SampleBasis, Site
from wiregen.conformance.samples.choices import Choices, Option, UngrownError, index_in
from wiregen.conformance.samples.compared_numbers import own_fields
from wiregen.conformance.samples.condition_solving import node_of
from wiregen.runtime.codec.text import encode_text
from wiregen.runtime.reference.layout import fixed_size
from wiregen.runtime.reference.reading.lists import holds
from wiregen.runtime.reference.reading.reader import Reader, Steps
from wiregen.runtime.reference.scope import RecordScope
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.reference.window import Place
from wiregen.runtime.schema.expressions import Expression
from wiregen.runtime.schema.types import (
    Bytes,
    Carrier,
    Delimited,
    Length,
    List,
    Prefix,
    Text,
    ToEnd,
    Type,
)

__all__ = [
    "Choosing",
    "ItemEnd",
    "at_most_one",
    "encoded",
    "grow",
    "is_in_lists",
    "levels",
    "owner_of",
    "said",
    "unit_size",
    "without_indexes",
]

_ITEM: Final = re.compile(r"\[(\d+)\](\.\w+)?")
"""The path of an item, or of one of its fields, relative to its list."""
_INDEX: Final = re.compile(r"\[\d+\]")
_MOST_TURNS: Final = 40
"""Items of a list that ends with a condition."""
_MOST_LISTS: Final = 3
"""Nested lists from which a list has one item at most: 16 nested lists of two items each have 65,536 items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEnd:
    """A list that ends with the first item that meets a condition.

    Attributes:
        count: The intended number of items.
    """

    path: str
    condition: Expression
    count: int


class Choosing:
    """Makes the choices at the places of one value, and keeps track of its size.

    Attributes:
        until: The path of the outermost enclosing list that ends with a condition, or None.
        n_parts: Structs, lists, unions and messages so far.
        of_items: The condition that every item of a list must meet, by the path of the list.
        distinct: The paths of lists whose items must differ.
        end: The latest end of the innermost region that its length can encode, or None if it is unbounded.
        filled: The required end of the last element of its region, or None if any end is allowed.
        leaves_rest: Remaining bytes are allowed before that end.
        ends: Enclosing lists that end with the first item that meets a condition, the innermost last.
        last_item: The path of the last item of a list, which must fill its region.
        n_bits: The number of chosen bits. Fields of bits take no bytes while a value is made up.
    """

    def __init__(self, basis: SampleBasis, choices: Choices) -> None:
        self.basis = basis
        self.schema = basis.loose
        self.choices = choices
        self.until: str | None = None
        self.n_parts = 0
        self.of_items: dict[str, Expression] = {}
        self.distinct: set[str] = set()
        self.end: int | None = None
        self.filled: int | None = None
        self.leaves_rest = False
        self.ends: list[ItemEnd] = []
        self.last_item = ""
        self.n_bits = 0

    def choose(
        self,
        reader: Reader,
        place: Place,
        options: tuple[Option, ...],
        *,
        site: str | None = None,
        is_structural: bool = False,
    ) -> Any:
        """Choose an option at a place; in a list that ends with a condition, each item begins with another one."""
        turned = self._turned(place, options)
        return self._choose(reader, place, turned, site=site, is_structural=is_structural)

    def preferred(self, reader: Reader, type_: Type, place: Place) -> tuple[Option, ...]:
        """Return the options that come before the boundary values: each item of a list begins with another one.

        A number that measures a text is the size of that text. Other numbers of sizes and counts stay small.
        """
        own = self.site(reader, place)
        measured = self.basis.measured.get(own.path)
        if measured is not None:
            sized = self.choices.preferred_options(*measured)
            unit = unit_size(measured[1])
            options = tuple((label, len(encoded(measured[1], value)) // unit) for label, value in sized)
        elif own.is_hidden or own.name in self.basis.mentions.measuring:
            return ()
        else:
            options = self.choices.preferred_options(own.name, type_)
        turn = 0 if self._outer(place) or not options else index_in(place.path) % len(options)
        return (*options[turn:], *options[:turn])

    def choose_fitting(self, reader: Reader, type_: Type, place: Place, options: tuple[Option, ...]) -> Any:
        """Choose an option that the conditions on its place allow, if one does."""
        value = self._choose(reader, place, self._fitting(reader, type_, place, options))
        if place.path in self.choices.by_path:
            site = self.site(reader, place).path
            self.choices.is_in_vain |= self.basis.fitting.refuses(reader, site, type_, place, value)
        return value

    def allowed_value(
        self, reader: Reader, type_: Text | Bytes, place: Place, options: tuple[Option, ...]
    ) -> Any:
        """Return the first value of a given size that the condition of its field allows, or one that it asks for."""
        return self._allowed(reader, type_, place, options)[0][1]

    def choose_count(
        self, reader: Reader, type_: List, place: Place, options: tuple[Option, ...]
    ) -> int | None:
        """Choose a number of items that the condition of a list allows, if one does, or None for a null."""
        # Far from lists of lists: each item of a list is an item of its own kind.
        where = Place(place.name, f"{place.path}.count", place.rule)
        count: int | None = self._choose(reader, where, self._allowed(reader, type_, place, options))
        return count

    def _choose(
        self,
        reader: Reader,
        place: Place,
        options: tuple[Option, ...],
        *,
        site: str | None = None,
        is_structural: bool = False,
    ) -> Any:
        """Choose an option at a place. Hidden fields are not goals and are not varied by waves."""
        own = self.site(reader, place)
        is_deciding = is_structural or own.name in self.basis.mentions.deciding
        return self.choices.choose(
            site or (own.path if own.name != "_" else place.path),  # one site may have several without a name
            place.path,
            options,
            is_structural=is_deciding or own.is_hidden,
            is_goal=not own.is_hidden or site is not None,
        )

    def _turned(self, place: Place, options: tuple[Option, ...]) -> tuple[Option, ...]:
        """Return the options in the order in which an item tries them, if items of its list must differ.

        Each item begins with another option than the one before. So the condition with which a list ends eventually holds.
        """
        outer = self._outer(place)
        turn = 0 if outer is None else index_in(place.path.removeprefix(outer))
        if turn > _MOST_TURNS:
            raise UngrownError(f"{place.path} would not end")
        start = turn % len(options) if options else 0
        return (*options[start:], *options[:start])

    def _outer(self, place: Place) -> str | None:
        """Return the path of the list around a place whose items must differ, or None."""
        return self.until or next((each for each in self.distinct if place.path.startswith(f"{each}[")), None)

    def _fitting(
        self, reader: Reader, type_: Type, place: Place, options: tuple[Option, ...]
    ) -> tuple[Option, ...]:
        """Return the options that meet the condition on every item, if the place is an item; all of them if
        no option does.

        If a field has a condition of its own, the options that it allows come first where the plain one is
        refused, or where items take turns: the refused ones have no turn.
        """
        options = self._ending(reader, type_, place, options)
        where = self.of_items.get(place.path.rpartition("[")[0]) if place.is_item else None
        if where is None:
            return self._allowed(reader, type_, place, options)
        found = [
            each for each in options if holds(reader, where, node_of(reader, type_, place, each[1]), place)
        ]
        return self._turned(place, tuple(found) or options)

    def _ending(
        self, reader: Reader, type_: Type, place: Place, options: tuple[Option, ...]
    ) -> tuple[Option, ...]:
        """Return the options with which a list ends at the intended item; all of them if no option does."""
        end = self.ends[-1] if self.ends else None
        found = None if end is None else _ITEM.fullmatch(place.path.removeprefix(end.path))
        if end is None or found is None:
            return options
        is_last = int(found[1]) >= end.count - 1

        def ends(value: Any) -> bool:
            node = node_of(reader, type_, place, value)
            item = node if place.is_item else Node(f"[{found[1]}]", "", type_, 0, 0, None, (node,))
            return holds(reader, end.condition, item, place)

        return tuple(each for each in options if ends(each[1]) == is_last) or options

    def _allowed(
        self, reader: Reader, type_: Type, place: Place, options: tuple[Option, ...]
    ) -> tuple[Option, ...]:
        site = self.site(reader, place).path
        if site != f"{owner_of(reader.scope)}.{place.name}":
            return self._turned(place, options)
        if self.until is None:
            return self.basis.fitting.ordered(reader, site, type_, place, options)
        allowed = self.basis.fitting.allowed(reader, site, type_, place, options)
        return (*self._turned(place, allowed), *(each for each in options if each not in allowed))

    def refuse_number(self, reader: Reader, number: Expression, why: str) -> NoReturn:
        """Give up the value because of a number; if demanded options alone give the number, other ones do not help.

        Raises:
            UngrownError: Always.
        """
        names = own_fields(number)
        if names is not None:
            paths = {f"{reader.scope.place.path}.{name}" for name in names}
            self.choices.is_in_vain |= paths <= self.choices.by_path.keys()
        raise UngrownError(why)

    def site(self, reader: Reader, place: Place) -> Site:
        record = reader.scope
        owner = owner_of(record)
        inside = without_indexes(place.path.removeprefix(record.place.path).lstrip("."))
        return self.basis.site(owner, inside)

    def prefix(self, reader: Reader, length: Length | Carrier, place: Place) -> Generator[int, bool, None]:
        """Take the bytes of a length, where it matters how many there are before something else."""
        matters = self.basis.mentions.asks_for_place or self.filled is not None
        if matters and isinstance(length, Prefix):
            size = fixed_size(reader.layout, length.type) or 1
            grow(reader, bytes(size))
            yield from reader.take(size, place)

    def is_deep(self, reader: Reader) -> bool:
        is_at_limit = reader.level > reader.layout.depth
        return is_at_limit or any(level > self.choices.deep for level in levels(reader).values())

    def is_plainest(self, reader: Reader, name: str) -> bool:
        """Return whether a declaration is so deep that it must not hold further nesting ones."""
        is_at_limit = name in reader.layout.circular and reader.level >= reader.layout.depth
        return is_at_limit or levels(reader)[name] >= self.choices.deep

    def room_for(self, reader: Reader, length: Length) -> int:
        """Return the largest number of bytes that a value with that length may have here, in its region and its frame."""
        frame_end = reader.window.frame_start + reader.layout.frame
        end = frame_end if self.end is None else min(self.end, frame_end)
        return max(0, end - self.here(reader) - _size_around(reader, length))

    def rest(self, reader: Reader, length: Length) -> int | None:
        """Return the number of bytes that a value with that length must have to fill its region, or None if
        it need not fill it.
        """
        is_bound = reader.is_last and (isinstance(length, ToEnd) or not self.leaves_rest)
        if self.filled is None or not is_bound:
            return None
        rest = self.filled - self.here(reader) - _size_around(reader, length)
        return None if rest < 0 else rest

    def here(self, reader: Reader) -> int:
        """Return the number of bytes before the next element."""
        return reader.window.position + self.n_bits // 8


def _size_around(reader: Reader, length: Length) -> int:
    """Return the bytes of a prefix and of a delimiter."""
    match length:
        case Prefix(type_):
            return fixed_size(reader.layout, type_) or 1
        case Delimited(delimiter):
            return len(bytes.fromhex(delimiter))
        case _:
            return 0


def owner_of(record: RecordScope) -> str:
    """Return the declaration of the fields of a record."""
    kind: Any = record.kind
    return f"{kind[1]}.{record.name}" if kind[0] == "variety" else record.name


def is_in_lists(place: Place) -> bool:
    """Return whether a place is in so many lists that a list there has one item at most."""
    return place.path.count("[") >= _MOST_LISTS


def at_most_one(options: tuple[Option, ...]) -> tuple[Option, ...]:
    """Return the options of the counts 1 and 0, in this order; all options if these are missing."""
    few = sorted((option for option in options if option[1] in (0, 1)), key=lambda option: -option[1])
    return tuple(few) or options


def without_indexes(path: str) -> str:
    return _INDEX.sub("[]", path)


def said(reader: Reader, type_: Type, place: Place, value: Any, data: bytes) -> Steps:
    """Return the node of a chosen value, with the given bytes as if they had been read."""
    start = reader.window.here
    grow(reader, data)
    yield from reader.take(len(data), place)
    return reader.node(place, type_, start, value)


def grow(reader: Reader, data: bytes) -> None:
    buffer, position = reader.window.data, reader.window.position
    assert isinstance(buffer, bytearray)
    buffer[position:] = data


def encoded(type_: Text | Bytes, value: Any) -> bytes:
    if isinstance(type_, Bytes) or value is None:
        return value or b""
    return encode_text(value, type_.encoding, type_.is_lenient, type_.endian)


def unit_size(type_: Text | Bytes) -> int:
    """Return the bytes of a unit in which the length of a type counts."""
    return 2 if isinstance(type_, Text) and type_.encoding == "utf16" else 1


def levels(reader: Reader) -> Counter[str]:
    """Return the number of enclosing records by declaration; an alternative counts as its union."""
    records = (each for _, each in reader.building if not isinstance(each, list))
    return Counter(str(each.kind[1]) if len(each.kind) == 3 else each.name for each in records)
