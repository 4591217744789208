"""The canonical form: `x.raw` of tests/cases/fmt becomes exactly `x.wire`, and no file changes its meaning.

`UPDATE_CASES=1` rewrites the canonical files; read the difference before you commit it.
"""

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.schemas import wire_texts

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.formatter import format_source, formatting
from wiregen.language.formatter.pieces import pieces_of
from wiregen.language.parser import parse_tokens
from wiregen.language.source import Source, Sources

ROOT = Path(__file__).resolve().parents[3]
FORMATTED = sorted((ROOT / "tests" / "cases" / "fmt").glob("*.wire"))
CANONICAL = sorted([*(ROOT / "idl").glob("*.wire"), *(ROOT / "docs").rglob("*.wire")])
FILES = sorted([*CANONICAL, *(ROOT / "tests").rglob("*.wire")])
GAPS = (" ", "   ", "\t", "\n", " \n\n\n\t ", " // a remark\n", "\n// a remark\n\n")


def formatted(text: str) -> str | None:
    return format_source(Source(name="p.wire", path=Path("p.wire"), text=text), Report())


def mangled(text: str, choice: random.Random) -> str:
    """Return a text of the same tokens with other spaces, line ends and comments, but for those that have a meaning."""
    report = Report()
    tree = parse_tokens(Source(name="p.wire", path=Path("p.wire"), text=text), report)
    assert tree is not None
    parts = []
    before = ""
    for piece in pieces_of(tree, text)[0]:
        gap = choice.choice(GAPS)
        if piece.kind in (
            "ASSIGN",
            "COLON",
        ):  # a word before one on the same line is a name, in another line it may not be
            gap = "\n" if piece.after_break else choice.choice(("", " ", "\t"))
        if "DOC" in (before, piece.kind):
            gap = "\n"
        parts += [gap, piece.text]
        before = piece.kind
    return "".join(parts)


def model_of(text: str, name: str, folder: Path) -> str | None:
    """Return the checked model of a text without spaces, or None if it has errors.

    The model quotes conditions as the file spells them, so that errors can show them.
    """
    path = folder / name
    path.write_text(text, encoding="utf-8")
    report = Report()
    subject = load_protocol(path, Sources(), report, roots=(folder,))
    return None if subject is None or report.has_errors else "".join(repr(subject.protocol).split())


def named(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in paths]


@pytest.mark.parametrize("case", named(FORMATTED))
def test_case(case: Path) -> None:
    found = formatted(case.with_suffix(".raw").read_text(encoding="utf-8"))
    if os.environ.get("UPDATE_CASES"):
        case.write_text(found or "", encoding="utf-8")
    assert found == case.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", named([*CANONICAL, *FORMATTED]))
def test_shipped_files_are_canonical(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert formatted(text) == text


@pytest.mark.parametrize("path", named(FILES))
def test_any_file_has_one_canonical_form(path: Path) -> None:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        pytest.skip("not UTF-8")
    once = formatted(text)
    if once is None:  # it does not parse
        return
    assert formatted(once) == once
    twice = formatted(mangled(text, random.Random(7)))
    assert twice is not None
    assert formatted(twice) == twice
    assert " \n" not in twice
    assert "\n\n\n" not in twice


@pytest.mark.parametrize("path", named([*(ROOT / "docs").rglob("*.wire"), ROOT / "idl" / "lumberjack.wire"]))
def test_the_model_stays_the_same(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    model = model_of(text, path.name, tmp_path)
    assert model is not None
    for seed in range(3):
        found = formatted(mangled(text, random.Random(seed)))
        assert found is not None
        assert model_of(found, path.name, tmp_path) == model


@given(text=wire_texts(), choice=st.randoms(use_true_random=False))
def test_generated_protocols_stay_the_same(
    text: str, choice: random.Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    found = formatted(mangled(text, choice))
    assert found is not None
    assert formatted(found) == found
    assert model_of(found, "p.wire", folder) == model_of(text, "p.wire", folder)


def test_a_long_sum_is_no_deep_recursion() -> None:
    text = f"wire 1\nprotocol p {{ source \"None\" }}\nconst N = {' + '.join(['1'] * 5000)}\n"
    assert formatted(text) is not None


def test_a_form_that_loses_a_token_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formatting, "text_of", lambda lines: "wire 1\nprotocol p {}\n")
    with pytest.raises(RuntimeError, match="would change '// lost'"):
        formatted("wire 1\n// lost\nprotocol p { }\n")
