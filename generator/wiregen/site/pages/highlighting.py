"""Code as HTML with its comments, texts and keywords marked, at build time.

Invariant: without the marks the code is the same text, escaped. Small patterns are enough for three kinds of marks, and cost
a few microseconds where a lexer of a library costs as much as the page around the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from typing import Final

from markupsafe import Markup

from wiregen.language.parser.keywords import DECLARATION_WORDS, RESERVED_WORDS

__all__ = ["highlighted"]

_BEGIN: Final = (
    *DECLARATION_WORDS,
    "protocol",
    "state",
    "var",
    "option",
    "document",
    "peers",
    "decision",
    "reason",
    "about",
)
"""Words of the language where a line begins with them; elsewhere they are mostly names of fields."""
_WITHIN: Final = (
    *sorted(RESERVED_WORDS - {"and", "any", "not", "or"}),
    "from",
    "per",
    "endian",
    "roles",
    "source",
    "violates",
    "when",
)
_PYTHON: Final = (
    "and as assert async await break class continue def del elif else except False finally for from global if import in is "
    "lambda None nonlocal not or pass raise return True try while with yield"
)
_QUOTED: Final = r'"(?:\\.|[^"\\\n])*"'
_ORDER: Final = ("i", "u", "b")
"""The element of each mark: comments, texts, keywords; tried in this order at each place."""


@cache
def _pattern(language: str) -> re.Pattern[str] | None:
    match language:
        case "wire":
            parts = (
                r"//[^\n]*",
                rf"x?{_QUOTED}|'(?:\\.|[^'\\\n])'|`[^`\n]*`",
                rf"^[ \t]*(?:{'|'.join(_BEGIN)})\b(?!\s*:)|{_words(_WITHIN)}(?!\s*:)",
            )
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
    named = (f"(?P<{name}>{part})" for name, part in zip(_ORDER, parts, strict=True))
    return re.compile("|".join(named), re.MULTILINE)


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
        pieces.append(_content(text[at : found.start()]))
        pieces.append(f"<{found.lastgroup}>{_content(found[0])}</{found.lastgroup}>")
        at = found.end()
    pieces.append(_content(text[at:]))
    return Markup("".join(pieces))


def _content(text: str) -> str:
    """Return a text escaped for the content of an element, where quotes stand for themselves."""
    return escape(text, quote=False)
