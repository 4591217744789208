"""Offsets of the parts of a layout, where sizes that vary are letters: `4`, `10+m`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

__all__ = ["Offset", "offsets_of"]

_LETTERS: Final = "mnpqrstuvwxyz"
_MOST_TERMS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """Bits from the start of the layout, plus the sizes that `terms` name.

    `size`: the letter that names the size of this part itself; "" if that is fixed.
    """

    bits: int
    terms: tuple[str, ...]
    size: str

    @property
    def text(self) -> str:
        """Return the offset in bytes, as `10+m`; of many terms only the first and the last."""
        terms = self.terms
        if len(terms) > _MOST_TERMS:
            terms = (terms[0], "…", terms[-1])
        number = str(self.bits // 8)
        return "+".join(terms if terms and number == "0" else (number, *terms))


def offsets_of(sizes: Iterable[int | None], *, first: int = 0) -> tuple[Offset, ...]:
    """Return the offset of each part of a layout, from the sizes of the parts in bits, None for one that varies.

    `first`: how many sizes of the same table have a letter already.
    """
    bits = 0
    terms: tuple[str, ...] = ()
    found: list[Offset] = []
    for size in sizes:
        letter = _letter(first + len(terms)) if size is None else ""
        found.append(Offset(bits=bits, terms=terms, size=letter))
        bits += size or 0
        terms = (*terms, letter) if letter else terms
    return tuple(found)


def _letter(number: int) -> str:
    """Return the name of the n-th size that varies."""
    turn, place = divmod(number, len(_LETTERS))
    return _LETTERS[place] + (str(turn) if turn else "")
