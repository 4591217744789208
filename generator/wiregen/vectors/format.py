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
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError, with_config

from wiregen.vectors.repetition import (
    STRICT,
    Hex,
    Octets,
    Repeat,
    VectorsError,
    compact,
    compacted,
    expanded,
    expanded_size,
    octets,
    octets_size,
)

__all__ = [
    "SCHEMA",
    "AnyVector",
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
    "octets_of",
    "read_vectors",
    "size_of",
    "write_vectors",
]

SCHEMA: Final = 1
_SHOWN: Final = 3  # faults of a file; the rest mostly follow from the same mistake

Line: TypeAlias = dict[str, Any]
"""A decoded frame as the command prints it."""
Limits: TypeAlias = dict[str, int]
Encodes: TypeAlias = Literal["exact", "same_meaning", "no"]
Role: TypeAlias = Annotated[str | None, Field(alias="from")]


# ---- vectors ----


@with_config(STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What was sent before, whole frames only."""

    from_role: Role = None
    bytes: Octets = ""


@with_config(STRICT)
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


@with_config(STRICT)
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


@with_config(STRICT)
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


@with_config(STRICT)
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


@with_config(STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one role sends at a time, in seconds; without bytes only time passes, or with `eof` the role sends nothing more.

    `message`: what it is, for readers. `violations`: what a session that watches both directions says of it, notes included.
    `moves`: the sessions that go to another state by it, with both states; instances that do the same are told once.
    """

    from_role: Role = None
    bytes: Octets = ""
    eof: bool = False
    at: float = 0.0
    message: str = ""
    violations: tuple[str, ...] = ()
    moves: tuple[tuple[str, str, str], ...] = ()


@with_config(STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A conversation and its first violation that is no mere note, or the code of its first fault; None: it is legal.

    `covers`: the transitions and violations that it shows.
    """

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


AnyVector: TypeAlias = Valid | Invalid | Unwritable | Trace
Vector: TypeAlias = Annotated[AnyVector, Field(discriminator="kind")]


@with_config(STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class VectorFile:
    """The vectors of one protocol; `schema` changes when an old reader could no longer read them."""

    schema: Literal[1] = SCHEMA
    protocol: str
    vectors: tuple[Vector, ...]


# ---- text ----

_FILE: Final = TypeAdapter(VectorFile)
_VECTOR: Final[TypeAdapter[AnyVector]] = TypeAdapter(Vector)


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


def _shown(vector: AnyVector) -> dict[str, Any]:
    """Return a vector without what has its default, but with its kind."""
    shown: dict[str, Any] = _VECTOR.dump_python(vector, mode="python", by_alias=True, exclude_defaults=True)
    return {"id": vector.id, "kind": vector.kind, **{key: shown[key] for key in shown if key != "id"}}


def _told(place: tuple[int | str, ...], message: str) -> str:
    return f"{'.'.join(map(str, place))}: {message[:1].lower()}{message[1:]}"[:200]


# ---- how much it is ----


def octets_of(vector: AnyVector) -> Iterator[Octets]:
    """Return all bytes that a vector holds."""
    if isinstance(vector, Trace):
        yield from (step.bytes for step in vector.steps)
        return
    yield from (said.bytes for said in vector.before)
    if isinstance(vector, Valid | Invalid):
        yield vector.bytes
    if isinstance(vector, Valid):
        yield from (each for each in (vector.protobuf, vector.msgpack) if each is not None)


def size_of(vector: AnyVector) -> int:
    """Return how many bytes, characters and items a vector holds, its repetitions written out.

    Raises:
        VectorsError: A repetition is none.
    """
    lines = vector.frames if isinstance(vector, Valid | Unwritable) else ()
    return sum(map(octets_size, octets_of(vector))) + expanded_size(lines)
