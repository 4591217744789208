"""The smallest valid value of every message of a protocol, found from its schema.

Invariant: the result is deterministic. A value that a rule refuses is replaced by the next smallest one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, islice, product
from typing import Final, TypeAlias, assert_never
from uuid import UUID

from wiregen.conformance.samples import Planted, SampleBasis, SampleValue, try_frames, try_openings
from wiregen.conformance.traces.field_paths import NUMBERS, fits
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.types import flat_fields
from wiregen.runtime.records.values import constant_value
from wiregen.runtime.reference.expressions import Value
from wiregen.runtime.reference.tree import FrameValue, Record, Variety
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.declarations import Field
from wiregen.runtime.schema.expressions import LiteralExpression, Number
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import (
    Bits,
    Block,
    Boolean,
    Bytes,
    CodingReference,
    EnumReference,
    Float,
    FrameReference,
    Integer,
    List,
    Match,
    MessageMatch,
    MessageReference,
    Region,
    StructReference,
    Text,
    Type,
    UnionReference,
    Uuid,
    Varint,
)

__all__ = ["Smallest", "variations"]

_MOST_TRIED: Final = 2_000
"""Combinations of small values that are tried for one message."""
_MOST_VALUES: Final = 12
_DEEPEST: Final = 4
_Compound: TypeAlias = (
    List
    | EnumReference
    | StructReference
    | MessageReference
    | UnionReference
    | Match
    | FrameReference
    | MessageMatch
    | Block
)


class Smallest:
    """Small values of the types of one schema, within `limits`."""

    def __init__(self, schema: Schema, limits: Mapping[str, int] | None = None) -> None:
        self._schema = schema
        self._limits = dict(limits or {})
        self._known: dict[Type, tuple[object, ...]] = {}
        self._viewed: dict[str, tuple[bytes, ...]] = {}

    def message(self, name: str, role: str) -> FrameValue | None:
        """Return a frame with the smallest such message that `role` could write, or None if none was found.

        Facts that only a context has are ignored.
        """
        found = self._message(name, role, 0)
        if found is not None or role not in self._schema.sends:
            return found
        code = self._schema.messages[name].code
        sample = self._sample(name, role, lambda take: try_frames(self._basis, take, role=role, code=code))
        return sample if isinstance(sample, FrameValue) else None

    def _message(self, name: str, role: str, depth: int) -> FrameValue | None:
        return next(self._messages(name, role, depth), None)

    def _messages(self, name: str, role: str, depth: int) -> Iterator[FrameValue]:
        frame = self._schema.sends.get(role)
        if frame is None:
            return
        declared = self._schema.frames[frame]
        body = declared.message
        fields = tuple(field for field in flat_fields(declared.fields) if field.name != body)
        header = self._choices(fields, depth)
        own = self._choices(self._schema.messages[name].fields, depth)
        for values in variations((*header.values(), *own.values())):
            message = Record(name, dict(zip(own, values[len(header) :], strict=True)))
            found = FrameValue(frame, dict(zip(header, values, strict=False)), message, body=body)
            if self._is_right(found, role):
                yield found

    def preamble(self, name: str, role: str) -> Record | None:
        """Return the smallest such preamble, or None if none was found."""
        choices = self._choices(self._schema.preambles[name].fields)
        for values in variations(tuple(choices.values())):
            found = Record(name, dict(zip(choices, values, strict=True)))
            if self._is_right(found, role):
                return found
        sample = self._sample(name, role, lambda take: try_openings(self._basis, take, role=role))
        return sample if isinstance(sample, Record) else None

    def _sample(self, name: str, role: str, attempt: Callable[[Planted], None]) -> FrameValue | Record | None:
        """Return the plainest sample, for conditions that no small values meet, or None if `attempt` finds none."""
        found: list[FrameValue | Record] = []

        def take(sample: SampleValue) -> bool:
            value = sample.value
            said = value.message if isinstance(value, FrameValue) else value
            if said.name == name and self._is_right(value, role):
                found.append(value)
            return bool(found)

        attempt(take)
        return next(iter(found), None)

    @cached_property
    def _basis(self) -> SampleBasis:
        return SampleBasis(schema=self._schema)

    def values(self, type_: Type) -> tuple[Value, ...]:
        """Return small values of a type, the smallest first, without regard to rules."""
        if type_ not in self._known:
            self._known[type_] = tuple(islice(self._values(type_, 0), _MOST_VALUES))
        return self._known[type_]

    def viewed(self, path: str) -> tuple[bytes, ...]:
        """Return bytes for a field that is read again as frames: one of each kind, two frames, and one that is cut."""
        if path not in self._viewed:
            self._viewed[path] = self._seen_through(path)
        return self._viewed[path]

    def _seen_through(self, path: str) -> tuple[bytes, ...]:
        owner, _, name = path.rpartition(".")
        match self._schema.views.get(owner, {}).get(name):
            case List(FrameReference(frame, tuple() as only)):
                found = [tuple(islice(self._growing(frame, kind), 2)) for kind in only]
                last = found[-1]
                return (
                    *(each[0] for each in found if each),
                    *(2 * each for each in last[:1]),
                    *(each[:-1] for each in last[1:]),
                )
            case _:
                return ()

    def _growing(self, frame: str, name: str) -> Iterator[bytes]:
        """Yield the smallest frame with such a message, and longer ones."""
        longest = -1
        for role, other in self._schema.sends.items():
            for found in self._messages(name, role, 0) if other == frame else ():
                data = write_frame(
                    self._schema, found, Options(role, limits=self._limits), needs_context=False
                )
                if len(data) > longest:
                    longest = len(data)
                    yield data

    def _is_right(self, value: object, role: str) -> bool:
        try:
            write_frame(self._schema, value, Options(role, limits=self._limits), needs_context=False)
        except EncodeError:
            return False
        return True

    # ---- fields

    def _choices(self, fields: tuple[Field, ...], depth: int = 0) -> dict[str, tuple[object, ...]]:
        """Return the small values of each field that a value has."""
        found = {
            field.name: tuple(islice(self._of_field(field, depth), _MOST_VALUES))
            for field in flat_fields(fields)
            if not field.is_hidden
        }
        return {name: values for name, values in found.items() if values}

    def _of_field(self, field: Field, depth: int) -> Iterator[object]:
        """Yield the default first, absence before the values of a conditional field, and last the numbers of its `where`."""
        value = None if field.value is None else field.value.value
        first = [constant_value(value, field.type)] if isinstance(value, LiteralExpression) else []
        yield from first
        if field.condition is not None:
            yield None
        for other in self._values(field.type, depth):
            if other not in first:
                yield other
        yield from _compared(field)

    def _records(self, fields: tuple[Field, ...], depth: int) -> Iterator[dict[str, Value]]:
        if depth > _DEEPEST:
            return
        choices = self._choices(fields, depth + 1)
        for values in variations(tuple(choices.values()), most=_MOST_VALUES):
            yield dict(zip(choices, values, strict=True))

    # ---- types

    def _values(self, type_: Type, depth: int) -> Iterator[object]:
        match type_:
            case Integer():
                yield from (0, 1, 2, 3, type_.bounds[1])
            case Varint() | CodingReference():
                yield from (0, 1, 2, 3)
            case Bits(bits, is_flag):
                yield from (False, True) if is_flag else range(min(4, 2**bits))
            case Boolean():
                yield from (False, True)
            case Float():
                yield from (0.0, 1.0)
            case Uuid():
                yield from (UUID(int=0), UUID(int=1), UUID(int=2))
            case Bytes():
                yield from (b"", b"a", b"ab", b"abc", bytes(4), bytes(8), bytes(16))
            case Text():
                yield from ("", "a", "ab")
            case Region(inner):
                yield from self._values(inner, depth)
            case _:
                yield from self._compound(type_, depth)

    def _compound(self, type_: _Compound, depth: int) -> Iterator[Value]:
        match type_:
            case List(item):
                yield []
                items = tuple(islice(self._values(item, depth), 3))
                yield from ([each] for each in items)
                yield from ([each] * 2 for each in items[:1])
            case EnumReference(name, only):
                members = self._schema.enums[name].members
                yield from (each.value for each in members if only is None or each.name in only)
            case StructReference(name):
                yield from (
                    Record(name, values) for values in self._records(self._schema.structs[name], depth)
                )
            case MessageReference(name):
                fields = self._schema.messages[name].fields
                yield from (Record(name, values) for values in self._records(fields, depth))
            case UnionReference(name, only):
                yield from self._varieties(name, only, depth)
            case Match(_, arms):
                found = [self._values(arm.type, depth) for arm in arms]
                for values in zip(*(islice(_padded(each), 3) for each in found), strict=True):
                    yield from (value for value in values if value is not _NOTHING)
            case FrameReference(name):
                yield from self._frames(name, depth)
            case MessageMatch() | Block():
                return
            case _:
                assert_never(type_)

    def _varieties(self, name: str, only: tuple[str, ...] | None, depth: int) -> Iterator[Value]:
        for each in self._schema.unions[name].varieties:
            if only is None or each.name in only:
                values = next(self._records(each.fields, depth), None)
                if values is not None:
                    yield Variety(name, each.name, values, each.spans[0].low)

    def _frames(self, name: str, depth: int) -> Iterator[Value]:
        """Yield frames that are allowed in a message, of the role that sends them."""
        if depth > 0:
            return
        for role, frame in self._schema.sends.items():
            if frame == name:
                found = (self._message(each, role, depth + 1) for each in self._schema.codes[role].values())
                yield from (each for each in found if each is not None)


def _compared(field: Field) -> Iterator[int]:
    """Yield the numbers in the condition of a number: none of the small values may meet it."""
    if isinstance(field.type, NUMBERS):
        for node in nodes_in(field.where):
            if isinstance(node, Number) and fits(field.type, node.value):
                yield node.value


_NOTHING: Final = object()


def _padded(values: Iterator[object]) -> Iterator[object]:
    yield from values
    while True:
        yield _NOTHING


def variations(
    choices: Sequence[Sequence[object]], *, most_changed: int = 3, most: int = _MOST_TRIED
) -> Iterator[tuple[Value, ...]]:
    """Yield the first of all choices, then those that differ from it in one place, in two and so on."""
    first = tuple(choice[0] for choice in choices)
    return islice(_changed(first, choices, most_changed), most)


def _changed(
    first: tuple[object, ...], choices: Sequence[Sequence[object]], most_changed: int
) -> Iterator[tuple[object, ...]]:
    for n_changed in range(min(most_changed, len(choices)) + 1):
        for places in combinations(range(len(choices)), n_changed):
            for others in product(*(choices[place][1:] for place in places)):
                found = list(first)
                for place, value in zip(places, others, strict=True):
                    found[place] = value
                yield tuple(found)
