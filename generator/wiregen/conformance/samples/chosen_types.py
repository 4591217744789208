"""Types read by choice: before one is read, the bytes of the chosen value are appended to the existing bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, TypeAlias, TypeVar, assert_never

from wiregen.conformance.samples.basis import SampleBasis, shape_of
from wiregen.conformance.samples.boundary_values import (
    byte_options,
    float_options,
    text_options,
    uuid_options,
)
from wiregen.conformance.samples.choices import Choices, Option, UngrownError
from wiregen.conformance.samples.choosing import (
    Choosing,
    at_most_one,
    encoded,
    is_in_lists,
    levels,
    said,
    unit_size,
)
from wiregen.conformance.samples.chosen_lists import ChosenLists
from wiregen.conformance.samples.chosen_regions import ChosenRegions
from wiregen.conformance.samples.filling import filling_options, sized_options
from wiregen.conformance.samples.unconstrained import CODES, FewBits
from wiregen.runtime.reference.layout import fixed_size
from wiregen.runtime.reference.reading.frames import READERS
from wiregen.runtime.reference.reading.reader import Reader, Steps
from wiregen.runtime.reference.reading.records import read_struct
from wiregen.runtime.reference.scalars import scalar
from wiregen.runtime.reference.window import Place
from wiregen.runtime.schema.declarations import Enum, Trailing
from wiregen.runtime.schema.expressions import Expression
from wiregen.runtime.schema.types import (
    Boolean,
    Bytes,
    CodingReference,
    Computed,
    Delimited,
    EnumReference,
    Float,
    FrameReference,
    Integer,
    List,
    Match,
    MessageReference,
    Region,
    StructReference,
    Text,
    Type,
    UnionReference,
    Uuid,
    Varint,
)

__all__ = ["ChosenTypes"]

Pattern = TypeVar("Pattern", str, bytes)
Scalar: TypeAlias = Boolean | FewBits | Integer | Varint | Float | Uuid | CodingReference

_PARTS: Final = (StructReference, List, UnionReference, Match, Region, MessageReference, FrameReference)
_MOST_BYTES: Final = 70_000
_MOST_PARTS: Final = 4000
"""Parts of the largest value that is made up, until one has been larger."""
_LETTERS: Final = "".join(map(chr, range(ord("a"), ord("z") + 1)))
_OCTETS: Final = bytes(range(1, 252))
_LEAST_PARTS: Final = 100
"""Parts that a value may have, however often a value has been too large."""


class ChosenTypes:
    """Reads types according to the choices."""

    def __init__(self, basis: SampleBasis, choices: Choices) -> None:
        self._basis = basis
        self._choosing = Choosing(basis, choices)
        self._lists = ChosenLists(self._choosing)
        self._regions = ChosenRegions(self._choosing)
        # Each value that is too large costs as much as one that is kept, and about 80 are tried for each message.
        self._most_parts = max(_MOST_PARTS // (1 + len(basis.too_large)), _LEAST_PARTS)
        self._code: int | None = None

    def read(self, reader: Reader, type_: Type, place: Place) -> Steps:
        """Read one type from made-up bytes.

        Raises:
            UngrownError: The value has too many parts.
        """
        self._choosing.n_parts += isinstance(type_, _PARTS)
        if self._choosing.n_parts > self._most_parts:
            self._basis.too_large.append(place.path)
            raise UngrownError(f"{place.path} would be one of too many parts")
        if place.path == self._choosing.last_item:
            reader.is_last = True  # the enclosing list decides this afterwards
        match type_:
            case _ if isinstance(type_, Scalar):
                return self._scalar(reader, type_, place)
            case EnumReference():
                self._member(reader, type_, place)
            case UnionReference():
                self._variety(reader, type_, place)
            case Text() | Bytes():
                return self._sized(reader, type_, place)
            case List():
                return self._lists.read(reader, type_, place)
            case Region():
                return self._regions.read(reader, type_, place)
            case StructReference(name) if self._choosing.is_plainest(reader, name):
                return self._without_rest(reader, type_, place)
            case Match():
                self._note_arm(reader, type_, place)
        steps: Steps = READERS[type(type_)](reader, type_, place)
        return steps

    # ---- numbers

    def _scalar(self, reader: Reader, type_: Scalar, place: Place) -> Steps:
        """Read a scalar; the code of an enum or union is already chosen."""
        value, self._code = self._code, None
        if value is None:
            own = self._options(reader, type_, place)
            first = self._preferred_scalars(reader, type_, place)
            every = (*first, *own, *self._choosing.choices.more_options(type_))
            value = self._choosing.choose_fitting(reader, type_, place, every)
        data = self._bytes_of(type_, value)
        self._choosing.n_bits += type_.bits if isinstance(type_, FewBits) else 0
        return said(reader, type_, place, value, data)

    def _preferred_scalars(self, reader: Reader, type_: Scalar, place: Place) -> tuple[Option, ...]:
        """Return the preferred options that a type holds."""
        options = self._choosing.preferred(reader, type_, place)
        match type_:
            case CodingReference(coding):
                return tuple(each for each in options if self._basis.holds(coding, each[1]))
            case Integer() | Varint() | FewBits(is_flag=False):
                low, high = type_.bounds
                return tuple(each for each in options if low <= each[1] <= high)
            case _:
                return options

    def _options(self, reader: Reader, type_: Scalar, place: Place) -> tuple[Option, ...]:
        own = self._choosing.site(reader, place)
        match type_:
            case Boolean() | FewBits(is_flag=True):
                return (("false", False), ("true", True))
            case FewBits():
                return self._basis.int_options(own.path, own.name, type_)
            case Float():
                return float_options(own.path, type_.definition)
            case Uuid():
                return uuid_options(own.path)
            case CodingReference(coding):
                is_small = own.is_hidden or own.name in self._basis.mentions.measuring
                return self._basis.coding_options(coding, own.name, is_small=is_small)
            case Integer() | Varint():
                options = self._basis.int_options(own.path, own.name, type_)
                is_count = own.name in self._basis.mentions.measuring and is_in_lists(place)
                return at_most_one(options) if is_count else options
            case _:
                assert_never(type_)

    def _bytes_of(self, type_: Scalar, value: Any) -> bytes:
        """Return the bytes of a value; those of a run of bits are read before."""
        return b"" if isinstance(type_, FewBits) else scalar(self._basis.schema, type_, value, "")

    # ---- types with a code

    def _member(self, reader: Reader, type_: EnumReference, place: Place) -> None:
        name, only = type_.name, type_.only
        enum = self._basis.loose.enums[name]
        if name.startswith(CODES):
            number = self._choosing.choose(
                reader,
                place,
                self._codes(reader, name),
                site=self._choosing.site(reader, place).path,
                is_structural=True,
            )
        else:
            known = [(each.name, each.value) for each in enum.members if only is None or each.name in only]
            unknown = [("unknown", _unknown(enum))] if enum.is_open and only is None else []
            more = self._choosing.choices.more_options(enum.type) if unknown else ()
            members_first = (*self._default_first(reader, place, known), *unknown, *more)
            number = self._choosing.choose_fitting(reader, type_, place, members_first)
        self._code = number

    def _default_first(self, reader: Reader, place: Place, options: list[Option]) -> list[Option]:
        default = self._basis.defaults.get(self._choosing.site(reader, place).path)
        return sorted(options, key=lambda option: option[1] != default)

    def _codes(self, reader: Reader, enum: str) -> tuple[Option, ...]:
        """Return the messages that the frame may carry: its role's, else its sender's; if the frame
        restricts them, only those. A message in itself comes last: the plain way leads out.
        """
        frame = reader.frame
        sender = reader.sender if frame is None else reader.layout.frames[frame.name].role or reader.sender
        options = self._basis.codes(enum, sender, reader.only[0])
        around = levels(reader)
        return tuple(sorted(options, key=lambda option: around[option[0]])) if around else options

    def _variety(self, reader: Reader, type_: UnionReference, place: Place) -> None:
        name, only = type_.name, type_.only
        is_deep = self._choosing.is_plainest(reader, name)
        can_reach_end = reader.is_last and reader.window.end is not None
        options = self._basis.varieties(name, only, is_deep=is_deep, can_reach_end=can_reach_end)
        shown = name if only is None else f"{name} only {self._basis.only_name(only)}"
        code = self._choosing.choose(reader, place, options, site=shown, is_structural=True)
        self._code = code

    # ---- types with a length

    def _sized(self, reader: Reader, type_: Text | Bytes, place: Place) -> Steps:
        length = type_.length
        if isinstance(length, Computed):
            return (yield from self._of_size(reader, type_, place, length.value))
        options = self._sized_options(reader, type_, place)
        value = self._choosing.choose_fitting(reader, type_, place, options)
        yield from self._choosing.prefix(reader, length, place)
        return (yield from said(reader, type_, place, value, b"" if value is None else encoded(type_, value)))

    def _sized_options(self, reader: Reader, type_: Text | Bytes, place: Place) -> tuple[Option, ...]:
        length = type_.length
        rest = self._choosing.rest(reader, length)
        if rest is not None:
            first = sized_options(type_, self._choosing.preferred(reader, type_, place), rest)
            fill = (*first, *filling_options(type_, self._free_options(reader, type_, place, None, 0), rest))
            if fill:
                return self._undelimited(type_, fill)
        most = self._basis.most_said(length)
        null: tuple[Option, ...] = (("null", None),) if self._basis.can_be_null(length) else ()
        room = self._choosing.room_for(reader, length)
        size = room if most is None else min(most, room)
        more = self._choosing.choices.more_options(type_)
        fit = (each for each in more if len(encoded(type_, each[1])) <= size)
        preferred = self._choosing.preferred(reader, type_, place)
        fit_first = (each for each in preferred if len(encoded(type_, each[1])) <= size)
        options = (*fit_first, *self._free_options(reader, type_, place, most, room), *fit)
        return (*self._undelimited(type_, options), *null)

    def _free_options(
        self, reader: Reader, type_: Text | Bytes, place: Place, most: int | None, room: int
    ) -> tuple[Option, ...]:
        """Return values of any size of at most `most` units and `room` bytes."""
        site = self._choosing.site(reader, place).path
        if isinstance(type_, Text):
            room //= 2 if type_.encoding == "utf16" else 1
            return text_options(
                site, type_.encoding, shape_of(type_), lenient=type_.is_lenient, most=most, room=room
            )
        owner, _, name = site.rpartition(".")
        is_json = self._basis.loose.views.get(owner, {}).get(name) == "json"
        return byte_options(site, shape_of(type_), most=most, room=room, is_json=is_json)

    def _undelimited(self, type_: Text | Bytes, options: tuple[Option, ...]) -> tuple[Option, ...]:
        """Return the options that do not contain the delimiter."""
        if not isinstance(type_.length, Delimited):
            return options
        end = bytes.fromhex(type_.length.delimiter)
        return tuple(each for each in options if end not in encoded(type_, each[1]))

    def _of_size(self, reader: Reader, type_: Text | Bytes, place: Place, length: Expression) -> Steps:
        """Read a value whose number of bytes or units another part of the value gives."""
        size = reader.number(length, place)
        if not 0 <= size <= _MOST_BYTES:
            self._choosing.refuse_number(reader, length, f"{place.path} would be too long")
        letters = _repeated(_LETTERS, size) if isinstance(type_, Text) else _repeated(_OCTETS, size)
        first = sized_options(type_, self._choosing.preferred(reader, type_, place), size * unit_size(type_))
        value = self._choosing.allowed_value(reader, type_, place, (*first, ("marked", letters)))
        return said(reader, type_, place, value, encoded(type_, value))

    def _without_rest(self, reader: Reader, type_: StructReference, place: Place) -> Steps:
        """Read a recursive struct without its optional fields, which may be the ones that recurse."""
        fields = self._basis.loose.structs[type_.name]
        sizes = [
            fixed_size(reader.layout, each.type) for each in fields if not isinstance(each.value, Trailing)
        ]
        window = reader.window
        before = window.end
        if before is not None and None not in sizes:
            window.end = window.position + sum(size or 0 for size in sizes)
        node = yield from read_struct(reader, type_, place)
        window.end = before
        return node

    def _note_arm(self, reader: Reader, type_: Match, place: Place) -> None:
        """Record which arm is taken."""
        number = reader.evaluate(type_.subject, place)
        for index, arm in enumerate(type_.arms):
            if (
                not arm.spans
                or isinstance(number, int)
                and any(span.low <= number <= span.high for span in arm.spans)
            ):
                self._choosing.choices.seen.append(
                    f"{self._choosing.site(reader, place).path} arm {index + 1}"
                )
                return


def _repeated(pattern: Pattern, size: int) -> Pattern:
    return (pattern * (size // len(pattern) + 1))[:size]


def _unknown(enum: Enum) -> int:
    """Return a number that is not a member: the one after the last member, or the first free one."""
    known = {each.value for each in enum.members}
    most = enum.type.bounds[1] if isinstance(enum.type, Integer) else 2**63 - 1
    candidates: Iterator[int] = chain((max(known) + 1, most), range(most))
    return next(number for number in candidates if number not in known and number <= most)
