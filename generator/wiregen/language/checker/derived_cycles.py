"""Derived values that depend on themselves, by the values and sizes of other fields."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from wiregen.language.checker.inspection import Inspection, Record
from wiregen.schema.graph import components
from wiregen.schema.model import Call, Checksum, Derived, Expression, FieldReference, Position
from wiregen.schema.walk import flat_fields, inner_expressions

__all__ = ["RULES"]

_SIZE = "size "
_END = "end "
_MAX_CHECKED = 500
"""The most fields of one checksum that are checked."""


def _derived_in_a_circle(inspection: Inspection) -> None:
    for record in inspection.records:
        derived = [field.name for field in record.flat if isinstance(field.value, Derived)]
        for group in components(derived, partial(_needed, record)):
            if len(group) == 1 and group[0] not in _needed(record, group[0]):
                continue
            first, *rest = (record.by_name[node] for node in group[::-1] if node in record.by_name)
            inspection.error(
                "WG3021",
                f"`{first.name}` cannot be computed, because it depends on itself",
                inspection.place(first.path, "value"),
                "depends on itself",
                *(inspection.also(field.path, "part of the cycle", "value") for field in rest[:3]),
            )


def _needed(record: Record, node: str) -> tuple[str, ...]:
    """Return the nodes that must be known before `node`.

    A node is the name of a field for its value, `size NAME` for its size, `end POSITION` for the offset at its end.
    """
    if node.startswith(_SIZE):
        return tuple(name for name in _inside(node.removeprefix(_SIZE), record) if name in record.by_name)
    if node.startswith(_END):
        position = int(node.removeprefix(_END))
        before = (f"{_END}{position - 1}",) if position else ()
        return (f"{_SIZE}{record.flat[position].name}", *before)
    field = record.by_name[node]
    if not isinstance(field.value, Derived):
        return ()
    operands = tuple(_operands(field.value.value))
    ends = (f"{_END}{record.positions[node]}",) if Position(what="offset") in operands else ()
    return (*(name for each in operands for name in _named(each, record)), *ends)


def _operands(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and its operands; the size of a field does not depend on its value."""
    yield expression
    if not (isinstance(expression, Call) and expression.function == "size"):
        for inner in inner_expressions(expression):
            yield from _operands(inner)


def _named(expression: Expression, record: Record) -> Iterator[str]:
    match expression:
        case FieldReference(path=path, scope="own") if path and path[0] in record.by_name:
            yield path[0]
        case Call(function="size", arguments=(FieldReference(path=(name,), scope="own"), *_)):
            yield _SIZE + name
        case Checksum(first=first, last=last):
            yield from _between(record, first, last)
        case _:
            return


def _inside(name: str, record: Record) -> Iterator[str]:
    """Yield the fields inside a field whose own size depends on their value."""
    if name in record.by_name:
        inner = flat_fields((record.by_name[name],))
        yield from (field.name for field in inner if record.sizes.fixed_bits(field) is None)


def _between(record: Record, first: str, last: str) -> Iterator[str]:
    if first in record.positions and last in record.positions:
        low, high = record.positions[first], record.positions[last] + 1
        yield from (field.name for field in record.flat[low : min(high, low + _MAX_CHECKED)])


RULES = (_derived_in_a_circle,)
