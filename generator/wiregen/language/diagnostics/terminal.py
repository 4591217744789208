"""Renderings for people: `full` shows the lines, `concise` gives each finding one line.

For any sources and messages, the output holds only printable characters, line feeds and, if requested, our
own colours.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wiregen.language.diagnostics.locations import Location, SourceTexts, locate
from wiregen.language.diagnostics.report import Diagnostic, Label, Report, Severity
from wiregen.language.terminal_text import Excerpt, excerpt, shown

_COLOURS: Final[dict[Severity, str]] = {"error": "1;31", "warning": "1;33", "note": "1;36"}
_GUTTER: Final = "1;34"
_BOLD: Final = "1"


def full(report: Report, sources: SourceTexts, *, colour: bool = False) -> str:
    """Return every finding with its lines, and a line that counts them; "" without findings."""
    diagnostics = report.diagnostics
    if not diagnostics:
        return ""
    blocks = ("\n".join(_rows(diagnostic, sources, colour=colour)) for diagnostic in diagnostics)
    return "\n\n".join((*blocks, summary(report))) + "\n"


def concise(report: Report, sources: SourceTexts) -> str:
    """Return `file:line:column: severity[code] message` for every finding."""
    return "".join(f"{_concise_row(diagnostic, sources)}\n" for diagnostic in report.diagnostics)


def summary(report: Report) -> str:
    """Return the number of findings, such as `2 errors, 1 warning`; "" without findings."""
    severities = tuple(diagnostic.severity for diagnostic in report.diagnostics)
    counts = ((severity, severities.count(severity)) for severity in _COLOURS)
    text = ", ".join(f"{n} {severity}{'s' * (n > 1)}" for severity, n in counts if n)
    return f"{text}; {report.n_dropped} more not shown" if report.n_dropped else text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """A place as shown, without location and excerpt if its source is not available."""

    source: str
    location: Location | None
    excerpt: Excerpt | None
    sign: str
    label: str
    colour: str


def _rows(diagnostic: Diagnostic, sources: SourceTexts, *, colour: bool) -> Iterator[str]:
    kind = f"{diagnostic.severity}[{shown(diagnostic.code)}]"
    message = f": {shown(diagnostic.message)}"
    yield _paint(kind, _COLOURS[diagnostic.severity], colour) + _paint(message, _BOLD, colour)
    marks = tuple(_marks(diagnostic, sources))
    width = max((len(str(mark.location.line)) for mark in marks if mark.location), default=1)
    yield from _mark_rows(marks, width, colour=colour)
    if diagnostic.help is not None:
        yield f"{_paint(' ' * width + ' =', _GUTTER, colour)} help: {shown(diagnostic.help)}"


def _marks(diagnostic: Diagnostic, sources: SourceTexts) -> Iterator[_Mark]:
    if diagnostic.span is not None:
        first = Label(span=diagnostic.span, text=diagnostic.label)
        yield _mark(first, "^", _COLOURS[diagnostic.severity], sources)
    for other in diagnostic.others:
        yield _mark(other, "-", _GUTTER, sources)


def _mark(label: Label, sign: str, colour: str, sources: SourceTexts) -> _Mark:
    location = locate(label.span, sources)
    return _Mark(
        source=label.span.source,
        location=location,
        excerpt=_excerpt(location, sources) if location else None,
        sign=sign,
        label=shown(label.text),
        colour=colour,
    )


def _excerpt(location: Location, sources: SourceTexts) -> Excerpt:
    source = sources[location.file]
    start, end = source.line_bounds(location.line)
    return excerpt(source.text, start, end, location.offset, location.end_offset)


def _mark_rows(marks: tuple[_Mark, ...], width: int, *, colour: bool) -> Iterator[str]:
    source, row = None, ""
    for mark in marks:
        if mark.source != source:
            source, row = mark.source, ""
            yield f"{_paint(' ' * width + '-->', _GUTTER, colour)} {_address(mark.location, mark.source)}"
            if mark.location is not None:
                yield _bar(width, colour)
        last, row = row, _line_row(mark, width, colour)
        if row != last:
            yield row
        yield from _sign_rows(mark, width, colour)


def _line_row(mark: _Mark, width: int, colour: bool) -> str:
    """Return the numbered line; "" for a place without one."""
    if mark.location is None or mark.excerpt is None:
        return ""
    number = _paint(f"{mark.location.line:>{width}} |", _GUTTER, colour)
    return f"{number} {mark.excerpt.line}".rstrip()


def _sign_rows(mark: _Mark, width: int, colour: bool) -> Iterator[str]:
    if mark.excerpt is not None:
        signs = f"{mark.sign * mark.excerpt.marked} {mark.label}".rstrip()
        yield f"{_bar(width, colour)} {' ' * mark.excerpt.indent}{_paint(signs, mark.colour, colour)}"
    elif mark.label:
        yield f"{_bar(width, colour)} {mark.label}"


def _bar(width: int, colour: bool) -> str:
    return _paint(f"{' ' * width} |", _GUTTER, colour)


def _address(location: Location | None, source: str) -> str:
    file = shown(source)
    return file if location is None else f"{file}:{location.line}:{location.column}"


def _concise_row(diagnostic: Diagnostic, sources: SourceTexts) -> str:
    finding = f"{diagnostic.severity}[{shown(diagnostic.code)}] {shown(diagnostic.message)}"
    span = diagnostic.span
    return finding if span is None else f"{_address(locate(span, sources), span.source)}: {finding}"


def _paint(text: str, style: str, colour: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if colour and text else text
