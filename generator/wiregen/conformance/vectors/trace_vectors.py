"""Traces as vectors, and the number of a protocol's transitions and violations that they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from wiregen.conformance import traces as found
from wiregen.conformance.vectors.coverage import Measure
from wiregen.conformance.vectors.format import Step, Trace, compact, slug

__all__ = ["measured_traces", "trace_vectors"]

_LONGEST_TITLE: Final = 60


def trace_vectors(traces: found.Traces) -> Iterator[Trace]:
    """Yield the vectors of traces; where tolerance makes no difference, they are tolerant."""
    ids: Counter[str] = Counter()
    for trace in traces.traces:
        id_ = f"trace-example-{slug(trace.title)[:_LONGEST_TITLE]}" if trace.title else f"trace-{trace.id}"
        ids[id_] += 1
        yield Trace(
            id=id_ if ids[id_] == 1 else f"{id_}-{ids[id_]}",
            variant=trace.variant,
            limits=dict(trace.limits),
            strict=not trace.is_lenient,
            options=dict(trace.options),
            steps=tuple(map(_step, trace.steps)),
            violation=trace.violation and _first(trace),
            source="example" if trace.title else "",
            covers=() if trace.title else tuple(map(str, trace.covers)),
            note=trace.title,
        )


def _first(trace: found.Trace) -> str | None:
    """Return the first expected violation of the last step; another session may report one of its own before."""
    names = [each for each in trace.steps[-1].violations if each in (trace.violation, *trace.others)]
    return names[0] if names else trace.violation


def _step(step: found.Step) -> Step:
    message = getattr(step.value, "message", step.value)
    return Step(
        from_role=step.role,
        bytes=compact(step.data),
        eof=step.kind == "eof",
        at=step.at,
        message=getattr(message, "name", ""),
        violations=step.violations,
        moves=step.moves,
    )


def measured_traces(traces: found.Traces) -> tuple[Measure, ...]:
    """Return the goals of traces, and the missing ones with their lines."""
    return tuple(
        Measure(
            what=what,
            n_all=n_all,
            missing=tuple(
                str(each)
                for each in traces.missing
                if (each.goal.violation is None) is (what == "transitions")
            ),
        )
        for what, (_, n_all) in traces.shares().items()
    )
