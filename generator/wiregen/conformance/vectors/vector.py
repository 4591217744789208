"""The kinds of vectors as values; their text is made and read in `format`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, with_config

from wiregen.conformance.vectors.repetition import STRICT, Octets

__all__ = [
    "SCHEMA",
    "AnyVector",
    "Encodes",
    "Fault",
    "Invalid",
    "Limits",
    "Line",
    "Role",
    "Sent",
    "Step",
    "Trace",
    "Unwritable",
    "Valid",
    "Vector",
    "VectorFile",
]

SCHEMA: Final = 1

Line: TypeAlias = dict[str, Any]
"""A decoded frame as the command prints it."""
Limits: TypeAlias = dict[str, int]
Encodes: TypeAlias = Literal["exact", "same_meaning", "no"]
Role: TypeAlias = Annotated[str | None, Field(alias="from")]


@with_config(STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Bytes that were sent before, whole frames only."""

    from_role: Role = None
    bytes: Octets = ""


@with_config(STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The error that must be reported: its code, and for bytes its place, counted from the first of the vector's `bytes`.

    `recoverable` is None for a value that cannot be written, which does not have a place either.
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

    `encodes`: the result of encoding `frames`: these bytes (`exact`), other bytes with the same meaning (`same_meaning`),
    or not compared (`no`). `spans`: the name, the start and the end of each part. `protobuf`, `msgpack`: the same frames
    as streams of these serializations; None where they cannot be carried.
    `covers`: the goals that no earlier vector of the file covers. The text of a file leaves out the goal that ends the id,
    and the plain values of fields.
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
    """Bytes that a decoder refuses with `error`, after `frames_before` whole frames; the stream ends after them."""

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
    """Bytes that a role sends at a time, in seconds; without bytes only time passes, or with `eof` the role stops sending.

    `message`: its name, for readers. `violations`: the violations that a session finds in it that watches both directions,
    lenient ones included. `moves`: the sessions that change their state, with both states; equal changes are listed once.
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
    """A conversation and its first violation that is not lenient, or the code of its first error; None if it is legal.

    `covers`: the transitions and violations that it shows; empty for an example of the file, whose name is its `note`.
    """

    id: str
    kind: Literal["trace"] = "trace"
    variant: str | None = None
    limits: Limits = field(default_factory=dict)
    strict: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
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
