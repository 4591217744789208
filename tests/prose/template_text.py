"""Fixed sentences of Jinja templates: the template's own comments, and the text in the language that it writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePosixPath

from .blocks import BREAK, blanked, numbered, paragraphs
from .markdown_text import pages
from .paragraph import Kind, Paragraph
from .python_text import comments, docstrings, messages
from .wire_text import wire_texts

__all__ = ["template_texts"]

_COMMENT = re.compile(r"\{#-?(.*?)-?#\}", re.DOTALL)
_ELSE = re.compile(
    r"\{%-?\s*(?:else|elif|for|endfor|macro|endmacro|block|endblock|import|include)\b.*?%\}", re.DOTALL
)
_STATEMENT = re.compile(r"\{%.*?%\}", re.DOTALL)
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_NO_TEXT = re.compile(r"<(script|style|pre|svg)\b.*?</\1>|<!--.*?-->", re.DOTALL)
_CODE = re.compile(r"<(code|kbd)\b[^<>]*>(.*?)</\1>", re.DOTALL)
_INLINE = re.compile(r"</?(?:a|abbr|b|em|i|small|span|strong|sub|sup)\b[^<>]*>")
_TAG = re.compile(r"<[^<>]*>")
_SLASHES = re.compile(r"(?:^|\s)//+ ?(.*)$|/\*(.*?)\*/", re.MULTILINE)


def template_texts(path: str, text: str) -> Iterator[Paragraph]:
    """Yield the fixed texts of a template; statements and expressions of Jinja are left out."""
    for found in _COMMENT.finditer(text):
        first = text.count("\n", 0, found.start(1)) + 1
        yield from paragraphs(path, Kind.TEMPLATE, numbered(_without_margin(found[1]), first))
    yield from _written(path, _without_jinja(text))


def _written(path: str, text: str) -> Iterator[Paragraph]:
    """Yield the texts of the file that a template writes, by the language of that file."""
    name = PurePosixPath(path.removesuffix(".jinja").removesuffix(".j2"))
    match name.suffix:
        case ".html":
            yield from paragraphs(path, Kind.TEMPLATE, numbered(_without_margin(_without_markup(text))))
        case ".md" | ".txt":
            yield from pages(path, text, Kind.TEMPLATE)
        case ".wire":
            yield from wire_texts(path, text, Kind.TEMPLATE)
        case ".proto" | ".js" | ".css":
            yield from _slashed(path, text)
        case _:
            yield from chain.from_iterable(
                read(path, text, Kind.TEMPLATE) for read in (docstrings, comments, messages)
            )


def _without_jinja(text: str) -> str:
    """Return a template of the same lines: an expression is a word of code, another branch begins another text."""
    without = _COMMENT.sub(blanked, text)
    without = _EXPRESSION.sub(lambda found: "X" + blanked(found)[1:].replace(" ", "x"), without)
    return _STATEMENT.sub(blanked, _ELSE.sub(lambda found: BREAK + blanked(found)[1:], without))


def _without_markup(text: str) -> str:
    shown = _CODE.sub(lambda found: re.sub(r"[^\n]", "x", found[0]), _NO_TEXT.sub(blanked, text))
    return _TAG.sub(lambda found: BREAK + blanked(found)[1:], _INLINE.sub(blanked, shown))


def _slashed(path: str, text: str) -> Iterator[Paragraph]:
    for found in _SLASHES.finditer(text):
        number = text.count("\n", 0, found.start()) + 1 + found[0].startswith("\n")
        yield from paragraphs(path, Kind.TEMPLATE, numbered((found[1] or found[2] or "").strip(), number))


def _without_margin(text: str) -> str:
    return "\n".join(line.strip(" ") for line in text.split("\n"))
