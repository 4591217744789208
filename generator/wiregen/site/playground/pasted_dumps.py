"""Hexdumps as people paste them: of xxd, hexdump, od, tcpdump, PowerShell and Wireshark.

The offsets of a dump say how its groups of digits are to be read: each is the number of the bytes before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, TypeAlias

__all__ = ["Dump", "dump_of", "loose_dump_of"]

_LINE: Final = re.compile(r"\s*(0[xX])?([0-9A-Fa-f]{4,16})(:?)(\s+|$)(.*)")
_DECIMAL: Final = re.compile(r"[0-9]+")
_GROUP: Final = re.compile(r"(?:[0-9A-Fa-f]{2}){1,8}")
_PAIRS: Final = re.compile(r"[0-9A-Fa-f]{2}(?: [0-9A-Fa-f]{2})*")
_HALF: Final = re.compile(r"[0-9A-Fa-f]{2}(?: [0-9A-Fa-f]{2}){7}")
_GAP: Final = re.compile(r"\s{2,}")
_BITS: Final = re.compile(r"[01]{8}")
_BAR: Final = re.compile(r"\s\s+[|>]")
_N_PARTS: Final = 3
_BASES: Final = (16, 8, 10)
_BASES_OF_OD: Final = (8, 16, 10)
"""Bases of offsets, by likelihood. Where equal lines are left out, several may agree with the bytes; hexdump fills its last line."""
_WIDE: Final = 2
"""Blanks after an offset that tell it from a group of digits."""
_LONG: Final = 6
"""The fewest digits of an offset that only one blank follows."""
_DIGITS_OF_OD: Final = 7
"""The digits of an offset of od, and of hexdump where it shows words. No group of bytes has as many."""
_FULL: Final = 16
"""Bytes of a full line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """The bytes of a dump; `word_size`: bytes of each word, the lowest one first; 1 for bytes in their order."""

    data: bytes
    word_size: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line with an offset, or the mark of repeated lines, whose offset is empty."""

    offset: str
    has_colon: bool = False
    is_wide: bool = False
    rest: str = ""
    is_padded: bool = False
    is_after_blank: bool = False

    @property
    def is_repeat(self) -> bool:
        return not self.offset


_Reader: TypeAlias = Callable[[str], bytes | None]
"""Returns the bytes of a line after its offset; None: they are of another form."""


def dump_of(text: str, most: int) -> Dump | None:
    """Return the bytes of a dump whose offsets agree with them; None for any other text, or more than `most` bytes."""
    rows = _rows(text)
    if rows is None or not _is_dump(rows):
        return None
    word_size, readers = _readers(rows)
    is_of_od = len(rows[0].offset) == _DIGITS_OF_OD and not any(row.is_padded for row in rows)
    for reader in readers:
        lines = [reader(row.rest) for row in rows]
        for base in _BASES_OF_OD if is_of_od else _BASES:
            data = _joined(rows, lines, base, word_size, most)
            if data:
                return Dump(data=data, word_size=word_size)
    return None


def loose_dump_of(text: str, *, is_sure: bool = True) -> bytes | None:
    """Return the bytes of lines that have offsets, whatever these are; None where there are no bytes.

    `is_sure`: that the text is a dump is known. Otherwise each offset needs a colon or two blanks after it.
    """
    rows = _rows(text)
    if rows is None or not (is_sure or all(row.has_colon or row.is_wide or row.is_repeat for row in rows)):
        return None
    return b"".join(_bytes_in_order(row.rest) for row in rows) or None


def _rows(text: str) -> tuple[_Row, ...] | None:
    """Return the lines of a dump; None where a line has no offset."""
    found: list[_Row] = []
    is_after_blank = False
    for line in text.splitlines():
        start = _LINE.fullmatch(line)
        if start is not None:
            _, offset, colon, blanks, rest = start.groups()
            is_wide = len(blanks) >= _WIDE or "\t" in blanks or not rest
            found.append(
                _Row(
                    offset=offset,
                    has_colon=bool(colon),
                    is_wide=is_wide,
                    rest=rest.rstrip(),
                    is_padded=rest != rest.rstrip(),
                    is_after_blank=is_after_blank,
                )
            )
        elif line.strip() == "*" and found:
            found.append(_Row(offset=""))
        elif line.strip():
            return None
        is_after_blank = not line.strip()
    return tuple(found) or None


def _is_dump(rows: tuple[_Row, ...]) -> bool:
    """Return whether the offsets cannot be the first groups of digits of each line."""
    first, *others = rows
    if first.has_colon:
        return True
    is_offset = first.is_wide or len(first.offset) >= _LONG
    is_zero = not first.offset.strip("0")
    is_marked = first.is_wide or len(first.offset) == _DIGITS_OF_OD or _has_characters(first)
    return is_offset and (bool(others) or (is_zero and is_marked))


def _has_characters(row: _Row) -> bool:
    """Return whether two blanks and a text that is no digits follow the bytes of a line."""
    return bool(_GAP.search(row.rest)) and not all(map(_GROUP.fullmatch, row.rest.split()))


def _readers(rows: tuple[_Row, ...]) -> tuple[int, tuple[_Reader, ...]]:
    """Return how many bytes a word has, and the readers of lines to try in turn."""
    groups = [group for row in rows for group in row.rest.split()]
    widths = {len(group) for group in groups}
    width = widths.pop() if len(widths) == 1 else 0
    if rows[0].has_colon or not all(_GROUP.fullmatch(group) or _DECIMAL.fullmatch(group) for group in groups):
        return 1, (_bits, _bytes_in_order)
    match width:
        case 3:
            return 1, (_octal_bytes,)
        case 6:
            return 2, (_octal_words,)
        case 4 | 8 | 16:
            return width // 2, (_words,)
        case _:
            return 1, (_bytes_in_order, _bytes_of_all)


def _bytes_in_order(line: str) -> bytes:
    return bytes.fromhex("".join(_groups(line)))


def _bits(line: str) -> bytes | None:
    """Return the bytes of groups of bits, if each has one character at the right; there, blanks are not seen."""
    groups, *characters = _GAP.split(line, maxsplit=1)
    bits = groups.split()
    is_each = bool(characters) and len(characters[0]) <= len(bits) and all(map(_BITS.fullmatch, bits))
    return bytes(int(each, 2) for each in bits) if is_each else None


def _bytes_of_all(line: str) -> bytes | None:
    groups = line.split()
    return bytes.fromhex("".join(groups)) if all(map(_GROUP.fullmatch, groups)) else None


def _words(line: str) -> bytes:
    return b"".join(bytes.fromhex(group)[::-1] for group in line.split())


def _octal_words(line: str) -> bytes | None:
    return _octal(line, 2)


def _octal_bytes(line: str) -> bytes | None:
    return _octal(line, 1)


def _octal(line: str, size: int) -> bytes | None:
    try:
        return b"".join(int(group, 8).to_bytes(size, "little") for group in line.split())
    except (ValueError, OverflowError):
        return None


def _joined(
    rows: tuple[_Row, ...], lines: list[bytes | None], base: int, word_size: int, most: int
) -> bytes | None:
    """Return the bytes of all lines; None where an offset is not the number of the bytes before it.

    The last offset may stand alone. A dump of words has zeros to the end of its last word.
    """
    found, last, begin = bytearray(), b"", 0
    for number, (row, line) in enumerate(zip(rows, lines, strict=True)):
        if line is None:
            return None
        if row.is_repeat:
            continue
        at = _number(row.offset, base)
        if at is None or (number == 0 and at and not _may_begin_anywhere(rows, lines)):
            return None
        if number == 0 or (row.is_after_blank and at == 0):
            begin = at - len(found)
        size = at - begin
        if number and rows[number - 1].is_repeat:
            n_repeats = (size - len(found)) // len(last)
            if not 0 < n_repeats * len(last) <= most:
                return None
            found += last * n_repeats
        is_end = number == len(rows) - 1 and not line
        if is_end and 0 < len(found) - size < word_size:
            del found[size:]
        if len(found) != size or (not line and not is_end) or len(found) > most:
            return None
        found += line
        last = line
    return bytes(found)


def _number(digits: str, base: int) -> int | None:
    try:
        return int(digits, base)
    except ValueError:
        return None


def _may_begin_anywhere(rows: tuple[_Row, ...], lines: list[bytes | None]) -> bool:
    """Return whether the lines may be a part of a dump: the offset is marked, or all before the last are full."""
    before = [line for row, line in zip(rows, lines, strict=True) if line and not row.is_repeat][:-1]
    return rows[0].has_colon or (bool(before) and all(len(line) == _FULL for line in before))


def _groups(line: str) -> Iterator[str]:
    """Yield the digits of a line after its offset.

    The text after a bar is ignored. Without a bar, two spaces end the digits; but eight pairs may be the
    first half of a line, followed by the second half and the characters.
    """
    bar = _BAR.search(line)
    if bar is not None:
        yield from _digits(line[: bar.start()])
        return
    first, *others = _GAP.split(line.strip(), maxsplit=2)
    second = others[0] if len(others) == _N_PARTS - 1 else ""
    is_half = bool(_HALF.fullmatch(first)) and bool(_PAIRS.fullmatch(second))
    yield from _digits(f"{first} {second}" if is_half else first)


def _digits(text: str) -> Iterator[str]:
    """Yield the groups of digits at the start of a text."""
    yield from takewhile(_GROUP.fullmatch, text.split())
