"""Traces compared with every implementation of sessions: generated observers and connections, and the one of `replay`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.once import made_once

from wiregen.conformance.traces import Drafts, Goal, Missing, Setup, Step, Trace, Traces, make_traces
from wiregen.conformance.traces.building import trace_of
from wiregen.conformance.traces.goals import goals_of
from wiregen.conformance.vectors import format as vector_format
from wiregen.conformance.vectors.format import octets, read_vectors
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report, render
from wiregen.language.source import Sources
from wiregen.runtime.reference.objects import build
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.sessions.table import Program
from wiregen.runtime.stream.context import Context
from wiregen.schema.lowering import lower
from wiregen.tools.cli.decoding_options import DecodingSettings
from wiregen.tools.cli.direction import Direction
from wiregen.tools.cli.replayed import Replayed, Watch

ROOT = Path(__file__).resolve().parents[2]
CHUNKS = (1, 3, 1 << 20)


@cache
def traces_of(path: Path) -> Traces:
    """Return the traces of a .wire file: of a shipped one those in its vectors, which `vectors build --check` compares."""
    vectors = ROOT / "generated" / "vectors" / f"{path.stem}.json"
    if path.parent == ROOT / "idl" and vectors.exists():
        return _traces_in(path, vectors)
    report, sources = Report(), Sources()
    subject = load_protocol(path, sources, report, ())
    assert subject is not None, render(report, sources, colour=False)
    key = sha256(repr((path, path.read_bytes())).encode()).hexdigest()
    return made_once(f"traces_{key}", lambda: make_traces(subject.protocol, subject.origins, sources))


def _traces_in(path: Path, vectors: Path) -> Traces:
    """Return the traces in a file of vectors, with the values and effects of their steps."""
    plan = plan_of(path)
    if not plan.sessions:
        return Traces(protocol=plan.name, traces=(), goals=(), missing=())
    first = Setup(schema=plan, program=Program(plan), is_strict=True, options={}, limits={})
    goals = {str(goal): goal for goal in goals_of(first, Drafts(first))}
    found = (
        each for each in read_vectors(vectors.read_bytes()).vectors if isinstance(each, vector_format.Trace)
    )
    traces = tuple(_trace_in(each, first, goals) for each in found if each.covers)
    shown = {goal for trace in traces for goal in trace.covers}
    missing = tuple(Missing(goal=goal, line=None) for goal in goals.values() if goal not in shown)
    return Traces(protocol=plan.name, traces=traces, goals=tuple(goals.values()), missing=missing)


def _trace_in(vector: vector_format.Trace, first: Setup, goals: Mapping[str, Goal]) -> Trace:
    setup = replace(first, is_strict=vector.strict, options=vector.options, limits=vector.limits)
    covers = tuple(goals[name] for name in vector.covers)
    steps = tuple(
        Step(
            kind="message" if step.bytes else "eof" if step.eof else "tick",
            role=step.from_role,
            at=step.at,
            data=octets(step.bytes),
        )
        for step in vector.steps
    )
    trace = trace_of(covers, setup, steps)
    if trace.is_strict and not setup.is_strict:
        trace = trace_of(covers, replace(setup, is_strict=True), steps)
    return replace(trace, id=vector.id.removeprefix("trace-"))


@cache
def plan_of(path: Path) -> Schema:
    subject = load_protocol(path, Sources(), Report(), ())
    assert subject is not None
    return lower(subject.protocol)


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def settings_of(package: ModuleType, trace: Trace, *, is_strict: bool) -> dict[str, Any]:
    limits = {"limits": package.Limits(**trace.limits)} if trace.limits else {}
    return {"strict": is_strict, **limits, **trace.options}


def said(events: Sequence[Any]) -> list[str]:
    """Return the violations and errors in order: violations by name, errors by code."""
    found = []
    for event in events:
        match type(event).__name__:
            case "Violation" if not event.lenient:
                found.append(event.name)
            case "Fault":
                found.append(event.error.code)
    return found


def expected(trace: Trace) -> list[str]:
    return [] if trace.violation is None else [trace.violation]


def check_end(trace: Trace, found: list[str], by: str | None) -> None:
    """Compare the violations of the last step; those of other sessions may be added."""
    first = [name for name in found if name not in trace.others]
    assert list(dict.fromkeys(first)) == expected(trace)
    assert not trace.violation or trace.is_fault or by == trace.by


# ---- observers


def check_observed(package: ModuleType, trace: Trace, size: int, *, is_strict: bool) -> None:
    """Let an observer see a trace; violations that the trace lacks in this mode must not be reported."""
    session = package.Session(**settings_of(package, trace, is_strict=is_strict))
    each_events = [list(_observed(session, step, size)) for step in trace.steps]
    events, is_said = each_events[-1], not any(map(said, each_events[:-1]))
    if not (trace.is_strict if is_strict else trace.is_lenient):
        assert not (is_said and said(events) == [*expected(trace), *trace.others])
        return
    assert is_said, trace.id
    by = next((event.role for event in events if getattr(event, "name", "") == trace.violation), None)
    check_end(trace, said(events), by)


def _observed(session: Any, step: Step, size: int) -> Iterator[Any]:
    match step.kind:
        case "message":
            for chunk in chunks(step.data, size):
                yield from session.observe(step.role, chunk, step.at)
        case "tick":
            yield from session.tick(step.at)
        case "eof":
            yield from session.eof(step.role, step.at)


# ---- connections


def check_side(
    package: ModuleType, plan: Schema, trace: Trace, role: str, size: int, *, is_strict: bool
) -> None:
    """Let one side live through a trace: its own messages are sent, the other's come in chunks."""
    side = package.Connection(role, **settings_of(package, trace, is_strict=is_strict))
    for number, step in enumerate(trace.steps, 1):
        is_last = number == len(trace.steps)
        if step.kind == "message" and step.role == role:
            _check_sent(package, plan, side, trace, step, is_last=is_last)
        else:
            events = list(_received(side, step, role, size))
            if is_last:
                _check_received(side, trace, events)
            else:
                assert not said(events), (trace.id, number)


def _check_sent(
    package: ModuleType, plan: Schema, side: Any, trace: Trace, step: Step, *, is_last: bool
) -> None:
    value = build(plan, step.value, vars(package))
    if not is_last or trace.violation is None:
        assert sent_stored(side, value, step.at) == step.data, trace.id
        return
    try:
        side.send(value, step.at)
    except package.SessionError as error:
        assert error.local
        assert error.violation in (trace.violation, *trace.others)
        assert side.failure is None
    else:
        raise AssertionError(f"{trace.id}: {trace.violation} was sent")


def sent_stored(side: Any, value: Any, at: float) -> bytes:
    """Send a message and return its bytes, with compressed parts stored: builds of zlib differ, so traces
    hold them stored.
    """
    level = {"compression": 0} if "compression" in signature(side.send).parameters else {}
    return bytes(side.send(value, at, **level))


def _received(side: Any, step: Step, role: str, size: int) -> Iterator[Any]:
    match step.kind:
        case "message":
            for chunk in chunks(step.data, size):
                yield from side.receive(chunk, step.at)
        case "tick":
            yield from side.tick(step.at)
        case "eof" if step.role == role:
            side.close()
        case "eof":
            yield from side.eof(step.at)


def _check_received(side: Any, trace: Trace, events: list[Any]) -> None:
    found = said(events)
    if trace.is_fault and not found:
        assert side.is_closed
        return
    assert found[:1] == expected(trace) or (found and found[0] in trace.others), (trace.id, found)
    assert (side.failure is None) == (trace.violation is None)


def is_sendable(trace: Trace, role: str) -> bool:
    """Return whether an application could send all messages of a role: the connection itself makes
    fragments of a block.
    """
    own = [step.value for step in trace.steps if step.kind == "message" and step.role == role]
    return all(getattr(value, "part", None) is None or value.part.joined is not None for value in own)


# ---- what replays captures


def check_replayed(plan: Schema, program: Program, trace: Trace, size: int) -> None:
    settings = DecodingSettings(schema=plan, is_strict=trace.is_strict, limits=trace.limits)
    context = Context(plan, limits=dict(trace.limits))
    directions = {role: Direction(settings, role, context) for role in plan.roles}
    watch = Watch(program, settings, context, options=trace.options, closes=plan.on_error == "close")
    found: list[str] = []
    for number, step in enumerate(trace.steps, 1):
        done = list(_replayed(watch, directions, step, size))
        found = [each.name for replayed in done for each in replayed.violations if not each.lenient]
        found += [replayed.decoded.outcome.code for replayed in done if replayed.is_fault]  # type: ignore[union-attr]
        assert number == len(trace.steps) or not found
    check_end(trace, found, trace.by)


def _replayed(watch: Watch, directions: dict[str, Direction], step: Step, size: int) -> Iterator[Replayed]:
    yield from watch.expire(step.at)
    if step.kind == "message":
        for chunk in chunks(step.data, size):
            yield from map(watch.judge, directions[step.role or ""].feed(chunk))
    elif step.kind == "eof":
        yield from map(watch.judge, directions[step.role or ""].finish())
