"""Every transition and every violation of all sessions has a trace, and everything that runs sessions agrees with it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest
from tests.conformance.tracing import (
    CHUNKS,
    ROOT,
    check_observed,
    check_replayed,
    check_side,
    is_sendable,
    plan_of,
    traces_of,
)
from tests.property.schemas import built

from wiregen.conformance.traces import Trace
from wiregen.language.examples.tolerated_states import tolerated_states
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.sessions.table import Program

TALK = ROOT / "tests" / "talk.wire"
NAMES = (
    "geode",
    "lumberjack",
    "pravega",
    "pravega_documented",
    "pravega_proposal",
    "reactive_streams",
)
FILES = {name: ROOT / "idl" / f"{name}.wire" for name in NAMES} | {"talk": TALK}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ModuleType]]:
    found = {name: importlib.import_module(f"wireproto.{name}") for name in NAMES}
    with built(TALK.read_text(encoding="utf-8"), tmp_path_factory.mktemp("talk"), "traced") as codecs:
        yield found | {"talk": codecs.module}


@pytest.fixture(params=FILES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_everything_is_shown(name: str) -> None:
    assert [str(each.goal) for each in traces_of(FILES[name]).missing] == []


ONLY_WHEN_SENDING = {("geode", "Connection"): {2, 4}}
"""Rows that refuse to send what no bytes can show: a preamble is read where the stream begins, and nowhere else."""


def test_each_row_and_timer_of_the_file_is_meant(name: str) -> None:
    plan, goals = plan_of(FILES[name]), traces_of(FILES[name]).goals
    for session, table in plan.sessions.items():
        for kind, lines in (("row", table.rows), ("timer", table.timers)):
            shown = {goal.number for goal in goals if (goal.session, goal.kind) == (session, kind)}
            unseen = ONLY_WHEN_SENDING.get((name, session), set()) if kind == "row" else set()
            assert set(range(len(lines))) - unseen == shown, (session, kind)


def test_states_that_only_tolerance_leads_to_are_shown_tolerantly() -> None:
    plan = plan_of(FILES["reactive_streams"])
    states = tolerated_states(plan.sessions["Negotiation"])
    assert states == {"client_refused", "server_refused", "over"}
    assert all(
        not tolerated_states(session) for name, session in plan.sessions.items() if name != "Negotiation"
    )
    traces = [
        trace
        for trace in traces_of(FILES["reactive_streams"]).traces
        if any(goal.session == "Negotiation" and goal.state in states for goal in trace.covers)
    ]
    assert traces and not any(trace.is_strict for trace in traces)
    assert any("only_goodbye_follows" in trace.notes for trace in traces)


def test_names_are_unique_and_no_trace_is_there_twice(name: str) -> None:
    traces = traces_of(FILES[name]).traces
    assert len({trace.id for trace in traces}) == len(traces)
    conversations = {
        (tuple((each.role, each.data, each.kind) for each in trace.steps), str(trace.options), str(trace.limits),
         trace.violation, trace.is_strict)
        for trace in traces
    }  # fmt: skip
    assert len(conversations) == len(traces)


def test_observers_see_what_a_trace_says(name: str, packages: dict[str, ModuleType]) -> None:
    for trace in traces_of(FILES[name]).traces:
        for size in CHUNKS:
            check_observed(packages[name], trace, size, is_strict=True)
            check_observed(packages[name], trace, size, is_strict=False)


def test_both_sides_see_what_a_trace_says(name: str, packages: dict[str, ModuleType]) -> None:
    plan, n_checked = plan_of(FILES[name]), 0
    for trace in traces_of(FILES[name]).traces:
        for role in plan.roles:
            if is_sendable(trace, role):
                for is_strict in _modes(trace):
                    n_checked += 1
                    check_side(packages[name], plan, trace, role, CHUNKS[n_checked % 3], is_strict=is_strict)
    assert n_checked > len(traces_of(FILES[name]).traces)


def _modes(trace: Trace) -> Iterator[bool]:
    if trace.is_strict:
        yield True
    if trace.is_lenient:
        yield False


def test_replay_sees_what_a_trace_says(name: str) -> None:
    plan: Schema = plan_of(FILES[name])
    program = Program(plan)
    for trace in traces_of(FILES[name]).traces:
        check_replayed(plan, program, trace, 3)
