"""Bytes as people paste them: hexadecimal digits, Base64, hexdumps of the usual tools, literals of programs."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final

from wiregen.generate.escaping import harmless
from wiregen.site.playground.pasted_dumps import dump_of, loose_dump_of
from wiregen.site.playground.program_text import bytes_in_program

__all__ = ["MOST_BYTES", "Pasted", "TextError", "bytes_of", "pasted"]

MOST_BYTES: Final = 1 << 18
_DIGITS: Final = re.compile(r"[0-9A-Fa-f]*")
_BETWEEN: Final = re.compile(r"[\s,;]+|(?=\\x)|%")
_SEPARATED: Final = re.compile(r"[0-9A-Fa-f]{2}(?:[:.|_-]\s*[0-9A-Fa-f]{2})+")
"""Pairs of digits with a sign between them, as addresses have; `-` and `_` are digits of Base64 too."""
_BUFFER: Final = re.compile(r"<Buffer ([^>]*)>")
"""Bytes as Node.js prints them."""
_MARKED: Final = ("0x", "0X", "\\x")
"""Prefixes of digits in the text of programs."""
_WORD: Final = re.compile(r"[A-Z]?[a-z]+")
"""A word as people write it, which may be Base64 too."""
_WORDS: Final = re.compile(r"[^\W\d_]+(?:[\s,.!?']+[^\W\d_]+)*[.!?]?")
_HEX_START: Final = re.compile(r"(?:0[xX]|\\x|[0-9A-Fa-f\s,;:])*")
_FORMS: Final = {
    "hex": "hex", "hexdump": "a hexdump", "program": "text of a program", "base64": "Base64",
}  # fmt: skip
"""Forms as people call them, by the names that questions have for them."""
_MOST_SHOWN: Final = 16


class TextError(ValueError):
    """A text that does not represent bytes, or not in the given form; `fitting_form`: one that it has."""

    def __init__(self, message: str, fitting_form: str | None = None) -> None:
        super().__init__(message)
        self.fitting_form = fitting_form


@dataclass(frozen=True, slots=True, kw_only=True)
class Pasted:
    """The bytes of a text, and the form in which it was read; `word_size`: of a dump's words, the lowest byte first."""

    data: bytes
    form: str
    word_size: int = 1

    @property
    def read_as(self) -> str:
        """Return the form in words."""
        words = f" of {8 * self.word_size}-bit words, little-endian" if self.word_size > 1 else ""
        return f"{_FORMS[self.form]}{words}"


def bytes_of(text: str, form: str = "auto") -> bytes:
    """Return the bytes of a text, as `pasted` reads it."""
    return pasted(text, form).data


def pasted(text: str, form: str = "auto") -> Pasted:
    """Return the bytes of a text; `form`: `hex`, `hexdump`, `program`, `base64`, or `auto`, the form that it looks like.

    Raises:
        TextError: The text has none of these forms, not the given one, or is too long.
    """
    found = _recognised(text.strip()) if form == "auto" else _read(text.strip(), form)
    if found is None:
        raise _no_bytes(text.rstrip(), form)
    if len(found.data) > MOST_BYTES:
        raise TextError(f"more than {MOST_BYTES} bytes")
    return found


def _recognised(text: str) -> Pasted | None:
    """Return the bytes of a text in the form that it looks like.

    Offsets of a dump are digits as well: a text is hexadecimal only if its lines have none.
    """
    return _from_dump(text) or _first(
        {
            "hex": _from_hex(text),
            "hexdump": loose_dump_of(text, is_sure=False),
            "program": _from_program(text),
            "base64": _from_base64(text) if _looks_like_base64(text) else None,
        }
    )


def _read(text: str, form: str) -> Pasted | None:
    """Return the bytes of a text in a form that was chosen by a person; None if they are not in that form."""
    match form:
        case "hex":
            return _first({form: _from_hex(text)})
        case "hexdump":
            return _from_dump(text) or _first({form: loose_dump_of(text)})
        case "program":
            return _first({form: _from_program(text)})
        case "base64":
            return _first({form: _from_base64(text)})
        case _:
            return None


def _first(tried: dict[str, bytes | None]) -> Pasted | None:
    """Return the bytes in the first form that has any."""
    return next((Pasted(data=data, form=form) for form, data in tried.items() if data is not None), None)


def _from_dump(text: str) -> Pasted | None:
    dump = dump_of(text, MOST_BYTES)
    return None if dump is None else Pasted(data=dump.data, form="hexdump", word_size=dump.word_size)


def _no_bytes(text: str, form: str) -> TextError:
    """Return the error of a text that has not the given form: it names one that fits, or the place that is not hex."""
    if form == "auto":
        known = "neither hex, nor a hexdump, nor text of a program, nor Base64"
        return TextError(f"{known}; {_seen(text)}", _possible(text))
    refused, found = f"not {_FORMS.get(form, 'a known form')}", _recognised(text)
    if found is not None:
        return TextError(f"{refused}; it looks like {found.read_as}", found.form)
    return TextError(f"{refused}; {_seen(text)}", _possible(text) if form != "base64" else None)


def _possible(text: str) -> str | None:
    """Return a form in which a text could be read, without looking like it; several words are not bytes."""
    return "base64" if len(text.split()) == 1 and _from_base64(text) is not None else None


def _seen(text: str) -> str:
    """Return why a text is no bytes: its kind, or the place where it differs from hex."""
    digits = "".join(text.split())
    if _DIGITS.fullmatch(digits) and len(digits) % 2:
        return f"it looks like hex with an odd number of digits: {len(digits):,}"
    if _WORDS.fullmatch(text):
        return "it looks like words; in quotes their characters are read"
    for number, line in enumerate(text.splitlines(), 1):
        end = len(_HEX_START.match(line)[0])  # type: ignore[index]  # it matches nothing too
        if end < len(line):
            return (
                f"line {number} is not hex from column {end + 1}: `{harmless(line[end : end + _MOST_SHOWN])}`"
            )
    return "its groups are not pairs of hexadecimal digits"


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


def _looks_like_base64(text: str) -> bool:
    """Return whether a text is Base64 as programs write it: no word, lines of one length, no bits left over."""
    lines = text.splitlines() or [""]
    plain = "".join(lines).rstrip("=")
    is_even = len({len(line) for line in lines[:-1]} | {len(lines[0])}) == 1 and len(lines[-1]) <= len(
        lines[0]
    )
    if not is_even or len(text.split()) != len(lines) or _WORD.fullmatch(text):
        return False
    data = _from_base64(text)
    return data is not None and base64.b64encode(data).decode().rstrip("=") == _standard(plain)


def _standard(text: str) -> str:
    """Return Base64 of links in the letters of the standard."""
    return text.replace("-", "+").replace("_", "/")


def _from_base64(text: str) -> bytes | None:
    plain = _standard("".join(text.split()))
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
