"""Numbers and limits as pages print them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from wiregen.schema import model as m

__all__ = ["forms_text", "limit_phrase", "number_text", "spans_text"]

_UNITS: Final = {
    "frame": ("byte", ""),
    "inflated": ("byte", ""),
    "joined": ("byte", ""),
    "count": ("item", ""),
    "messages": ("item", " in all lists of a frame"),
    "depth": ("level", ""),
}
"""The units of the limits that codecs enforce."""


def number_text(number: int) -> str:
    """Return a number with thousands separators; a very large one as a power of two."""
    power = number.bit_length()
    if number >= 2**40 and number in (2**power - 1, 2 ** (power - 1)):
        return f"2^{power - 1}" if number == 2 ** (power - 1) else f"2^{power} − 1"
    return f"{number:,}"


def forms_text(number: int, high: int | None = None, *, is_character: bool = False) -> str:
    """Return a number, or the range up to `high`, in decimal, in hexadecimal if that differs, and as a character."""
    numbers = (number,) if high in (None, number) else (number, high)
    also = [" .. ".join(f"0x{each:02x}" for each in numbers)] if max(numbers) > 9 and number >= 0 else []
    also += [" .. ".join(repr(chr(each)) for each in numbers)] if is_character else []
    return " .. ".join(map(str, numbers)) + (f" ({', '.join(also)})" if also else "")


def spans_text(spans: Iterable[m.Span], *, is_character: bool = False) -> str:
    """Return numbers and ranges in the same forms."""
    return ", ".join(forms_text(span.low, span.high, is_character=is_character) for span in spans)


def limit_phrase(name: str, bounds: Mapping[str, int | None]) -> str:
    """Return a limit with its default, or with the remark that it has no default."""
    value = bounds.get(name)
    if value is None:
        return f"limits.{name}, where the reader sets one"
    unit, of_what = _UNITS.get(name, ("", ""))
    counted = f" {unit}{'' if value == 1 else 's'}{of_what}" if unit else ""
    return f"limits.{name} ({number_text(value)}{counted} by default)"
