"""Lines of Markdown or of a docstring to blocks: paragraphs, list items, entries of sections and cells; code is left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from .paragraph import Kind, Line, Paragraph

__all__ = ["BREAK", "blanked", "blocks", "numbered", "paragraphs"]

BREAK: Final = "\f"
"""A sign in a line at which a reader of markup ends a block."""

_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)]|#{1,6})\s+")
_QUOTE = re.compile(r"^\s*>(\s|$)")
_SECTION = re.compile(r"(?:Args|Arguments|Attributes|Returns|Yields|Raises|Examples?|Notes?|Source):$")
_ENTRY = re.compile(r"\*{0,2}[A-Za-z_][\w., ]{0,60}:\s")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_RULE = re.compile(r"[\s|:=+*_-]*$")


def numbered(text: str, first: int = 1) -> Iterator[Line]:
    """Yield the lines of a text, the first of which has the number `first`."""
    return (Line(number, line) for number, line in enumerate(text.split("\n"), first))


def blanked(found: re.Match[str]) -> str:
    """Return spaces in place of a match, on as many lines, for `re.sub`."""
    return re.sub(r"[^\n]", " ", found[0])


def paragraphs(path: str, kind: Kind, lines: Iterable[Line]) -> Iterator[Paragraph]:
    """Yield the blocks of a text as paragraphs of a file."""
    return (Paragraph(path=path, kind=kind, lines=block) for block in blocks(lines))


def blocks(lines: Iterable[Line]) -> Iterator[tuple[Line, ...]]:
    """Yield the blocks of a text, each as its lines without the marks of lists and headings."""
    block: list[Line] = []
    for line in (*_without_code(_at_breaks(lines)), Line(0, "")):
        is_row = line.text.lstrip().startswith("|")
        starts = is_row or not line.text.strip() or _begins_block(line, block)
        if starts and block:
            yield tuple(block)
            block = []
        if is_row:
            yield from _cells(line)
        elif line.text.strip():
            block.append(Line(line.number, line.text if block else _ITEM.sub("", line.text, count=1)))


def _at_breaks(lines: Iterable[Line]) -> Iterator[Line]:
    for line in lines:
        first, *others = _QUOTE.sub("", line.text, count=1).split(BREAK)
        yield Line(line.number, first)
        for other in others:
            yield Line(line.number, "")
            yield Line(line.number, other.lstrip(" "))


def _begins_block(line: Line, block: list[Line]) -> bool:
    if _ITEM.match(line.text) or _SECTION.match(line.text.strip()):
        return True
    if not block:
        return False
    # An entry `name: text` is indented as the one before it; the lines that go on with an entry are indented more.
    is_heading = bool(_SECTION.match(block[0].text.strip()))
    return is_heading or (bool(_ENTRY.match(line.text.strip())) and _indent(line) == _indent(block[0]) > 0)


def _without_code(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines of prose; a line of code, a fence and a rule become empty."""
    fence = ""
    was_empty, in_list, in_code = True, False, False
    for line in lines:
        found = _FENCE.match(line.text)
        is_fenced = bool(fence) or bool(found)
        if found:
            fence = "" if fence and found[1].startswith(fence) else fence or found[1]
        is_empty = not line.text.strip()
        in_list = in_list and (is_empty or _indent(line) > 0) or bool(_ITEM.match(line.text))
        is_indented = _indent(line) >= 4 and not in_list
        in_code = (is_indented and (was_empty or in_code)) or (in_code and is_empty)
        is_prompt = line.text.lstrip().startswith((">>> ", "... ", "$ "))
        is_code = is_fenced or in_code or is_prompt or _RULE.match(line.text)
        yield Line(line.number, "") if is_code else line
        was_empty = is_empty


def _cells(line: Line) -> Iterator[tuple[Line, ...]]:
    for cell in re.split(r"(?<!\\)\|", line.text.strip().strip("|")):
        if cell.strip():
            yield (Line(line.number, cell.strip()),)


def _indent(line: Line) -> int:
    return len(line.text) - len(line.text.lstrip())
