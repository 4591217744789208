"""Joins runs that are separated only by steps that do not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wiregen.generate.steps.step import (
    Carry,
    Check,
    Choose,
    Enter,
    FixedRun,
    Make,
    Mark,
    OptionalField,
    RepeatedItems,
    Slot,
    Step,
)
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.walk import (
    nested_expressions,
)

__all__ = ["merged_runs"]


def merged_runs(steps: Iterable[Step]) -> Iterator[Step]:
    """Join runs that are separated only by steps that do not read: made structs, marks, and starts of regions."""
    slots: list[Slot] = []
    size = 0
    waiting: list[tuple[Step, int]] = []  # with the size of the run before it
    for step in steps:
        match step:
            case FixedRun():
                slots += step.slots
                size += step.size
            case Make() | Enter() | Mark(is_exact=False):
                waiting.append((step, size))
            case Check() if _can_wait(step):
                waiting.append((step, size))
            case _:
                yield from _joined(slots, size, waiting)
                slots, size, waiting = [], 0, []
                yield _merged_inside(step)
    yield from _joined(slots, size, waiting)


def _joined(slots: list[Slot], size: int, waiting: list[tuple[Step, int]]) -> Iterator[Step]:
    """Yield a run of these slots and, after it, the steps that waited for it."""
    if slots:
        yield FixedRun(slots=tuple(slots), size=size)
    for step, before in waiting:
        yield _hoisted(step, size - before) if size > before else step


def _can_wait(check: Check) -> bool:
    """Return whether a check may be made a little later, because it does not depend on the position."""
    kinds = m.Position | m.Checksum | m.ContextReference
    return not any(isinstance(each, kinds) for each in nested_expressions(check.expression))


def _hoisted(step: Step, size: int) -> Step:
    return replace(step, hoisted=step.hoisted + size) if isinstance(step, Enter | Mark) else step


def _merged_inside(step: Step) -> Step:
    match step:
        case RepeatedItems():
            return replace(step, item=tuple(merged_runs(step.item)))
        case OptionalField():
            return replace(step, steps=tuple(merged_runs(step.steps)))
        case Carry():
            return replace(
                step, chunk=tuple(merged_runs(step.chunk)), content=tuple(merged_runs(step.content))
            )
        case Choose():
            cases = (replace(case, steps=tuple(merged_runs(case.steps))) for case in step.cases)
            return replace(step, cases=tuple(cases))
        case _:
            return step
