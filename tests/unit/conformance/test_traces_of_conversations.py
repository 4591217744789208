"""What the conversations of a file show need not be searched for."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiregen.conformance.traces import make_traces
from wiregen.conformance.traces.search import TraceSearch
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

FILE = Path(__file__).resolve().parents[3] / "idl" / "pravega_documented.wire"
BACKWARDS = "Writer in ready: client: row 13"
OF_ANOTHER = ("Block in open: client: row 4", "Block in closed: client: row 4")


def test_goals_that_conversations_show_are_reached_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TraceSearch, "run", lambda *_: True)
    subject = load_protocol(FILE, Sources(), Report(), ())
    assert subject is not None
    traces = make_traces(subject.protocol)
    shown = {str(goal): trace for trace in traces.traces for goal in trace.covers}
    assert {BACKWARDS, *OF_ANOTHER} <= shown.keys()
    assert len(shown[BACKWARDS].steps) == 6  # up to the step that shows it, not the whole conversation
    assert not shown[BACKWARDS].is_strict
    assert str(traces.missing[0].goal) not in shown
