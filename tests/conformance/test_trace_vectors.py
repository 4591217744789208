"""The traces in the files of vectors: every implementation of sessions goes through them alike, and a wrong one does not."""

from __future__ import annotations

import importlib
import os
import random
from functools import cache
from types import ModuleType
from typing import Any

import pytest
from tests.conformance.session_mutants import Mutant, also_strict, holds, is_killed, mutants_of
from tests.conformance.test_traces import FILES, NAMES
from tests.conformance.tracing import ROOT, plan_of, said, sent_stored

from wiregen.conformance.judge import ReferenceImplementation, judge
from wiregen.conformance.judge.generated_package import GeneratedPackage
from wiregen.conformance.traces.candidates import Drafts
from wiregen.conformance.traces.goals import goals_of
from wiregen.conformance.vectors.format import Step, Trace, octets, read_vectors
from wiregen.language.examples.connection_state import Setup
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.objects import build
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.sessions.table import Program
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder

IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
SAMPLE = 150
SEED = 20_261
KILLED = {
    "geode": 0.80,
    "lumberjack": 0.70,
    "pravega": 0.95,
    "pravega_documented": 0.82,
    "pravega_proposal": 0.87,
    "reactive_streams": 0.95,
}
"""Of the mutants of a protocol, the share that the traces tell from it, at least."""
BY_CHANCE = 0.05
"""How far the share of a sample may lie below that of all."""


@cache
def traces_in(name: str) -> tuple[Trace, ...]:
    text = (ROOT / "generated" / "vectors" / f"{name}.json").read_bytes()
    return tuple(vector for vector in read_vectors(text).vectors if isinstance(vector, Trace))


def package_of(name: str) -> ModuleType:
    return importlib.import_module(f"wireproto.{name}")


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_file_covers_all_but_what_cannot_happen(name: str) -> None:
    plan = plan_of(FILES[name])
    setup = Setup(schema=plan, program=Program(plan), is_strict=True, options={}, limits={})
    goals = {str(goal) for goal in goals_of(setup, Drafts(setup))}
    covered = [cover for trace in traces_in(name) for cover in trace.covers]
    assert set(covered) == goals
    assert len(covered) == len(set(covered))


@pytest.mark.parametrize("is_reference", [True, False], ids=["reference", "generated"])
def test_they_hold(name: str, *, is_reference: bool) -> None:
    plan = plan_of(FILES[name])
    implementation = (
        ReferenceImplementation(plan)
        if is_reference
        else GeneratedPackage(plan, {"native": package_of(name)})
    )
    verdicts = [judge(trace, implementation) for trace in traces_in(name)]
    assert [verdict for verdict in verdicts if verdict.outcome != "passed"] == []
    assert verdicts


def test_a_wrong_state_is_found(name: str) -> None:
    """The reference sessions tell their states, and a file that names others does not hold."""
    implementation = ReferenceImplementation(plan_of(FILES[name]))
    trace = next(trace for trace in traces_in(name) if any(step.moves for step in trace.steps))
    moves = [
        {**vars_of(step), "moves": tuple((a, b, "nowhere") for a, b, _ in step.moves)} for step in trace.steps
    ]
    wrong = Trace(**{**vars_of(trace), "steps": tuple(Step(**each) for each in moves)})
    assert judge(wrong, implementation).outcome == "failed"


def vars_of(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


def test_two_connections_facing_each_other(name: str) -> None:
    n_sent = 0
    for trace in traces_in(name):
        n_sent += _face(package_of(name), plan_of(FILES[name]), trace)
    assert n_sent > 5  # most traces of some protocols divide frames, which is not for an application to say


def _face(package: ModuleType, plan: Schema, trace: Trace) -> int:
    """Let each side send what it says in a trace, and the other one receive it; return how many messages went over."""
    values = _values(plan, trace)
    if values is None:
        return 0
    limits = {"limits": package.Limits(**trace.limits)} if trace.limits else {}
    sides = {
        role: package.Connection(role, strict=trace.strict, **limits, **trace.options) for role in plan.roles
    }
    n_sent = 0
    for number, (step, value) in enumerate(zip(trace.steps, values, strict=True), 1):
        wrong = trace.violation if number == len(trace.steps) else None
        if step.eof:
            sides[step.from_role or ""].close()
        elif value is not None:
            sent = _sent(package, sides[step.from_role or ""], build(plan, value, vars(package)), step, wrong)
            assert sent == (None if wrong else octets(step.bytes)), (trace.id, number)
            n_sent += 1
        for role, side in sides.items():
            if role != step.from_role:
                found = said(_arrived(side, step))
                assert (found[0] if found else None) == wrong, (trace.id, number, role, found)
    return n_sent


def _values(plan: Schema, trace: Trace) -> list[Any] | None:
    """Return the value of each step, or None if a side divides its messages in a way that an application
    cannot request.
    """
    context = Context(plan, limits=dict(trace.limits))
    options = {role: Options(role, context=context, limits=dict(trace.limits)) for role in plan.roles}
    decoders = {
        role: reference_decoder(plan, each, "raise", context=context) for role, each in options.items()
    }
    values: list[Any] = []
    for step in trace.steps:
        nodes = list(decoders[step.from_role or ""].feed(octets(step.bytes))) if step.bytes else []
        values.append(nodes[0].value if nodes else None)
        part = getattr(values[-1], "part", None)
        if part is not None and part.joined is None:
            return None
    return values


def _sent(package: ModuleType, side: Any, value: Any, step: Step, wrong: str | None) -> bytes | None:
    try:
        return sent_stored(side, value, step.at)
    except package.SessionError as error:
        assert wrong, error
        assert error.local
        assert error.violation in step.violations
        return None


def _arrived(side: Any, step: Step) -> list[Any]:
    if step.eof:
        return list(side.eof(step.at))
    return list(side.receive(octets(step.bytes), step.at) if step.bytes else side.tick(step.at))


def test_wrong_sessions_are_told_from_right_ones(name: str, record_property: Any) -> None:
    """A sample in each run, all of them in a soak; where a trace holds with nothing tolerated, that is tried too. Who survives is one of these:

    - it leaves a variable as it was, and the trace that shows the row ends before anybody asks for that variable;
    - it lacks a row, or its condition, in whose place another row does the same;
    - it is of a row that only refuses to send, which no bytes show;
    - it leads elsewhere where what may come next is the same in both states, so that no trace has a reason to go on.
    """
    plan = plan_of(FILES[name])
    assert all(holds(Program(plan), trace) for trace in traces_in(name))
    traces = also_strict(plan, traces_in(name))
    mutants = list(mutants_of(plan))
    assert len({str(mutant) for mutant in mutants}) == len(mutants)
    chosen = mutants if IS_SOAK else _sample(mutants)
    alive = [mutant for mutant in chosen if not is_killed(mutant, traces)]
    n_killed = len(chosen) - len(alive)
    print(f"{name}: {n_killed} of {len(chosen)} wrong sessions killed; alive: {', '.join(map(str, alive))}")
    record_property("killed", f"{n_killed} of {len(chosen)} of {len(mutants)}")
    least = KILLED[name] if len(chosen) == len(mutants) else KILLED[name] - BY_CHANCE
    assert n_killed >= least * len(chosen)


def _sample(mutants: list[Mutant]) -> list[Mutant]:
    return random.Random(SEED).sample(mutants, min(SAMPLE, len(mutants)))
