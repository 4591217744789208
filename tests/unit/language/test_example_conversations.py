"""Examples of several steps: played when a file is checked, vectors that every codec is held to, told first by the site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.docs_sites import ROOT, SHIPPED, site_of_text
from tests.unit.tools.test_cli_decode import run

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.examples.conversations import TracedConversation, told_conversations
from wiregen.language.source import Sources

TEXT = """
protocol flow { source "None" endian big roles client, server }
limits { frame = 4 KiB  wait = 30 s }
enum Mode : u8 { ONE = 1  MANY = 2 }
frame Frame { type : u8 := code(body)  body : match type }
message Send 1 from client { number : u8 }
message Done 2 from server { number : u8 }
rule no_room "One at a time, unless `mode` is MANY."
rule too_slow "Done comes within `limits.wait`."
session Flow {
  option mode : Mode = ONE
  state idle { client Send => busy  server Done violates unasked lenient  server Done => idle }
  state busy {
    client Send when mode == ONE violates no_room
    client Send => busy
    server Done => idle
    after limits.wait violates too_slow
  }
}
/// The server answers <b>each</b>.
example "one after the other" {
  client Send(1)
  server Done(1)
  after 1500 ms
  client Send(2)
}
example "two at a time" { with mode MANY  client Send(1)  client Send(2) }
example "no room" { client Send(1)  client Send(2) violates no_room }
example "tolerated" { server Done(9) violates unasked  client Send(1) }
example "nothing comes" { client Send(1)  after 30 s violates too_slow }
"""
TITLES = ["one after the other", "two at a time", "no room", "tolerated", "nothing comes"]


def told(text: str, folder: Path) -> dict[str, TracedConversation]:
    path = folder / "flow.wire"
    path.write_text(text)
    report = Report()
    subject = load_protocol(path, Sources(), report, (folder,))
    assert subject is not None, report.diagnostics
    return {each.conversation.name: each for each in told_conversations(subject.protocol)}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "flow.wire").write_text(TEXT)
    (tmp_path / "wiregen.toml").write_text("")
    return tmp_path


def test_a_conversation_is_a_trace_with_its_times_and_moves(tmp_path: Path) -> None:
    trace = told(TEXT, tmp_path)["one after the other"].trace
    steps = [(step.kind, step.role, step.at, step.data.hex()) for step in trace.steps]
    assert steps == [
        ("message", "client", 0.0, "0101"),
        ("message", "server", 0.0, "0201"),
        ("tick", None, 1.5, ""),
        ("message", "client", 1.5, "0102"),
    ]
    assert [step.moves for step in trace.steps] == [
        (("Flow", "idle", "busy"),),
        (("Flow", "busy", "idle"),),
        (),
        (("Flow", "idle", "busy"),),
    ]
    assert (trace.violation, trace.is_strict, trace.is_lenient) == (None, True, True)


def test_what_is_tolerated_is_not_strict(tmp_path: Path) -> None:
    trace = told(TEXT, tmp_path)["tolerated"].trace
    assert trace.steps[0].violations == ("unasked",)
    assert (trace.violation, trace.is_strict, trace.is_lenient) == (None, False, True)


def test_a_timer_is_violated_by_nobody(tmp_path: Path) -> None:
    trace = told(TEXT, tmp_path)["nothing comes"].trace
    assert (trace.violation, trace.by, trace.steps[-1].at) == ("too_slow", None, 30.0)


def test_conversations_are_the_first_traces_among_the_vectors(project: Path) -> None:
    assert run("build").exit_code == 0 and run("vectors", "build").exit_code == 0
    vectors: list[dict[str, Any]] = json.loads((project / "generated" / "vectors" / "flow.json").read_text())[
        "vectors"
    ]
    traces = [each for each in vectors if each["kind"] == "trace"]
    examples = [each for each in traces if each.get("source") == "example"]
    assert traces[: len(TITLES)] == examples and len(traces) > len(examples)
    assert [each["note"] for each in examples] == TITLES
    assert [each["id"] for each in examples] == [f"trace-example-{each.replace(' ', '-')}" for each in TITLES]
    assert [each.get("options") for each in examples] == [None, {"mode": 2}, None, None, None]
    assert [each.get("violation") for each in examples] == [None, None, "no_room", None, "too_slow"]


def test_vectors_of_conversations_are_verified(project: Path) -> None:
    assert run("build").exit_code == 0 and run("vectors", "build").exit_code == 0
    only = [word for title in TITLES for word in ("--only", f"trace-example-{title.replace(' ', '-')}")]
    found = run("vectors", "verify", "flow", *only)
    assert found.exit_code == 0, found.output
    path = project / "generated" / "vectors" / "flow.json"
    path.write_text(path.read_text().replace('"violation":"no_room"', '"violation":"too_slow"'))
    assert run("vectors", "verify", "flow", "--only", "trace-example-no-room").exit_code == 1


def test_titles_that_look_alike_in_ids_are_counted(project: Path) -> None:
    text = TEXT + 'example "no  room!" { client Send(1) }\n'
    (project / "idl" / "flow.wire").write_text(text)
    assert run("vectors", "build").exit_code == 0
    written = (project / "generated" / "vectors" / "flow.json").read_text()
    assert '"trace-example-no-room"' in written and '"trace-example-no-room-2"' in written


def test_each_side_may_have_a_frame_of_its_own(tmp_path: Path) -> None:
    text = """
    protocol flow { source "None" endian big roles client, server }
    frame Ask from client { type : u8 := code(body)  body : match type }
    frame Reply from server { mark : u8 = 0xff  type : u8 := code(body)  body : match type }
    message Note 1 { text : utf8[u8] }
    session Talk { state open { any Note => open } }
    example "both" { client Note("a")  server Note("b")  server Reply(Note("c"), mark = 7) }
    """
    steps = told(text, tmp_path)["both"].trace.steps
    assert [step.data.hex() for step in steps] == ["010161", "ff010162", "07010163"]


def test_a_conversation_in_a_variant_is_of_its_layout(tmp_path: Path) -> None:
    text = """
    protocol flow { source "None" endian big roles client, server }
    frame Frame { type : u8 := code(body)  body : match type }
    message Send 1 from client { number : u8 }
    session Flow { state idle { client Send => idle } }
    variant wide {
      message Send { number : u16 }
      example "wide" { client Send(1) }
    }
    example "plain" { client Send(1) }
    """
    found = told(text, tmp_path)
    assert (found["wide"].trace.variant, found["wide"].trace.steps[0].data.hex()) == ("wide", "010001")
    assert (found["plain"].trace.variant, found["plain"].trace.steps[0].data.hex()) == (None, "0101")


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_protocol_has_two_and_they_are_its_first_traces(name: str) -> None:
    subject = load_protocol(ROOT / "idl" / f"{name}.wire", Sources(), Report(), (ROOT / "idl",))
    assert subject is not None
    titles = [each.name for each in subject.protocol.conversations]
    kept = json.loads((ROOT / "generated" / "vectors" / f"{name}.json").read_text())["vectors"]
    traces = [each.get("note") for each in kept if each["kind"] == "trace"]
    assert len(titles) >= 2 and traces[: len(titles)] == titles
    assert not any(traces[len(titles) :])


# ---- the site


def test_the_site_tells_them_without_vectors(tmp_path: Path) -> None:
    files = site_of_text(TEXT, tmp_path)
    page, twin = files["flow/session-Flow.html"].decode(), files["flow/session-Flow.md"].decode()
    places = [page.index(f"{title}</h3>") for title in TITLES]
    assert places == sorted(places)
    assert "<p>With <code>mode = MANY</code>.</p>" in page and "With `mode = MANY`." in twin
    assert "The server answers &lt;b&gt;each&lt;/b&gt;." in page
    assert "The last step is refused: `no_room`." in twin
    assert "1. server: `Done violates unasked` `number = 9`" in twin
    rules = files["flow/rules.html"].decode()
    assert "Broken by" in rules and "time passes at 30 s violates too_slow" in rules
    assert "two at a time</h3>" in files["flow/index.html"].decode()


def test_the_site_tells_them_before_those_that_were_searched(project: Path) -> None:
    assert run("vectors", "build").exit_code == 0 and run("docs", "build").exit_code == 0
    page = (project / "site" / "flow" / "session-Flow.html").read_text()
    assert page.index('id="conversations"') < page.index('id="example-1"') < page.index("found by search")
    assert page.count("one after the other</h3>") == 1
