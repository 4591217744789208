"""A file of vectors as values, and as text that is small and shows a change as a changed line.

Every vector begins where a connection begins: `before`, then `bytes`, are all that was sent, the preamble of a role included.
Whoever judges a codec makes a decoder for each role, all with one context, and feeds them.

Beyond what was promised from the beginning there are

- the kind `unwritable`: what an encoder must refuse cannot be said in bytes (one above the largest u8, say);
- `{"*": [[what, count], …]}` in `frames`: texts, hexadecimal texts and lists that repeat themselves, put together again by
  `expanded`. No field is named so, while one may be named `repeat`;
- of an error `rule`, `path` and `inner_at`, for those who can tell; `code`, `at` and `recoverable` everyone can.

Left out is what has its default. Lines in `frames` have no offset, size, sender or raw bytes: they are the vector's.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

__all__ = [
    "SCHEMA",
    "Encodes",
    "Fault",
    "Hex",
    "Invalid",
    "Octets",
    "Repeat",
    "Sent",
    "Step",
    "Trace",
    "Unwritable",
    "Valid",
    "Vector",
    "VectorFile",
    "VectorsError",
    "compact",
    "compacted",
    "expanded",
    "octets",
    "read_vectors",
    "write_vectors",
]

SCHEMA: Final = 1
_SHOWN: Final = 3  # faults of a file; the rest mostly follow from the same mistake
_LEAST_ITEMS: Final = 8
_BYTES_RUN: Final = re.compile(rb"(?s)(.{1,24}?)\1{15,}")
_TEXT_RUN: Final = re.compile(r"(?s)(.{1,24}?)\1{31,}")
_LONGEST_UNIT: Final = 512
_LONG: Final = 1 << 16  # from here on a run is looked for around the middle
_SAVES: Final = 40  # bytes that a repetition must hold to be worth its braces

Line: TypeAlias = dict[str, Any]
"""A decoded frame as the command prints it."""
HexText: TypeAlias = Annotated[str, Field(pattern="^([0-9a-f]{2})*$")]
Limits: TypeAlias = dict[str, int]
Encodes: TypeAlias = Literal["exact", "same_meaning", "no"]
Role: TypeAlias = Annotated[str | None, Field(alias="from")]
_STRICT: Final = ConfigDict(extra="forbid", validate_by_name=True, validate_by_alias=True)


class VectorsError(ValueError):
    """A file that is no file of vectors; the text says where."""


# ---- bytes ----


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Hex:
    """Bytes as they are."""

    hex: HexText


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Bytes that come `count` times."""

    repeat: HexText
    count: Annotated[int, Field(ge=0)]


Octets: TypeAlias = HexText | tuple[Hex | Repeat, ...]
"""Bytes: hexadecimal, or pieces where repetition makes them long."""


def octets(data: Octets) -> bytes:
    """Return the bytes that are meant."""
    if isinstance(data, str):
        return bytes.fromhex(data)
    return b"".join(
        bytes.fromhex(piece.hex) if isinstance(piece, Hex) else bytes.fromhex(piece.repeat) * piece.count
        for piece in data
    )


def compact(data: bytes) -> Octets:
    """Return bytes as they stand in a file."""
    start, end, unit = _middle_run(data)
    if end - start > _LONG:
        return (
            *_pieces(data[:start]),
            Repeat(repeat=unit.hex(), count=(end - start) // len(unit)),
            *_pieces(data[end:]),
        )
    found = _pieces(data)
    return data.hex() if all(isinstance(piece, Hex) for piece in found) else found


def _middle_run(data: Any) -> tuple[int, int, Any]:
    """Return where bytes or a text repeat around their middle, and what; quick, where a pattern would take its time."""
    middle = len(data) // 2
    around = data[middle : middle + 2 * _LONGEST_UNIT]
    for size in range(1, _LONGEST_UNIT + 1) if len(data) > _LONG else ():
        if around[:-size] == around[size:]:
            start, end = _reach(data, middle, size)
            return start, end - (end - start) % size, data[start : start + size]
    return 0, 0, data[:0]


def _reach(data: Any, middle: int, size: int) -> tuple[int, int]:
    """Return how far each byte is the one `size` before it: by halves, for slices compare quickly."""
    start, end = middle, middle + size
    step = 1 << (len(data).bit_length() - 1)
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


# ---- vectors ----


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What was sent before, whole frames only."""

    from_role: Role = None
    bytes: Octets = ""


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What must be reported: the code, and for bytes the place counted from the first of the vector's `bytes`.

    `recoverable` None: of a value that cannot be written, which has no place either.
    """

    code: str
    rule: str | None = None
    path: str = ""
    at: int | None = None
    inner_at: int | None = None
    recoverable: bool | None = None


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Valid:
    """Bytes that decode to `frames`.

    `encodes`: what encoding `frames` gives: these bytes (they are canonical), others that decode to the same, or nothing
    to be compared. `spans`: name, first byte and the one behind the last of each part. `protobuf`, `msgpack`: the same frames
    as streams of these serializations; None where they cannot be carried.
    `covers`: what no vector before it in the file covers.
    """

    id: str
    kind: Literal["valid"] = "valid"
    variant: str | None = None
    before: tuple[Sent, ...] = ()
    from_role: Role = None
    limits: Limits = field(default_factory=dict)
    strict: bool = False
    bytes: Octets
    encodes: Encodes = "exact"
    frames: tuple[Line, ...] = ()
    spans: tuple[tuple[str, int, int], ...] = ()
    protobuf: Octets | None = None
    msgpack: Octets | None = None
    source: str = ""
    covers: tuple[str, ...] = ()
    note: str = ""


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Invalid:
    """Bytes that a decoder refuses with `error`, after `frames_before` whole frames; behind them the stream ends."""

    id: str
    kind: Literal["invalid"] = "invalid"
    variant: str | None = None
    before: tuple[Sent, ...] = ()
    from_role: Role = None
    limits: Limits = field(default_factory=dict)
    strict: bool = False
    bytes: Octets
    frames_before: int = 0
    error: Fault
    source: str = ""
    covers: tuple[str, ...] = ()
    note: str = ""


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Unwritable:
    """A frame that an encoder refuses with `error`."""

    id: str
    kind: Literal["unwritable"] = "unwritable"
    variant: str | None = None
    before: tuple[Sent, ...] = ()
    from_role: Role = None
    frames: tuple[Line, ...]
    error: Fault
    source: str = ""
    covers: tuple[str, ...] = ()
    note: str = ""


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one role sends at a time, in seconds; without bytes only time passes.

    `violations`: what a session that watches both directions says of it, notes included.
    """

    from_role: Role = None
    bytes: Octets = ""
    at: float = 0.0
    violations: tuple[str, ...] = ()


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A conversation and its first violation that is no mere note; None: it is legal."""

    id: str
    kind: Literal["trace"] = "trace"
    variant: str | None = None
    limits: Limits = field(default_factory=dict)
    strict: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    steps: tuple[Step, ...]
    violation: str | None = None
    source: str = ""
    covers: tuple[str, ...] = ()
    note: str = ""


Vector: TypeAlias = Annotated[Valid | Invalid | Unwritable | Trace, Field(discriminator="kind")]


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class VectorFile:
    """The vectors of one protocol; `schema` changes when an old reader could no longer read them."""

    schema: Literal[1] = SCHEMA
    protocol: str
    vectors: tuple[Vector, ...]


# ---- text ----

_FILE: Final = TypeAdapter(VectorFile)
_VECTOR: Final[TypeAdapter[Valid | Invalid | Unwritable | Trace]] = TypeAdapter(Vector)


def read_vectors(text: str | bytes) -> VectorFile:
    """Return what a file holds; repetitions in its frames stay as they are.

    Raises:
        VectorsError: It is no file of vectors.
    """
    try:
        # Not `validate_json`: it refuses lone surrogates, which some texts may hold.
        file = _FILE.validate_python(json.loads(text))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)[:_SHOWN]
        raise VectorsError("; ".join(_told(fault["loc"], fault["msg"]) for fault in faults)) from None
    except (ValueError, RecursionError) as error:
        raise VectorsError(f"not JSON: {error}"[:200]) from None
    ids = [vector.id for vector in file.vectors]
    twice = next((name for index, name in enumerate(ids) if name in ids[:index]), None)
    if twice is not None:
        raise VectorsError(f"two vectors have the id {twice[:64]!r}")
    return file


def write_vectors(file: VectorFile) -> str:
    """Return the text of a file: one line for each vector, ASCII only."""
    head = f'{{"schema": {file.schema}, "protocol": {json.dumps(file.protocol)}, "vectors": [\n'
    lines = (json.dumps(_shown(vector), allow_nan=False, separators=(",", ":")) for vector in file.vectors)
    return head + ",\n".join(f" {line}" for line in lines) + "\n]}\n"


def _shown(vector: Valid | Invalid | Unwritable | Trace) -> dict[str, Any]:
    """Return a vector without what has its default, but with its kind."""
    shown: dict[str, Any] = _VECTOR.dump_python(vector, mode="python", by_alias=True, exclude_defaults=True)
    return {"id": vector.id, "kind": vector.kind, **{key: shown[key] for key in shown if key != "id"}}


def _told(place: tuple[int | str, ...], message: str) -> str:
    return f"{'.'.join(map(str, place))}: {message[:1].lower()}{message[1:]}"[:200]


# ---- repetitions in lines ----


def compacted(value: Any) -> Any:
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


def expanded(value: Any) -> Any:
    """Return a part of a line with its repetitions put together again.

    Raises:
        VectorsError: A repetition is none.
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


def _joined(runs: Any) -> Any:
    try:
        parts = [expanded(what) * count for what, count in runs]
        return "".join(parts) if isinstance(parts[0], str) else [item for part in parts for item in part]
    except (TypeError, ValueError, IndexError):
        raise VectorsError('no repetition: expected {"*": [[what, count], …]}') from None


def _compacted_text(text: str) -> Any:
    start, end, unit = _middle_run(text)
    if end - start > _LONG:
        long: list[list[Any]] = [[text[:start], 1], [unit, (end - start) // len(unit)], [text[end:], 1]]
        return {"*": [run for run in long if run[0]]}
    runs: list[list[Any]] = []
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


def _compacted_list(items: list[Any]) -> Any:
    runs: list[list[Any]] = []
    for item in items:
        if runs and runs[-1][0] == [item]:
            runs[-1][1] += 1
        else:
            runs.append([[item], 1])
    if max((count for _, count in runs), default=0) < _LEAST_ITEMS:
        return items
    return {"*": _merged(runs)}


def _merged(runs: list[list[Any]]) -> list[list[Any]]:
    """Return runs with those of few items put together."""
    merged: list[list[Any]] = []
    for items, count in runs:
        if count < _LEAST_ITEMS and merged and merged[-1][1] == 1:
            merged[-1][0] = [*merged[-1][0], *(items * count)]
        elif count < _LEAST_ITEMS:
            merged.append([items * count, 1])
        else:
            merged.append([items, count])
    return merged
