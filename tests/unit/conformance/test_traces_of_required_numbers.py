"""Traces of sessions that begin with preambles, whose fields are fixed numbers."""

from __future__ import annotations

from pathlib import Path

from wiregen.conformance.traces import make_traces
from wiregen.conformance.vectors.building import build_vectors
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema.lowering import lower

GREETED = """wire 1
protocol greeted {
  endian big
  roles client, server
}
preamble Greeting from client {
  version : u8 where version == 5
  methods : u8[u8] where count(methods) >= 1
}
preamble Choice from server {
  version : u8 where version == 5
  method  : u8
}
frame Frame {
  version : u8 where version == 5
  kind    : u8 := code(body)
  body    : match kind
}
message Ask 1 from client { n : u8 }
message Reply 2 from server { n : u8 }
session Talk {
  state idle    { client Greeting => greeted }
  state greeted { server Choice => ready }
  state ready   { client Ask => busy }
  state busy    { server Reply => ready }
}
"""


def test_a_session_whose_preambles_and_frames_name_a_version_is_walked_through(tmp_path: Path) -> None:
    """No small number is the version: as in SOCKS (RFC 1928, section 3), it is the one that `where` names."""
    path = tmp_path / "greeted.wire"
    path.write_text(GREETED, encoding="utf-8")
    report = Report()
    subject = load_protocol(path, Sources(), report, (tmp_path,))
    assert subject is not None and not report.has_errors
    traces = make_traces(subject.protocol)
    rows = {goal.number for trace in traces.traces for goal in trace.covers if goal.kind == "row"}
    assert rows == {0, 1, 2, 3}
    assert any(trace.steps[0].data == bytes.fromhex("050100") for trace in traces.traces)
    assert build_vectors(lower(subject.protocol), traces=traces).unheld() == ()
