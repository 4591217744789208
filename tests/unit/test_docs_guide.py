"""The guide says what is so: its examples are built, its programs run, its notation is the grammar's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.docs_sites import loaded, shipped_site

from wiregen.diagnostics import Report, error_codes, known_codes
from wiregen.docs.grammar import notation_of_rules, rule_names
from wiregen.docs.guide import examples, guide_pages, handbook_folder
from wiregen.jsonl import LineEncoder
from wiregen.made import make
from wiregen.plan import lower

GUIDE = sorted(handbook_folder().joinpath("guide").glob("*.md"))
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in GUIDE}
USED = {
    kind: [name for text in TEXTS.values() for found in re.findall(rf"{{{{{kind}: ([^}}]+)}}}}", text) for name in found.split()]
    for kind in ("grammar", "example")
}  # fmt: skip
PROGRAMS = [
    pytest.param(program, id=f"{name}-{number}")
    for name, text in TEXTS.items()
    if name != "pipeline"  # run where Spark is: tests/pipeline/test_docs_snippets.py
    for number, program in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
]


@pytest.mark.parametrize("name", examples())
def test_an_example_of_the_language_is_checked_and_built(name: str) -> None:
    subject, _ = loaded(handbook_folder() / "guide" / "examples" / f"{name}.wire")
    report = Report()
    package = make(subject, ("native",), report)
    assert package is not None and not report.diagnostics, [each.message for each in report.diagnostics]


def test_the_number_that_is_said_of_the_coding_is_laid_so() -> None:
    """The first number is the value, or says which one follows."""
    protocol = loaded(handbook_folder() / "guide" / "examples" / "choices.wire")[0].protocol
    record = {
        "message": "Store",
        "header": {},
        "fields": {"kind": 0, "place": 0, "value": {"Nothing": {}}, "data": "61" * 300},
    }
    frame = LineEncoder(lower(protocol)).encode({**record, "from": "client"})
    assert "300 is `fe 01 2c`" in TEXTS["language"]
    assert frame[-303:-300] == bytes.fromhex("fe 01 2c")


def test_every_example_and_every_rule_of_the_grammar_is_shown_once() -> None:
    assert sorted(USED["example"]) == sorted(examples())
    assert sorted(USED["grammar"]) == sorted(rule_names())


def test_the_notation_is_that_of_the_grammar() -> None:
    assert notation_of_rules(("member", "effect")).splitlines() == [
        'member        : NAME "=" code annotation*',
        'effect        : "=>" NAME updates?',
        '              | "=>" updates',
        '              | "violates" NAME "lenient"?',
    ]
    whole = notation_of_rules(rule_names())
    assert not re.search(r"->|\b_|\bdocs\b|SET_WORD|/", re.sub(r'"[^"]*"', "", whole)), whole


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_the_guide_runs(program: str) -> None:
    exec(compile(program, "guide", "exec"), {})  # noqa: S102 - that it runs is the point


def test_there_are_programs_in_it() -> None:
    assert len(PROGRAMS) >= 1


def test_every_code_has_a_page_that_others_lead_to() -> None:
    files = shipped_site()
    index = files["wiregen-guide/codes.html"].decode()
    for code in (*known_codes(), *error_codes()):
        assert f"wiregen-guide/{code}.html" in files
        assert f'href="{code}.html"' in index
    assert 'href="../wiregen-guide/truncated.html"' in files["lumberjack/Data.html"].decode()


def test_pages_keep_their_directives_and_foreign_links_to_themselves() -> None:
    for page in guide_pages():
        assert "{{" not in page.md.replace("{{ ", ""), page.title
        assert "../" not in "".join(re.findall(r'href="([^"]*)"', page.html)), page.title
        assert page.title


def test_texts_of_the_guide_are_shipped() -> None:
    text = Path(__file__).resolve().parents[2].joinpath("pyproject.toml").read_text()
    for name in (
        "docs/guide",
        "docs/plugins.md",
        "docs/serializations.md",
        "docs/sessions.md",
        "docs/vectors.md",
    ):
        assert text.count(f'"{name}"') == 2
