"""Conversations that pages tell: one for each session, and the shortest one that breaks each rule, out of the file of vectors.

Invariant: what is told was read by the careful codec while the page was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from wiregen.diagnostics import error_codes
from wiregen.diagrams import SequenceDiagram, conversations, sequence_diagram
from wiregen.runtime.context import Context
from wiregen.runtime.errors import DecodeError
from wiregen.runtime.explain import careful_decoder
from wiregen.runtime.options import Options, Plan
from wiregen.traces import Goal, Step, Trace, Traces
from wiregen.vectors.format import Trace as Kept
from wiregen.vectors.format import VectorFile, octets

__all__ = ["Conversations", "conversations_in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """`legal`: by session or join; `breaking`: by the rule that the last line breaks."""

    legal: Mapping[str, SequenceDiagram] = field(default_factory=dict)
    breaking: Mapping[str, SequenceDiagram] = field(default_factory=dict)


def conversations_in(plan: Plan, file: VectorFile | None) -> Conversations:
    """Return the conversations of a file's traces; none without a file."""
    kept = [each for each in file.vectors if isinstance(each, Kept)] if file is not None else []
    faults = set(error_codes())
    legal = [trace for each in kept if each.violation is None and (trace := _read(plan, each)) is not None]
    traces = Traces(protocol=plan["name"], traces=tuple(legal), goals=(), missing=())
    breaking: dict[str, SequenceDiagram] = {}
    for each in sorted(kept, key=lambda one: len(one.steps)):
        if each.violation is None or each.violation in faults or each.violation in breaking:
            continue
        trace = _read(plan, each)
        if trace is not None:
            breaking[each.violation] = sequence_diagram(plan, trace)
    return Conversations(legal=conversations(plan, traces), breaking=breaking)


def _read(plan: Plan, kept: Kept) -> Trace | None:
    """Return a trace with its frames read; None where one is not whole, or the file is of another state of the protocol."""
    try:
        steps = tuple(_steps(plan, kept))
    except (DecodeError, KeyError):
        return None
    if len(steps) != len(kept.steps):
        return None
    return Trace(
        id=kept.id,
        protocol=plan["name"],
        steps=steps,
        covers=tuple(Goal(kind="row", session=_session_of(each)) for each in kept.covers),
        violation=kept.violation,
        by=kept.steps[-1].from_role if kept.steps else None,
        options=kept.options,
        limits=kept.limits,
    )


def _steps(plan: Plan, kept: Kept) -> Iterator[Step]:
    context = Context(plan, limits=kept.limits)
    decoders = {
        role: careful_decoder(
            plan, Options(role, context=context, limits=kept.limits, variant=kept.variant), context=context
        )
        for role in plan["roles"]
    }
    for step in kept.steps:
        data = octets(step.bytes)
        if not data:
            yield Step(kind="eof" if step.eof else "tick", role=step.from_role, at=step.at)
        for node in decoders[step.from_role].feed(data) if data else ():
            yield Step(kind="message", role=step.from_role, at=step.at, data=data, value=node.value)


def _session_of(goal: str) -> str:
    """Return the session, or join, of a goal as text: `Transfer in waiting: …`."""
    return goal.partition(":")[0].partition(" in ")[0]
