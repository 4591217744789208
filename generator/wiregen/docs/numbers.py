"""Numbers and limits as pages print them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["limit_phrase", "number_text"]

_UNITS: Final = {
    "frame": ("byte", ""),
    "inflated": ("byte", ""),
    "joined": ("byte", ""),
    "count": ("item", ""),
    "messages": ("item", " in all lists of a frame"),
    "depth": ("level", ""),
}
"""What the limits that codecs keep to are counted in."""


def number_text(number: int) -> str:
    """Return a number with its thousands apart; a very large one as a power of two."""
    power = number.bit_length()
    if number >= 2**40 and number in (2**power - 1, 2 ** (power - 1)):
        return f"2^{power - 1}" if number == 2 ** (power - 1) else f"2^{power} − 1"
    return f"{number:,}"


def limit_phrase(name: str, bounds: Mapping[str, int | None]) -> str:
    """Return a limit with the number that holds by default, or with the remark that none does."""
    value = bounds.get(name)
    if value is None:
        return f"limits.{name}, where the reader sets one"
    unit, of_what = _UNITS.get(name, ("", ""))
    counted = f" {unit}{'' if value == 1 else 's'}{of_what}" if unit else ""
    return f"limits.{name} ({number_text(value)}{counted} by default)"
