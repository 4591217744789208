"""Texts of `.wire` files: comments, documentation, and the strings in which an author explains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from .blocks import paragraphs
from .paragraph import Kind, Line, Paragraph

__all__ = ["wire_texts"]

_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*)|(?P<bytes>x\"[^\"]*\")|(?P<string>\"(?:\\.|[^\"\\\n])*\")|'(?:\\.|[^'\\\n])+'|\w+|[^\s\w]"
)
_QUOTED = re.compile(r"\\\"(.*?)\\\"")
_RULER = re.compile(r"//\s*-{3,}")
_REMARKS: Final = frozenset({"document", "peers", "decision", "reason", "example"})
_NAMED: Final = frozenset({"rule", "ledger"})
_EXPLAINING: Final = frozenset({"assumed", "errata"})


class _Token(NamedTuple):
    number: int
    text: str
    is_alone: bool


def wire_texts(path: str, text: str, kind: Kind = Kind.WIRE) -> Iterator[Paragraph]:
    """Yield the texts of a file that are its author's: quotations of a source and values of examples are not."""
    tokens = tuple(_tokens(text))
    for run in _comments(tokens):
        yield from paragraphs(path, kind, run)
    code = tuple(token for token in tokens if not token.text.startswith("//"))
    for at, token in enumerate(code):
        if token.text.startswith('"') and not (at and code[at - 1].text.startswith('"')):
            yield from _explanation(path, kind, code, at)


def _explanation(path: str, kind: Kind, code: tuple[_Token, ...], at: int) -> Iterator[Paragraph]:
    """Yield the string that begins at a place, with those that continue it, if it explains something."""
    word, before = (code[at - back].text if at >= back else "" for back in (1, 2))
    is_assumed = word == "(" and before in _EXPLAINING
    is_reserved = word.isdigit() and any(token.text == "reserved" for token in code[max(0, at - 9) : at])
    if word in _REMARKS or before in _NAMED or is_assumed or is_reserved:
        end = next((end for end in range(at, len(code)) if not code[end].text.startswith('"')), len(code))
        lines = tuple(Line(token.number, _content(token.text)) for token in code[at:end])
        yield Paragraph(path=path, kind=kind, lines=lines, is_reason=word == "reason" or is_assumed)


def _content(string: str) -> str:
    """Return the text of a string; a quotation in it is another author's, as code is."""
    return _QUOTED.sub(r"`\1`", string[1:-1])


def _comments(tokens: tuple[_Token, ...]) -> Iterator[list[Line]]:
    """Yield the comments as lines: those that are alone on their lines and below each other are one text."""
    run: list[Line] = []
    last = ""
    for token in tokens:
        if not token.text.startswith("//") or _RULER.match(token.text):
            continue
        mark = "///" if token.text.startswith("///") else "//"
        goes_on = run and token.is_alone and mark == last and token.number == run[-1].number + 1
        if run and not goes_on:
            yield run
            run = []
        run.append(Line(token.number, token.text[len(mark) :].removeprefix(" ")))
        last = mark if token.is_alone else ""
    if run:
        yield run


def _tokens(text: str) -> Iterator[_Token]:
    number, counted = 1, 0
    for found in _TOKEN.finditer(text):
        number += text.count("\n", counted, found.start())
        counted = found.start()
        line = text.rfind("\n", 0, counted) + 1
        yield _Token(number, found[0], is_alone=not text[line:counted].strip())
