"""Java's modified UTF-8 (Source: java.io.DataInput, "Modified UTF-8"): NUL is C0 80, a character above
U+FFFF two surrogates of three bytes each; a lone surrogate is legal. Whole strings are converted at
once; single characters are examined only to find an error or to read overlong forms.
"""

from __future__ import annotations

from .text import NOT_CANONICAL

__all__ = ["decode_mutf8", "encode_mutf8"]


_NUL = b"\xc0\x80"


def encode_mutf8(value: str) -> bytes:
    """Return modified UTF-8; every text has one."""
    if value.isascii() and "\0" not in value:
        return value.encode()
    if max(value) > "\uffff":
        value = _split(value)
    return value.encode("utf-8", "surrogatepass").replace(b"\0", _NUL)


def _split(value: str) -> str:
    """Return the text with two surrogates for each character above U+FFFF."""
    units = value.encode("utf-16-le", "surrogatepass")
    wide = bytearray(2 * len(units))
    wide[0::4] = units[0::2]
    wide[1::4] = units[1::2]
    return wide.decode("utf-32-le", "surrogatepass")


def _join(value: str) -> str:
    """Return the text with one character for each pair of surrogates."""
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def decode_mutf8(data: bytes, lenient: bool = False) -> str:
    """Return the text of modified UTF-8; lenient: a raw NUL and the overlong forms that Java's readUTF takes too.

    Raises:
        UnicodeDecodeError: With the reason NOT_CANONICAL where a lenient reader would go on.
    """
    if data.isascii() and (lenient or 0 not in data):
        return data.decode()
    if lenient or 0 not in data:
        try:
            value = data.replace(_NUL, b"\0").decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return _join(_decode_units(data, lenient))
        if max(value) <= "\uffff":
            return _join(value)
    return _join(_decode_units(data, lenient))


def _decode_units(data: bytes, lenient: bool) -> str:
    """Decode unit by unit: slow but exact, for overlong forms and for the place of an error."""
    units = []
    position = 0
    while position < len(data):
        size, unit = _unit(data, position)
        if not lenient and _is_overlong(size, unit):
            raise UnicodeDecodeError("mutf8", data, position, position + size, NOT_CANONICAL)
        units.append(chr(unit))
        position += size
    return "".join(units)


def _is_overlong(size: int, unit: int) -> bool:
    """Return whether a unit is written otherwise than Java writes it: NUL takes two bytes."""
    return size != (1 if 0 < unit < 0x80 else 2 if unit < 0x800 else 3)


def _unit(data: bytes, position: int) -> tuple[int, int]:
    """Return size and value of the UTF-16 unit at a position."""
    first = data[position]
    if first < 0x80:
        return 1, first
    if first & 0xE0 == 0xC0:
        return 2, (first & 0x1F) << 6 | _continuation(data, position, 1)
    if first & 0xF0 == 0xE0:
        high = _continuation(data, position, 1)
        return 3, (first & 0x0F) << 12 | high << 6 | _continuation(data, position, 2)
    raise UnicodeDecodeError("mutf8", data, position, position + 1, "invalid start byte")


def _continuation(data: bytes, start: int, index: int) -> int:
    if start + index >= len(data):
        raise UnicodeDecodeError("mutf8", data, start, len(data), "unexpected end of data")
    if data[start + index] & 0xC0 != 0x80:
        raise UnicodeDecodeError("mutf8", data, start, start + index, "invalid continuation byte")
    return data[start + index] & 0x3F
