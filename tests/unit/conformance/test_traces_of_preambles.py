"""Sessions of protocols that begin with preambles have traces, whether their rows name the preambles or not.

Values that conditions ask for are found, long texts and lists too.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.property.schemas import built

from wiregen.conformance.traces import make_traces
from wiregen.conformance.traces.openings import states_by_preamble
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report, render
from wiregen.language.source import Sources

HEAD = """wire 1

protocol p {
  source "a public document"
  endian big
  roles  client, server
}

rule too_early "The answer to the greeting is waited for." { source "a public document" }

"""
PREAMBLES = """preamble Hello from client { magic : u16 == 0xCAFE  version : u8 where version in 1 .. 3 }
preamble Welcome from server { version : u8 where version == 5 }
"""
# The form of RFC 1928: a greeting with at least one method, an answer, then a request and a reply.
SOCKS = """preamble Hello from client { version : u8 == 5  methods : u8[u8] where count(methods) > 0 }
preamble Welcome from server { version : u8 == 5  method : u8 }
"""
TEXTS = """preamble Hello from client { line : ascii[until x"0d0a"] where size(line) > 12  options : u16[u8] where count(options) > 4 }
preamble Welcome from server { name : utf8[u8] where name == "station"  key : bytes[u8] where count(key) >= 20 }
"""
FRAME = """frame Frame {
  version : u8 where version == 5
  kind    : u8 := code(body)
  size    : u16 := size(body)
  body    : match kind in size
}
message Ask 1 from client { id : u32 }
message Answer 2 from server { id : u32 }
"""
LONG = FRAME.replace(
    "{ id : u32 }",
    "{ id : u32  name : utf8[u8] where count(name) > 8  keys : u16[u8] where count(keys) > 4 }",
)
UNNAMED = """session Talk {
  state ready { client Ask => asked }
  state asked { server Answer => ready }
}
"""
NAMED = """session Talk {
  state start { client Hello => greeted }
  state greeted {
    server Welcome => ready
    client Ask violates too_early
  }
  state ready { client Ask => asked }
  state asked { server Answer => ready }
}
"""


@pytest.mark.parametrize("preambles", [PREAMBLES, SOCKS, TEXTS], ids=["versions", "methods", "texts"])
@pytest.mark.parametrize("frame", [FRAME, LONG], ids=["numbers", "texts"])
@pytest.mark.parametrize("session", [UNNAMED, NAMED], ids=["unnamed", "named"])
def test_all_goals_behind_preambles_are_shown(
    tmp_path: Path, preambles: str, frame: str, session: str
) -> None:
    path = tmp_path / "p.wire"
    path.write_text(HEAD + preambles + frame + session, encoding="utf-8")
    report, sources = Report(), Sources()
    subject = load_protocol(path, sources, report, ())
    assert subject is not None, render(report, sources, colour=False)
    traces = make_traces(subject.protocol)
    assert len(traces.goals) >= 6
    assert not traces.missing


def test_states_are_told_by_what_must_have_come(tmp_path: Path) -> None:
    with built(HEAD + PREAMBLES + FRAME + NAMED, tmp_path, "named_preambles") as codecs:
        session = codecs.schema.sessions["Talk"]
    before, after = states_by_preamble(session, "client", "Hello")
    assert (set(before), set(after)) == ({"start"}, {"greeted", "ready", "asked"})
    before, after = states_by_preamble(session, "server", "Welcome")
    assert (set(before), set(after)) == ({"start", "greeted"}, {"ready", "asked"})
    everywhere = frozenset(session.states)
    assert states_by_preamble(session, "server", None) == (everywhere, everywhere)
