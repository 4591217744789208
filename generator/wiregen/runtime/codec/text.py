"""Bytes to text and back, for the encodings of the language."""

from __future__ import annotations

from ..lazy import Lazy

__all__ = ["NOT_CANONICAL", "decode_text", "delimiter_at", "encode_text"]

NOT_CANONICAL = "not canonical"
"""The reason of a UnicodeDecodeError for text that only a lenient reader accepts: a raw NUL, an overlong form."""


_DECODE_MUTF8 = Lazy("codec.mutf8", "decode_mutf8")
_ENCODE_MUTF8 = Lazy("codec.mutf8", "encode_mutf8")


def delimiter_at(data: bytes, delimiter: bytes, unit: int) -> int:
    """Return the offset of the first delimiter that does not begin inside a unit, or -1."""
    found = data.find(delimiter)
    while found >= 0 and found % unit:
        found = data.find(delimiter, found + 1)
    return found


def decode_text(data: bytes, encoding: str, lenient: bool = False, endian: str = "big") -> str:
    """Return the text of the whole of `data`.

    Raises:
        UnicodeDecodeError: With `start` at the first byte of the invalid character.
    """
    match encoding:
        case "utf8":
            return data.decode("utf-8", "surrogateescape" if lenient else "strict")
        case "mutf8":
            return str(_DECODE_MUTF8.load()(data, lenient))
        case "utf16":
            return data.decode("utf-16-be" if endian == "big" else "utf-16-le", "surrogatepass")
        case _:
            return data.decode(encoding)


def encode_text(value: str, encoding: str, lenient: bool = False, endian: str = "big") -> bytes:
    """Return the bytes of a text. Lone surrogates U+DC80..U+DCFF of a lenient `utf8` become the bytes that
    they represent.

    Raises:
        TypeError: The value is not a text.
        UnicodeEncodeError: The encoding does not have a character of the text.
    """
    value = str.__str__(value)  # of a caller's own class, whose methods may answer anything
    match encoding:
        case "utf8":
            return value.encode("utf-8", "surrogateescape" if lenient else "strict")
        case "mutf8":
            return bytes(_ENCODE_MUTF8.load()(value))
        case "utf16":
            return value.encode("utf-16-be" if endian == "big" else "utf-16-le", "surrogatepass")
        case _:
            return value.encode(encoding)
