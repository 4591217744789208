"""Derived values that depend on themselves, by the values and sizes of other fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, assert_never

from wiregen.language.checker.inspection import Inspection, Record
from wiregen.schema.graph import components
from wiregen.schema.model import Call, Checksum, Derived, Expression, FieldReference, Position
from wiregen.schema.walk import every_field, inner_expressions

__all__ = ["RULES"]

_MAX_CHECKED = 500
"""The most fields of one checksum that are checked."""


@dataclass(frozen=True, slots=True)
class _Value:
    """The value of a field."""

    field: str


@dataclass(frozen=True, slots=True)
class _Size:
    """The size of a field."""

    field: str


@dataclass(frozen=True, slots=True)
class _End:
    """The offset at the end of the field at a position of its declaration."""

    position: int


_Known: TypeAlias = _Value | _Size | _End
"""A value that has to be known for another one."""


def _derived_in_a_circle(inspection: Inspection) -> None:
    for record in inspection.records:
        derived: list[_Known] = [
            _Value(field.name) for field in record.flat if isinstance(field.value, Derived)
        ]
        for group in components(derived, partial(_needed, record)):
            if len(group) == 1 and group[0] not in _needed(record, group[0]):
                continue
            first, *rest = (record.by_name[each.field] for each in group[::-1] if isinstance(each, _Value))
            inspection.error(
                "WG3021",
                f"`{first.name}` cannot be computed, because it depends on itself",
                inspection.place(first.path, "value"),
                "depends on itself",
                *(inspection.also(field.path, "part of the cycle", "value") for field in rest[:3]),
            )


def _needed(record: Record, known: _Known) -> tuple[_Known, ...]:
    """Return what must be known before."""
    match known:
        case _Size(name):
            return tuple(_Value(each) for each in _inside(name, record) if each in record.by_name)
        case _End(position):
            before = (_End(position - 1),) if position else ()
            return (_Size(record.flat[position].name), *before)
        case _Value(name):
            value = record.by_name[name].value
            operands = tuple(_operands(value.value)) if isinstance(value, Derived) else ()
            ends = (_End(record.positions[name]),) if Position(what="offset") in operands else ()
            return (*(each for operand in operands for each in _named(operand, record)), *ends)
        case _:
            assert_never(known)


def _operands(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and its operands; the size of a field does not depend on its value."""
    yield expression
    if not (isinstance(expression, Call) and expression.function == "size"):
        for inner in inner_expressions(expression):
            yield from _operands(inner)


def _named(expression: Expression, record: Record) -> Iterator[_Known]:
    match expression:
        case FieldReference(path=path, scope="own") if path and path[0] in record.by_name:
            yield _Value(path[0])
        case Call(function="size", arguments=(FieldReference(path=(name,), scope="own"), *_)):
            yield _Size(name)
        case Checksum(first=first, last=last):
            yield from map(_Value, _between(record, first, last))
        case _:
            return


def _inside(name: str, record: Record) -> Iterator[str]:
    """Yield the fields inside a field whose own size depends on their value."""
    if name in record.by_name:
        inner = every_field((record.by_name[name],))
        yield from (field.name for field in inner if record.sizes.fixed_bits(field) is None)


def _between(record: Record, first: str, last: str) -> Iterator[str]:
    if first in record.positions and last in record.positions:
        low, high = record.positions[first], record.positions[last] + 1
        yield from (field.name for field in record.flat[low : min(high, low + _MAX_CHECKED)])


RULES = (_derived_in_a_circle,)
