"""Formats of numbers of a fixed size: how many bytes they take, and how bytes and values become each other.

A format is defined only here. Codecs, kernels, samples and pages use it; tables of a target (Arrow types)
are with the target.
"""

from __future__ import annotations

from math import isnan
from struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, TypeVar

    from .literals import FloatName

    Number = TypeVar("Number", float, None)
    Numbers = TypeVar("Numbers", list[float], None)

__all__ = ["FLOATS", "INTEGER_LETTERS", "INTEGER_SIZES", "FloatFormat"]

INTEGER_SIZES: Final = (1, 2, 3, 4, 5, 6, 7, 8)
"""The sizes of integers in bytes."""

INTEGER_LETTERS: Final = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""The letters of `struct` for unsigned integers, by size; a signed one has the small letter."""


class FloatFormat:
    """A binary floating-point format.

    `letter`: that of `struct`, "" if it does not have one. `digits`: as many decimal digits tell any two values apart.
    `holds_all`: whether it holds every float of Python. `largest` and `least`: bytes of the largest and the least positive number, most significant first.
    """

    __slots__ = ("digits", "holds_all", "largest", "least", "letter", "pack", "size", "unpack")

    def __init__(
        self,
        letter: str,
        digits: int,
        largest: bytes,
        pack: Callable[[float], bytes],
        unpack: Callable[[bytes], float],
    ) -> None:
        self.letter = letter
        self.digits = digits
        self.size = len(largest)
        self.largest = largest
        self.least = bytes(self.size - 1) + b"\x01"
        self.holds_all = self.size >= 8
        self.pack = pack
        """Return the bytes of a value, most significant first. OverflowError: it is too large."""
        self.unpack = unpack
        """Return the value of bytes, most significant first."""

    def held(self, value: Number) -> Number:
        """Return the nearest value of the format, or None for an absent field. OverflowError: it is too large."""
        return None if value is None else self.unpack(self.pack(value))

    def held_all(self, values: Numbers) -> Numbers:
        """Return a list of the same for the items of a list, or None for an absent field."""
        return None if values is None else [self.held(each) for each in values]

    def differs(self, value: float, number: float | None) -> bool:
        """Return whether a value is not a number as the format holds it; NaN is the same as NaN."""
        try:
            held = self.unpack(self.pack(number or 0.0))
        except OverflowError:
            return True
        return number is None or (value != held and not (isnan(value) and isnan(held)))


def _of_struct(letter: str, digits: int, largest: bytes) -> FloatFormat:
    struct = Struct(f">{letter}")
    return FloatFormat(letter, digits, largest, struct.pack, lambda data: float(struct.unpack(data)[0]))


FLOATS: Final[dict[FloatName, FloatFormat]] = {
    "f32": _of_struct("f", 9, b"\x7f\x7f\xff\xff"),
    "f64": _of_struct("d", 17, b"\x7f\xef" + b"\xff" * 6),
}
"""The formats of floats by the word of the language, IEEE 754."""
