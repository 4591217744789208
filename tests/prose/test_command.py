"""The check of a repository: thresholds, exceptions and the form of its output."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.prose.__main__ import main
from tests.prose.exceptions import Exceptions, ExceptionsError, KnownException, load
from tests.prose.paragraph import Kind, Line, Paragraph
from tests.prose.report import Report, check
from tests.prose.rules import LONG

RULE = "'is no X'"
LONG_TEXT = "Read " + "one more byte " * 12 + "now."


def _texts(kind: Kind, *, n_good: int, n_bad: int = 0, bad: str = "It is no number.") -> list[Paragraph]:
    texts = ["The number is read."] * n_good + [bad] * n_bad
    return [
        Paragraph(path="a", kind=kind, lines=(Line(number, text),)) for number, text in enumerate(texts, 1)
    ]


def _checked(paragraphs: list[Paragraph], *exceptions: KnownException) -> Report:
    return check(paragraphs, Exceptions(exceptions))


def test_a_rule_fails_from_one_in_a_hundred_paragraphs_on() -> None:
    assert not list(_checked(_texts(Kind.PYTHON, n_good=100, n_bad=1)).failures)
    assert list(_checked(_texts(Kind.PYTHON, n_good=99, n_bad=1)).failures) == [(Kind.PYTHON, RULE)]


def test_long_sentences_fail_from_one_in_two_hundred_paragraphs_on() -> None:
    assert not list(_checked(_texts(Kind.WIRE, n_good=200, n_bad=1, bad=LONG_TEXT)).failures)
    failures = _checked(_texts(Kind.WIRE, n_good=199, n_bad=1, bad=LONG_TEXT)).failures
    assert list(failures) == [(Kind.WIRE, LONG)]


def test_kinds_are_counted_apart() -> None:
    texts = _texts(Kind.PYTHON, n_good=1000) + _texts(Kind.TEMPLATE, n_good=10, n_bad=1)
    assert list(_checked(texts).failures) == [(Kind.TEMPLATE, RULE)]


def test_short_labels_are_no_paragraphs() -> None:
    report = _checked([Paragraph(path="a", kind=Kind.PYTHON, lines=(Line(1, "two words"),))])
    assert report.n_paragraphs.total() == 0


def test_an_exception_excuses_its_sentence_alone() -> None:
    entry = KnownException(path="a", rule=RULE, text="no number", reason="a name")
    assert not _checked(_texts(Kind.PYTHON, n_good=0, n_bad=1), entry).findings
    assert len(_checked(_texts(Kind.PYTHON, n_good=0, n_bad=1, bad="It is no size."), entry).findings) == 1


def test_an_exception_is_stale_when_its_file_has_no_such_finding() -> None:
    used, unused, unread, gone = (
        KnownException(path=path, rule=RULE, text=text, reason="a name")
        for path, text in [("a", "no number"), ("a", "no size"), ("b", "no size"), ("c", "no size")]
    )
    exceptions = Exceptions([used, unused, unread, gone])
    check(_texts(Kind.PYTHON, n_good=0, n_bad=1), exceptions)
    assert list(exceptions.stale({"a"}, {"a", "b"})) == [unused, gone]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('path = "a"\nrule = "b"\ntext = "c"', id="no reason"),
        pytest.param('path = "a"\nrule = "b"\ntext = ""\nreason = "d"', id="empty text"),
        pytest.param('path = "a"\nrule = "b"\ntext = "c"\nreason = "d"\nline = "e"', id="another key"),
    ],
)
def test_an_incomplete_exception_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "exceptions.toml"
    file.write_text(f"[[exception]]\n{text}\n")
    with pytest.raises(ExceptionsError):
        load(file)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a folder under git with two files of prose and an empty list of exceptions."""
    (tmp_path / "tests/prose").mkdir(parents=True)
    (tmp_path / "tests/prose/exceptions.toml").write_text("")
    (tmp_path / "good.py").write_text('"""Return the number."""\n')
    (tmp_path / "bad.py").write_text(
        '"""Return the number.\n\nIt is no size,\nsays the\nfile. It ends.\n"""\n'
    )
    for command in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_findings_are_printed_with_their_place(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], repository) == 1
    first, *counts = capsys.readouterr().out.splitlines()
    assert first == "bad.py:3: 'is no X': It is no size, says the file."
    assert counts == [
        "Python docstrings and comments: 3 paragraphs, 1 findings",
        "     1  33.33%  'is no X', must be below 1.0%",
    ]


def test_files_are_named_by_arguments(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["good.py"], repository) == 0
    assert capsys.readouterr().out == "Python docstrings and comments: 1 paragraphs, 0 findings\n"
    assert main(["missing.py"], repository) == 2
    assert "missing.py" in capsys.readouterr().err


def test_a_stale_exception_fails(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = '[[exception]]\npath = "good.py"\nrule = "metaphor"\ntext = "number"\nreason = "a name"\n'
    (repository / "tests/prose/exceptions.toml").write_text(entry)
    assert main(["good.py"], repository) == 1
    assert "tests/prose/exceptions.toml: unused: good.py: metaphor: number" in capsys.readouterr().out
    assert main(["bad.py", "--all"], repository) == 1
    assert "unused" not in capsys.readouterr().out
