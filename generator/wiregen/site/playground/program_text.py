"""Bytes as programs hold them: strings with escapes and lists of numbers, of C, Go, Java, JavaScript, Python and Rust."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

__all__ = ["bytes_in_program"]

Reader = Callable[[str], bytes | None]
_COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
_STRING: Final = re.compile(r'"((?:[^"\\\n]|\\.)*)"|' + r"'((?:[^'\\\n]|\\.)*)'", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|([0-7]{1,3})|(\r?\n)|(.))", re.DOTALL)
_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_QUOTES: Final = "\\'\"?"
"""Characters that stand for themselves after a backslash."""
_NUMBER: Final = r"(?:\(\s*byte\s*\)\s*)?(?:0[xX][0-9A-Fa-f]{1,2}|-?[0-9]{1,3})(?:[uU]8?)?"
_LIST: Final = re.compile(rf"[\[{{(]\s*({_NUMBER}(?:\s*,\s*{_NUMBER})*)\s*,?\s*[\]}})]")
_DIGITS: Final = re.compile(r"(?<!\w)(?:0[xX][0-9A-Fa-f]+|-?[0-9]+)")
_OF_HEX: Final = re.compile(r"hex", re.IGNORECASE)
_OF_BASE64: Final = re.compile(r"b64|base64|atob", re.IGNORECASE)
_LARGEST, _SMALLEST = 0xFF, -0x80


def bytes_in_program(text: str, from_hex: Reader, from_base64: Reader) -> bytes | None:
    """Return the bytes of the strings in a text, one after the other, or of its longest list; None where it has neither.

    A string is read as digits, or as Base64, where the text around it says so, as `bytes.fromhex("…")` does.
    """
    strings = [first or second for first, second in _STRING.findall(text)]
    around = _STRING.sub("", text)
    if strings and _OF_BASE64.search(around):
        return from_base64("".join(strings))
    if strings and _OF_HEX.search(around):
        return from_hex("".join(strings))
    if strings and not _has_words(around):
        return _unescaped("".join(strings))
    lists = _LIST.findall(_COMMENT.sub(" ", text))
    return _numbers(max(lists, key=len)) if lists else None


def _has_words(around: str) -> bool:
    """Return whether the text around strings is more than a declaration: a list of numbers, as comments may have quotes."""
    return bool(_LIST.search(_COMMENT.sub(" ", around)) and "," in around)


def _unescaped(text: str) -> bytes | None:
    found = bytearray()
    at = 0
    while at < len(text):
        escape = _ESCAPE.match(text, at)
        if escape is None:
            found += text[at].encode("utf-8", "replace")
            at += 1
            continue
        octet = _octets(escape)
        if octet is None:
            return None
        found += octet
        at = escape.end()
    return bytes(found)


def _octets(escape: re.Match[str]) -> bytes | None:
    """Return the bytes of an escape; none for the end of a line; None where it is unknown."""
    digits, octal, line, letter = escape.groups()
    if digits is not None:
        return bytes.fromhex(digits)
    if octal is not None:
        return bytes([int(octal, 8) & _LARGEST])
    if line is not None:
        return b""
    if letter in _QUOTES:
        return letter.encode()
    return _LETTERS[letter].encode() if letter in _LETTERS else None


def _numbers(text: str) -> bytes | None:
    """Return numbers as bytes; those below zero are of a language whose bytes have a sign."""
    numbers = [int(each, 0) if each[:2] in ("0x", "0X") else int(each) for each in _DIGITS.findall(text)]
    is_in_range = all(_SMALLEST <= number <= _LARGEST for number in numbers)
    return bytes(number & _LARGEST for number in numbers) if is_in_range else None
