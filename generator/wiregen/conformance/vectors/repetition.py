"""Repetition in bytes and in lines: a frame of megabytes is a line of a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, AnyStr, Final, TypeAlias

from pydantic import ConfigDict, Field, with_config

from wiregen.schema.json_form import JsonValue

__all__ = [
    "STRICT",
    "Hex",
    "HexText",
    "Octets",
    "Repeat",
    "VectorsError",
    "compact",
    "compacted",
    "expanded",
    "expanded_size",
    "octets",
    "octets_size",
]

_LEAST_ITEMS: Final = 8
_BYTES_RUN: Final = re.compile(rb"(?s)(.{1,48}?)\1{15,}")
_TEXT_RUN: Final = re.compile(r"(?s)(.{1,24}?)\1{31,}")
_LONGEST_UNIT: Final = 512
_LONG: Final = 1 << 16  # from this size a run is searched for around the middle
_AT_ONCE: Final = 1 << 16  # compared at once: a size that fits in a cache
_SAVES: Final = 40  # bytes that a repetition must hold to be worth its braces

HexText: TypeAlias = Annotated[str, Field(pattern="^([0-9a-f]{2})*$")]
STRICT: Final = ConfigDict(extra="forbid", validate_by_name=True, validate_by_alias=True)


class VectorsError(ValueError):
    """A text that is not a file of vectors; the message names the place."""


# ---- bytes ----


@with_config(STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Hex:
    """Bytes as they are."""

    hex: HexText


@with_config(STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Bytes that come `count` times."""

    repeat: HexText
    count: Annotated[int, Field(ge=0)]


Octets: TypeAlias = HexText | tuple[Hex | Repeat, ...]
"""Bytes: hexadecimal, or pieces where repetition makes them long."""


def octets(data: Octets) -> bytes:
    """Return the bytes of their notation."""
    if isinstance(data, str):
        return bytes.fromhex(data)
    return b"".join(
        bytes.fromhex(piece.hex) if isinstance(piece, Hex) else bytes.fromhex(piece.repeat) * piece.count
        for piece in data
    )


def compact(data: bytes) -> Octets:
    """Return the notation of bytes in a file."""
    start, end, unit = _middle_run(data)
    if end - start > _LONG:
        return (
            *_pieces(data[:start]),
            Repeat(repeat=unit.hex(), count=(end - start) // len(unit)),
            *_pieces(data[end:]),
        )
    found = _pieces(data)
    return data.hex() if all(isinstance(piece, Hex) for piece in found) else found


def _middle_run(data: AnyStr) -> tuple[int, int, AnyStr]:
    """Return the span and the unit of a repetition around the middle of bytes or a text; quick where a
    pattern would be slow.
    """
    middle = len(data) // 2
    around = data[middle : middle + 2 * _LONGEST_UNIT]
    for size in range(1, _LONGEST_UNIT + 1) if len(data) > _LONG else ():
        if around[:-size] == around[size:]:
            start, end = _reach(data, middle, size)
            return start, end - (end - start) % size, data[start : start + size]
    return 0, 0, data[:0]


def _reach(data: AnyStr, middle: int, size: int) -> tuple[int, int]:
    """Return how far each byte equals the one `size` before it; compares slices, which is quick."""
    start, end = middle, middle + size
    step = min(1 << (len(data).bit_length() - 1), _AT_ONCE)
    while step:
        while end + step <= len(data) and data[end : end + step] == data[end - size : end - size + step]:
            end += step
        while start >= step and data[start - step : start] == data[start - step + size : start + size]:
            start -= step
        step >>= 1
    return start, end


def _pieces(data: bytes) -> tuple[Hex | Repeat, ...]:
    pieces: list[Hex | Repeat] = []
    done = 0
    for run in _BYTES_RUN.finditer(data):
        start, end = run.span()
        if end - start < _SAVES:
            continue
        if start > done:
            pieces.append(Hex(hex=data[done:start].hex()))
        unit = run[1]
        pieces.append(Repeat(repeat=unit.hex(), count=(end - start) // len(unit)))
        done = end
    if done < len(data):
        pieces.append(Hex(hex=data[done:].hex()))
    return tuple(pieces)


# ---- repetitions in lines ----


def compacted(value: object) -> JsonValue:
    """Return a part of a line with repetitions written short."""
    match value:
        case dict():
            return {key: compacted(part) for key, part in value.items()}
        case list() | tuple():
            return _compacted_list([compacted(item) for item in value])
        case str() if len(value) > _SAVES:
            return _compacted_text(value)
        case _:
            return value


def expanded(value: JsonValue) -> JsonValue:
    """Return a part of a line with its repetitions put together again.

    Raises:
        VectorsError: A repetition is malformed.
    """
    match value:
        case {"*": runs} if len(value) == 1:
            return _joined(runs)
        case dict():
            return {key: expanded(part) for key, part in value.items()}
        case list() | tuple():
            return [expanded(item) for item in value]
        case _:
            return value


def _joined(runs: JsonValue) -> object:
    try:
        parts = [expanded(what) * count for what, count in runs]
        return "".join(parts) if isinstance(parts[0], str) else [item for part in parts for item in part]
    except (TypeError, ValueError, IndexError):
        raise VectorsError('no repetition: expected {"*": [[what, count], …]}') from None


def _compacted_text(text: str) -> object:
    start, end, unit = _middle_run(text)
    if end - start > _LONG:
        long: list[list[object]] = [[text[:start], 1], [unit, (end - start) // len(unit)], [text[end:], 1]]
        return {"*": [run for run in long if run[0]]}
    runs: list[list[object]] = []
    done = 0
    for run in _TEXT_RUN.finditer(text):
        start, end = run.span()
        if start > done:
            runs.append([text[done:start], 1])
        runs.append([run[1], (end - start) // len(run[1])])
        done = end
    if not runs:
        return text
    return {"*": [*runs, *([[text[done:], 1]] if done < len(text) else [])]}


def _compacted_list(items: list[object]) -> object:
    runs: list[list[JsonValue]] = []
    for item in items:
        if runs and runs[-1][0] == [item]:
            runs[-1][1] += 1
        else:
            runs.append([[item], 1])
    if max((count for _, count in runs), default=0) < _LEAST_ITEMS:
        return items
    return {"*": _merged(runs)}


def _merged(runs: list[list[JsonValue]]) -> list[list[object]]:
    """Return runs with those of few items merged."""
    merged: list[list[JsonValue]] = []
    for items, count in runs:
        if count < _LEAST_ITEMS and merged and merged[-1][1] == 1:
            merged[-1][0] = [*merged[-1][0], *(items * count)]
        elif count < _LEAST_ITEMS:
            merged.append([items * count, 1])
        else:
            merged.append([items, count])
    return merged


# ---- how much it is ----


def octets_size(data: Octets) -> int:
    """Return the number of bytes of their notation."""
    if isinstance(data, str):
        return len(data) // 2
    sizes = (
        len(piece.hex) // 2 if isinstance(piece, Hex) else len(piece.repeat) // 2 * piece.count
        for piece in data
    )
    return sum(sizes)


def expanded_size(value: JsonValue) -> int:
    """Return the number of characters and items in a part of a line, its repetitions written out.

    Raises:
        VectorsError: A repetition is malformed.
    """
    match value:
        case {"*": [*runs]} if len(value) == 1:
            return sum(_run_size(run) for run in runs)
        case dict():
            return sum(expanded_size(part) for part in value.values()) + len(value)
        case list() | tuple():
            return sum(map(expanded_size, value)) + len(value)
        case str():
            return len(value)
        case _:
            return 1


def _run_size(run: object) -> int:
    match run:
        case [what, int(count)] if count >= 0:
            return (expanded_size(what) + 1) * count
        case _:
            raise VectorsError('no repetition: expected {"*": [[what, count], …]}')
