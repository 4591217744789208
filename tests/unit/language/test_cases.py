"""Cases as files: `x.wire` gives exactly the text of `x.diag` next to it, or no text without such a file.

Those in `lint/` are linted too.

`UPDATE_CASES=1` rewrites the texts; read the difference before you commit it.
"""

import os
import re
from pathlib import Path

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.diagnostics.pages import explanation, known_codes
from wiregen.language.diagnostics.rendering import render
from wiregen.language.linter import lint
from wiregen.language.source import Sources

TESTS = Path(__file__).resolve().parents[2]
CASES = TESTS / "cases"
GENERATOR = TESTS.parent / "generator" / "wiregen"
CODE = re.compile(r"\bWG[1-9][0-9]{3}\b")
RAISED_ELSEWHERE = re.compile(r"WG(100[0-9]|1119|2010|500[12356]|501[0-3]|502[0-6]|[68][0-9]{3})")
"""Codes of files (of one that is too large, of chains of them), configuration and emission: a test of its own names each."""


def findings(path: Path) -> str:
    report, sources = Report(), Sources()
    subject = load_protocol(path, sources, report, roots=(Path.cwd(),))
    if subject is not None and Path.cwd().name == "lint":
        lint(subject.protocol, subject.origins, subject.mentioned, sources, report)
    return render(report, sources) if report.diagnostics else ""


@pytest.mark.parametrize(
    "case", [pytest.param(path, id=str(path.relative_to(CASES))) for path in sorted(CASES.rglob("*.wire"))]
)
def test_case(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.parent)
    found, diag = findings(Path(case.name)), case.with_suffix(".diag")
    if os.environ.get("UPDATE_CASES"):
        diag.unlink(missing_ok=True)
        if found:
            diag.write_text(found, encoding="utf-8")
    assert found == (diag.read_text(encoding="utf-8") if diag.exists() else "")


def raised_by_cases() -> frozenset[str]:
    return frozenset(
        code for path in CASES.rglob("*.diag") for code in _raised(path.read_text(encoding="utf-8"))
    )


def _raised(text: str) -> list[str]:
    return re.findall(r"^(?:error|warning|note)\[(WG[0-9]{4})\]", text, re.MULTILINE)


def named_by_tests() -> frozenset[str]:
    texts = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    return frozenset(code for text in texts for code in CODE.findall(text))


def raised_anywhere() -> frozenset[str]:
    texts = (path.read_text(encoding="utf-8") for path in GENERATOR.rglob("*.py"))
    return frozenset(code for text in texts for code in CODE.findall(text))


def test_every_code_with_a_page_is_raised_by_a_case_or_named_by_a_test() -> None:
    pages = frozenset(known_codes())
    elsewhere = frozenset(code for code in pages if RAISED_ELSEWHERE.fullmatch(code))
    assert sorted(pages - elsewhere - raised_by_cases()) == []
    assert sorted(elsewhere - raised_by_cases() - named_by_tests()) == []


def test_every_code_that_is_raised_has_a_page_and_every_page_is_of_one() -> None:
    assert sorted(raised_anywhere() ^ frozenset(known_codes())) == []


@pytest.mark.parametrize("code", known_codes())
def test_a_page_says_what_is_wrong_and_shows_it(code: str) -> None:
    page = explanation(code) or ""
    assert re.match(rf"# {code}: \S", page)
    assert "```" in page or RAISED_ELSEWHERE.fullmatch(code)
