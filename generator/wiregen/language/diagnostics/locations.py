"""The lines and columns of a span. A span outside its text is moved to the text's nearest end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from wiregen.language.diagnostics.report import Span


class SourceText(Protocol):
    """The interface of a source that a renderer uses."""

    @property
    def text(self) -> str: ...

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1."""

    def line_bounds(self, line: int) -> tuple[int, int]:
        """Return the offsets of a line's first character and of its end."""


SourceTexts = Mapping[str, SourceText]


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A span inside its text; lines and columns from 1, in characters, the end exclusive."""

    file: str
    offset: int
    end_offset: int
    line: int
    column: int
    end_line: int
    end_column: int


def locate(span: Span, sources: SourceTexts) -> Location | None:
    """Return where a span lies, or None if its source is not at hand."""
    source = sources.get(span.source)
    if source is None:
        return None
    offset = min(max(span.start, 0), len(source.text))
    end_offset = min(max(span.end, offset), len(source.text))
    line, column = source.line_and_column(offset)
    end_line, end_column = source.line_and_column(end_offset)
    return Location(
        file=span.source,
        offset=offset,
        end_offset=end_offset,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
    )
