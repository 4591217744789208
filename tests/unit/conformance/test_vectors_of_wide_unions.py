"""Vectors of unions of 16-bit codes whose last variety takes the bytes that are left: they are built, and both codecs pass them."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiregen.conformance.judge import ReferenceImplementation, judge
from wiregen.conformance.judge.generated_package import implementation_of
from wiregen.conformance.vectors.building import build_vectors
from wiregen.generate.frontend import load_protocol
from wiregen.generate.packages import make
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

HEAD = """wire 1
protocol p { source "no document" endian big roles a, b }
limits { frame = 120 }
"""
UNION = "union U : u16 { A 1 : u8  B 2 : u16  Other 3 .. 65535 : bytes[] }\n"
FRAME = "frame F { type : u8 := code(body)  length : u16 := size(body)  body : match type in length }\n"
SHAPES = {
    "last": UNION + FRAME + "message M 1 { x : u8  u : U }",
    "region": UNION + FRAME + "message M 1 { u : U in u16  y : u8 }",
    "lone": UNION + "frame F { length : u16 := size(m)  m : M in length }\nmessage M { u : U }",
    "twice": UNION + FRAME + "message M 1 { u : U }  message N 2 { v : U in u8  w : U }",
    "optional": UNION + FRAME + "message M 1 { f : u8  u : U if f > 0 }",
    "arm": UNION + FRAME + "message M 1 { k : u8  u : match k { 0 => U  _ => u16 } }",
    "first": FRAME
    + "union U : u16 { Other 0 .. 65533 : bytes[]  A 65534 : u8  B 65535 : utf8[] }\nmessage M 1 { u : U }",
    "inside": FRAME
    + "union U : u16 { A 1 : u16[]  B 2 { n : u8  rest : bytes[] }  Other 3 .. 65535 : bytes[] }\nmessage M 1 { u : U }",
    "gaps": FRAME
    + "union U : u16 { A 1 : u8  Low 2 .. 99 : bytes[]  B 100 : u16  High 40000 .. 65000 : bytes[] }\nmessage M 1 { u : U }",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_vectors_of_a_wide_union_are_built_and_hold(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "p.wire"
    path.write_text(HEAD + SHAPES[shape], encoding="utf-8")
    report = Report()
    subject = load_protocol(path, Sources(), report, (tmp_path,))
    assert subject is not None
    package = make(subject, ("native",), report)
    assert package is not None
    built = build_vectors(package.schema)
    missing = {name for each in built.coverage.measures for name in each.missing}
    assert not {name for name in missing if name.startswith(("U", "M"))}
    verdicts = [
        judge(each, implementation, is_thorough=False)
        for each in built.file.vectors
        for implementation in (ReferenceImplementation(package.schema), implementation_of(package))
    ]
    assert {verdict.outcome for verdict in verdicts} == {"passed"}
