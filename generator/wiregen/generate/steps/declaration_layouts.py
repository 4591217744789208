"""Declarations → layouts: their steps, runs merged."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from wiregen.generate.steps.flattening import Flattener
from wiregen.generate.steps.run_merging import merged_runs
from wiregen.generate.steps.step import (
    FRAME,
    Check,
    CodeDispatch,
    Enter,
    FixedRun,
    LayoutSteps,
    Leave,
    Make,
    Mark,
    Step,
)
from wiregen.runtime.schema.shapes import every_field
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.walk import sent_messages

__all__ = ["frame_layout", "layout_of"]


def frame_layout(protocol: m.Protocol, frame: m.Frame, message: m.Message | None) -> LayoutSteps:
    """Return the layout of a whole frame that carries `message`.

    Without it, return the layout of any frame, with a choice of its message.
    """
    steps = Flattener(protocol, message).fields(_undivided(protocol, frame), FRAME)
    return _finish(_settled(protocol, frame, step) for step in steps)


def _settled(protocol: m.Protocol, frame: m.Frame, step: Step) -> Step:
    """Return a step; a choice of the message that no unknown code reaches is told so."""
    match step:
        case CodeDispatch(subject=m.FieldReference(path=(*_, name))) if frame.role is not None:
            codes = {message.code for message in sent_messages(protocol.messages, frame.role)}
            return replace(step, is_total=_members(protocol, frame, name) <= codes)
        case _:
            return step


def _members(protocol: m.Protocol, frame: m.Frame, name: str) -> frozenset[int | None]:
    """Return the numbers that a field of a frame may have by its enum; None for any others."""
    for field in every_field(frame.fields):
        if field.name == name and isinstance(field.type, m.EnumReference):
            enum = next(each for each in protocol.enums if each.name == field.type.name)
            return frozenset((*(member.value for member in enum.members), *(None,) * enum.is_open))
    return frozenset((None,))


def _undivided(protocol: m.Protocol, frame: m.Frame) -> tuple[m.Field, ...]:
    """Return the fields of a frame, and refuse frames with a fragmented block, which the reference codec handles."""
    fields = list(frame.fields)
    for join in protocol.joins:
        for index, field in enumerate(frame.fields):
            if join.block == (frame.name, field.name):
                pieces = (part.when or m.Truth(value=True) for part in join.parts)
                whole = [m.Negation(operator="not", operand=piece) for piece in pieces]
                wheres = whole if field.where is None else [field.where, *whole]
                fields[index] = replace(field, where=reduce(_both, wheres))
    return tuple(fields)


def _both(left: m.Expression, right: m.Expression) -> m.Expression:
    return m.Operation(operator="and", left=left, right=right)


def layout_of(protocol: m.Protocol, fields: tuple[m.Field, ...], *, is_bounded: bool = False) -> LayoutSteps:
    """Return the layout of fields by themselves: a struct that is not inlined, a message's body, an alternative.

    `is_bounded`: they are the last fields of a region that has an end.
    """
    flattener = Flattener(protocol, None, n_regions=1 if is_bounded else 0)
    return _finish(flattener.fields(fields, ""))


def _finish(steps: Iterable[Step]) -> LayoutSteps:
    merged = tuple(merged_runs(steps))
    quiet = Make | Enter | Leave | Check | Mark
    sizes = [
        step.size if isinstance(step, FixedRun) else None for step in merged if not isinstance(step, quiet)
    ]
    known = [size for size in sizes if size is not None]
    return LayoutSteps(steps=merged, fixed_size=sum(known) if len(known) == len(sizes) else None)
