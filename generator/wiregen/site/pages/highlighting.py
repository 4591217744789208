"""Code as HTML with its comments, texts and keywords marked, at build time.

Invariant: without the marks the code is the same text, escaped. `.wire` text has the tokens that editors show. For other languages,
small patterns are enough for three kinds of marks. They cost a few microseconds, and a lexer of a library as much as the page around
the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from typing import Final

from markupsafe import Markup

from wiregen.language.lexical import TOKEN_RULES, TokenKind

__all__ = ["highlighted"]

_PYTHON: Final = (
    "and as assert async await break class continue def del elif else except False finally for from global if import in is "
    "lambda None nonlocal not or pass raise return True try while with yield"
)
_QUOTED: Final = r'"(?:\\.|[^"\\\n])*"'
_ORDER: Final = ("i", "u", "b")
"""The element of each mark: comments, texts, keywords; tried in this order at each place."""


_MARKS: Final = {
    **dict.fromkeys((TokenKind.DOC, TokenKind.COMMENT), "i"),
    **dict.fromkeys((TokenKind.TEXT, TokenKind.BYTES, TokenKind.CHARACTER), "u"),
    **dict.fromkeys((TokenKind.DECLARATION, TokenKind.CLAUSE, TokenKind.CONTROL), "b"),
    **dict.fromkeys((TokenKind.WORD_OPERATOR, TokenKind.CONSTANT), "b"),
}


@cache
def _pattern(language: str) -> re.Pattern[str] | None:
    """Return a pattern whose named groups are marked; a name is that of its element, and a number."""
    match language:
        case "wire":
            return re.compile("|".join(_rules_of_wire()), re.MULTILINE)
        case "python":
            texts = rf'"""(?:\\.|[^\\])*?"""|[bfr]?(?:{_QUOTED}|\'(?:\\.|[^\'\\\n])*\')'
            parts = (r"\#[^\n]*", texts, _words(_PYTHON.split()))
        case "sh":
            parts = (
                r"(?:^|(?<=\s))\#[^\n]*",
                rf"{_QUOTED}|'[^']*'",
                r"(?:^|(?<=\| ))[\w./-]+|(?<=\s)--?[a-z][\w-]*",
            )
        case "json":
            parts = (r"(?!)", _QUOTED, _words(("true", "false", "null")))
        case "toml":
            parts = (r"\#[^\n]*", rf"{_QUOTED}|'[^'\n]*'", r"^\[[^\]\n]*\]|\btrue\b|\bfalse\b")
        case _:
            return None
    named = (f"(?P<{name}0>{part})" for name, part in zip(_ORDER, parts, strict=True))
    return re.compile("|".join(named), re.MULTILINE)


def _rules_of_wire() -> Iterator[str]:
    for number, rule in enumerate(TOKEN_RULES):
        groups = (f"P<{_MARKS[part.kind]}{number}>" if part.kind in _MARKS else ":" for part in rule.parts)
        yield "".join(f"(?{group}{part.pattern})" for group, part in zip(groups, rule.parts, strict=True))


def _words(words: Iterable[str]) -> str:
    return rf"(?<![\w.])(?:{'|'.join(words)})(?!\w)"


def highlighted(text: str, language: str) -> Markup:
    """Return code as HTML; of a language without a pattern, only escaped."""
    pattern = _pattern(language)
    if pattern is None:
        return Markup(_content(text))
    pieces: list[str] = []
    at = 0
    for found in pattern.finditer(text):
        if found.lastgroup is None:
            continue
        start, end = found.span(found.lastgroup)
        mark = found.lastgroup[0]
        pieces.append(f"{_content(text[at:start])}<{mark}>{_content(text[start:end])}</{mark}>")
        at = end
    pieces.append(_content(text[at:]))
    return Markup("".join(pieces))


def _content(text: str) -> str:
    """Return a text escaped for the content of an element, where quotes stand for themselves."""
    return escape(text, quote=False)
