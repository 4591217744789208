"""Frames at the default limits: as large as allowed and one byte larger, lists one item longer, or one item with those of the header.

A list of the largest size is shown once for each protocol: reading so many records with the reference codec
takes seconds. With limits of their own, vectors show the same of each list with fewer items.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from wiregen.conformance.samples import SampleBasis
from wiregen.conformance.vectors.drafts import Draft, Drafting, message_of
from wiregen.conformance.vectors.format import Unwritable, compacted
from wiregen.conformance.vectors.frame_parts import FramePart, parts_of
from wiregen.conformance.vectors.refused_values import refused
from wiregen.conformance.vectors.splicing import number_bytes, spliced
from wiregen.conformance.vectors.value_places import bare, places
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_record
from wiregen.runtime.reference.expressions import Value
from wiregen.runtime.reference.tree import FrameValue, Node
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.types import Bytes, CodingReference, InSize, List, Prefix, Region, Text
from wiregen.schema.copies import replace

__all__ = ["extreme_drafts"]

_LONGEST: Final = 300
_FEW: Final = 23
"""Items that represent many; lists of samples are shorter."""
_TURNS: Final = 4
"""Corrections of a size until it fits: its own length may change its size."""
_LARGEST: Final = 1 << 26
"""Bytes of the largest frame that is made; a protocol with a higher limit is tested with a lower one."""


def extreme_drafts(
    drafting: Drafting, basis: SampleBasis, frames: list[Draft]
) -> Iterator[Draft | Unwritable]:
    """Yield each message at the limit of a frame and beyond, and each list."""
    growing = Extremes(drafting, basis, HeaderLists(frames))
    for draft in frames:
        if len(draft.trees) == 1 and len(draft.data) <= _LONGEST:
            yield from growing.large(draft)
            yield from growing.long(draft)
    yield from growing.once_long()


class Extremes:
    """Makes large frames; each message once, each list once."""

    def __init__(self, drafting: Drafting, basis: SampleBasis, lists: HeaderLists) -> None:
        self._drafting = drafting
        self._lists = lists
        self._basis = basis
        schema = basis.schema
        self._limits = schema.limits
        self._loose = replace(
            schema, limits={**self._limits, "frame": None, "count": None, "messages": 1 << 40}
        )
        self._shown: set[str] = set()
        self._is_one_long = False
        self._short_items: tuple[Draft, FramePart, Node, str] | None = None

    # ---- frames

    def large(self, draft: Draft) -> Iterator[Draft | Unwritable]:
        """Return a message in a frame of the largest size, and in one that is larger by a byte."""
        limit, name = self._limits["frame"], f"{_kind(draft)}: the largest frame"
        if limit is None or limit > _LARGEST or name in self._shown:
            return
        made: tuple[Draft | Unwritable, ...] = tuple(self._stretched(draft, limit, name))
        if made:
            self._shown.add(name)
        elif (padded := f"{name}, padded") not in self._shown:
            made = tuple(self._padded(draft, limit, name))
            self._shown.update((padded,) * bool(made))
        yield from made

    def _stretched(self, draft: Draft, limit: int, name: str) -> Iterator[Draft | Unwritable]:
        """Stretch the text or bytes of a frame whose length can say so."""
        value = copy.deepcopy(draft.trees[0].value)
        for site, holder, key in places(value):
            unit = self._unit(site, holder[key])
            size = None if unit is None else self._fitting(draft, value, holder, key, unit, limit + 1)
            if unit is None or size is None:
                continue
            holder[key] = unit * size
            beyond = self._drawn(draft, value)
            if beyond is None or beyond.error is None or beyond.error.code != "limit_exceeded":
                continue
            yield beyond.showing((f"{name} and a byte",))
            yield from refused(self._drafting, draft, value, f"{name} and a byte")
            holder[key] = unit * (size - 1)
            exact = self._drawn(draft, value)
            if exact is not None and exact.is_whole:
                yield exact.showing((name,))
            return

    def _unit(self, site: str, value: object) -> Value:
        """Return the unit that fills a field that may be as long as a frame, or None if it may not."""
        type_ = self._basis.types.get(site)
        if not isinstance(type_, Text | Bytes) or not isinstance(value, str | bytes):
            return None
        most = self._basis.most_said(type_.length)
        if most is not None and most < self._limits["frame"]:
            return None
        return "w" if isinstance(value, str) else b"Z"

    def _fitting(
        self, draft: Draft, value: object, holder: Value, key: Value, unit: Value, limit: int
    ) -> int | None:
        """Return the number of units that fill a frame to exactly the limit, or None if it cannot be met."""
        kept, size = holder[key], 1 << 10
        try:
            for _ in range(_TURNS):
                holder[key] = unit * size
                data = self._written(draft, value)
                if data is None or len(data) < size:
                    return None
                if len(data) == limit:
                    return size
                size += limit - len(data)
            return None
        finally:
            holder[key] = kept

    def _padded(self, draft: Draft, limit: int, name: str) -> Iterator[Draft]:
        """Add trailing bytes to a message, where they are tolerated; the whole frame is followed by a cut
        one, which needs no values.
        """
        behind = b"".join(sent for role, sent in draft.scene.before if role == draft.scene.role)
        for part in parts_of(draft.trees[0]):
            type_ = part.node.type
            if (
                not isinstance(type_, Region)
                or not isinstance(type_.carrier, InSize | Prefix)
                or part.lengths
            ):
                continue
            yield from self._sized(draft, limit, name, partial(self._with_tail, behind, draft, part))
            return

    def _sized(
        self, draft: Draft, limit: int, name: str, make: Callable[[int], bytes | None]
    ) -> Iterator[Draft]:
        """Yield a frame of the limit's size and one of a byte more; `make` extends a frame by a number of bytes."""
        made: list[Draft] = []
        for size in (len(draft.data) + 1, limit, limit + 1):
            data = make(size - len(draft.data))
            if data is None:
                return
            whole = data + data[:1] if size == limit else data
            made.append(self._drafting.draft(draft.scene, whole).as_variation())
            if len(made[0].trees) != 1:
                return  # trailing bytes are not allowed, not even a few
        _, exact, beyond = made
        if len(exact.trees) == 1 and beyond.error is not None and beyond.error.code == "limit_exceeded":
            yield exact.showing((f"{name}, then a cut one",))
            yield beyond.showing((f"{name} and a byte",))

    def _with_tail(self, behind: bytes, draft: Draft, part: FramePart, size: int) -> bytes | None:
        """Return a frame with that many trailing bytes after its message."""
        end, lengths = part.node.end, (*part.own, *part.lengths)
        data = spliced(behind + draft.data, end, end, b"Z" * size, lengths)
        return None if data is None else data[len(behind) :]

    # ---- lists

    def long(self, draft: Draft) -> Iterator[Draft | Unwritable]:
        """Yield a frame with each of its lists too long, and once one of the largest size."""
        most = min(each for each in (self._limits["count"], self._limits["messages"]) if each is not None)
        behind = b"".join(sent for role, sent in draft.scene.before if role == draft.scene.role)
        for part in parts_of(draft.trees[0]):
            name, items = f"{part.site}: the longest list", _items(part.node)
            if not items or name in self._shown:
                continue
            beyond = self._repeated(behind + draft.data, part, items[0], most + 1)
            found = None if beyond is None else self._drafting.draft(draft.scene, beyond[len(behind) :])
            if found is None or found.error is None or found.error.code != "limit_exceeded":
                continue
            self._shown.add(name)
            yield found.as_variation().showing((f"{name} and an item",))
            if isinstance(items[0].value, int | float) and not self._is_one_long:
                yield from self._just_so(draft, part, items[0], name)
            elif self._short_items is None and not draft.scene.variant:
                self._short_items = (draft, part, items[0], name)
        yield from self._unwritable_lists(draft, most)

    def once_long(self) -> Iterator[Draft]:
        """Yield a list of records of the largest size if there is no list of numbers: reading so many records is slow."""
        if not self._is_one_long and self._short_items is not None:
            yield from self._just_so(*self._short_items)

    def _just_so(self, draft: Draft, part: FramePart, item: Node, name: str) -> Iterator[Draft]:
        most = min(each for each in (self._limits["count"], self._limits["messages"]) if each is not None)
        behind = b"".join(sent for role, sent in draft.scene.before if role == draft.scene.role)
        data = (self._repeated(behind + draft.data, part, item, most) or behind)[len(behind) :]
        self._is_one_long = True
        found = self._drafting.draft(draft.scene, data + data[:1])
        if len(found.trees) == 1:
            yield found.showing((f"{name}, then a cut frame",))

    def _repeated(self, data: bytes, part: FramePart, item: Node, count: int) -> bytes | None:
        """Return the bytes with an item repeated that often in its list."""
        length = part.node.children[0]
        told = self._count_bytes(length, count)
        if told is None:
            return None
        new = told + data[item.start : item.end] * count
        return spliced(data, length.start, part.node.end, new, part.lengths)

    def _count_bytes(self, node: Node, number: int) -> bytes | None:
        if not isinstance(node.type, CodingReference):
            return number_bytes(node, number)
        coding = self._basis.schema.codings[node.type.name]
        for each in coding.widths:
            if each.wide is not None and number <= each.wide.bounds[1]:
                return coding.type.encode(each.low) + each.wide.encode(number)
        return None

    def _unwritable_lists(self, draft: Draft, most: int) -> Iterator[Unwritable]:
        """Yield vectors of lists that are too long, in the notation of repeated items.

        Code may compare the length of a list alone, or count all items of a frame. So a list is as long as may be and stands behind
        another in the header, where a frame has one.
        """
        schema, scene = self._basis.schema, draft.scene
        options = Options(scene.role, context=draft.known, variant=scene.variant)
        value, is_second = self._lists.put_into(draft), True
        if self._written(draft, value) is None or value == draft.trees[0].value:
            value, is_second = copy.deepcopy(draft.trees[0].value), False
        for site, holder, key in places(value):
            is_inside = site.partition(".")[0] != message_of(draft)
            name = f"{site}: a list that is too long{' inside a message' * is_inside}"
            if not isinstance(holder[key], list) or not holder[key] or name in self._shown:
                continue
            is_first = not is_second or (isinstance(value, FrameValue) and holder is value.fields)
            count, whole = most + is_first, holder[key]
            kept = [bare(min(whole, key=_n_lists))]
            try:
                holder[key] = kept * _FEW
                record = compacted(frame_record(schema, value, variant=scene.variant))
                holder[key] = kept * count
                write_frame(schema, value, options, compression=0)
            except EncodeError as error:
                if error.code == "limit_exceeded":
                    self._shown.add(name)
                    yield self._drafting.unwritable(scene, _with_count(record, count), error, (name,))
            finally:
                holder[key] = whole

    # ---- bytes

    def _written(self, draft: Draft, value: object) -> bytes | None:
        """Return the bytes of a value without limits, or None if it cannot be encoded."""
        options = Options(draft.scene.role, context=draft.known, variant=draft.scene.variant)
        try:
            return write_frame(self._loose, value, options, compression=0, needs_context=False)
        except (EncodeError, TypeError):
            return None

    def _drawn(self, draft: Draft, value: object) -> Draft | None:
        data = self._written(draft, value)
        try:
            found = None if data is None else self._drafting.draft(draft.scene, data)
        except DecodeError:
            return None
        return None if found is None else found.as_variation()


class HeaderLists:
    """The lists in the headers of some frames, to be put into others that lack them."""

    def __init__(self, frames: list[Draft]) -> None:
        self._found: dict[tuple[str | None, str, str], Value] = {}
        for draft in frames:
            for place, items in _headers(draft):
                if isinstance(items, list) and items:
                    self._found.setdefault(place, items)

    def put_into(self, draft: Draft) -> Value:
        """Return the value of a draft with every optional list in its header."""
        value = copy.deepcopy(draft.trees[0].value)
        for place, items in _headers(draft):
            if items is None and place in self._found:
                value.fields[place[2]] = copy.deepcopy(self._found[place])
        return value


def _headers(draft: Draft) -> Iterator[tuple[tuple[str | None, str, str], Value]]:
    """Yield the fields of the header of a frame, each with its place: the variant, the frame and the field."""
    value = draft.trees[0].value if len(draft.trees) == 1 else None
    if isinstance(value, FrameValue):
        for name, part in value.header.items():
            yield (draft.scene.variant, value.name, name), part


def _kind(draft: Draft) -> str:
    """Return the name of the large frame: each message, and with layout variants each frame."""
    if draft.scene.variant is None:
        return message_of(draft)
    return f"{draft.scene.variant}: {getattr(draft.trees[0].value, 'name', '')}"


def _items(node: Node) -> list[Node]:
    """Return the items of a list that has a count; empty for any other part."""
    if not isinstance(node.type, List) or not node.children or node.children[0].part != "count" or node.inner:
        return []
    return [child for child in node.children[1:] if child.size]


def _n_lists(value: object) -> int:
    """Return the number of lists below a value: with fewer, it is the outer one that is too long."""
    return sum(isinstance(holder[key], list) for _, holder, key in places(value))


def _with_count(record: object, count: int) -> Value:
    """Return a record whose list of a few equal items is replaced by a list of `count` items."""
    match record:
        case {"*": [[[item], number]]} if number == _FEW:
            return {"*": [[[item], count]]}
        case dict():
            return {key: _with_count(part, count) for key, part in record.items()}
        case list():
            return [_with_count(part, count) for part in record]
        case _:
            return record
