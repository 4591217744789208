"""Diagrams of sessions: every row is an edge, every edge is between existing states, conversations are
those of the traces.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from tests.conformance.tracing import traces_of

from wiregen.conformance.traces import Traces
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema import model as m
from wiregen.schema.lowering import lower
from wiregen.site.diagrams import (
    SentMessage,
    SequenceDiagram,
    StateDiagram,
    as_data,
    conversations,
    state_diagrams,
)
from wiregen.site.diagrams.edge_texts import edge_text
from wiregen.site.diagrams.state_drawings import chart_of

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "idl").glob("*.wire"))
NAMES = [path.stem for path in FILES]


@cache
def protocol(name: str) -> m.Protocol:
    subject = load_protocol(ROOT / "idl" / f"{name}.wire", Sources(), Report(), ())
    assert subject is not None
    return subject.protocol


def traces(name: str) -> Traces:
    return traces_of(ROOT / "idl" / f"{name}.wire")


def diagram(name: str, session: str) -> StateDiagram:
    return next(each for each in state_diagrams(protocol(name)) if each.session == session)


def _lines(session: m.Session) -> tuple[m.Row | m.Timer, ...]:
    return (*session.rows, *session.timers)


@pytest.mark.parametrize("name", NAMES)
def test_every_row_and_timer_is_an_edge_in_each_of_its_states(name: str) -> None:
    for session, drawn in zip(protocol(name).sessions, state_diagrams(protocol(name)), strict=True):
        states = {state.name for state in session.states}
        wanted = sorted((each.path, state) for each in _lines(session) for state in each.states or states)
        assert sorted((edge.path, edge.source) for edge in drawn.edges) == wanted
        assert {edge.source for edge in drawn.edges} | {edge.target for edge in drawn.edges} <= states
        assert [node.name for node in drawn.nodes if node.is_initial] == [session.states[0].name]


@pytest.mark.parametrize("name", NAMES)
def test_arrows_and_violations_are_all_edges(name: str) -> None:
    for drawn in state_diagrams(protocol(name)):
        in_arrows = [edge for arrow in drawn.arrows for edge in arrow.edges]
        assert sorted(map(str, (*in_arrows, *drawn.violations))) == sorted(map(str, drawn.edges))
        assert len({(arrow.source, arrow.target) for arrow in drawn.arrows}) == len(drawn.arrows)


def test_edges_say_what_the_file_says() -> None:
    drawn = diagram("reactive_streams", "Subscription")
    [element] = [
        edge
        for edge in drawn.edges
        if edge.messages == ("OnNext",) and edge.source == "active" and not edge.violation
    ]
    assert (element.role, element.guard, element.updates) == ("publisher", "", ("credit = credit - 1",))
    assert drawn.roles == ("subscriber", "publisher") and drawn.keys == ("subscriber",)
    [refused] = [
        edge for edge in drawn.violations if edge.messages == ("OnNext",) and edge.source == "active"
    ]
    assert (refused.guard, refused.violation, refused.is_lenient) == ("credit == 0", "demand_exceeded", False)
    assert [node.name for node in diagram("reactive_streams", "Side").nodes if node.is_final] == ["over"]
    [timer] = [edge for edge in diagram("lumberjack", "Transfer").edges if edge.kind == "timer"]
    assert (timer.after, timer.violation, timer.source) == ("limits.ack_wait", "ack_timeout", "waiting")


@pytest.mark.parametrize("name", NAMES)
def test_each_session_has_a_conversation_of_its_messages(name: str) -> None:
    plan = lower(protocol(name))
    found = conversations(plan, traces(name))
    assert {session.name for session in protocol(name).sessions} <= set(found)
    declared = {*plan.messages, *plan.frames, *plan.preambles, *plan.joins, "Unknown"}
    for drawn in found.values():
        assert drawn.violation is None and drawn.lines
        assert [line.at for line in drawn.lines] == sorted(line.at for line in drawn.lines)
        for line in drawn.lines:
            if isinstance(line, SentMessage):
                assert line.message in declared
                assert {line.sender, line.receiver} <= set(drawn.participants)


def test_a_conversation_says_what_its_session_is_about() -> None:
    found = conversations(lower(protocol("lumberjack")), traces("lumberjack"))
    said = {(line.sender, line.message) for line in found["Transfer"].lines if isinstance(line, SentMessage)}
    assert {("writer", "Window"), ("writer", "Data"), ("reader", "Ack")} <= said


def test_a_conversation_begins_with_the_side_that_connects() -> None:
    plan = lower(protocol("geode"))
    found = conversations(plan, traces("geode"))
    first = {
        name: next(
            line
            for line in drawn.lines
            if isinstance(line, SentMessage) and line.message not in plan.preambles
        )
        for name, drawn in found.items()
        if name in plan.sessions
    }
    assert {name: line.sender for name, line in first.items()} == dict.fromkeys(plan.sessions, "client")


@pytest.mark.parametrize("name", NAMES)
def test_diagrams_are_json(name: str) -> None:
    plan = lower(protocol(name))
    drawn: list[StateDiagram | SequenceDiagram] = list(state_diagrams(protocol(name)))
    drawn += conversations(plan, traces(name)).values()
    assert all(json.loads(json.dumps(as_data(each))) for each in drawn)


@pytest.mark.parametrize("name", NAMES)
def test_labels_show_every_transition_whole(name: str) -> None:
    """All messages and guards of the transitions that are drawn, in the order of their text, on as many lines as they need."""
    for drawn in state_diagrams(protocol(name)):
        chart = chart_of(drawn)
        shown = {_words(" ".join(text for _, text in label.lines)) for label in chart.labels}
        shown |= {text for each in chart.detours for text in (each.entered, each.left)}
        for edge in drawn.edges:
            if edge.violation is None:
                words = _words(edge_text(edge))
                assert any(words in each for each in shown), edge_text(edge)


def _words(text: str) -> str:
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


def test_states_that_are_left_the_way_they_were_entered_are_one_box_and_a_table() -> None:
    chart = chart_of(diagram("pravega", "Call"))
    assert [box.name for box in chart.boxes] == ["free", "20 states", "any state"]
    found = {each.state: (each.entered, each.left) for each in chart.detours}
    assert len(found) == 20
    assert found["creating"] == (
        "client: CreateSegment, CreateTransientSegment, CreateTableSegment",
        "server: SegmentCreated, SegmentAlreadyExists",
    )
    assert chart_of(diagram("reactive_streams", "Subscription")).detours == ()
