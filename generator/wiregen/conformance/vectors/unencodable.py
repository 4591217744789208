"""Values that an encoder refuses: one beyond the bounds of each type, and values that break a condition."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from typing import Final

from wiregen.conformance.samples import SampleBasis
from wiregen.conformance.vectors.drafts import Draft, Drafting, message_of
from wiregen.conformance.vectors.format import Unwritable
from wiregen.conformance.vectors.refused_values import refused
from wiregen.conformance.vectors.value_places import ValuePlace, fields_below
from wiregen.runtime.codec.options import Options
from wiregen.runtime.codec.text import encode_text
from wiregen.runtime.reference.expressions import Value
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.reference.tree import FrameValue, Variety
from wiregen.runtime.schema.declarations import Enum
from wiregen.runtime.schema.expressions import Number
from wiregen.runtime.schema.shapes import is_to_the_end
from wiregen.runtime.schema.types import (
    Bytes,
    EnumReference,
    InSize,
    Integer,
    Region,
    Text,
    Type,
    WholeNumber,
)

__all__ = ["refused_values"]

_PATIENCE: Final = 6
"""Frames in which a value is tried that is not refused."""
_ITEMS: Final = 2
"""Items of lists that are examined."""
_LONGEST_GATHERED: Final = 300
"""Bytes of the frames whose parts are used elsewhere."""
_LONGEST: Final = 65536
"""The longest text or bytes that is made to be too long for its prefix."""


def refused_values(drafting: Drafting, basis: SampleBasis, frames: list[Draft]) -> Iterator[Unwritable]:
    """Yield frames in which one field exceeds its type, or has a value that is not allowed there."""
    others = _Others(basis, frames)
    shown: set[str] = set()
    tried: Counter[tuple[str, str]] = Counter()
    for draft in frames:
        if len(draft.data) > 3000 or len(draft.trees) != 1:
            continue
        value = copy.deepcopy(draft.trees[0].value)
        message = message_of(draft)
        variant = f"{draft.scene.variant}: " * bool(draft.scene.variant)
        for is_header, (site, holder, name, around) in _placed(value):
            is_header = is_header or site.partition(".")[0] in basis.schema.frames
            own = f"{variant}{message} in {site}" if is_header else site
            if isinstance(holder[name], Variety):
                own = f"{own} in {around}"  # the enclosing declarations also decide which values are allowed
            told = (
                *_beyond(basis, basis.types.get(site), holder[name]),
                *others.at(site, name, holder[name]),
                *others.elsewhere(site, is_once=bool(variant)),
            )
            for what, beyond in told:
                covers = f"{own} {what.partition(', ')[0]}"
                if covers in shown or tried[own, what] >= _PATIENCE:
                    continue
                tried[own, what] += 1
                before, holder[name] = holder[name], beyond
                vectors = tuple(refused(drafting, draft, value, covers))
                holder[name] = before
                shown.update(covers for _ in vectors)
                yield from vectors


class _Others:
    """Values of the right type that are not allowed in their place: numbers of conditions, and values from
    other places.
    """

    def __init__(self, basis: SampleBasis, frames: list[Draft]) -> None:
        self._schema = basis.schema
        self._numbers = basis.mentions.numbers
        layout = Layout(basis.schema, Options())
        self._endless = {
            name: {each.name for each in union.varieties if layout.fields_reach_end(each.fields)}
            for name, union in basis.schema.unions.items()
        }
        self._seen: dict[str, dict[str, object]] = {}
        self._varieties: dict[str, dict[str, Variety]] = {}
        for draft in frames:
            for tree in draft.trees if len(draft.data) <= _LONGEST_GATHERED else ():
                self._gather(tree.value)

    def at(self, site: str, name: str, value: object) -> Iterator[tuple[str, Value]]:
        """Yield other values for a field, those of other frames included."""
        match value:
            case bool():
                yield "turned round", not value
            case int():
                near = (number + step for number in self._numbers.get(name, ()) for step in (-1, 0, 1))
                yield from (
                    (f"= {number}", number) for number in dict.fromkeys((*near, 0)) if number != value
                )
            case list():
                yield "empty", []
                yield from (("twice the same", [item, item]) for item in value[:1])
                yield from self._in_lists(value)
            case Variety():
                yield from self._varieties.get(value.union, {}).items()

    def elsewhere(self, site: str, *, is_once: bool) -> Iterator[tuple[str, Value]]:
        """Yield for a field of a header the values of other frames; `is_once`: as one goal, not as one for each value."""
        if site.partition(".")[0] in self._schema.frames:
            for said, value in self._seen.get(site, {}).items():
                yield f"as elsewhere{',' if is_once else ':'} {said}", value

    def _in_lists(self, items: list[object]) -> Iterator[tuple[str, Value]]:
        for item in items[:1]:
            if isinstance(item, Variety):
                yield from (
                    (f"with {what}", [other]) for what, other in self._varieties.get(item.union, {}).items()
                )

    def _gather(self, value: object) -> None:
        for site, holder, name, _ in fields_below(value, _ITEMS):
            part = holder[name]
            self._seen.setdefault(site, {}).setdefault(str(part)[:20], part)
            for each in (part, *(part[:3] if isinstance(part, list) else ())):
                if isinstance(each, Variety):
                    kind = "what has no end" if each.name in self._endless[each.union] else "another"
                    self._varieties.setdefault(each.union, {}).setdefault(f"{kind}, {each.name}", each)


def _placed(value: Value) -> Iterator[tuple[bool, ValuePlace]]:
    """Yield each place of a value, with whether it is in the header of a frame."""
    if not isinstance(value, FrameValue):
        yield from ((False, place) for place in fields_below(value, _ITEMS))
        return
    header = FrameValue(value.name, value.fields)
    yield from ((True, place) for place in fields_below(header, _ITEMS))
    yield from ((False, place) for place in fields_below(value.message, _ITEMS, value.name))


def _beyond(basis: SampleBasis, type_: Type | None, value: Value) -> Iterator[tuple[str, Value]]:
    """Yield values that are one beyond the bounds of a type."""
    match type_:
        case EnumReference(name) if isinstance(value, int):
            yield from _beyond_members(basis.schema.enums[name])
        case Text() if isinstance(value, str):
            yield from _beyond_text(basis, type_)
        case Bytes(length) if isinstance(value, bytes):
            most = basis.most_said(length)
            if most is not None and most < _LONGEST:
                yield "one byte too long", b"\x5a" * (most + 1)
        case Region(content, InSize(Number())) if value and is_to_the_end(content):
            yield "more than its region holds", value + value[:1]
            yield "less than its region holds", value[:-1]
        case _ if isinstance(type_, WholeNumber) and isinstance(value, int):
            low, high = type_.bounds
            yield from (("one above the largest", high + 1), ("one below the smallest", low - 1))


def _beyond_members(enum: Enum) -> Iterator[tuple[str, object]]:
    if enum.is_open and isinstance(enum.type, Integer):
        low, high = enum.type.bounds
        yield from (("one above the largest", high + 1), ("one below the smallest", low - 1))
    elif not enum.is_open:
        known = {each.value for each in enum.members}
        yield "no member", next(number for number in range(max(known) + 2) if number not in known)


def _beyond_text(basis: SampleBasis, type_: Text) -> Iterator[tuple[str, object]]:
    most = basis.most_said(type_.length)
    if most is not None and most < _LONGEST:
        yield "one unit too long", "w" * (most + 1)
    for what, text in (("beyond ASCII", "\x80"), ("beyond Latin-1", "Ā"), ("a lone surrogate", "\ud800")):
        try:
            encode_text(text, type_.encoding)
        except UnicodeEncodeError:
            yield what, text
            return
