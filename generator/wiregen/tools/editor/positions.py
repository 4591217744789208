"""Offsets of a source, in characters, as positions of the Language Server Protocol: lines from 0, columns in UTF-16 units."""

from __future__ import annotations

from lsprotocol.types import Position, Range

from wiregen.language.diagnostics import Span
from wiregen.language.source import Source

__all__ = ["offset_of", "position_of", "range_of", "whole"]

_LAST_OF_ONE_UNIT = 0xFFFF


def position_of(source: Source, offset: int) -> Position:
    """Return the position of an offset; one outside the text is moved to its nearest end."""
    line, column = source.line_and_column(offset)
    start, _ = source.line_bounds(line)
    return Position(line=line - 1, character=_units(source.text[start : start + column - 1]))


def offset_of(source: Source, position: Position) -> int:
    """Return the offset of a position; one behind the end of its line is moved to that end."""
    start, end = source.line_bounds(position.line + 1)
    units = 0
    for offset in range(start, end):
        if units >= position.character:
            return offset
        units += _units(source.text[offset])
    return end


def range_of(source: Source, span: Span) -> Range:
    """Return the range of a span of this source."""
    return Range(start=position_of(source, span.start), end=position_of(source, span.end))


def whole(source: Source) -> Range:
    """Return the range of a whole text."""
    return range_of(source, Span(source=source.name, start=0, end=len(source.text)))


def _units(text: str) -> int:
    """Return the number of UTF-16 code units of a text."""
    return sum(2 if ord(character) > _LAST_OF_ONE_UNIT else 1 for character in text)
