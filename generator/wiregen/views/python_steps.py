"""Steps as the Python templates print them: local names, struct formats, positions and checks as ready text.

The invariant of a reading function: `position` only grows, and is compared with `end` before anything is returned.
Every step of reading names the `buffer`, `position` and `end` that it reads with, for transformed bytes have their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class On:
    """The variables of the bytes that a step reads."""

    buffer: str = "buffer"
    position: str = "position"
    end: str = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRun:
    """`targets = unpack(buffer, at)`, a lone byte without `unpack`; then values made of them, then checks that must not hold."""

    on: On
    targets: str
    unpack: str
    at: str
    assigns: tuple[tuple[str, str], ...]
    checks: tuple[str, ...]
    kind: Literal["run"] = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadVarint:
    """A LEB128 number; `signed` undoes zigzag."""

    on: On
    target: str
    at: str
    after: str
    bits: int
    lenient: str
    is_zigzag: bool
    checks: tuple[str, ...]
    kind: Literal["varint"] = "varint"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall:
    """`target, position = function(arguments)`, then checks."""

    on: On
    target: str
    call: str
    before: tuple[str, ...]
    checks: tuple[str, ...]
    kind: Literal["call"] = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChunk:
    """`length` bytes from `at`: bytes as they are, or text decoded by `decode`, at a fault by `careful`.

    `decode`: its arguments, or `mutf8`, or `exact` where only the careful road is right. `target` "": skipped.
    """

    on: On
    target: str
    length: str
    at: str
    is_text: bool
    decode: str
    careful: str
    null: str
    """The length that is None where the value is."""
    kind: Literal["chunk"] = "chunk"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMeasure:
    """`target` is a length that is computed; it must not be negative."""

    target: str
    value: str
    kind: Literal["measure"] = "measure"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRest:
    """`target` is the length of what is left from `at` up to the end."""

    on: On
    target: str
    at: str
    unit: int
    kind: Literal["rest"] = "rest"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSearch:
    """`target` is the length up to a delimiter."""

    on: On
    target: str
    at: str
    delimiter: str
    kind: Literal["search"] = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAssign:
    """`target = value`; `annotation` where it is said first."""

    target: str
    value: str
    annotation: str = ""
    kind: Literal["assign"] = "assign"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCheck:
    """A condition that must not hold."""

    condition: str
    kind: Literal["check"] = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMake:
    """`target` becomes a `class_` with these (attribute, value) pairs."""

    target: str
    class_: str
    values: tuple[tuple[str, str], ...]
    kind: Literal["make"] = "make"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRepeat:
    """Items into the list `target`: `length` of them, or while `condition` holds, or until `until` does."""

    on: On
    target: str
    length: str
    null: str
    at: str
    count_limit: str
    has_state: bool
    smallest: int
    is_to_end: bool
    until: str
    steps: tuple[ReadStep, ...]
    item: str
    end_position: str | None
    kind: Literal["repeat"] = "repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadNumbers:
    """`length` numbers of one struct format into the list `target`."""

    on: On
    target: str
    length: str
    null: str
    at: str
    count_limit: str
    has_state: bool
    format_prefix: str
    format: str
    size: int
    kind: Literal["numbers"] = "numbers"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEnter:
    """`stop` becomes the end of a region of `length` bytes from `at`."""

    on: On
    stop: str
    length: str
    at: str
    kind: Literal["enter"] = "enter"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLeave:
    """The end of a region; `tail`, or that of `owner`, takes what is left over where that is tolerated."""

    on: On
    at: str
    tail: str
    owner: str
    kind: Literal["leave"] = "leave"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadInflate:
    """`inner` becomes what the compressed bytes from `at` hold."""

    on: On
    inner: On
    length: str
    at: str
    algorithm: str
    kind: Literal["inflate"] = "inflate"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadJoin:
    """`inner` becomes the bytes of chunks that are read until `until` holds."""

    on: On
    inner: On
    pieces: str
    at: str
    data: str
    until: str
    steps: tuple[ReadStep, ...]
    end_position: str | None
    has_state: bool
    kind: Literal["join"] = "join"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOption:
    """`steps` if the condition holds; what they assign is assigned before."""

    before: tuple[ReadAssign, ...]
    condition: str
    steps: tuple[ReadStep, ...]
    kind: Literal["option"] = "option"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCase:
    condition: str
    steps: tuple[ReadStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChoose:
    """The steps of the first case whose condition holds ("": always); nothing else may come."""

    before: tuple[ReadAssign, ...]
    cases: tuple[ReadCase, ...]
    has_else: bool
    kind: Literal["choose"] = "choose"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDispatch:
    """The message whose code `code` is, by the table `readers`; an unknown one is kept where `can_skip`."""

    on: On
    target: str
    code: str
    code_value: str
    readers: str
    at: str
    can_skip: bool
    checks: tuple[str, ...]
    is_context: bool
    kind: Literal["dispatch"] = "dispatch"


ReadStep: TypeAlias = (
    ReadRun
    | ReadVarint
    | ReadCall
    | ReadChunk
    | ReadMeasure
    | ReadRest
    | ReadSearch
    | ReadAssign
    | ReadCheck
    | ReadMake
    | ReadRepeat
    | ReadNumbers
    | ReadEnter
    | ReadLeave
    | ReadInflate
    | ReadJoin
    | ReadOption
    | ReadChoose
    | ReadDispatch
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAssign:
    """`target = value`."""

    target: str
    value: str
    annotation: str = ""
    kind: Literal["assign"] = "assign"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteChecks:
    """Conditions that must not hold."""

    checks: tuple[str, ...]
    kind: Literal["checks"] = "checks"


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePieces:
    """Expressions of bytes in wire order that join `parts`."""

    target: str
    pieces: tuple[str, ...]
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
    is_nullable: bool
    kind: Literal["prepare"] = "prepare"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCount:
    """The list `target` and its length, within its limit."""

    target: str
    value: str
    length: str
    count_limit: str
    has_state: bool
    is_nullable: bool
    kind: Literal["count"] = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRepeat:
    """The steps for each item of `target`; `parts` is the list that they fill, made here where `data` takes its bytes."""

    target: str
    item: str
    parts: str
    data: str
    steps: tuple[WriteStep, ...]
    kind: Literal["repeat"] = "repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOption:
    """`data` is what the pieces make if the condition holds, else empty; then `given` must not hold."""

    data: str
    condition: str
    steps: tuple[WriteStep, ...]
    pieces: tuple[str, ...]
    given: tuple[str, ...]
    kind: Literal["option"] = "option"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCase:
    condition: str
    steps: tuple[WriteStep, ...]
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteChoose:
    data: str
    cases: tuple[WriteCase, ...]
    has_else: bool
    kind: Literal["choose"] = "choose"


WriteStep: TypeAlias = (
    WriteAssign
    | WriteChecks
    | WritePieces
    | WritePrepare
    | WriteCount
    | WriteRepeat
    | WriteOption
    | WriteChoose
)
