"""Steps of writing as the Python templates print them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from wiregen.generate.views.python.checks import Pieced, Tested


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAssign:
    """`target = value`; the target has an annotation where a type checker would take another type."""

    target: str
    value: str
    annotation: str = ""
    kind: Literal["assign"] = "assign"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteChecks(Tested):
    """Conditions that must be false."""

    checks: tuple[str, ...]
    kind: Literal["checks"] = "checks"


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePieces:
    """Expressions of bytes in wire order that are added to `parts`."""

    target: str
    pieces: tuple[str, ...]
    kind: Literal["pieces"] = "pieces"


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePrepare:
    """The bytes `target` of a chunk, and their length, before the run that contains it is packed."""

    target: str
    value: str
    length: str
    is_text: bool
    encode: str
    arguments: str
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
    may_have_state: bool
    is_nullable: bool
    kind: Literal["count"] = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRepeat:
    """The steps for each item of `target`; `parts` is the list that they fill, made here if `data` takes its bytes."""

    target: str
    item: str
    parts: str
    data: str
    is_first: bool
    """Whether its list is not annotated yet, because no earlier step fills a list of this name."""
    steps: tuple[WriteStep, ...]
    kind: Literal["repeat"] = "repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOption(Pieced):
    """`data` is the bytes of the pieces if the condition is true, else empty; then `given` must be false."""

    data: str
    condition: str
    steps: tuple[WriteStep, ...]
    pieces: tuple[str, ...]
    given: tuple[str, ...]
    kind: Literal["option"] = "option"

    @property
    def is_plain(self) -> bool:
        """Whether it fits in one line."""
        return not self.steps and not self.given


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCase(Pieced):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSteps:
    """Steps that prepare values, and the pieces that they are for."""

    steps: tuple[WriteStep, ...]
    pieces: tuple[str, ...]


def without_unread_lengths(
    steps: tuple[WriteStep, ...], pieces: tuple[str, ...] | None
) -> tuple[WriteStep, ...]:
    """Return the steps without the lengths of chunks that are not used by a step or a piece."""
    text = repr((steps, pieces))

    def read(step: WriteStep) -> WriteStep:
        match step:
            case WritePrepare() if len(re.findall(rf"\b{step.length}\b", text)) == 1:
                return replace(step, length="")
            case WriteOption() | WriteRepeat():
                return replace(step, steps=tuple(read(each) for each in step.steps))
            case WriteChoose(cases=cases):
                inside = (replace(case, steps=tuple(read(each) for each in case.steps)) for case in cases)
                return replace(step, cases=tuple(inside))
            case _:
                return step

    return tuple(read(step) for step in steps)
