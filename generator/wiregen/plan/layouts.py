"""Declarations → layouts: their steps, runs merged."""

from __future__ import annotations

from collections.abc import Iterable

from wiregen import model as m
from wiregen.plan.flatten import Flattener
from wiregen.plan.merging import merged_runs
from wiregen.plan.steps import (
    FRAME,
    Check,
    Enter,
    Layout,
    Leave,
    Make,
    Mark,
    Run,
    Step,
)

__all__ = ["frame_layout", "layout_of"]


def frame_layout(protocol: m.Protocol, frame: m.Frame, message: m.Message | None) -> Layout:
    """Return the layout of a whole frame that carries `message`; None: of any frame, with a choice of its message."""
    return _finish(Flattener(protocol, message).fields(frame.fields, FRAME))


def layout_of(protocol: m.Protocol, fields: tuple[m.Field, ...], *, is_bounded: bool = False) -> Layout:
    """Return the layout of fields by themselves: a struct that is not inlined, a message's body, a variety.

    `is_bounded`: they are the last of a region that has an end.
    """
    flattener = Flattener(protocol, None, n_regions=1 if is_bounded else 0)
    return _finish(flattener.fields(fields, ""))


def _finish(steps: Iterable[Step]) -> Layout:
    merged = tuple(merged_runs(steps))
    quiet = Make | Enter | Leave | Check | Mark
    sizes = [step.size if isinstance(step, Run) else None for step in merged if not isinstance(step, quiet)]
    known = [size for size in sizes if size is not None]
    return Layout(steps=merged, fixed_size=sum(known) if len(known) == len(sizes) else None)
