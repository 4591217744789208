"""Unions, and the arms of a match: chosen by a number."""

from __future__ import annotations

from functools import partial

from ...codec.errors import EncodeError
from ...records.arms import accepts
from ...schema.shapes import content, is_flat
from ...schema.types import Arm, Float, Match, Type, UnionReference
from ..access import as_float, is_a
from ..expressions import Circular, Undefined
from ..scalars import scalar
from .cells import UNSEEN, Cell, Spot
from .messages import place_of
from .rows import CellRow
from .writer import Writer

__all__ = ["chosen", "write_match", "write_union"]

_ANY = object()
"""Marks a subject that only a context could give."""


def write_union(writer: Writer, type_: UnionReference, value: object, spot: Spot) -> bytes:
    name, only = type_.name, type_.only
    union = writer.layout.schema.unions[name]
    variety = writer.variety(name, value, spot.path)
    if only is not None and variety.name not in only:
        raise EncodeError(
            "constraint", path=spot.path, expected=f"only {', '.join(only)}", found=variety.name
        )
    writer.enter(name, spot.path)
    fields = next(each.fields for each in union.varieties if each.name == variety.name)
    if writer.layout.fields_reach_end(fields) and not (spot.around.is_last and spot.around.has_end):
        raise EncodeError(
            "undelimitable", path=spot.path, expected="a variety with an end", found=variety.name
        )
    code = scalar(writer.layout.schema, union.type, variety.code, spot.path)
    row = CellRow(writer, fields, value, f"{spot.path}.{variety.name}", frame=spot.row.frame)
    spot.cell.inner = row
    data = code + row.write(spot.behind(len(code)), spot.around)
    writer.leave(name)
    return data


def write_match(writer: Writer, type_: Match, value: object, spot: Spot) -> bytes:
    """Return the bytes of the arm that takes the subject."""
    try:
        is_open = "context" in writer.unknowable
        number = spot.row.worth_at(
            type_.subject, spot.path, spot.start, otherwise=_ANY if is_open else UNSEEN
        )
    except Circular:
        return _write_sized_arm(writer, type_, value, spot)
    if number is _ANY:
        return _write_fitting(writer, type_.arms, value, spot)
    arm = type_.arm(number)
    if arm is None:
        raise _no_arm(spot)
    return writer.write(arm.type, value, spot)


def _write_fitting(writer: Writer, arms: tuple[Arm, ...], value: object, spot: Spot) -> bytes:
    """Return the bytes of the first arm that takes the value."""
    for arm in arms[:-1]:
        data = spot.row.attempt(partial(writer.write, arm.type, value, spot))
        if data is not None:
            return data
    return writer.write(arms[-1].type, value, spot)


def _write_sized_arm(writer: Writer, type_: Match, value: object, spot: Spot) -> bytes:
    """Return the bytes of the arm that takes the value, if its size decides the arm: the choice is checked afterwards."""
    types = [arm.type for arm in type_.arms]
    fitting = [each for each in types if is_flat(each) or accepts(writer.layout, each, value)]
    fitting = [each for each in fitting if not _is_rounded(each, value)] or fitting
    chosen: list[Type] = []

    def write(arm: Type) -> bytes:
        chosen[:] = [arm]
        return writer.write(arm, value, spot)

    def compare() -> None:
        number = spot.row.worth_at(type_.subject, spot.path, spot.start)
        taken = type_.arm(number)
        if taken is None:
            raise _no_arm(spot)
        if taken.type is not chosen[0]:
            expected = "a value of the size that chooses its layout"
            raise EncodeError("constraint", path=place_of(spot), expected=expected, found=f"size {number}")

    for each in fitting[:-1]:
        data = spot.row.attempt(partial(write, each))
        if data is not None:
            spot.row.later(compare)
            return data
    data = write(fitting[-1] if fitting else types[-1])
    spot.row.later(compare)
    return data


def _is_rounded(type_: Type, value: object) -> bool:
    """Return whether a float has another value in the bytes of a type."""
    type_ = content(type_)
    if not (isinstance(type_, Float) and is_a(value, float)):
        return False
    given = as_float(value, "")
    return type_.definition.differs(given, given)


def chosen(row: CellRow, cell: Cell, type_: Type) -> Type:
    """Return the type of a choice's value: that of the arm that its subject takes, or the choice while that is unknown."""
    while isinstance(type_, Match) and not cell.is_choosing:
        cell.is_choosing = True
        try:
            arm = type_.arm(row.evaluate(type_.subject, cell))
        except (Undefined, EncodeError):
            arm = None
        cell.is_choosing = False
        if arm is None:
            break
        type_ = content(arm.type)
    return type_


def _no_arm(spot: Spot) -> EncodeError:
    return EncodeError("unknown_code", path=place_of(spot), expected="a known choice", found="another")
