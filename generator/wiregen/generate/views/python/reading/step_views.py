"""Steps of reading as the Python templates print them: local names, struct formats, positions and checks as text.

The invariant of a reading function: `position` only grows, and is compared with `end` before a value is
returned. Every step of reading names its `buffer`, `position` and `end`, because transformed bytes have their
own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from wiregen.generate.views.python.checks import AnyCheck, Tested


@dataclass(frozen=True, slots=True, kw_only=True)
class On:
    """The variables of the bytes that a step reads."""

    buffer: str = "buffer"
    position: str = "position"
    end: str = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRun(Tested):
    """`targets = unpack(buffer, at)`, or a single byte without `unpack`; then values made from them, then checks."""

    on: On
    targets: str
    unpack: str
    at: str
    assigns: tuple[tuple[str, str], ...]
    checks: tuple[AnyCheck, ...]
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
    checks: tuple[AnyCheck, ...]
    kind: Literal["varint"] = "varint"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall(Tested):
    """`target, position = function(arguments)`, then checks."""

    on: On
    target: str
    call: str
    before: tuple[str, ...]
    checks: tuple[AnyCheck, ...]
    kind: Literal["call"] = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChunk:
    """`length` bytes from `at`: bytes unchanged, or text decoded by `decode` and, on an error, by the function `exact`.

    `decode`: its arguments, or `mutf8`, or `exact` if only that function is right. `target` "": the bytes are
    skipped.
    """

    on: On
    target: str
    length: str
    at: str
    is_text: bool
    decode: str
    exact: str
    arguments: str
    null: str
    """The variable of the length; its value is None for null."""
    annotation: str = "Any"
    """The annotation of the target, if `null` makes it None first."""
    kind: Literal["chunk"] = "chunk"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMeasure:
    """`target` is a length that is computed; it must not be negative."""

    target: str
    value: str
    kind: Literal["measure"] = "measure"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRest:
    """`target` is the length of the remaining bytes from `at` to the end."""

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
    """`target = value`; `annotation`: for its first assignment."""

    target: str
    value: str
    annotation: str = ""
    kind: Literal["assign"] = "assign"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCheck(Tested):
    """Checks beside no other step."""

    checks: tuple[AnyCheck, ...]
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
    """Items into the list `target`: `length` of them, or while `condition` is true, or until `until` is."""

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
    """The annotation of the target, if `null` makes it None first."""
    kind: Literal["repeat"] = "repeat"

    @property
    def too_many(self) -> str:
        """The condition that a list without a count has become too long."""
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
    """The annotation of the target, if `null` makes it None first."""
    kind: Literal["numbers"] = "numbers"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEnter(Tested):
    """`stop` becomes the end of a region of `length` bytes from `at`."""

    on: On
    stop: str
    length: str
    at: str
    checks: tuple[AnyCheck, ...]
    """The checks of the run before, and the one that the region ends within the enclosing one."""
    kind: Literal["enter"] = "enter"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLeave:
    """The end of a region; `tail`, or that of `owner`, gets the trailing bytes if they are tolerated.

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
    """`inner` becomes what the function returns for the transformed bytes from `at`."""

    on: On
    inner: On
    length: str
    at: str
    function: str
    arguments: str
    kind: Literal["inflate"] = "inflate"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadJoin:
    """`inner` becomes the bytes of chunks that are read until `until` is true."""

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
    """`steps` if the condition is true; their targets are initialised before."""

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
    """The steps of the first case whose condition is true ("": always); otherwise the subject is refused."""

    before: tuple[ReadAssign, ...]
    cases: tuple[ReadCase, ...]
    has_else: bool
    kind: Literal["choose"] = "choose"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDispatch(Tested):
    """The message with the code `code`, by the table `readers`; an unknown one is kept if `can_skip`."""

    on: On
    target: str
    code: str
    code_value: str
    readers: str
    at: str
    can_skip: bool
    checks: tuple[AnyCheck, ...]
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
    """Return the steps with each variable annotated only at its first assignment: mypy refuses a second annotation."""
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
    """Return the steps with each check after a run moved into the run, and those before a region into the region."""
    found: list[ReadStep] = []
    for step in steps:
        match found[-1:], step:
            case [ReadRun() as run], ReadCheck(checks=checks):
                found[-1] = replace(run, checks=(*run.checks, *checks))
            case [ReadRun() as run], ReadEnter():
                found[-1] = replace(run, checks=())
                found.append(replace(step, checks=(*run.checks, *step.checks)))
            case _:
                found.append(step)
    return tuple(found)
