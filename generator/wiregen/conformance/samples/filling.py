"""Texts and bytes that fill a region: values of any size, cut or extended to the size of the region."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from wiregen.conformance.samples.choices import Option
from wiregen.conformance.samples.choosing import encoded
from wiregen.runtime.schema.types import Bytes, Text

__all__ = ["filling_options", "sized_options"]

_WIDE: Final = ("é", "日", "\U0001f600")
_PAD: Final = b"\x5a"


def filling_options(type_: Text | Bytes, options: tuple[Option, ...], size: int) -> tuple[Option, ...]:
    """Return values of exactly `size` bytes, derived from options without a size of their own; empty if no
    text has that size.
    """
    found = _texts(type_, options, size) if isinstance(type_, Text) else _octets(options, size)
    known: dict[Any, str] = {}
    for label, value in found:
        if len(encoded(type_, value)) == size:
            known.setdefault(value, label)
    return tuple((label, value) for value, label in known.items())


def sized_options(type_: Text | Bytes, options: tuple[Option, ...], size: int) -> tuple[Option, ...]:
    """Return options of exactly `size` bytes first, then the others, cut or with spaces at their end."""
    found = [each for each in options if len(encoded(type_, each[1])) == size]
    unit = len(encoded(type_, "w")) if isinstance(type_, Text) else 1
    for label, value in options:
        found.append((label, value[: size // unit].ljust(size // unit)))
    return tuple(dict.fromkeys(each for each in found if len(encoded(type_, each[1])) == size))


def _octets(options: tuple[Option, ...], size: int) -> Iterator[Option]:
    for label, value in options:
        if label == "marked":
            yield label, (value + _PAD * size)[:size]
        elif label == "JSON":
            yield label, (value if len(value) <= size else b"1").ljust(size)
        elif label == "not JSON":
            yield label, value.ljust(size, b"!")[:size]
    yield "zeros", bytes(size)
    yield "ones", b"\xff" * size


def _texts(type_: Text, options: tuple[Option, ...], size: int) -> Iterator[Option]:
    unit = len(encoded(type_, "w"))
    for label, value in options:
        label = "one character throughout" if size and label == "empty" else label
        text = value[: size // unit] if label == "marked" else value
        yield label, text + "w" * ((size - len(encoded(type_, text))) // unit)
    if type_.encoding in ("ascii", "latin1"):
        return
    for character in _WIDE:
        width = len(encoded(type_, character))
        yield f"{width} bytes wide at the end", "w" * ((size - width) // unit) + character
