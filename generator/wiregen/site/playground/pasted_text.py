"""Bytes as people paste them: hexadecimal digits, Base64, hexdumps of the usual tools, literals of programs."""

from __future__ import annotations

import base64
import binascii
import re
from itertools import takewhile
from typing import Final

from wiregen.site.playground.program_text import bytes_in_program

__all__ = ["MOST_BYTES", "TextError", "bytes_of"]

MOST_BYTES: Final = 1 << 18
_DIGITS: Final = re.compile(r"[0-9A-Fa-f]*")
_BETWEEN: Final = re.compile(r"[\s,;]+|(?=\\x)|%")
_SEPARATED: Final = re.compile(r"[0-9A-Fa-f]{2}(?:[:.|_-]\s*[0-9A-Fa-f]{2})+")
"""Pairs of digits with a sign between them, as addresses have; `-` and `_` are digits of Base64 too."""
_BUFFER: Final = re.compile(r"<Buffer ([^>]*)>")
"""Bytes as Node.js prints them."""
_MARKED: Final = ("0x", "0X", "\\x")
"""Prefixes of digits in the text of programs."""
_DUMP_LINE: Final = re.compile(r"^\s*(?:0x)?[0-9A-Fa-f]{4,16}:?(?:\s+|$)")
_GROUP: Final = re.compile(r"(?:[0-9A-Fa-f]{2}){1,8}")
_PAIRS: Final = re.compile(r"[0-9A-Fa-f]{2}(?: [0-9A-Fa-f]{2})*")
_HALF: Final = re.compile(r"[0-9A-Fa-f]{2}(?: [0-9A-Fa-f]{2}){7}")
_GAP: Final = re.compile(r"\s{2,}")
_BAR: Final = re.compile(r"\s\s+[|>]")
_N_PARTS: Final = 3


class TextError(ValueError):
    """A text that does not represent bytes."""


def bytes_of(text: str, form: str = "auto") -> bytes:
    """Return the bytes of a text; `form`: `hex`, `hexdump`, `program`, `base64`, or `auto`, the first of them that fits.

    Raises:
        TextError: The text has none of these forms, or is too long.
    """
    readers = {"hex": _from_hex, "hexdump": _from_dump, "program": _from_program, "base64": _from_base64}
    chosen = list(readers.values()) if form == "auto" else [readers[form]] if form in readers else []
    for reader in chosen:
        data = reader(text.strip())
        if data is not None:
            if len(data) > MOST_BYTES:
                raise TextError(f"more than {MOST_BYTES} bytes")
            return data
    raise TextError(
        "neither hexadecimal digits, nor a hexdump, nor literals of a program, nor Base64"
        if form == "auto"
        else f"no {form}"
    )


def _from_hex(text: str) -> bytes | None:
    buffer = _BUFFER.fullmatch(text)
    text = text if buffer is None else buffer[1]
    if _SEPARATED.fullmatch(text):
        return bytes.fromhex("".join(_DIGITS.findall(text)))
    digits = "".join(_number(group) if group.startswith(_MARKED) else group for group in _BETWEEN.split(text))
    return bytes.fromhex(digits) if len(digits) % 2 == 0 and _DIGITS.fullmatch(digits) else None


def _from_program(text: str) -> bytes | None:
    return bytes_in_program(text, _from_hex, _from_base64)


def _number(group: str) -> str:
    """Return the digits of a number in a program: `0x1` is one byte."""
    digits = group[2:]
    return f"0{digits}" if len(digits) % 2 else digits


def _from_dump(text: str) -> bytes | None:
    """Return the bytes of a dump by xxd, hexdump -C, od or Wireshark.

    A line has an offset, bytes, and at the right characters, which are ignored.
    """
    found = bytearray()
    for line in text.splitlines():
        start = _DUMP_LINE.match(line)
        if start is not None:
            found += bytes.fromhex("".join(_groups(line[start.end() :])))
        elif line.strip() not in ("", "*"):
            return None
    return bytes(found) if found or not text else None


def _groups(line: str) -> list[str]:
    """Return the digits of a line after its offset.

    The text after a bar is ignored. Without a bar, two spaces end the digits; but eight pairs may be the
    first half of a line, followed by the second half and the characters.
    """
    bar = _BAR.search(line)
    if bar is not None:
        return _digits(line[: bar.start()])
    first, *others = _GAP.split(line.strip(), maxsplit=2)
    second = others[0] if len(others) == _N_PARTS - 1 else ""
    is_half = bool(_HALF.fullmatch(first)) and bool(_PAIRS.fullmatch(second))
    return _digits(f"{first} {second}" if is_half else first)


def _digits(text: str) -> list[str]:
    """Return the groups of digits at the start of a text."""
    return list(takewhile(lambda group: _GROUP.fullmatch(group) is not None, text.split()))


def _from_base64(text: str) -> bytes | None:
    plain = "".join(text.split()).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
