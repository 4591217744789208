"""The requests to an implementation of a codec and its answers, in a form that all implementations share."""

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
    "CodecSetting",
    "DecodedFrames",
    "Implementation",
    "ImplementationError",
    "Line",
    "Move",
    "Refused",
    "SkippedError",
    "Step",
    "Traced",
    "Trouble",
    "WrittenFrames",
]

Line: TypeAlias = dict[str, Any]
Capability: TypeAlias = Literal["decode", "encode", "trace"]
Move: TypeAlias = tuple[str, str, str]
Trouble: TypeAlias = Literal["crashed", "hung", "garbage", "failed"]
CAPABILITIES: Final[tuple[Capability, ...]] = ("decode", "encode", "trace")
NATIVE: Final = "native"
UNTOLD: Final = "an error"
"""Takes the place of an error code if the implementation reports none; error codes have no spaces."""
TOLD: Final = frozenset({"code", "at", "recoverable"})
"""Attributes of an error that an implementation may omit; those that it reports are its `tells`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecSetting:
    """How bytes are decoded or encoded.

    Attributes:
        role: The role that sends the bytes; None where it does not matter.
        before: The role and the bytes of whole frames that were sent earlier on the same connection.
        limits: The limits that differ from the protocol's own.
        serialization: The serialization that the bytes have.
    """

    role: str | None = None
    before: tuple[tuple[str, bytes], ...] = ()
    variant: str | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    is_strict: bool = False
    serialization: str = NATIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why bytes are refused; attributes that are not reported are None, the code `UNTOLD`.

    `at` counts from the first of the bytes to decode, not from earlier bytes of the connection.
    """

    code: str
    at: int | None = None
    recoverable: bool | None = None
    rule: str | None = None
    path: str | None = None
    inner_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedFrames:
    """The frames before the first error, as decoded lines.

    With neither `fault` nor `is_incomplete`, the frames use up the bytes. `is_unfinished`: the frames are
    whole, but more of them must come, because they are fragments of a message.
    """

    frames: tuple[Line, ...] = ()
    fault: Refused | None = None
    is_incomplete: bool = False
    is_unfinished: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFrames:
    """The bytes of frames, or the error code if a frame is refused; `UNTOLD` if the implementation reports no codes."""

    data: bytes = b""
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Bytes that a role sends at a moment, in seconds.

    Without bytes only time passes; with `is_end` the role sends no more.
    """

    role: str | None
    data: bytes
    at: float = 0.0
    is_end: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """The first violation of a session that is not lenient, or the code of the first error, or None.

    `moves`: for each step up to that one, the sessions that changed their state, with the state before and
    after; None if the implementation does not report them.
    """

    violation: str | None = None
    moves: tuple[tuple[Move, ...], ...] | None = None


class SkippedError(Exception):
    """The implementation reports that it does not support the request; the text is its reason."""


class ImplementationError(Exception):
    """The implementation gave no answer; the text describes the failure."""

    def __init__(self, trouble: Trouble, text: str) -> None:
        self.trouble: Trouble = trouble
        self.text = text
        super().__init__(f"{trouble}: {text}")


class Implementation(Protocol):
    """An implementation of a codec. Each call is a connection of its own.

    Attributes:
        name: The name that the implementation gives itself.
        can: The operations that it supports; the checks request no others.
        serializations: The serializations that it supports.
        tells: The attributes of an error that it reports, of `code`, `at` and `recoverable`. Without `code`,
            the checks compare only whether there is an error.

    Every method may raise:
        SkippedError: The implementation does not support the request.
        ImplementationError: The implementation gives no answer.
    """

    @property
    def name(self) -> str: ...

    @property
    def can(self) -> frozenset[Capability]: ...

    @property
    def serializations(self) -> frozenset[str]: ...

    @property
    def tells(self) -> frozenset[str]: ...

    def decode(self, setting: CodecSetting, chunks: Sequence[bytes]) -> DecodedFrames:
        """Return the frames and the first error of bytes that arrive in these chunks."""

    def encode(self, setting: CodecSetting, frames: Sequence[Line]) -> WrittenFrames:
        """Return the bytes of decoded lines; compressed bodies are stored (zlib's level 0)."""

    def trace(self, setting: CodecSetting, steps: Sequence[Step], options: Mapping[str, object]) -> Traced:
        """Return the first violation and the transitions of the sessions in a conversation; `options` configure them."""
