"""The examples in the pages of diagnostics: the wrong ones raise the code, and the corrections do not."""

import re
from pathlib import Path

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report, explanation, known_codes
from wiregen.language.linter import lint
from wiregen.language.source import Sources

HEAD = 'protocol tide { source "Tide, version 2"  endian big  roles client, server }\n'
FIX = "\n## How to fix it\n"
BLOCK = re.compile(r"^```wire\n((?s:.+?))^```$", re.MULTILINE)
BEGINS = re.compile(r"(?:\s|//[^\n]*)*(?:protocol\b|wire [0-9])")
SHORTENED = frozenset(("WG1119", "WG2010", "WG3047", "WG3079"))
"""Codes of what is too large or too long to print."""
FROM_ELSEWHERE = re.compile(r"WG(100[0-9]|1116|500[23]|501[0-3])")
"""Codes of files, of a missing first line, of names on a command line, and of protobuf: tests of their own raise them."""
OF_TEXT_AND_NAMES = re.compile(r"WG[12]")


def examples(code: str) -> tuple[list[str], list[str]]:
    """Return the wrong examples of a page and the corrected ones."""
    wrong, _, right = (explanation(code) or "").partition(FIX)
    return BLOCK.findall(wrong), BLOCK.findall(right)


def is_shown(code: str) -> bool:
    """Return whether the page has a whole example that raises the code by itself."""
    return bool(examples(code)[0]) and code not in SHORTENED and not FROM_ELSEWHERE.fullmatch(code)


def raised(text: str) -> set[str]:
    path = Path("tide.wire")
    path.write_text(text if BEGINS.match(text) else HEAD + text, encoding="utf-8")
    report, sources = Report(), Sources()
    subject = load_protocol(path, sources, report, roots=(Path.cwd(),))
    if subject is not None:
        lint(subject.protocol, subject.origins, subject.mentioned, sources, report)
    return {diagnostic.code for diagnostic in report.diagnostics}


@pytest.mark.parametrize("code", known_codes())
def test_a_page_says_how_to_fix_the_error(code: str) -> None:
    page = explanation(code) or ""
    assert page.count(FIX) == 1
    assert page.partition(FIX)[2].strip()


@pytest.mark.parametrize("code", [code for code in known_codes() if is_shown(code)])
def test_the_wrong_example_of_a_page_raises_its_code(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for example in examples(code)[0]:
        assert code in raised(example)


@pytest.mark.parametrize("code", [code for code in known_codes() if examples(code)[1]])
def test_the_correction_of_a_page_is_accepted(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for example in examples(code)[1]:
        found = raised(example)
        assert code not in found
        assert not list(filter(OF_TEXT_AND_NAMES.match, found))
