"""The options of each type: its boundary values, and the values that an encoding treats specially.

The first is the plain one. It differs from site to site, so that fields that were exchanged show; its bytes differ from each
other, so that a byte order shows.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from wiregen.conformance.samples.choices import SHARED, Option
from wiregen.runtime.schema.scalars import FloatFormat
from wiregen.runtime.schema.types import Varint

__all__ = [
    "byte_options",
    "count_options",
    "float_options",
    "int_options",
    "near_options",
    "size_edges",
    "text_options",
    "uuid_options",
    "varint_options",
]

LARGEST_SIZE: Final = 65536
"""Bytes or characters of the longest value that is made."""
_JSON: Final = (b'{"a": [1, null]}', b"no JSON")


def marks(site: str, size: int) -> bytes:
    """Return bytes that are unique to this site: without zero, and with a first byte that is positive in
    signed types too.
    """
    digest = zlib.crc32(site.encode()).to_bytes(4, "big")
    stretched = (digest * (size // 4 + 1))[:size]
    return bytes(
        (byte + 17 * index) % (100 if index == 0 else 250) + 1 for index, byte in enumerate(stretched)
    )


def _unique(options: Iterable[Option]) -> tuple[Option, ...]:
    """Return options of different values, the first name of each."""
    known: dict[Any, str] = {}
    for label, value in options:
        known.setdefault(value, label)
    return tuple((label, value) for value, label in known.items())


def int_options(
    site: str, low: int, high: int, mentioned: Iterable[int] = (), *, is_small: bool = False
) -> tuple[Option, ...]:
    """Return numbers from `low` to `high`; `mentioned`: those that expressions compare with; `is_small`:
    the number is a length or count.
    """
    size = (high.bit_length() + (low < 0) + 7) // 8
    plain = int.from_bytes(marks(site, size), "big") % (high - low + 1)
    near = near_options(mentioned)
    edges = [("largest", high), ("smallest", low), ("zero", 0)]
    shape = f"{SHARED}{low} to {high}:"
    common = [(f"{shape} minus one", -1), (f"{shape} one", 1)]
    own = [("marked", 2 if is_small else plain)]
    asymmetric = [("other marked", plain)] if is_small else []
    every = _unique([*own, *near, *edges, *asymmetric, *common])
    return tuple((label, number) for label, number in every if low <= number <= high)


def near_options(mentioned: Iterable[int]) -> tuple[Option, ...]:
    """Return the numbers that expressions compare with, and those next to each."""
    return tuple((f"= {number}", number) for one in mentioned for number in (one, one - 1, one + 1))


def varint_options(
    site: str, type_: Varint, mentioned: Iterable[int] = (), *, is_small: bool
) -> tuple[Option, ...]:
    """Return numbers at each change of width; `mentioned`: those that expressions compare with."""
    bits, zigzag = type_.bits, type_.is_zigzag
    low, high = type_.bounds
    top = (1 << bits) - 1
    widths = [edge for groups in range(2, 10) for edge in ((1 << 7 * groups) - 1, 1 << 7 * groups)]
    shape = f"{SHARED}{'zigzag' if zigzag else 'varint'} of {bits} bits"
    raw = [("zero", 0), ("largest of a byte", 127), ("least of two bytes", 128), ("largest", top)]
    raw += [(f"{shape} {number}", number) for number in widths if number <= top]
    plain = 2 if is_small else int.from_bytes(marks(site, 3), "big")
    values = [(label, number >> 1 ^ -(number & 1) if zigzag else number) for label, number in raw]
    near = (option for option in near_options(mentioned) if low <= option[1] <= high)
    return _unique([("marked", plain), *near, *values, *([("minus one", -1)] if zigzag else [])])


def float_options(site: str, format_: FloatFormat) -> tuple[Option, ...]:
    marked = format_.unpack(b"\x40" + marks(site, format_.size - 1))
    numbers = (format_.unpack(data) for data in (format_.largest, format_.least))
    specials = (float("inf"), float("-inf"), -0.0, 0.0)
    labels = (
        "marked",
        "largest",
        "least",
        "infinite",
        "minus infinite",
        "minus zero",
        "zero",
        "not a number",
    )
    return tuple(zip(labels, (marked, *numbers, *specials, float("nan")), strict=True))


def uuid_options(site: str) -> tuple[Option, ...]:
    return (
        ("marked", UUID(bytes=marks(site, 16))),
        ("smallest", UUID(int=0)),
        ("largest", UUID(int=2**128 - 1)),
    )


def text_options(
    site: str, encoding: str, shape: str, *, lenient: bool, most: int | None, room: int
) -> tuple[Option, ...]:
    """Return texts; `shape`: how the type is written, `most`: the units that its length can encode, `room`:
    the units that fit.
    """
    texts: list[Option] = [("marked", _word(site)), ("empty", "")]
    common: list[Option] = []
    match encoding:
        case "ascii":
            texts += [("first and last character", "\0\x7f")]
        case "latin1":
            texts += [("first and last character", "\0\x7f\x80ÿ")]
        case _:
            texts += [("characters of all widths", "aé日😀")]
            # Alone: an encoding that treats it apart may be noticed by the others.
            texts += [("NUL", "a\0b")]
            common += [("first and last of all widths", "\x7f\x80\u07ff\u0800\uffff\U00010000\U0010ffff")]
            common += [("lone surrogates", "a\ud800b\udfff")] if encoding in ("mutf8", "utf16") else []
            texts += [("invalid bytes", "a\udcff\udc80b")] if encoding == "utf8" and lenient else []
    shared = ((f"{SHARED}{shape} {label}", text) for label, text in common)
    return (*texts, *((label, "w" * size) for label, size in _sizes(shape, most, room)), *shared)


def _word(site: str) -> str:
    """Return a short text that is unique to this site and still names it."""
    name = site.rpartition(".")[2].strip("[]") or "text"
    parts = name.split("_")
    letters = "".join(part[: 1 if len(parts) > 1 else 2] for part in parts)
    return letters + chr(97 + zlib.crc32(site.encode()) % 26)


def byte_options(site: str, shape: str, *, most: int | None, room: int, is_json: bool) -> tuple[Option, ...]:
    own: list[Option] = (
        [("JSON", _JSON[0]), ("not JSON", _JSON[1])] if is_json else [("marked", marks(site, 3))]
    )
    sizes = ((label, b"\x5a" * size) for label, size in _sizes(shape, most, room))
    return (*own, ("empty", b""), ("one byte", b"\x80"), *sizes)


def _sizes(shape: str, most: int | None, room: int) -> tuple[Option, ...]:
    """Return sizes at which a length changes its encoding, shown once for each shape, and the longest size
    of the site itself.
    """
    largest = min(room, LARGEST_SIZE)
    shared = [
        (f"{SHARED}{shape} {size} long", size)
        for size in size_edges(largest if most is None else min(most, largest))
    ]
    return (*([("longest", most)] if most is not None and most <= largest else []), *shared)


def size_edges(bound: int) -> tuple[int, ...]:
    """Return the sizes up to `bound` at which prefixes change their width."""
    return tuple(
        size for size in (127, 128, 252, 253, 254, 255, 256, 16383, 16384, 65535, 65536) if size <= bound
    )


def count_options(most: int | None) -> tuple[Option, ...]:
    """Return the numbers of items that a list may have."""
    counts = [("two items", 2), ("no item", 0), ("one item", 1), ("three items", 3)]
    return tuple((label, count) for label, count in counts if most is None or count <= most)
