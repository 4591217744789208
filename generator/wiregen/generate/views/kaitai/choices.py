"""Choices by number as `switch-on`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from wiregen.generate.views.kaitai.file import REFUSED, KaitaiFile
from wiregen.generate.views.kaitai.parts import (
    KaitaiAttribute,
    KaitaiEntry,
    KaitaiSwitch,
    KaitaiType,
    quoted,
    valid,
    within,
)
from wiregen.generate.views.kaitai.shapes import KaitaiShape, name_of
from wiregen.schema import model as m

__all__ = ["choice"]

_MOST_CASES: Final = 512
"""Cases of one choice that are written one by one; above it the choice is among ranges."""


def choice(
    file: KaitaiFile,
    on: str,
    arms: Iterable[tuple[tuple[m.Span, ...], KaitaiShape]],
    *,
    has_others: bool = False,
) -> KaitaiSwitch | None:
    """Return a choice by number; the first arm that has the number counts, and an arm without spans takes all others.

    `has_others`: other numbers are accepted, and their bytes are shown. None: there are no numbers.
    """
    rows = list(arms)
    others = next((shape for spans, shape in rows if not spans), None)
    default: tuple[KaitaiEntry, ...] = ()
    if others is not None or not has_others:
        default = (KaitaiEntry(key="_", value=name_of(others) if others else _refused(file)),)
    size = sum(span.high - span.low + 1 for spans, _ in rows for span in spans)
    if size <= _MOST_CASES:
        cases: dict[int, str] = {}
        for spans, shape in rows:
            for span in spans:
                for number in range(span.low, span.high + 1):
                    cases.setdefault(number, name_of(shape))
    else:  # the number of the arm
        tests = [
            f"{' or '.join(within(on, span.low, span.high) for span in spans)} ? {i} : "
            for i, (spans, _) in enumerate(rows)
            if spans
        ]
        on = "".join(tests) + str(len(rows))
        cases = {i: name_of(shape) for i, (spans, shape) in enumerate(rows) if spans}
    entries = (KaitaiEntry(key=str(key), value=value) for key, value in cases.items())
    made = (*entries, *default)
    return KaitaiSwitch(on=quoted(on), cases=made) if made else None


def _refused(file: KaitaiFile) -> str:
    never = KaitaiAttribute(id="refused", entries=(KaitaiEntry(key="size", value="0"), valid(("false",))))
    file.types.setdefault(
        REFUSED, KaitaiType(name=REFUSED, comment="A number without a meaning.", seq=(never,))
    )
    return REFUSED
