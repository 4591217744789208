"""Codings (integers in one of several widths) as the templates of Python functions print them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from wiregen.generate.steps.step import Slot
from wiregen.generate.views.python.names import PackedNumber
from wiregen.generate.views.python.shared import Shared
from wiregen.schema import model as m

__all__ = ["CodingView", "WidthView", "coding_view"]

_Bounds: TypeAlias = "tuple[int, int]"


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthView:
    """One width: the numbers from `low` to `high`.

    They are the value itself, mean null, or announce a number after them, which `unpack` reads.
    `is_first`: the test that the first number is one of them. `narrower`: the test that an earlier width is enough for the
    value. `fits`: the test that a value has this width.
    """

    low: int
    is_first: str
    is_null: bool
    wide: PackedNumber | None
    unpack: str
    end: int
    pack: str
    narrower: str
    fits: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingView:
    reader: str
    writer: str
    base: PackedNumber
    unpack: str
    pack: str
    size: int
    has_null: bool
    widths: tuple[WidthView, ...]


def coding_view(coding: m.Coding, shared: Shared) -> CodingView:
    """Return the view of a coding."""
    size = coding.type.size
    widths: list[WidthView] = []
    before: list[_Bounds] = []
    for width in coding.widths:
        widths.append(_width(coding, width, shared, before))
        if not width.is_null:
            before.append(_bounds(width))
    return CodingView(
        reader=shared.inner_reader(coding.name),
        writer=shared.inner_writer(coding.name),
        base=PackedNumber(type=coding.type),
        unpack=_struct(coding.type, shared, "unpack"),
        pack=_struct(coding.type, shared, "pack"),
        size=size,
        has_null=any(width.is_null for width in coding.widths),
        widths=tuple(widths),
    )


def _width(coding: m.Coding, width: m.Width, shared: Shared, before: list[_Bounds]) -> WidthView:
    size = coding.type.size
    wide = width.wide
    low, high = _bounds(width)
    apart = [each for each in before if not any(_is_within(each, other) for other in before if other != each)]
    return WidthView(
        low=width.low,
        is_first=_test("first", (width.low, width.high), coding.type.bounds),
        is_null=width.is_null,
        wide=None if wide is None else PackedNumber(type=wide),
        unpack="" if wide is None else _struct(wide, shared, "unpack"),
        end=size + (0 if wide is None else wide.size),
        pack="" if wide is None else _struct(wide, shared, "pack"),
        narrower="" if wide is None else " or ".join(_test("value", each, wide.bounds) for each in apart),
        fits="" if width.is_null else f"{low} <= value <= {high}",
    )


def _bounds(width: m.Width) -> _Bounds:
    """Return the lowest and the highest value of a width."""
    return (width.low, width.high) if width.wide is None else width.wide.bounds


def _is_within(inner: _Bounds, outer: _Bounds) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _test(name: str, wanted: _Bounds, possible: _Bounds) -> str:
    """Return the test that a number is one of the wanted ones; it is always one of the possible ones."""
    low, high = wanted
    if low == high:
        return f"{name} == {low}"
    if low <= possible[0] and high < possible[1]:
        return f"{name} <= {high}"
    if high >= possible[1] and low > possible[0]:
        return f"{name} >= {low}"
    return f"{low} <= {name} <= {high}"


def _struct(type_: m.Integer, shared: Shared, verb: str) -> str:
    slot = Slot(key="", type=type_, bits=type_.bits, field=None, part="value")
    format_ = ("<" if type_.endian == "little" else ">") + shared.format(slot)
    return shared.structs.unpack(format_) if verb == "unpack" else shared.structs.pack(format_)
