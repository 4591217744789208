"""Untrusted text for a terminal: escapes for control characters and invisible ones, cells for wide characters."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

MAX_SHOWN: Final = 400
CUT: Final = "..."

_TAB: Final = " " * 4
_WIDTH: Final = 110
_BEFORE: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A line as shown, and the columns of its mark: the number of cells before it and the number that it covers."""

    line: str
    indent: int
    marked: int


def visible(text: str, *, keep: str = "") -> str:
    """Return the text with control, bidi and other unprintable characters as escapes, except those in `keep`."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _escape(char) for char in text)


def shown(text: str) -> str:
    """Return the text made visible, shortened if it is too long for a message."""
    if len(text) > MAX_SHOWN:
        text = text[: MAX_SHOWN - len(CUT)] + CUT
    return visible(text)


def display_width(shown_text: str) -> int:
    """Return how many terminal cells a visible text takes."""
    return sum(map(_char_width, shown_text))


def excerpt(text: str, line_start: int, line_end: int, start: int, end: int) -> Excerpt:
    """Return the part of a line around a mark; offsets are the text's, and the mark is kept inside the line."""
    start = min(max(start, line_start), line_end)
    end = min(max(end, start), line_end)
    low = max(line_start, start - _BEFORE)
    high = min(line_end, start + _WIDTH)
    cells = tuple(map(_cell, text[low:high]))
    before, after = cells[: start - low], cells[start - low :]
    kept_before = _fitting(reversed(before), _BEFORE)
    kept_after = _fitting(after, _WIDTH - _cells_width(before[len(before) - kept_before :]))
    before, after = before[len(before) - kept_before :], after[:kept_after]
    left = CUT if start - kept_before > line_start else ""
    right = CUT if start + kept_after < line_end else ""
    return Excerpt(
        line=f"{left}{''.join(before)}{''.join(after)}{right}".rstrip(),
        indent=len(left) + _cells_width(before),
        marked=max(1, _cells_width(after[: end - start])),
    )


def _fitting(cells: Iterable[str], width: int) -> int:
    """Return how many of the cells fit side by side."""
    n_fitting = 0
    for cell in cells:
        width -= display_width(cell)
        if width < 0:
            break
        n_fitting += 1
    return n_fitting


def _cells_width(cells: Iterable[str]) -> int:
    return sum(map(display_width, cells))


def _cell(char: str) -> str:
    return _TAB if char == "\t" else visible(char)


def _char_width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _escape(char: str) -> str:
    number = ord(char)
    match char:
        case "\n":
            return "\\n"
        case "\r":
            return "\\r"
        case "\t":
            return "\\t"
        case _ if number < 0x100:
            return f"\\x{number:02x}"
        case _ if number < 0x10000:
            return f"\\u{number:04x}"
        case _:
            return f"\\U{number:08x}"
