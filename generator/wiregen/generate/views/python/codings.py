"""Codings (integers in one of several widths) as the templates of Python functions print them."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.generate.steps.step import Slot
from wiregen.generate.views.python.names import PackedNumber
from wiregen.generate.views.python.shared import Shared
from wiregen.schema import model as m

__all__ = ["CodingView", "WidthView", "coding_view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthView:
    """One width: the numbers from `low` to `high`.

    They are the value itself, mean null, or announce a number after them, which `unpack` reads.
    `narrower`: the test that an earlier width is enough for the value. `fits`: the test that a value has this
    width.
    """

    low: int
    high: int
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
    tests: list[str] = []
    for width in coding.widths:
        fits = _fits(width)
        widths.append(_width(coding, width, shared, " or ".join(tests), fits))
        if fits:
            tests.append(fits)
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


def _width(coding: m.Coding, width: m.Width, shared: Shared, narrower: str, fits: str) -> WidthView:
    size = coding.type.size
    wide = width.wide
    return WidthView(
        low=width.low,
        high=width.high,
        is_null=width.is_null,
        wide=None if wide is None else PackedNumber(type=wide),
        unpack="" if wide is None else _struct(wide, shared, "unpack"),
        end=size + (0 if wide is None else wide.size),
        pack="" if wide is None else _struct(wide, shared, "pack"),
        narrower=narrower,
        fits=fits,
    )


def _fits(width: m.Width) -> str:
    if width.is_null:
        return ""
    low, high = width.low, width.high
    if width.wide is not None:
        low, high = width.wide.bounds
    return f"{low} <= value <= {high}"


def _struct(type_: m.Integer, shared: Shared, verb: str) -> str:
    slot = Slot(key="", type=type_, bits=type_.bits, field=None, part="value")
    format_ = ("<" if type_.endian == "little" else ">") + shared.format(slot)
    return shared.structs.unpack(format_) if verb == "unpack" else shared.structs.pack(format_)
