"""What an implementation of a codec is asked, and what it answers, in a form that all implementations have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

__all__ = [
    "CAPABILITIES",
    "NATIVE",
    "TOLD",
    "UNTOLD",
    "Capability",
    "Decoded",
    "Fault",
    "Implementation",
    "ImplementationError",
    "Line",
    "Move",
    "Setting",
    "SkippedError",
    "Step",
    "Traced",
    "Trouble",
    "Written",
]

Line: TypeAlias = dict[str, Any]
Capability: TypeAlias = Literal["decode", "encode", "trace"]
Move: TypeAlias = tuple[str, str, str]
Trouble: TypeAlias = Literal["crashed", "hung", "garbage", "failed"]
CAPABILITIES: Final[tuple[Capability, ...]] = ("decode", "encode", "trace")
NATIVE: Final = "native"
UNTOLD: Final = "an error"
"""Stands for the code of an error where the implementation tells none; error codes have no spaces."""
TOLD: Final = frozenset({"code", "at", "recoverable"})
"""Parts of an error that an implementation may leave out; a list of them is its `tells`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How bytes are read or written.

    Attributes:
        role: Who sends them; None where it does not matter.
        before: What was sent earlier on the same connection, by whom, in whole frames.
        limits: Those that differ from the protocol's own.
        serialization: The backend whose bytes they are.
    """

    role: str | None = None
    before: tuple[tuple[str, bytes], ...] = ()
    variant: str | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    is_strict: bool = False
    serialization: str = NATIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why bytes are refused; None (and the code `UNTOLD`) for what an implementation does not say.

    `at` counts from the first of the bytes that were to be decoded, whatever came before on the connection.
    """

    code: str
    at: int | None = None
    recoverable: bool | None = None
    rule: str | None = None
    path: str | None = None
    inner_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The frames before the first fault, as decoded lines; with neither fault nor `is_incomplete`, they are all there is.

    `is_unfinished`: the frames are whole, and more of them must come, for they are pieces of something.
    """

    frames: tuple[Line, ...] = ()
    fault: Fault | None = None
    is_incomplete: bool = False
    is_unfinished: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The bytes of frames, or the code with which one is refused; `UNTOLD` where the implementation tells no codes."""

    data: bytes = b""
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Bytes that a role sends at a moment, in seconds; without bytes only time passes, or with `is_end` it sends no more."""

    role: str | None
    data: bytes
    at: float = 0.0
    is_end: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """The first violation of a session that is no mere note, or the code of the first fault; None: there is none.

    `moves`: step by step up to there the sessions that went to another state, with both; None: it does not tell.
    """

    violation: str | None = None
    moves: tuple[tuple[Move, ...], ...] | None = None


class SkippedError(Exception):
    """The implementation says that it does not do what it was asked; the text is its reason."""


class ImplementationError(Exception):
    """There is no answer: the text says what there was instead."""

    def __init__(self, trouble: Trouble, text: str) -> None:
        self.trouble: Trouble = trouble
        self.text = text
        super().__init__(f"{trouble}: {text}")


class Implementation(Protocol):
    """An implementation of a codec. Each call is a connection of its own.

    Attributes:
        name: What it calls itself.
        can: What it does; the judge asks for nothing else.
        serializations: Those that it knows.
        tells: The parts of an error that it tells, of `code`, `at` and `recoverable`; without `code`, only whether
            there is an error is compared.

    Every method may raise:
        SkippedError: It does not do that.
        ImplementationError: It gives no answer.
    """

    @property
    def name(self) -> str: ...

    @property
    def can(self) -> frozenset[Capability]: ...

    @property
    def serializations(self) -> frozenset[str]: ...

    @property
    def tells(self) -> frozenset[str]: ...

    def decode(self, setting: Setting, chunks: Sequence[bytes]) -> Decoded:
        """Return what comes of bytes that arrive in these pieces."""

    def encode(self, setting: Setting, frames: Sequence[Line]) -> Written:
        """Return the bytes of decoded lines, compressed parts stored (zlib's level 0)."""

    def trace(self, setting: Setting, steps: Sequence[Step], options: Mapping[str, object]) -> Traced:
        """Return what the sessions, set by `options`, say to a conversation."""
