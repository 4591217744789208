"""Types read by choice: before one is read, the bytes of what was chosen are put behind those there are."""

from __future__ import annotations

import re
import struct
from collections.abc import Generator, Iterator
from itertools import chain
from typing import Any, Final, TypeAlias, TypeVar, assert_never

from wiregen.conformance.samples.basis import SampleBasis, shape_of
from wiregen.conformance.samples.boundary_values import (
    bounds,
    byte_options,
    count_options,
    float_options,
    text_options,
    uuid_options,
)
from wiregen.conformance.samples.choices import Choices, Option, UngrownError, index_in
from wiregen.conformance.samples.condition_solving import node_of
from wiregen.conformance.samples.unconstrained import CODES, FewBits
from wiregen.runtime.codec.text import encode_text
from wiregen.runtime.reference.layout import fixed_size
from wiregen.runtime.reference.reading.frames import READERS
from wiregen.runtime.reference.reading.lengths import holds, read_list
from wiregen.runtime.reference.reading.reader import Reader, Steps
from wiregen.runtime.reference.reading.records import read_struct
from wiregen.runtime.reference.scope import RecordScope
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.reference.window import Place
from wiregen.runtime.schema.declarations import Enum, Trailing
from wiregen.runtime.schema.expressions import Expression, FieldReference, Number, Position
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.types import (
    Boolean,
    Bytes,
    Carrier,
    CodingReference,
    Computed,
    Delimited,
    EnumReference,
    Float,
    FrameReference,
    InSize,
    Integer,
    Length,
    List,
    Match,
    MessageReference,
    Prefix,
    Region,
    StructReference,
    Text,
    ToEnd,
    Type,
    UnionReference,
    Until,
    Uuid,
    Varint,
)
from wiregen.schema.copies import replace

_INDEX: Final = re.compile(r"\[\d+\]")

__all__ = ["ChosenTypes", "owner_of"]

Pattern = TypeVar("Pattern", str, bytes)
Scalar: TypeAlias = Boolean | FewBits | Integer | Varint | Float | Uuid | CodingReference

_ROOM: Final = 500_000
"""Bytes of a region in which anything fits."""
_DEEP: Final = 2
"""Levels of a declaration in itself from which on the plainest is taken."""
_PLAIN: Final = (Integer, Float, Boolean)
_PARTS: Final = (StructReference, List, UnionReference, Match, Region, MessageReference, FrameReference)
_MOST_ITEMS: Final = 70_000
_MOST_TURNS: Final = 40
"""Items of a list that goes on until something holds."""
_MOST_RECORDS: Final = 300
_MOST_BYTES: Final = 70_000
_MOST_LISTS: Final = 3
_LONG_LIST: Final = 4_000
_MOST_LONG_LISTS: Final = 8
"""Lists in each other from which on a list has one item at most: with two in each, 16 have 65,536 items."""
_MANY_PARTS: Final = 1000
"""Structs, lists, unions and messages in one value from which on a list in it is empty where it may be."""
_MOST_PARTS: Final = 4000
"""Those of the largest value that is made up, until one has been larger."""
_LETTERS: Final = "".join(map(chr, range(ord("a"), ord("z") + 1)))
_OCTETS: Final = bytes(range(1, 252))
_LEAST_PARTS: Final = 100
"""Those that a value may have however often one has been too large."""


class ChosenTypes:
    """Reads types as the choices have it."""

    def __init__(self, soil: SampleBasis, choices: Choices) -> None:
        self._soil = soil
        self._plan = soil.loose
        self._choices = choices
        self._n_until = 0
        self._n_parts = 0
        # Each value that is too large costs as much as one that is kept, and about 80 are tried for each message.
        self._most_parts = max(_MOST_PARTS // (1 + len(soil.too_large)), _LEAST_PARTS)
        self._of_items: dict[str, Expression] = {}
        """The condition that every item of a list fulfils, by the path of the list."""
        self._code: int | None = None
        self._end: int | None = None
        """Where the innermost region ends at the latest, as its length can say; None: it sets no bound."""
        self._n_bits = 0
        """Bits that were chosen: their fields take no bytes while a value is made up."""

    def read(self, reader: Reader, type_: Type, place: Place) -> Steps:
        """Read one type, made up.

        Raises:
            UngrownError: The value has too many parts.
        """
        self._n_parts += isinstance(type_, _PARTS)
        if self._n_parts > self._most_parts:
            self._soil.too_large.append(place.path)
            raise UngrownError(f"{place.path} would be one of too many parts")
        match type_:
            case Boolean() | FewBits() | Integer() | Varint() | Float() | Uuid() | CodingReference():
                return self._scalar(reader, type_, place)
            case EnumReference():
                self._member(reader, type_, place)
            case UnionReference():
                self._variety(reader, type_, place)
            case Text() | Bytes():
                return self._sized(reader, type_, place)
            case List():
                return self._list(reader, type_, place)
            case Region():
                return self._region(reader, type_, place)
            case StructReference(name) if reader.nesting.get(("struct", name), 0) >= _DEEP:
                return self._without_rest(reader, type_, place)
            case Match():
                self._note_arm(reader, type_, place)
        return READERS[type(type_)](reader, type_, place)

    # ---- what is chosen

    def _choose(
        self,
        reader: Reader,
        place: Place,
        options: tuple[Option, ...],
        *,
        site: str | None = None,
        is_structural: bool = False,
    ) -> Any:
        """Choose at a place; hidden fields have no goals of their own, and no waves."""
        own, name, is_hidden = self._site(reader, place)
        is_deciding = is_structural or name in self._soil.mentions.deciding
        turn = index_in(place.path) if self._n_until else 0
        if turn > _MOST_TURNS:
            raise UngrownError(f"{place.path} would not end")
        return self._choices.choose(
            site or (own if name != "_" else place.path),  # one site may have several without a name
            place.path,
            options,
            is_structural=is_deciding or is_hidden,
            is_goal=not is_hidden or site is not None,
            turn=turn,
        )

    def _fitting(
        self, reader: Reader, type_: Type, place: Place, options: tuple[Option, ...]
    ) -> tuple[Option, ...]:
        """Return the options that fulfil the condition on every item, where the place is one; all where none does.

        Of a field with a condition of its own those that it allows come first.
        """
        where = self._of_items.get(place.path.rpartition("[")[0]) if place.is_item else None
        if where is None:
            return self._allowed(reader, type_, place, options)
        found = [
            each for each in options if holds(reader, where, node_of(reader, type_, place, each[1]), place)
        ]
        return tuple(found) or options

    def _allowed(
        self, reader: Reader, type_: Type, place: Place, options: tuple[Option, ...]
    ) -> tuple[Option, ...]:
        site = self._site(reader, place)[0]
        is_field = site == f"{owner_of(reader.scope)}.{place.name}"
        return self._soil.fitting.ordered(reader, site, type_, place, options) if is_field else options

    def _site(self, reader: Reader, place: Place) -> tuple[str, str, bool]:
        """Return the site of a place, the name of its field, and whether the field is no part of values."""
        record = reader.scope
        owner = owner_of(record)
        inside = place.path.removeprefix(record.place.path).lstrip(".")
        site = f"{owner}.{_without_indexes(inside)}"
        name = inside.split(".")[0].split("[")[0]
        return site, name, name in self._soil.hidden.get(owner, ())

    # ---- numbers

    def _scalar(self, reader: Reader, type_: Scalar, place: Place) -> Steps:
        """Read a number and the like; the code of an enum or union is chosen already."""
        value, self._code = self._code, None
        if value is None:
            options = self._fitting(reader, type_, place, self._options(reader, type_, place))
            value = self._choose(reader, place, options)
        data = self._bytes_of(type_, value)
        self._n_bits += type_.bits if isinstance(type_, FewBits) else 0
        return _said(reader, type_, place, value, data)

    def _options(self, reader: Reader, type_: Scalar, place: Place) -> tuple[Option, ...]:
        site, name, is_hidden = self._site(reader, place)
        match type_:
            case Boolean() | FewBits(is_flag=True):
                return (("false", False), ("true", True))
            case FewBits():
                return self._soil.int_options(site, name, type_)
            case Float(size):
                return float_options(site, size)
            case Uuid():
                return uuid_options(site)
            case CodingReference(coding):
                is_small = is_hidden or name in self._soil.mentions.measuring
                return self._soil.coding_options(coding, is_small=is_small)
            case Integer() | Varint():
                options = self._soil.int_options(site, name, type_)
                is_count = name in self._soil.mentions.measuring and _is_in_lists(place)
                return _at_most_one(options) if is_count else options
            case _:
                assert_never(type_)

    def _bytes_of(self, type_: Scalar, value: Any) -> bytes:
        """Return bytes of about the right size: what is grown is written anew."""
        match type_:
            case Integer(size, is_signed, endian):
                return int(value).to_bytes(size, endian, signed=is_signed)
            case Float(size, endian):
                return struct.pack((">" if endian == "big" else "<") + ("f" if size == 4 else "d"), value)
            case Uuid():
                data: bytes = value.bytes
                return data
            case FewBits():
                return b""
            case Varint():
                return bytes(1 + abs(value).bit_length() // 7)
            case Boolean() | CodingReference():
                return b"\0"
            case _:
                assert_never(type_)

    # ---- what has a code

    def _member(self, reader: Reader, type_: EnumReference, place: Place) -> None:
        name, only = type_.name, type_.only
        enum = self._plan.enums[name]
        if name.startswith(CODES):
            options = tuple(self._codes(reader, [each.value for each in enum.members]))
            # A message in itself comes last: the plain way leads out.
            options = tuple(sorted(options, key=lambda option: reader.nesting.get(("message", option[0]), 0)))
            number = self._choose(
                reader, place, options, site=self._site(reader, place)[0], is_structural=True
            )
        else:
            known = [(each.name, each.value) for each in enum.members if only is None or each.name in only]
            unknown = [("unknown", _unknown(enum))] if enum.is_open and only is None else []
            members_first = (*self._default_first(reader, place, known), *unknown)
            number = self._choose(reader, place, self._fitting(reader, type_, place, members_first))
        self._code = number

    def _default_first(self, reader: Reader, place: Place, options: list[Option]) -> list[Option]:
        default = self._soil.defaults.get(self._site(reader, place)[0])
        return sorted(options, key=lambda option: option[1] != default)

    def _codes(self, reader: Reader, codes: list[int]) -> Iterator[Option]:
        """Return the messages that the frame may carry: its role's, else its sender's; where only some may stand, those."""
        only = reader.only[0]
        role = (
            reader.sender
            if reader.frame is None
            else reader.schema.frames[reader.frame.name].role or reader.sender
        )
        senders = list(self._plan.codes) if role is None else [role]
        for code in codes:
            sent = (self._plan.codes.get(sender, {}).get(code) for sender in senders)
            name = next((name for name in sent if name is not None), None)
            if name is not None and (only is None or name in only):
                yield name, code

    def _variety(self, reader: Reader, type_: UnionReference, place: Place) -> None:
        name, only = type_.name, type_.only
        is_deep = reader.nesting.get(("union", name), 0) >= _DEEP
        can_reach_end = reader.is_last and reader.window.end is not None
        options = self._soil.varieties(name, only, is_deep=is_deep, can_reach_end=can_reach_end)
        shown = name if only is None else f"{name} only {self._soil.only_name(only)}"
        code = self._choose(reader, place, options, site=shown, is_structural=True)
        self._code = code

    # ---- what has a length

    def _sized(self, reader: Reader, type_: Text | Bytes, place: Place) -> Steps:
        length = type_.length
        if isinstance(length, Computed):
            return (yield from self._of_size(reader, type_, place, reader.number(length.value, place)))
        options = self._fitting(reader, type_, place, self._sized_options(reader, type_, place))
        value = self._choose(reader, place, options)
        yield from self._prefix(reader, length, place)
        return (
            yield from _said(reader, type_, place, value, b"" if value is None else _encoded(type_, value))
        )

    def _sized_options(self, reader: Reader, type_: Text | Bytes, place: Place) -> tuple[Option, ...]:
        length = type_.length
        site = self._site(reader, place)[0]
        most = self._soil.most_said(length)
        null: tuple[Option, ...] = (("null", None),) if self._soil.can_be_null(length) else ()
        room = self._room_for(reader, length)
        options: tuple[Option, ...]
        if isinstance(type_, Text):
            room //= 2 if type_.encoding == "utf16" else 1
            options = text_options(
                site, type_.encoding, shape_of(type_), lenient=type_.is_lenient, most=most, room=room
            )
        else:
            owner, _, name = site.rpartition(".")
            is_json = self._plan.views.get(owner, {}).get(name) == "json"
            options = byte_options(site, shape_of(type_), most=most, room=room, is_json=is_json)
        if isinstance(length, Delimited):
            end = bytes.fromhex(length.delimiter)
            options = tuple(each for each in options if end not in _encoded(type_, each[1]))
        return (*options, *null)

    def _room_for(self, reader: Reader, length: Length) -> int:
        """Return how many bytes something with that length has at most, here, in its region and its frame."""
        frame_end = reader.window.frame_start + reader.schema.frame
        end = frame_end if self._end is None else min(self._end, frame_end)
        before = (fixed_size(reader.schema, length.type) or 1) if isinstance(length, Prefix) else 0
        behind = len(bytes.fromhex(length.delimiter)) if isinstance(length, Delimited) else 0
        return max(0, end - self._here(reader) - before - behind)

    def _here(self, reader: Reader) -> int:
        """Return how many bytes there are before what is read next."""
        return reader.window.position + self._n_bits // 8

    def _of_size(self, reader: Reader, type_: Text | Bytes, place: Place, size: int) -> Steps:
        """Read what has as many bytes, or units, as something else says."""
        if not 0 <= size <= _MOST_BYTES:
            raise UngrownError(f"{place.path} would be too long")
        value: Any = _repeated(_LETTERS, size) if isinstance(type_, Text) else _repeated(_OCTETS, size)
        return _said(reader, type_, place, value, _encoded(type_, value))

    def _list(self, reader: Reader, type_: List, place: Place) -> Steps:
        item, length = type_.item, type_.length
        if type_.where is not None:
            self._of_items[place.path] = type_.where.condition
            type_ = replace(type_, where=None)
        match length:
            case Until(condition) if Position("remaining") in nodes_in(condition):
                # Only the region's end can say when it is over: any number of items will do, and the writer compares.
                count = self._count(reader, place, ToEnd()) or 1
            case Until():
                return (yield from self._until(reader, type_, place))
            case Computed(expression):
                count = reader.number(expression, place)
                self._refuse_unwritable(reader, expression, count, place)
                if not 0 <= count <= (_MOST_ITEMS if isinstance(item, _PLAIN) else _MOST_RECORDS):
                    raise UngrownError(f"{place.path} would have too many items")
                self._refuse_another(place, count)
            case _:
                count = self._count(reader, place, length)
        yield from self._prefix(reader, length, place)
        if count is None:
            return (yield from _said(reader, type_, place, None, b""))
        return (yield from read_list(reader, List(item, Computed(Number(count)), 0), place))

    def _refuse_another(self, place: Place, count: int) -> None:
        """Give up a long list where as many were tried: they take most of the time, and show little that one does not."""
        if count <= _LONG_LIST:
            return
        site = _without_indexes(place.path)
        self._soil.long_lists[site] += 1
        if self._soil.long_lists[site] > _MOST_LONG_LISTS:
            raise UngrownError(f"{place.path} was long often enough")

    def _refuse_unwritable(self, reader: Reader, expression: Expression, count: int, place: Place) -> None:
        """Give up a list of more items than a frame has bytes, where no field shows how many that are."""
        most, blame = reader.schema.limits["frame"], reader.blame(expression)
        if blame is None or most is None or count <= most:
            return
        if blame.name in self._soil.hidden.get(owner_of(reader.scope), ()):
            raise UngrownError(f"{place.path} would be larger than a frame")

    def _count(self, reader: Reader, place: Place, length: Length) -> Any:
        options = count_options(self._soil.most_said(length))
        null: tuple[Option, ...] = (("null", None),) if self._soil.can_be_null(length) else ()
        if self._is_deep(reader) or self._n_parts > _MANY_PARTS:
            options = tuple(option for option in options if option[1] == 0) or options
        elif _is_in_lists(place):
            options = _at_most_one(options)
        # Far from lists of lists: each item of a list is an item of its own kind.
        return self._choose(reader, Place(place.name, f"{place.path}.count", place.rule), (*options, *null))

    def _until(self, reader: Reader, type_: List, place: Place) -> Steps:
        """Read items until something holds: each takes other options than the one before, so that it does one day."""
        self._n_until += 1
        node = yield from read_list(reader, type_, place)
        self._n_until -= 1
        return node

    def _prefix(self, reader: Reader, length: Length, place: Place) -> Generator[int, bool, None]:
        """Take the bytes of a length, where it matters how many there are before something else."""
        if self._soil.mentions.asks_for_place and isinstance(length, Prefix):
            size = fixed_size(reader.schema, length.type) or 1
            _grow(reader, bytes(size))
            yield from reader.take(size, place)

    def _without_rest(self, reader: Reader, type_: StructReference, place: Place) -> Steps:
        """Read a struct that lies in itself without the fields that need not be there, for those may be the way down."""
        fields = self._plan.structs[type_.name]
        sizes = [
            fixed_size(reader.schema, each.type) for each in fields if not isinstance(each.value, Trailing)
        ]
        window = reader.window
        before = window.end
        if before is not None and None not in sizes:
            window.end = window.position + sum(size or 0 for size in sizes)
        node = yield from read_struct(reader, type_, place)
        window.end = before
        return node

    def _is_deep(self, reader: Reader) -> bool:
        return any(level > _DEEP for level in reader.nesting.values())

    # ---- regions and choices

    def _region(self, reader: Reader, type_: Region, place: Place) -> Steps:
        """Read what is in a region as if it lay bare."""
        carrier = type_.carrier
        window = reader.window
        before = (window.end, reader.is_last, reader.is_bounded)
        end_before, self._end = self._end, self._end_of(reader, carrier)
        room = self._room(reader, place)
        window.end = window.position + room if before[0] is None else min(before[0], window.position + room)
        reader.is_last, reader.is_bounded = True, True
        start = window.position
        node = yield from reader.read(reader, type_.content, place)
        window.end, reader.is_last, reader.is_bounded = before
        self._end = end_before
        match carrier:
            case InSize(FieldReference(path, "own")):
                _set(reader, path, window.position - start)
        return node

    def _end_of(self, reader: Reader, carrier: Carrier) -> int | None:
        """Return where a region ends at the latest; None: nothing but its frame bounds it, or it is compressed or cut."""
        match carrier:
            case Prefix():
                most = self._soil.most_said(carrier)
            case InSize(Number(size)):
                most = size
            case InSize(FieldReference((name,), "own")):
                most = self._soil.most_in(owner_of(reader.scope), name)
            case InSize():
                most = None
            case _:
                return None
        ends = (self._end, None if most is None else self._here(reader) + most)
        return min((end for end in ends if end is not None), default=None)

    def _room(self, reader: Reader, place: Place) -> int:
        if not self._soil.mentions.asks_for_room:
            return _ROOM
        options = (
            ("large", _ROOM),
            *((f"of {size}", size) for size in (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)),
        )
        where = Place(place.name, f"{place.path}.room", place.rule)
        site = self._site(reader, where)[0]
        return int(self._choices.choose(site, where.path, options, is_structural=True, is_goal=False))

    def _note_arm(self, reader: Reader, type_: Match, place: Place) -> None:
        """Note which arm is taken."""
        number = reader.evaluate(type_.subject, place)
        for index, arm in enumerate(type_.arms):
            if (
                not arm.spans
                or isinstance(number, int)
                and any(span.low <= number <= span.high for span in arm.spans)
            ):
                self._choices.seen.append(f"{self._site(reader, place)[0]} arm {index + 1}")
                return


def owner_of(record: RecordScope) -> str:
    """Return what a record's fields are declared in."""
    kind: Any = record.kind
    return f"{kind[1]}.{record.name}" if kind[0] == "variety" else record.name


def _is_in_lists(place: Place) -> bool:
    """Return whether so many lists are around a place that one in it has one item at most."""
    return place.path.count("[") >= _MOST_LISTS


def _at_most_one(options: tuple[Option, ...]) -> tuple[Option, ...]:
    """Return the counts of one item and of none, one item first."""
    few = sorted((option for option in options if option[1] in (0, 1)), key=lambda option: -option[1])
    return tuple(few) or options


def _without_indexes(path: str) -> str:
    return _INDEX.sub("[]", path)


def _said(reader: Reader, type_: Type, place: Place, value: Any, data: bytes) -> Steps:
    """Return the node of a value that is taken for read."""
    start = reader.window.here
    _grow(reader, data)
    yield from reader.take(len(data), place)
    return reader.node(place, type_, start, value)


def _repeated(pattern: Pattern, size: int) -> Pattern:
    return (pattern * (size // len(pattern) + 1))[:size]


def _grow(reader: Reader, data: bytes) -> None:
    buffer, position = reader.window.data, reader.window.position
    assert isinstance(buffer, bytearray)
    buffer[position:] = data


def _encoded(type_: Text | Bytes, value: Any) -> bytes:
    if isinstance(type_, Bytes) or value is None:
        return value or b""
    return encode_text(value, type_.encoding, type_.is_lenient, type_.endian)


def _unknown(enum: Enum) -> int:
    """Return a number that is no member: behind the last one, or the first that is free."""
    known = {each.value for each in enum.members}
    most = bounds(enum.type)[1] if isinstance(enum.type, Integer) else 2**63 - 1
    candidates: Iterator[int] = chain((max(known) + 1, most), range(most))
    return next(number for number in candidates if number not in known and number <= most)


def _set(reader: Reader, path: tuple[str, ...], number: int) -> None:
    """Let a field that gives a size give the right one."""
    node: Node | None = reader.scope.nodes.get(path[0]) if len(path) == 1 else None
    if node is not None:
        node.value = number
        if path[0] in reader.scope.fields:
            reader.scope.fields[path[0]] = number
