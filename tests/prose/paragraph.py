"""Paragraphs of text with the line numbers of their parts: the values that readers give and rules look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

__all__ = ["Kind", "Line", "Paragraph", "Sentence", "masked"]

_MARGIN: Final = " \t"
# A code span, an address, the target of a link, the name that an entry `name: text` is about: each is one word to a reader.
_CODE = re.compile(
    r"\A\s*[a-z]\w*(?=: )|(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)|\bhttps?://[^\s)>]+|(?<=\])\([^)\s]*\)", re.DOTALL
)
_END = re.compile(r"[.!?][\"')\]*_]*(?=\s+[\"'(\[*_]*[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|approx|resp)|(?:^|[\s(])[A-Za-z]|^\d+)\.$", re.IGNORECASE
)
_WORD = re.compile(r"\S*\w\S*")


class Kind(Enum):
    """A kind of text; thresholds are counted in each of them."""

    PYTHON = "Python docstrings and comments"
    MARKDOWN = "Markdown"
    TEMPLATE = "templates"
    WIRE = ".wire files"
    DIAGNOSTIC = "diagnostics and help texts"
    MESSAGE = "other messages"


class Line(NamedTuple):
    """A line of text without marks of the language around it."""

    number: int
    text: str


class Sentence(NamedTuple):
    """A sentence and the line on which it begins; code in it is one word of the letter x."""

    line: int
    text: str
    masked: str

    @property
    def n_words(self) -> int:
        return len(_WORD.findall(self.masked))


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Text that is read in one go: a paragraph, a list item, a cell, a message.

    Attributes:
        is_reason: The text says why a `.wire` file decides as it does, so that it has to explain.
    """

    path: str
    kind: Kind
    lines: tuple[Line, ...]
    is_reason: bool = False

    @property
    def text(self) -> str:
        return " ".join(line.text.strip(_MARGIN) for line in self.lines)

    @property
    def n_words(self) -> int:
        """The number of words that are not code."""
        return len([word for word in _WORD.findall(masked(self.text)) if word.strip("Xx.,:;()")])

    @property
    def sentences(self) -> Iterator[Sentence]:
        text = self.text
        plain = masked(text)
        start = 0
        for end in (*_ends(plain), len(plain)):
            if text[start:end].strip():
                begin = start + len(plain[start:end]) - len(plain[start:end].lstrip())
                yield Sentence(self._line_at(begin), text[begin:end].rstrip(), plain[begin:end].rstrip())
            start = end

    def _line_at(self, offset: int) -> int:
        for line in self.lines:
            size = len(line.text.strip(_MARGIN)) + 1
            if offset < size:
                return line.number
            offset -= size
        return self.lines[-1].number


def masked(text: str) -> str:
    """Return a text of the same length, in which each piece of code is one word: `Xxx`."""
    return _CODE.sub(lambda found: _word_of(found[0]), text)


def _word_of(code: str) -> str:
    return " " * len(code) if code.startswith("(") else "X" + "x" * (len(code) - 1)


def _ends(plain: str) -> Iterator[int]:
    """Yield the offsets after the sentences of a text but the last one."""
    start = 0
    for found in _END.finditer(plain):
        if not _ABBREVIATION.search(plain[start : found.start() + 1]):
            yield found.end()
            start = found.end()
