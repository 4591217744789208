"""Any protocol that is right becomes a package that imports, is formatted, and agrees with the reference codec."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.property import agreement, schemas, values
from tests.property.codecs import Codecs, Wishes
from tests.property.sample_schemas.batches import unformatted

from wiregen.generate.build import build
from wiregen.language.diagnostics import Report, render
from wiregen.language.source import Sources

IS_SOAK = settings.get_current_profile_name() == "soak"
BUILDS = settings(
    max_examples=400 if IS_SOAK else 25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    phases=[phase for phase in Phase if IS_SOAK or phase is not Phase.shrink],
)
N_VALUES = 40 if IS_SOAK else 12
NUMBERS = itertools.count()


def package_name() -> str:
    return f"random_wire_{next(NUMBERS)}"


@BUILDS
@given(schemas.wire_texts(), st.data())
def test_random_protocols_agree(text: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder, schemas.built(text, Path(folder), package_name()) as codecs:
        check_formatted(Path(folder))
        for _ in range(N_VALUES):
            check_protocol(codecs, data)


def check_formatted(folder: Path) -> None:
    for package in (folder / "generated" / "python").glob("*/p"):
        assert list(unformatted(package)) == []


def check_protocol(codecs: Codecs, data: st.DataObject) -> None:
    """Check a random frame, the same damaged, cut and spoiled, and random bytes."""
    value = data.draw(values.frames(codecs.schema))
    encoded = codecs.reference_encode(value)
    agreement.check_refusal(codecs, codecs.made(value))
    if not isinstance(encoded, bytes):  # over one of its small limits
        assert isinstance(encoded, dict)
        assert encoded["code"] in ("limit_exceeded", "too_deep")
        return
    agreement.check_value(codecs, value)
    if len(encoded) <= 40:
        agreement.check_prefixes(codecs, encoded, None)
    strict = Wishes(
        strict=data.draw(st.booleans()), from_role=data.draw(st.sampled_from((None, "one", "other")))
    )
    for _ in range(3):
        damaged = data.draw(values.mutated(encoded))
        agreement.check_bytes(codecs, damaged, strict)
        agreement.check_stream(
            codecs, damaged + encoded, data.draw(st.lists(st.integers(0, 999), max_size=4)), strict
        )
    agreement.check_raised(codecs, encoded, encoded)
    agreement.check_bytes(codecs, data.draw(st.binary(max_size=40)), strict)
    made = codecs.made(value)
    if places := list(values.spots(made)):
        values.put(data.draw(st.sampled_from(places)), data.draw(values.BAD_VALUES))
        agreement.check_refusal(codecs, made)


# ---- what a stranger may call things, and say of them

PROTOCOL = 'protocol p {\n  source "d"\n  endian big\n  roles one, other\n}\n'
FRAME = "frame Frame {\n  code_x : u8 := code(body_x)\n  body_x : match code_x\n}\n"


def hostile_names() -> str:
    """Return a protocol with a field for every unkind name: in a struct, a message, a list, and the frame."""
    plain = [
        f"`{name}`" if name in schemas.LANGUAGE_WORDS else name
        for name in dict.fromkeys(schemas.HOSTILE_FIELDS)
    ]
    kept = [name for name in plain if not name.endswith("_")]
    types = itertools.cycle(
        ("u8", "utf8[u8] lenient", "bytes[u16]", "Point[u8]", "i32", "uuid", "f64", "bool", "Point")
    )
    rows = "".join(f"  {name} : {next(types)}\n" for name in kept)
    header = "".join(f"  {name} : u8\n" for name in kept[:40])
    return (
        f"{PROTOCOL}struct Point {{\n  self : u8\n  from : utf8[u8]\n}}\n"
        f"frame Frame {{\n{header}  code_x : u8 := code(body_x)\n  body_x : match code_x\n}}\n"
        f"message Everything 1 {{\n{rows}}}\nmessage Again 2 {{\n  all_of_it : Everyone[u8]\n}}\n"
        f"struct Everyone {{\n{rows}}}\n"
    )


def hostile_types() -> str:
    rows = [
        f"message {name} {code} {{\n  value : u8\n}}\n" for code, name in enumerate(schemas.HOSTILE_TYPES)
    ]
    members = "".join(
        f"  {name} = {number}\n" for number, name in enumerate("NONE CLASS MRO NAME VALUE SELF".split())
    )
    return f"{PROTOCOL}enum Kind : u8 {{\n{members}}}\n{FRAME}{''.join(rows)}message Last 200 {{\n  kind : Kind = MRO\n}}\n"


def hostile_docs() -> str:
    """Return a protocol with every unkind comment at everything that can have one."""
    docs = "".join(f"/// {doc}\n" for doc in schemas.HOSTILE_DOCS)
    fields = "".join(f"  /// {doc}\n  field_{index} : u8\n" for index, doc in enumerate(schemas.HOSTILE_DOCS))
    lasts = "".join(
        f"/// {doc}\nmessage Message{chr(65 + index)} {index + 10} {{\n  a : u8\n}}\n"
        for index, doc in enumerate(schemas.HOSTILE_DOCS)
    )
    return (
        f"{docs}{PROTOCOL}limits {{\n{docs}  frame = 4096\n}}\n{docs}const LARGE = 3\n{docs}enum Kind : u8 {{\n{docs}  A = 1\n}}\n"
        f"{docs}{FRAME}{docs}struct Point {{\n{fields}}}\n{docs}message First 1 {{\n{fields}  point : Point\n  kind : Kind\n}}\n{lasts}"
    )


@pytest.mark.parametrize(
    "text", [hostile_names(), hostile_types(), hostile_docs()], ids=["names", "types", "docs"]
)
def test_unkind_names_and_comments_become_a_package(text: str, tmp_path: Path) -> None:
    with schemas.built(text, tmp_path, package_name()) as codecs:
        check_formatted(tmp_path)
        check_unkind(codecs)


@settings(BUILDS, max_examples=4)
@given(st.data())
def check_unkind(codecs: Codecs, data: st.DataObject) -> None:
    check_protocol(codecs, data)


@pytest.mark.parametrize("doc", schemas.HOSTILE_DOCS, ids=range(len(schemas.HOSTILE_DOCS)))
def test_a_comment_stays_text(doc: str, tmp_path: Path) -> None:
    text = f"{PROTOCOL}{FRAME}/// {doc}\nmessage First 1 {{\n  /// {doc}\n  a : u8\n}}\n"
    with schemas.built(text, tmp_path, package_name()) as codecs:
        shown = codecs.module.First.__doc__
        assert shown.count(doc.strip()) == 2
        assert shown.splitlines()[0].strip() == doc.strip()


@pytest.mark.parametrize("doc", schemas.REFUSED_DOCS, ids=ascii)
def test_an_invisible_character_is_a_diagnostic(doc: str, tmp_path: Path) -> None:
    text = f"{PROTOCOL}{FRAME}/// {doc}\nmessage First 1 {{\n  a : u8\n}}\n"
    report, sources = Report(), Sources()
    assert build(schemas.configuration(text, tmp_path), (), sources, report) == ()
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["WG1101"]
    assert render(report, sources, colour=False).isprintable() is False  # line ends only
    assert doc not in render(report, sources, colour=False)


@settings(max_examples=2000 if IS_SOAK else 60)
@given(schemas.wire_texts(), st.data())
def test_damaged_files_give_diagnostics_and_no_output(text: str, data: st.DataObject) -> None:
    damaged = data.draw(values.mutated(text.encode())).decode("utf-8", "replace")
    with tempfile.TemporaryDirectory() as folder:
        report, sources = Report(), Sources()
        outputs = build(schemas.configuration(damaged, Path(folder)), (), sources, report)
        assert bool(outputs) is not report.has_errors
        assert "Traceback" not in render(report, sources, colour=False)
