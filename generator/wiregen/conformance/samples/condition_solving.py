"""Options that the `where` of their own field allows come first; if it allows none of them, a value that it
allows is searched for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any, Final

from wiregen.conformance.samples.choices import Option
from wiregen.conformance.samples.compared_numbers import own_fields
from wiregen.conformance.samples.unconstrained import FewBits
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.text import encode_text
from wiregen.runtime.reference.expressions import Undefined
from wiregen.runtime.reference.layout import fixed_size
from wiregen.runtime.reference.reading.reader import Reader
from wiregen.runtime.reference.scope import count_of
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.reference.window import Place
from wiregen.runtime.schema.declarations import Constant, Field
from wiregen.runtime.schema.elements import Data
from wiregen.runtime.schema.expressions import (
    Call,
    Checksum,
    Expression,
    FieldReference,
    Item,
    ListOf,
    Number,
    Octets,
    Operation,
    Range,
    String,
)
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.shapes import content
from wiregen.runtime.schema.types import (
    Bits,
    Boolean,
    Bytes,
    Computed,
    Counted,
    EnumReference,
    Float,
    Integer,
    List,
    Match,
    Prefix,
    Text,
    Type,
    Varint,
)

__all__ = ["Fitting", "node_of", "wheres_of"]

_NEAR: Final = 300
"""Numbers searched on either side of each number in a condition, and of the ends of the type."""
_FROM_ZERO: Final = 5000
_LONGEST: Final = 260
"""Bytes, characters or items of the values that are searched."""
_MOST_VAIN: Final = 3
"""Failed searches for a field after which the search is given up."""


def wheres_of(owner: str, fields: Iterable[Field]) -> Iterator[tuple[str, Expression]]:
    """Yield the site and the condition of each field that has one and is no constant; a derived one may size a later field.

    A number that chooses an arm of a later field has one that an arm takes, if no arm takes the rest.
    """
    own = [field for field in fields if not isinstance(field.value, Constant)]
    taken = dict(each for field in own for each in _taken_by(field))
    for field in own:
        where = field.where or taken.get(field.name)
        if where is not None:
            yield f"{owner}.{field.name}", where


def _taken_by(field: Field) -> Iterator[tuple[str, Expression]]:
    """Yield the name of the number that chooses an arm of a field, and the condition that an arm takes it."""
    match content(field.type):
        case Match(FieldReference((name,), "own"), arms) if all(arm.spans for arm in arms):
            spans = [span for arm in arms for span in arm.spans]
            ranges = tuple(Range(Number(span.low), Number(span.high)) for span in spans)
            yield name, Operation("in", FieldReference((name,)), ListOf(ranges))


class Fitting:
    """The fields' own conditions, by site, and the values that were found for them."""

    def __init__(self, wheres: dict[str, Expression]) -> None:
        self._wheres = wheres
        self._found: dict[str, list[Any]] = {}
        self._vain: Counter[str] = Counter()

    def ordered(
        self, reader: Reader, site: str, type_: Type, place: Place, options: tuple[Option, ...]
    ) -> tuple[Option, ...]:
        """Return the options of a field, the allowed ones first where the plain one is not."""
        where = self._wheres.get(site)
        if where is None or not options or _allows(reader, where, type_, place, options[0][1]):
            return options
        fit = self.allowed(reader, site, type_, place, options)
        return (*fit, *(each for each in options if each not in fit))

    def allowed(
        self, reader: Reader, site: str, type_: Type, place: Place, options: tuple[Option, ...]
    ) -> tuple[Option, ...]:
        """Return the options of a field that its condition allows, or else a value that it allows; empty if none is found."""
        where = self._wheres.get(site)
        if where is None or not options:
            return options
        fit = tuple(each for each in options if _allows(reader, where, type_, place, each[1]))
        return fit or tuple(("allowed", value) for value in self._sought(reader, site, type_, place, where))

    def is_distinct(self, site: str, name: str) -> bool:
        """Return whether the condition of a list asks that its items differ."""
        asked = Call("distinct", (FieldReference((name,)),))
        return any(node == asked for node in nodes_in(self._wheres.get(site)))

    def refuses(self, reader: Reader, site: str, type_: Type, place: Place, value: object) -> bool:
        """Return whether the condition of a field refuses a value, whatever the other fields are."""
        where = self._wheres.get(site)
        is_alone = where is not None and own_fields(where) == frozenset({place.name})
        return where is not None and is_alone and not _allows(reader, where, type_, place, value)

    def _sought(
        self, reader: Reader, site: str, type_: Type, place: Place, where: Expression
    ) -> Iterator[Any]:
        """Yield a value that the condition allows, if one is found; earlier results are tried first."""
        known = self._found.setdefault(site, [])
        candidates = known if self._vain[site] >= _MOST_VAIN else chain(known, _candidates(type_, where))
        for value in candidates:
            if _has_size(reader, type_, place, value) and _allows(reader, where, type_, place, value):
                if value not in known:
                    known.insert(0, value)
                yield value
                return
        self._vain[site] += 1


def _allows(reader: Reader, where: Expression, type_: Type, place: Place, value: Any) -> bool:
    """Return whether a condition holds for a value of its field; True if it depends on later fields, or on its own bytes."""
    record, name = reader.scope, place.name
    if name in _summed_fields(where):
        return True
    before = record.nodes.get(name)
    record.nodes[name] = node_of(reader, type_, place, value)
    parts = _of_count(reader, where, name, type_) if isinstance(type_, List) else (where,)
    try:
        return all(reader.evaluate(part, place) for part in parts)
    except (Undefined, DecodeError):
        return True
    finally:
        if before is None:
            del record.nodes[name]
        else:
            record.nodes[name] = before


@cache
def _summed_fields(where: Expression) -> frozenset[str]:
    """Return the fields with which the sums of checksums in a condition begin and end."""
    sums = (each for each in nodes_in(where) if isinstance(each, Checksum))
    return frozenset(name for each in sums for name in (each.first, each.last))


def _has_size(reader: Reader, type_: Type, place: Place, value: object) -> bool:
    """Return whether a text or bytes are as long as an expression says; True for other lengths and types."""
    if not isinstance(type_, Text | Bytes) or not isinstance(type_.length, Computed):
        return True
    return count_of(node_of(reader, type_, place, value)) == reader.number(type_.length.value, place)


def _of_count(reader: Reader, where: Expression, name: str, type_: List) -> Iterator[Expression]:
    """Yield the parts of a condition that do not depend on the items of a list, of which only the number is chosen."""
    match where:
        case Operation("and", left, right):
            yield from _of_count(reader, left, name, type_)
            yield from _of_count(reader, right, name, type_)
        case _:
            own = FieldReference((name,))
            known = [Call("count", (own,))]
            if fixed_size(reader.layout, type_.item) is not None:
                known.append(Call("size", (own,)))
            nodes = tuple(nodes_in(where))
            uses = [each for each in nodes if isinstance(each, FieldReference) and each.path[0] == name]
            if len(uses) == sum(each in known for each in nodes):
                yield where


def node_of(reader: Reader, type_: Type, place: Place, value: Any) -> Node:
    """Return the node of a value, for the evaluation of conditions; the value of a list is the number of its items."""
    if isinstance(type_, List):
        size = _prefix_size(reader, type_) + (value or 0) * (fixed_size(reader.layout, type_.item) or 0)
        items = None if value is None else list(range(value))
        return Node(place.name, place.path, type_, 0, size, items)
    if not isinstance(type_, Text | Bytes):
        return Node(place.name, place.path, type_, 0, fixed_size(reader.layout, type_) or 0, value)
    prefix = _prefix_size(reader, type_)
    data = b"" if value is None else _encoded(type_, value) if isinstance(type_, Text) else value
    node = Node(place.name, place.path, type_, 0, prefix + len(data), value)
    node.children = (Node("data", f"{place.path}.data", Data(), prefix, node.end, data),)
    return node


def _prefix_size(reader: Reader, type_: Counted) -> int:
    length = type_.length
    return (fixed_size(reader.layout, length.type) or 1) if isinstance(length, Prefix) else 0


def _encoded(type_: Text, value: str) -> bytes:
    try:
        return encode_text(value, type_.encoding, type_.is_lenient, type_.endian)
    except ValueError:
        return value.encode(errors="replace")


# ---- candidates


def _candidates(type_: Type, where: Expression) -> Iterator[Any]:
    """Yield values of a type, those that the condition names first."""
    match type_:
        case Boolean():
            yield from (False, True)
        case Integer() | Varint() | FewBits() | Bits() | EnumReference():
            low, high = (0, -1) if isinstance(type_, EnumReference) else type_.bounds
            yield from (number for number in _numbers(where, low, high) if low <= number <= high)
        case Float():
            named = map(float, _named(where))
            yield from (number + more for number in named for more in (0.0, 0.5, -0.5, 1.0, -1.0))
        case Text():
            yield from (node.value for node in nodes_in(where) if isinstance(node, String))
            yield from ("w" * size for size in range(_LONGEST))
        case Bytes():
            yield from (bytes.fromhex(node.hex) for node in nodes_in(where) if isinstance(node, Octets))
            asked = dict(_asked_items(where))
            yield from (
                bytes(asked.get(index, index % 251 + 1) for index in range(size)) for size in range(_LONGEST)
            )
        case List():
            yield from range(_LONGEST)


def _asked_items(where: Expression) -> Iterator[tuple[int, int]]:
    """Yield the index of each byte that is compared with a number, and a number that may be right."""
    for node in nodes_in(where):
        match node:
            case Operation(operator, Item(_, Number(index)), other):
                beside = {"<": -1, ">": 1, "!=": 1}.get(operator, 0)
                yield from ((index, max(0, min(number + beside, 255))) for number in _named(other)[:1])


def _numbers(where: Expression, low: int, high: int) -> Iterator[int]:
    for one in (*_named(where), low, high):
        for more in range(_NEAR):
            yield from (one + more, one - more)
    for number in range(_FROM_ZERO):
        yield from (number, -number)


def _named(where: Expression) -> list[int]:
    """Return the numbers in a condition."""
    return [node.value for node in nodes_in(where) if isinstance(node, Number)]
