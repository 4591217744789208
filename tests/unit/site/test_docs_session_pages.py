"""Pages of sessions: no label touches a line, everything of the session is there, conversations are those of the vectors."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.docs_sites import SHIPPED, chapter_of, files_of, shipped_chapter, site_of_text
from tests.unit.tools.test_cli_decode import run

from wiregen.conformance.vectors.format import Trace, octets
from wiregen.conformance.vectors.vector import Step
from wiregen.site.diagrams import DrawnState, Edge, Happening, StateDiagram, state_diagrams
from wiregen.site.diagrams.sequence_drawings import ladder_of
from wiregen.site.diagrams.state_drawings import CHARACTER, Chart, chart_of
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.conversations import Conversations, conversations_in
from wireproto._runtime.sessions.events import Event, Fault, Violation

Box = tuple[float, float, float, float]


def boxes_of_labels(chart: Chart) -> list[Box]:
    """Return left, top, right and bottom of each line of each label."""
    found: list[Box] = []
    for label in chart.labels:
        for y, text in label.lines:
            width = len(text) * CHARACTER
            left = label.x - width if label.anchor == "end" else label.x
            found.append((left, y - 9, left + width, y + 2))
    return found


def segments(chart: Chart) -> list[tuple[int, Box]]:
    return [
        (number, (min(x, u), min(y, v), max(x, u), max(y, v)))
        for number, link in enumerate(chart.links)
        for (x, y), (u, v) in itertools.pairwise(link.points)
    ]


def touch(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def check_chart(chart: Chart) -> None:
    labels, lines = boxes_of_labels(chart), segments(chart)
    states = [(box.x, box.y, box.x + box.width, box.y + box.height) for box in chart.boxes]
    for label in labels:
        assert not [line for _, line in lines if touch(label, line)], label
        assert not [state for state in states if touch(label, state)], label
        assert label[0] >= 0 and label[2] <= chart.width and label[3] <= chart.height
    for one, other in itertools.combinations(labels, 2):
        assert not touch(one, other)
    for one, other in itertools.combinations(states, 2):
        assert not touch(one, other)
    for (number, line), (its, another) in itertools.combinations(lines, 2):
        is_alike = (line[0] == line[2]) == (another[0] == another[2])
        assert number == its or not is_alike or not touch(line, another), (line, another)
    for _, line in lines:
        assert line[0] >= 0 and line[2] <= chart.width and line[3] <= chart.height


@pytest.mark.parametrize("name", SHIPPED)
def test_no_label_of_a_shipped_session_touches_a_line(name: str) -> None:
    diagrams = state_diagrams(shipped_chapter(name).protocol)
    for diagram in diagrams:
        check_chart(chart_of(diagram))
    assert diagrams or not shipped_chapter(name).protocol.sessions


def made(n_states: int, pairs: list[tuple[int, int]]) -> StateDiagram:
    """Return a diagram with an edge for each pair."""
    nodes = tuple(
        DrawnState(name=f"state{n}", doc="", is_initial=n == 0, is_final=False) for n in range(n_states)
    )
    edges = tuple(
        Edge(
            source=f"state{a}", target=f"state{b}", kind="row", role="client", messages=(f"Message{n}", "Other"),
            guard="count > 1" if n % 3 else "", after="", updates=(), violation=None, is_lenient=False, doc="", path=f"p{n}",
        )
        for n, (a, b) in enumerate(pairs)
    )  # fmt: skip
    return StateDiagram(
        session="S", doc="", keys=(), per_sender=False, roles=("client", "server"), nodes=nodes, edges=edges
    )


@pytest.mark.parametrize("step", [1, 5, 7])
def test_twelve_states_and_thirty_edges_are_legible(step: int) -> None:
    pairs = [(n % 12, (n * step + n // 12) % 12) for n in range(30)]
    chart = chart_of(made(12, pairs))
    check_chart(chart)
    assert (len(chart.boxes), len(chart.links)) == (12, len(set(pairs)))
    assert chart.width < 1100 and chart.height < 2000


def test_every_state_leads_to_every_other() -> None:
    check_chart(chart_of(made(7, [(a, b) for a in range(7) for b in range(7)])))


def test_what_holds_in_all_of_many_states_is_drawn_once() -> None:
    diagram = made(5, [(n, 0) for n in range(5)])
    chart = chart_of(replace(diagram, edges=tuple(replace(edge, path="same") for edge in diagram.edges)))
    assert [box.name for box in chart.boxes][-1] == "any state"
    assert len(chart.links) == 1


@pytest.mark.parametrize("name", SHIPPED)
def test_a_page_holds_every_state_row_and_timer(name: str) -> None:
    chapter = shipped_chapter(name)
    files = files_of(chapter)
    for session in chapter.protocol.sessions:
        page = files[f"{name}/session-{session.name}.html"].decode()
        table = page.partition('id="transitions"')[2].partition("</table>")[0]
        assert table.count("<tr>") == len(session.rows) + len(session.timers) + 1
        for state in session.states:
            assert f"<dt>{state.name}</dt>" in page


@pytest.mark.parametrize("name", SHIPPED)
def test_conversations_are_told_and_drawn(name: str) -> None:
    chapter = shipped_chapter(name)
    book = Book(chapter)
    found = book.conversations
    assert {session.name for session in chapter.protocol.sessions} <= set(found.legal)
    assert all(diagram.violation == rule for rule, diagram in found.breaking.items())
    files = files_of(chapter)
    for session in chapter.protocol.sessions:
        page = files[f"{name}/session-{session.name}.html"].decode()
        assert page.count('class="lifeline"') == 2 + 2 * len(found.of(session.name))
        for line in found.legal[session.name].lines:
            assert isinstance(line, Happening) or f"<b>{line.message}</b>" in page
    rules = files[f"{name}/rules.html"].decode()
    assert rules.count("Broken by") == len(set(found.breaking) & set(book.rules)) > 0


@pytest.mark.parametrize("name", SHIPPED)
def test_default_options_allow_every_conversation(name: str) -> None:
    chapter, package = shipped_chapter(name), importlib.import_module(f"wireproto.{name}")
    assert chapter.vectors is not None
    kept = {each.id: each for each in chapter.vectors.vectors if isinstance(each, Trace)}
    for diagram in Book(chapter).conversations.legal.values():
        session = package.Session()
        events = [event for step in kept[diagram.id].steps for event in _observed(session, step)]
        assert events and not [event for event in events if isinstance(event, Violation | Fault)], diagram.id


def _observed(session: Any, step: Step) -> Iterable[Event]:
    if step.eof:
        yield from session.eof(step.from_role, step.at)
    elif step.bytes:
        yield from session.observe(step.from_role, octets(step.bytes), step.at)
    else:
        yield from session.tick(step.at)


@pytest.mark.parametrize("name", SHIPPED)
def test_texts_of_a_conversation_stand_between_the_sides(name: str) -> None:
    found = Book(shipped_chapter(name)).conversations
    for title, diagram in (*found.legal.items(), *found.breaking.items()):
        ladder = ladder_of(title, diagram)
        assert len(ladder.rungs) == len(diagram.lines)
        widest = max(len(text) for rung in ladder.rungs for text in (rung.text, rung.detail))
        assert widest * CHARACTER < abs(ladder.sides[0][0] - ladder.sides[1][0])


def test_a_file_of_another_state_of_the_protocol_tells_nothing() -> None:
    chapter = shipped_chapter("lumberjack")
    other = replace(chapter, vectors=shipped_chapter("reactive_streams").vectors)
    found = Book(other).conversations
    own = conversations_in(Book(chapter).conversation_examples, Book(chapter).schema, None)
    assert own.examples and found == own


@pytest.mark.parametrize(
    ("steps", "doc"),
    [
        ("a Ping(1)  b Pong()", "The a sends `Ping`, then the b sends `Pong`."),
        ("a Ping(1)  a Ping(2)", "The a sends 2 × `Ping`."),
        ("a Ping(1)  b Pong()  a Ping(1)  b Pong()  a Ping(1)", ""),
    ],
)
def test_a_conversation_without_a_text_is_summed_up_where_it_is_short(
    tmp_path: Path, steps: str, doc: str
) -> None:
    path = tmp_path / "p.wire"
    text = WIRE.replace("any any violates once", "any any => {}")
    path.write_text(f'{text}\nexample "one" {{ {steps} }}\n/// Its own text.\nexample "two" {{ {steps} }}\n')
    one, two = Book(chapter_of(path)).conversations.examples
    assert (one.doc, two.doc.strip()) == (doc, "Its own text.")


WIRE = """
protocol p { source "None" endian big roles a, b }
limits { frame = 1 KiB }
frame Frame { type : u8 := code(body)  body : match type }
message Ping 1 from a { value : u8 }
message Pong 2 from b {}
rule once "One Ping at a time."
session Game {
  state still { a Ping => busy  any any violates once }
  /// Waits for <script>alert(1)</script>.
  state busy { b Pong => still  any any violates once }
}
"""


def test_conversations_come_with_the_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "p.wire").write_text(WIRE)
    (tmp_path / "wiregen.toml").write_text("")
    page = tmp_path / "site" / "p" / "session-Game.html"
    assert run("docs", "build").exit_code == 0 and "lifeline" not in page.read_text()
    assert run("vectors", "build").exit_code == 0
    assert run("docs", "build").exit_code == 0 and "lifeline" in page.read_text()


def test_states_of_strangers_are_text(tmp_path: Path) -> None:
    page = site_of_text(WIRE, tmp_path)["p/session-Game.html"].decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_a_page_without_conversations_is_whole(tmp_path: Path) -> None:
    page = site_of_text(WIRE, tmp_path)["p/session-Game.html"].decode()
    assert Conversations().legal == {} and "lifeline" not in page and 'id="transitions"' in page
