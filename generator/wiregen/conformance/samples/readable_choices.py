"""Choices for a reader: the plainest options, and values that the name of their field makes clear."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from wiregen.conformance.samples.choices import Choices, Option
from wiregen.conformance.samples.readable_values import (
    readable_bytes,
    readable_floats,
    readable_numbers,
    readable_texts,
    readable_uuids,
)
from wiregen.conformance.samples.unconstrained import FewBits
from wiregen.runtime.schema.scalars import FloatFormat
from wiregen.runtime.schema.types import (
    Boolean,
    Bytes,
    CodingReference,
    Float,
    Integer,
    Text,
    Type,
    Uuid,
    Varint,
)

__all__ = ["ReadableChoices"]

_READABLE: Final = "readable"


@dataclass(slots=True, kw_only=True)
class ReadableChoices(Choices):
    """Makes the choices of one value for a page. Equal names and types have equal values."""

    def preferred_options(self, name: str, type_: Type) -> tuple[Option, ...]:
        return tuple((f"{_READABLE} {at}", value) for at, value in enumerate(_values(name, type_), 1))


def _values(name: str, type_: Type) -> Iterable[object]:
    """Return values for a field called `name`. The type may be too small for some numbers."""
    match type_:
        case Integer() | Varint() | CodingReference() | FewBits(is_flag=False):
            return readable_numbers(name)
        case Float():
            return (value for value in readable_floats(name) if _is_held(type_.definition, value))
        case _:
            return _texts(name, type_)


def _texts(name: str, type_: Type) -> Iterable[object]:
    match type_:
        case Uuid():
            return readable_uuids(name)
        case Text():
            return readable_texts(name)
        case Bytes():
            return readable_bytes(name)
        case Boolean() | _:  # its values are as plain without a name
            return ()


def _is_held(format_: FloatFormat, value: float) -> bool:
    """Return whether a format holds a number exactly."""
    try:
        return format_.held(value) == value
    except OverflowError:
        return False
