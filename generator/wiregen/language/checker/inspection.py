"""The input of every rule: the model, the places of its nodes in the files, the sizes, and the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

from wiregen.language.checker.lookup import Declared
from wiregen.language.checker.subjects import SessionSubjects
from wiregen.language.checker.targets import Targets
from wiregen.language.diagnostics import Label, Report, Span
from wiregen.runtime.schema.node import Node
from wiregen.schema.model import (
    Block,
    Field,
    Frame,
    Message,
    MessageMatch,
    MessageReference,
    Preamble,
    Protocol,
    Session,
    Struct,
    Type,
    Variant,
    Variety,
)
from wiregen.schema.model import Span as Numbers
from wiregen.schema.sizes import Sizes
from wiregen.schema.walk import every_field, shapes

__all__ = ["MAX_VARIANTS", "Inspection", "Record", "numbers_text", "overlaps", "role_of"]

Origins: TypeAlias = Mapping[str, Span]
Owner: TypeAlias = Struct | Message | Frame | Preamble | Variety
_Of = TypeVar("_Of")

MAX_VARIANTS = 16
"""The most variants that are checked; each one is a layout of every declaration."""
_MAX_WAYS = 64


@dataclass(frozen=True, kw_only=True)
class Record:
    """A declaration with fields in one layout: the protocol's own or that of a variant."""

    owner: Owner
    variant: Variant | None
    sizes: Sizes

    @property
    def role(self) -> str | None:
        return role_of(self.owner)

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.owner.fields

    @cached_property
    def flat(self) -> tuple[Field, ...]:
        """The fields in wire order; those of a block come after the field that holds the block."""
        return tuple(every_field(self.owner.fields))

    @cached_property
    def by_name(self) -> Mapping[str, Field]:
        return {field.name: field for field in self.flat}

    @cached_property
    def positions(self) -> Mapping[str, int]:
        return {field.name: position for position, field in enumerate(self.flat)}

    @cached_property
    def shapes(self) -> tuple[tuple[Field, Type], ...]:
        """Every type with the field that it belongs to, outer before inner."""
        return tuple((field, type_) for field in self.flat for type_ in shapes(field.type))

    @property
    def blocks(self) -> Iterator[tuple[Field, ...]]:
        """The fields of the declaration itself, then those of each block in it."""
        yield self.fields
        yield from (type_.fields for _, type_ in self.shapes if isinstance(type_, Block))

    @cached_property
    def ways(self) -> tuple[MessageMatch, ...]:
        """The places where a message is chosen by its code."""
        return tuple(type_ for _, type_ in self.shapes if isinstance(type_, MessageMatch))[:_MAX_WAYS]


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """One run of the checker over one protocol."""

    protocol: Protocol
    origins: Origins
    report: Report

    @cached_property
    def sizes(self) -> Sizes:
        return Sizes(self.protocol)

    @cached_property
    def layouts(self) -> tuple[tuple[Variant | None, Sizes], ...]:
        """The protocol's own layout, then that of each variant."""
        own: tuple[Variant | None, Sizes] = (None, self.sizes)
        return (
            own,
            *((variant, Sizes(self.protocol, variant)) for variant in self.protocol.variants[:MAX_VARIANTS]),
        )

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """Every declaration with fields, once for each layout that contains it."""
        return tuple(
            Record(owner=owner, variant=variant, sizes=sizes)
            for variant, sizes in self.layouts
            for owner in _owners(self.protocol if variant is None else variant)
        )

    @cached_property
    def messages(self) -> Mapping[str, Message]:
        return {message.name: message for message in self.protocol.messages}

    @cached_property
    def frames(self) -> Mapping[str, Frame]:
        return {frame.name: frame for frame in self.protocol.frames}

    @cached_property
    def frame_records(self) -> tuple[Record, ...]:
        """The first frame of each direction, in the protocol's own layout."""
        records = [
            record for record in self.records if isinstance(record.owner, Frame) and record.variant is None
        ]
        by_role = {record.role: record for record in reversed(records)}
        return tuple(by_role.values())

    @cached_property
    def named_messages(self) -> frozenset[str]:
        """The messages that are reached by their names: in fields, arms, views."""
        shapes_ = (type_ for record in self.records for _, type_ in record.shapes)
        views = (
            type_
            for record in self.records
            for field in record.flat
            if isinstance(field.view, Node)
            for type_ in shapes(field.view)
        )
        return frozenset(type_.name for type_ in (*shapes_, *views) if isinstance(type_, MessageReference))

    @cached_property
    def declared(self) -> Declared:
        return Declared(self.protocol)

    @cached_property
    def targets(self) -> Targets:
        return Targets(self.protocol)

    def subjects(self, session: Session) -> SessionSubjects:
        """Return the numbers and the presence of the names in a session's rows."""
        if session.path not in self._subjects:
            self._subjects[session.path] = SessionSubjects(
                self.protocol, self.declared, self.targets, session
            )
        return self._subjects[session.path]

    @cached_property
    def _subjects(self) -> dict[str, SessionSubjects]:
        return {}

    def full_name(self, field: Field) -> str:
        """Return the name of a field, preceded by those of the declarations that contain it."""
        return field.path.removeprefix(f"{self.protocol.path}.")

    def place(self, path: str, part: str = "") -> Span | None:
        """Return where a part of the node at `path` is written, or else the whole node, or None."""
        return self.origins.get(f"{path}#{part}") or self.origins.get(path)

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        label: str,
        *others: Label | None,
        help_: str | None = None,
    ) -> None:
        """Add an error; labels whose places are unknown are left out."""
        known = [other for other in others if other is not None]
        self.report.error(code, message, span, label=label, others=known, help=help_)

    def warning(
        self, code: str, message: str, span: Span | None, label: str, *others: Label | None, help_: str
    ) -> None:
        known = [other for other in others if other is not None]
        self.report.warning(code, message, span, label=label, others=known, help=help_)

    def note(self, code: str, message: str, span: Span | None, label: str, *, help_: str) -> None:
        self.report.note(code, message, span, label=label, help=help_)

    def also(self, path: str, text: str, part: str = "") -> Label | None:
        """Return a second place for a finding, if its place is known."""
        span = self.place(path, part)
        return None if span is None else Label(span=span, text=text)


def role_of(owner: Owner) -> str | None:
    """Return the role that sends a declaration, or None if both roles do, or it does not say."""
    return owner.role if isinstance(owner, Message | Frame | Preamble) else None


def overlaps(entries: Iterable[tuple[Numbers, _Of]]) -> Iterator[tuple[_Of, _Of, int]]:
    """Yield pairs of entries that overlap, the earlier one first, with the least number in both.

    Not every pair is yielded, but each entry that overlaps another is in one.
    """
    ranked = sorted(enumerate(entries), key=lambda entry: (entry[1][0].low, entry[0]))
    widest: tuple[int, tuple[Numbers, _Of]] | None = None
    for position, (numbers, of) in ranked:
        if widest is not None and numbers.low <= widest[1][0].high:
            first, second = sorted(((widest[0], widest[1][1]), (position, of)), key=lambda pair: pair[0])
            yield first[1], second[1], numbers.low
        if widest is None or numbers.high > widest[1][0].high:
            widest = (position, (numbers, of))


def numbers_text(numbers: Numbers) -> str:
    """Return numbers in the notation of a file."""
    return str(numbers.low) if numbers.low == numbers.high else f"{numbers.low} .. {numbers.high}"


def _owners(source: Protocol | Variant) -> Iterator[Owner]:
    yield from source.structs
    yield from source.messages
    yield from source.frames
    yield from source.preambles
    if isinstance(source, Protocol):
        for union in source.unions:
            yield from union.varieties
