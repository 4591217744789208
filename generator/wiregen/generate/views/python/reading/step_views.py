"""Steps of reading as the Python templates print them: local names, struct formats, positions and checks as ready text.

The invariant of a reading function: `position` only grows, and is compared with `end` before anything is returned.
Every step of reading names the `buffer`, `position` and `end` that it reads with, for transformed bytes have their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from wiregen.generate.views.python.checks import Tested


@dataclass(frozen=True, slots=True, kw_only=True)
class On:
    """The variables of the bytes that a step reads."""

    buffer: str = "buffer"
    position: str = "position"
    end: str = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRun(Tested):
    """`targets = unpack(buffer, at)`, a lone byte without `unpack`; then values made of them, then checks that must not hold."""

    on: On
    targets: str
    unpack: str
    at: str
    assigns: tuple[tuple[str, str], ...]
    checks: tuple[str, ...]
    kind: Literal["run"] = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadVarint(Tested):
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
class ReadCall(Tested):
    """`target, position = function(arguments)`, then checks."""

    on: On
    target: str
    call: str
    before: tuple[str, ...]
    checks: tuple[str, ...]
    kind: Literal["call"] = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChunk:
    """`length` bytes from `at`: bytes as they are, or text decoded by `decode`, at a fault by the function `exact`.

    `decode`: its arguments, or `mutf8`, or `exact` where only the careful road is right. `target` "": skipped.
    """

    on: On
    target: str
    length: str
    at: str
    is_text: bool
    decode: str
    exact: str
    careful: str
    null: str
    """The length that is None where the value is."""
    annotation: str = "Any"
    """Of the target, where `null` makes it None first."""
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
    annotation: str = "Any"
    """Of the target, where `null` makes it None first."""
    kind: Literal["repeat"] = "repeat"

    @property
    def too_many(self) -> str:
        """The condition of a list without a count that has become too long."""
        if self.has_state:
            return f"state.count is not None and len({self.target}) > state.count"
        return f"len({self.target}) > ({self.count_limit} if state is None or state.count is None else state.count)"


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
    annotation: str = "Any"
    """Of the target, where `null` makes it None first."""
    kind: Literal["numbers"] = "numbers"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEnter(Tested):
    """`stop` becomes the end of a region of `length` bytes from `at`."""

    on: On
    stop: str
    length: str
    at: str
    checks: tuple[str, ...]
    """Those of the run before, and that the region ends within what it stands in."""
    kind: Literal["enter"] = "enter"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLeave:
    """The end of a region; `tail`, or that of `owner`, takes what is left over where that is tolerated.

    `is_padded`: zeros only fill the region.
    """

    on: On
    at: str
    tail: str
    owner: str
    is_padded: bool
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
class ReadDispatch(Tested):
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


def annotated_once(steps: tuple[ReadStep, ...]) -> tuple[ReadStep, ...]:
    """Return the steps, each variable annotated only where it is first assigned: a second annotation is an error of mypy."""
    return _annotated_once(steps, set())


def _annotated_once(steps: tuple[ReadStep, ...], seen: set[str]) -> tuple[ReadStep, ...]:
    found: list[ReadStep] = []
    for step in steps:
        match step:
            case ReadAssign():
                found.append(_assigned(step, seen))
            case ReadOption(before=before, steps=inside):
                assigned = tuple(_assigned(each, seen) for each in before)
                found.append(replace(step, before=assigned, steps=_annotated_once(inside, seen)))
            case ReadChoose(before=before, cases=cases):
                assigned = tuple(_assigned(each, seen) for each in before)
                inner = tuple(replace(case, steps=_annotated_once(case.steps, seen)) for case in cases)
                found.append(replace(step, before=assigned, cases=inner))
            case ReadChunk(null=null) if null:
                found.append(_assigned(step, seen))
            case ReadNumbers(null=null) if null:
                found.append(_assigned(step, seen))
            case ReadRepeat(null=null, steps=inside):
                first = _assigned(step, seen) if null else step
                found.append(replace(first, steps=_annotated_once(inside, seen)))
            case ReadJoin(steps=inside):
                found.append(replace(step, steps=_annotated_once(inside, seen)))
            case _:
                found.append(step)
    return tuple(found)


_Assigning = TypeVar("_Assigning", ReadAssign, ReadChunk, ReadNumbers, ReadRepeat)


def _assigned(step: _Assigning, seen: set[str]) -> _Assigning:
    if step.target in seen:
        return replace(step, annotation="")
    if step.annotation:
        seen.add(step.target)
    return step


def with_checks(steps: tuple[ReadStep, ...]) -> tuple[ReadStep, ...]:
    """Return the steps, each check that follows a run as the run's own, and those before a region as the region's."""
    found: list[ReadStep] = []
    for step in steps:
        match found[-1:], step:
            case [ReadRun() as run], ReadCheck(condition=condition):
                found[-1] = replace(run, checks=(*run.checks, condition))
            case [ReadRun() as run], ReadEnter():
                found[-1] = replace(run, checks=())
                found.append(replace(step, checks=(*run.checks, *step.checks)))
            case _:
                found.append(step)
    return tuple(found)
