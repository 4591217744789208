"""Numbers of `@tag`: whether protobuf allows them, and whether each part of a declaration has its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wiregen.language.checker.inspection import Owner
from wiregen.language.diagnostics import Report, Span
from wiregen.schema.model import Notes, Protocol
from wiregen.schema.value_shapes import carry
from wiregen.schema.value_shapes.field_numbers import faults, numbers_of
from wiregen.schema.walk import every_field

__all__ = ["check_tags"]


def check_tags(protocol: Protocol, origins: Mapping[str, Span], report: Report) -> None:
    """Report the numbers of `@tag` that protobuf refuses (WG5011), in a protocol without other errors."""
    if all(notes.tag is None for notes in _notes(protocol)):
        return
    for fault in faults(numbers_of(carry(protocol)), {}):
        entry, place = fault.entry, origins.get(fault.entry.path)
        if fault.other is None:
            report.error(
                "WG5011",
                f"`{entry.name}` cannot have the protobuf number {entry.number}",
                place,
                label="not allowed",
                help="give it a number from 1 to 536870911, except 19000 to 19999, with `@tag(n)`",
            )
        else:
            report.error(
                "WG5011",
                f"`{entry.name}` has the protobuf number {entry.number}, which `{fault.other}` already has",
                place,
                label="second use",
                help="give one of them another number with `@tag(n)`; if two type codes are equal, remove `@tag(code)`",
            )


def _notes(protocol: Protocol) -> Iterator[Notes]:
    """Yield the annotations of every node that protobuf numbers."""
    owners: list[Owner] = [*protocol.frames, *protocol.messages, *protocol.structs, *protocol.preambles]
    owners += (variety for union in protocol.unions for variety in union.varieties)
    for owner in owners:
        yield owner.notes
        yield from (protocol.about[field.path].notes for field in every_field(owner.fields))
