"""Files for Kaitai Struct without its compiler: they list the constructs that they leave out, and no text of a `.wire` file is code."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from wiregen.generate.backends.kaitai import KaitaiBackend
from wiregen.generate.emitter import render
from wiregen.generate.frontend import load_protocol
from wiregen.generate.views.kaitai.module import KaitaiView
from wiregen.generate.views.kaitai.parts import Identifiers, kaitai_id
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

ROOT = Path(__file__).resolve().parents[3]
ALWAYS = (
    "values that a writer computes (lengths, counts, checksums) are read, but not compared",
    "bytes left over at the end of a region are not noticed",
    "limits are not tested, and neither is whether a variable-width integer is longer than needed",
    "text in other bytes than those of its encoding is read as the target language does it",
    "sessions: an order of messages that the protocol forbids is not seen",
)
_MUTF8 = "`mutf8` is shown as bytes"
_PIECES = "the fragments of `{}` are shown, but not what they make together"
_LAST = f"{_PIECES}; the last one is read as if it were whole"
_ELEMENTS = (
    _PIECES.format("Element"),
    "`OnNext.element` needs `element_size[subscriber]`: bytes up to the end are shown",
    "`OnNextPacked.messages` needs `element_size[subscriber]`: bytes up to the end are shown",
)
_PARTS = (
    _LAST.format("RequestPart"),
    _LAST.format("ResponsePart"),
    "the variant `example` has another layout",
)
LEFT_OUT = {
    "geode_client": (
        *_PARTS,
        _MUTF8,
        "the condition on `Request.metadata` is not tested",
        "the chunks of `PutRequest` are shown, but not what they make together",
        "the chunks of `KeyValuePair` are shown, but not what they make together",
    ),
    "geode_server": (
        *_PARTS,
        "the condition on `Response.metadata` is not tested",
        _MUTF8,
        "`Response.body` needs `api[correlation_id]`: bytes up to the end are shown",
    ),
    "lumberjack_reader": (),
    "lumberjack_writer": (),
    "pravega_client": (_MUTF8,),
    "pravega_documented_client": (_MUTF8,),
    "pravega_documented_server": (_MUTF8,),
    "pravega_proposal_client": (_PIECES.format("Whole"), _MUTF8),
    "pravega_proposal_server": (_PIECES.format("Whole"), _MUTF8),
    "pravega_server": (_MUTF8,),
    "reactive_streams_client": _ELEMENTS,
    "reactive_streams_server": _ELEMENTS,
}
"""The constructs that each file of the shipped protocols leaves out."""


@cache
def views(path: Path) -> tuple[KaitaiView, ...]:
    report = Report()
    subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None, report
    found = [page.view for page in KaitaiBackend().pages(subject, report)]
    return tuple(view for view in found if isinstance(view, KaitaiView))


def text_of(view: KaitaiView) -> str:
    return render("kaitai/protocol.ksy.jinja", view)


def test_the_head_of_a_file_lists_what_it_leaves_out() -> None:
    found = {view.id: view for path in (ROOT / "idl").glob("*.wire") for view in views(path)}
    assert {name: view.left_out for name, view in found.items()} == {
        name: (*(f"{line};" for line in lines[:-1]), f"{lines[-1]}.")
        for name, lines in ((name, (*ALWAYS, *more)) for name, more in LEFT_OUT.items())
    }
    for view in found.values():
        lines = text_of(view).splitlines()
        assert lines[3 : 3 + len(view.left_out)] == [f"# - {line}" for line in view.left_out]


@pytest.mark.parametrize("path", sorted((ROOT / "idl").glob("*.wire")), ids=lambda path: path.stem)
def test_files_of_the_repository_are_those_that_are_built(path: Path) -> None:
    for view in views(path):
        built = ROOT / "generated" / "kaitai" / view.protocol / f"{view.id}.ksy"
        assert text_of(view).replace(view.source, f"idl/{path.name}") == built.read_text(encoding="utf-8")


HOSTILE = r"""wire 1
protocol hostile { source "None" endian big roles a, b }
limits { frame = 4 KiB }
frame Frame { length : u8 := size(body)  body : Text in length }
/// \"\"\" */ import os
message Text from a {
  magic : utf8[u8] == "'; os.exit(3) #\"\"\""
  other : utf8[u8] where other != "\n  - id: x"
  tail  : u8 if "\n\n  - id: x" == other
}
"""


def test_texts_of_a_file_are_no_code(tmp_path: Path) -> None:
    path = tmp_path / "hostile.wire"
    path.write_text(HOSTILE, encoding="utf-8")
    for view in views(path):
        code = [line for line in text_of(view).splitlines() if not line.lstrip().startswith("#")]
        assert not [word for word in ("exit", "import os", "id: x", '"') if word in "\n".join(code)]
        assert "the condition on `Text.magic` is not tested;" in view.left_out
        assert any(line.startswith('`Text.tail` needs `"') for line in view.left_out)


def test_files_of_two_protocols_have_places_of_their_own(tmp_path: Path) -> None:
    """The names of a protocol and of its role may make those of another one."""
    places = []
    for name, roles in (("p", "q_r, q_r_"), ("p_q", "r, s")):
        path = tmp_path / f"{name}.wire"
        path.write_text(
            HOSTILE.replace("hostile {", f"{name} {{")
            .replace("roles a, b", f"roles {roles}")
            .replace(" from a", "")
        )
        report = Report()
        subject = load_protocol(path, Sources(), report, (tmp_path,))
        assert subject is not None, report
        places += [page.path for page in KaitaiBackend().pages(subject, report)]
    assert len(set(places)) == 4


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("BlockSent", "block_sent"),
        ("class", "class_field"),
        ("_", "reserved"),
        ("V1", "v1"),
        ("__x", "x"),
        ("Ä1", "n1"),
    ],
)
def test_names_are_identifiers_of_every_language(name: str, expected: str) -> None:
    assert kaitai_id(name) == expected


def test_names_that_differ_in_case_only_have_identifiers_of_their_own() -> None:
    identifiers = Identifiers()
    assert [identifiers.new(name) for name in ("Aa", "aa", "AA")] == ["aa", "aa_2", "aa_3"]
