"""The words of the language that are types by themselves."""

import re
from typing import Final, cast, get_args

from wiregen.language.resolver.sorts import BOOLEAN, BYTES, FLOAT, INTEGER, TEXT, UUID, Sort
from wiregen.runtime.schema.literals import Algorithm, FloatName
from wiregen.runtime.schema.scalars import FLOATS, INTEGER_SIZES
from wiregen.schema import model

_WIDTHS: Final = tuple(8 * size for size in INTEGER_SIZES)
_INTEGER: Final = re.compile(rf"([ui])(8\Z|{'|'.join(map(str, _WIDTHS[1:]))})(le|be)?")
_FLOAT: Final = re.compile(rf"({'|'.join(FLOATS)})(le|be)?")
_NUMBER: Final = re.compile(r"([uif])([1-9][0-9]{0,2})(?:le|be)?")
_BITS: Final = re.compile(r"u([1-7])")
_VARINTS: Final[dict[str, model.Varint]] = {
    "varint": model.Varint(bits=64, is_zigzag=False, is_lenient=False),
    "varint63": model.Varint(bits=63, is_zigzag=False, is_lenient=False),
    "zigzag": model.Varint(bits=64, is_zigzag=True, is_lenient=False),
}
ENCODINGS: Final[tuple[str, ...]] = get_args(model.Encoding)
ALGORITHMS: Final[tuple[Algorithm, ...]] = get_args(Algorithm)
WORDS: Final = (
    *(f"{sign}{width}" for sign in "ui" for width in _WIDTHS),
    *(*FLOATS, "bool", "bit", "u1", "u2", "u3", "u4", "u5", "u6", "u7"),
    *("varint", "varint63", "zigzag", "uuid", "bytes", *ENCODINGS),
)
"""For suggestions; `u32le` and its like are left out."""


def width_help(word: str) -> str | None:
    """Return the help for a number type of an unknown width, or None if the word is not like a number type."""
    found = _NUMBER.fullmatch(word)
    if found is None:
        return None
    sign, bits = found[1], int(found[2])
    widths = (32, 64) if sign == "f" else _WIDTHS
    width = next((each for each in widths if each >= bits), widths[-1])
    word, listed = f"{sign}{width}", "32 and 64" if sign == "f" else "8, 16, 24 and so on to 64"
    near = f"`{word}` is the {'next wider' if bits < width else 'widest'} one"
    small = ", bit fields `u1` to `u7`" if sign == "u" else ""
    return f"{near}: `{sign}` has the widths {listed} bits{small}"


def needs_order(word: str) -> bool:
    """Return whether the word's bytes have an order that the protocol has to define."""
    found = _INTEGER.fullmatch(word)
    if found:
        return found[2] != "8" and found[3] is None
    real = _FLOAT.fullmatch(word)
    return word == "utf16" or real is not None and real[2] is None


def fixed_type(word: str, endian: model.Endian, bits: str) -> model.Type | None:
    """Return the type of a word that takes no length, or None for other words."""
    number = _INTEGER.fullmatch(word)
    if number:
        order = _order(number[3], endian)
        return model.Integer(size=int(number[2]) // 8, is_signed=number[1] == "i", endian=order)
    real = _FLOAT.fullmatch(word)
    if real:
        return model.Float(format=cast(FloatName, real[1]), endian=_order(real[2], endian))
    if word == "bool":
        return model.Boolean(is_lenient=False)
    if word == "uuid":
        return model.Uuid()
    return _VARINTS.get(word) or _bits(word, bits)


def _bits(word: str, order: str) -> model.Bits | None:
    found = _BITS.fullmatch(word)
    if not found and word != "bit":
        return None
    return model.Bits(
        bits=int(found[1]) if found else 1, is_flag=found is None, order="lsb" if order == "lsb" else "msb"
    )


def sized_type(word: str, length: model.ByteLength, endian: model.Endian) -> model.Bytes | model.Text | None:
    """Return the type of a word with a length, or None for other words."""
    if word == "bytes":
        return model.Bytes(length=length)
    if word in ENCODINGS:
        encoding = cast(model.Encoding, word)
        order: model.Endian = endian if word == "utf16" else "big"
        return model.Text(encoding=encoding, length=length, is_lenient=False, endian=order)
    return None


def needs_length(word: str) -> bool:
    return word == "bytes" or word in ENCODINGS


def sort_of_word(word: str) -> Sort | None:
    """Return the sort of a type by its word, also for `bytes` and texts without a length."""
    if needs_length(word):
        return BYTES if word == "bytes" else TEXT
    match fixed_type(word, "big", "msb"):
        case None:
            return None
        case model.Boolean() | model.Bits(is_flag=True):
            return BOOLEAN
        case model.Uuid():
            return UUID
        case model.Float():
            return FLOAT
        case _:
            return INTEGER


def _order(suffix: str | None, endian: model.Endian) -> model.Endian:
    if suffix is None:
        return endian
    return "little" if suffix == "le" else "big"
