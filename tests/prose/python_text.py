"""Texts of Python: docstrings, comments, and the literals that people read as messages and help.

The text is cut into comments and literals by one expression, not parsed: a template for Python
could not be parsed, and parsing all files would take many times as long.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from inspect import cleandoc
from typing import Final, NamedTuple

from .blocks import numbered, paragraphs
from .paragraph import Kind, Line, Paragraph

__all__ = ["comments", "docstrings", "messages"]

_TOKEN = re.compile(
    r"(?P<comment>\#[^\n]*)"
    r"|(?P<prefix>\b[rbfuRBFU]{1,2})?"
    r"(?P<literal>\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"#!|#\s*(type:|noqa|fmt:|pragma|ruff:|mypy:|-\*-)|#\s*[-=#]{3,}")
_EXPRESSION = re.compile(r"\{[^{}]*\}")
_ESCAPE = re.compile(r"\\[nrt]")
_NO_PROSE = re.compile(r"[<>{}\\\n=]|\b(SELECT|import|def|select|struct|message|protocol)\b")
_MIN_WORDS_OF_A_MESSAGE: Final = 3


class _Token(NamedTuple):
    start: int
    end: int
    prefix: str
    text: str
    is_comment: bool


def docstrings(path: str, text: str, kind: Kind = Kind.PYTHON) -> Iterator[Paragraph]:
    """Yield the paragraphs of the literals that are statements: of modules, classes, functions and attributes."""
    lines = _LineNumbers(text)
    for token in _tokens(text):
        if _is_docstring(text, token):
            first = lines.at(token.start)
            cleaned = cleandoc(token.text[3:-3])
            skipped = len(token.text[3:-3]) - len(token.text[3:-3].lstrip("\n"))
            yield from paragraphs(path, kind, numbered(cleaned, first + skipped))


def comments(path: str, text: str, kind: Kind = Kind.PYTHON) -> Iterator[Paragraph]:
    """Yield the comments: lines of comments below each other are one text, a comment after code is another."""
    lines = _LineNumbers(text)
    gathered: list[Line] = []
    column = -1
    for token in _tokens(text):
        if not token.is_comment or _DIRECTIVE.match(token.text):
            continue
        number, own_column = lines.at(token.start), lines.column(token.start)
        is_alone = not text[token.start - own_column : token.start].strip()
        goes_on = is_alone and gathered and (number, own_column) == (gathered[-1].number + 1, column)
        if gathered and not goes_on:
            yield from paragraphs(path, kind, gathered)
            gathered = []
        column = own_column if is_alone else -1
        gathered.append(Line(number, token.text[1:].removeprefix(" ")))
    yield from paragraphs(path, kind, gathered)


def messages(path: str, text: str, kind: Kind = Kind.MESSAGE) -> Iterator[Paragraph]:
    """Yield the literals of three words and more that are neither docstrings nor code of another language."""
    lines = _LineNumbers(text)
    for run in _runs(text):
        if any("r" in token.prefix.lower() or "b" in token.prefix.lower() for token in run):
            continue
        parts = tuple(Line(lines.at(token.start), _plain(token)) for token in run)
        paragraph = Paragraph(path=path, kind=kind, lines=_joined(parts))
        if paragraph.n_words >= _MIN_WORDS_OF_A_MESSAGE and not _NO_PROSE.search(paragraph.text):
            yield paragraph


def _joined(parts: tuple[Line, ...]) -> tuple[Line, ...]:
    # Parts of a literal join without a space, unlike lines of a text.
    return (Line(parts[0].number, "".join(part.text for part in parts)),)


def _plain(token: _Token) -> str:
    quote = 3 if token.text[:3] in {'"""', "'''"} else 1
    inner = token.text[quote:-quote]
    if "f" in token.prefix.lower():
        inner = _EXPRESSION.sub("`x`", inner)
    return _ESCAPE.sub(" ", inner).replace('\\"', '"').replace("\\'", "'")


def _runs(text: str) -> Iterator[tuple[_Token, ...]]:
    """Yield literals, those that Python joins together."""
    run: list[_Token] = []
    for token in _tokens(text):
        if token.is_comment or _is_docstring(text, token):
            continue
        if run and text[run[-1].end : token.start].strip():
            yield tuple(run)
            run = []
        run.append(token)
    if run:
        yield tuple(run)


@lru_cache(maxsize=1)  # the readers of one text follow each other
def _tokens(text: str) -> tuple[_Token, ...]:
    return tuple(
        _Token(
            start=found.start(),
            end=found.end(),
            prefix=found["prefix"] or "",
            text=found["comment"] or found["literal"],
            is_comment=found["comment"] is not None,
        )
        for found in _TOKEN.finditer(text)
    )


def _is_docstring(text: str, token: _Token) -> bool:
    """Return whether a literal of three quotes is a statement: it begins a line, and the code before it is complete."""
    if token.is_comment or not token.text.startswith('"""') or token.prefix.lower() not in {"", "r"}:
        return False
    line = text.rfind("\n", 0, token.start) + 1
    if text[line : token.start].strip():
        return False
    before = _last_code(text, line)
    return not before or before[-1] not in "([{,=+-*/%|&\\"


def _last_code(text: str, end: int) -> str:
    """Return the last line above that is neither empty nor a comment."""
    while end > 0:
        start = text.rfind("\n", 0, end - 1) + 1
        line = text[start : end - 1].strip()
        if line and not line.startswith("#"):
            return re.sub(r"\s+#.*$", "", line)
        end = start
    return ""


class _LineNumbers:
    """Finds the line and the column of an offset; offsets are asked in any order."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def column(self, offset: int) -> int:
        return offset - self._starts[self.at(offset) - 1]
