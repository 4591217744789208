"""The coverage of a protocol's vectors counts only possible cases: lengths that fit, limits that bound something."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiregen.conformance.vectors.building import Built, build_vectors
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema.lowering import idle_limits, lower
from wiregen.schema.model import Protocol

HEAD = 'protocol p { source "no document" endian big roles a, b }\n'
SMALL = """
limits { frame = 4 KiB }
frame F { kind : u8 := code(body)  size : u16 := size(body)  body : match kind in size  _ : u8 == 9 }
message M 1 from a { x : bytes[u16]  y : utf8[u16]  z : bytes[u16] in u8  d : utf8[until x"00"]  l : u8[u16] }
message N 2 from b { k : u3  _ : u5  w : utf16[] in u8  y : bytes[] }
message O 3 { w : u16[] in u8  v : bytes[u8] in u8 }
"""
WIDE = """
frame F { kind : u8 := code(body)  size : u32 := size(body)  body : match kind in size }
message M 1 { x : bytes[u8] in u16  y : utf8[u16] in u32 }
"""
NARROW = """
limits { frame = 4 KiB }
frame F { kind : u8 := code(body)  size : u8 := size(body)  body : match kind in size }
"""
LISTS = """
frame F { kind : u8 := code(body)  size : u16 := size(body)  body : match kind in size }
message M 1 { f : F[u8] }
message N 2 from a { x : u8 }
"""


def protocol_of(tmp_path: Path, text: str) -> Protocol:
    path, report = tmp_path / "p.wire", Report()
    path.write_text(HEAD + text)
    subject = load_protocol(path, Sources(), report, (tmp_path,))
    assert subject is not None, report
    return subject.protocol


def built(tmp_path: Path, text: str) -> Built:
    return build_vectors(lower(protocol_of(tmp_path, text)))


def test_lengths_that_have_no_room_are_not_demanded(tmp_path: Path) -> None:
    assert [each.missing for each in built(tmp_path, SMALL).coverage.measures] == [(), (), ()]


def test_lengths_that_have_room_are_shown(tmp_path: Path) -> None:
    found = built(tmp_path, WIDE)
    assert found.coverage.is_full
    shown = {name for each in found.file.vectors for name in each.covers}
    assert {"M.x longest", "M.y longest", "every utf8[u16] 16384 long"} <= shown


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("message M 1 { x : bytes[u16]  y : u32 }", id="a number follows"),
        pytest.param("message M 1 { x : utf8[u8]  y : utf8[u8] }", id="a prefix follows"),
        pytest.param(
            "message M 1 { x : X[u8]  e : u16 }"
            " struct X { a : Y  b : Y  c : bytes[u16] } struct Y { t : utf8[u8] in u8  k : u32 }",
            id="items and regions follow",
        ),
        pytest.param(
            "message M 1 { z : bytes[200]  xs : X[u8] } struct X { a : bytes[30]  b : utf8[u8] }", id="items"
        ),
    ],
)
def test_lengths_for_which_no_room_is_left_are_refused(text: str, tmp_path: Path) -> None:
    """A goal that the length of the frame excludes is shown by the value that an encoder refuses."""
    found = built(tmp_path, NARROW + text)
    assert found.coverage.is_full, found.coverage
    assert not found.unheld()
    refused = [
        each for each in found.file.vectors if each.kind == "unwritable" and each.error.path == "F.size"
    ]
    assert refused


def test_a_limit_that_nothing_can_meet_is_idle(tmp_path: Path) -> None:
    assert set(idle_limits(protocol_of(tmp_path, SMALL))) == {"inflated", "depth", "open", "joined"}
    assert set(idle_limits(protocol_of(tmp_path, WIDE))) == {
        "inflated",
        "count",
        "messages",
        "depth",
        "open",
        "joined",
    }
    assert set(idle_limits(protocol_of(tmp_path, LISTS))) == {"inflated", "open", "joined"}
