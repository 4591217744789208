"""Steps as the Python templates print them: local names, struct formats, positions and checks as ready text.

The invariant of a reading function: `position` only grows, and is compared with `end` before anything is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRun:
    """`targets = unpack(buffer, at)`, a lone byte without `unpack`; then the checks, each a condition that must not hold."""

    targets: str
    unpack: str
    at: str
    checks: tuple[str, ...]
    lengths: tuple[LengthCheck, ...]
    kind: Literal["run"] = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthCheck:
    """What a length or count must hold before anything is read by it."""

    name: str
    is_signed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChunk:
    """`length` bytes from `at`: bytes as they are, or text decoded by `decode`, at a fault by `careful`."""

    target: str
    length: str
    at: str
    is_text: bool
    decode: str
    careful: str
    kind: Literal["chunk"] = "chunk"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMake:
    """`target` becomes a `class_` with these (attribute, value) pairs."""

    target: str
    class_: str
    values: tuple[tuple[str, str], ...]
    kind: Literal["make"] = "make"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRepeat:
    """`length` items into the list `target`; `end_position` is said when the last step of an item left it open.

    `count_limit`: what its length is compared with, None where it shares a budget with other lists of the message.
    """

    target: str
    length: str
    at: str
    annotation: str
    count_limit: str | None
    smallest: int
    steps: tuple[ReadStep, ...]
    item: str
    end_position: str | None
    kind: Literal["repeat"] = "repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadNumbers:
    """`length` numbers of one struct format into the list `target`."""

    target: str
    length: str
    at: str
    count_limit: str | None
    format_prefix: str
    format: str
    size: int
    kind: Literal["numbers"] = "numbers"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEnvelope:
    """Frames in a compressed region of `length` bytes into the list `target`."""

    target: str
    length: str
    at: str
    algorithm: str
    reader: str
    annotation: str
    owner: str
    kind: Literal["envelope"] = "envelope"


ReadStep: TypeAlias = ReadRun | ReadChunk | ReadMake | ReadRepeat | ReadNumbers | ReadEnvelope


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePieces:
    """Expressions of bytes in wire order, after checks that must not hold."""

    pieces: tuple[str, ...]
    checks: tuple[str, ...]
    kind: Literal["pieces"] = "pieces"


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePrepare:
    """The bytes `target` of a chunk, and their length, before the run that holds it is packed."""

    target: str
    value: str
    length: str
    is_text: bool
    encode: str
    careful: str
    is_wide: bool
    kind: Literal["prepare"] = "prepare"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCount:
    """The list `target` and its length, within its limit."""

    target: str
    value: str
    length: str
    count_limit: str | None
    kind: Literal["count"] = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRepeat:
    target: str
    item: str
    steps: tuple[WriteStep, ...]
    kind: Literal["repeat"] = "repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteEnvelope:
    """The bytes `target` of a compressed region of frames, and their length."""

    target: str
    value: str
    length: str
    algorithm: str
    owner: str
    kind: Literal["envelope"] = "envelope"


WriteStep: TypeAlias = WritePieces | WritePrepare | WriteCount | WriteRepeat | WriteEnvelope
