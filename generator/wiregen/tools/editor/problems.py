"""Findings as the diagnostics of an editor."""

from __future__ import annotations

from typing import Final

from lsprotocol.types import (
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
    Range,
)

from wiregen.language import diagnostics as own
from wiregen.language import syntax
from wiregen.language.linter import FIXABLE
from wiregen.language.terminal_text import visible
from wiregen.tools.editor.analysis import Analysis
from wiregen.tools.editor.navigation import uri_of
from wiregen.tools.editor.positions import position_of, range_of

__all__ = ["problems"]

_SEVERITIES: Final[dict[own.Severity, DiagnosticSeverity]] = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "note": DiagnosticSeverity.Information,
}


def problems(analysis: Analysis) -> list[Diagnostic]:
    """Return the findings about a text. One in an imported file is shown at the imports, and says where it is."""
    return [_problem(analysis, each) for each in analysis.findings]


def _problem(analysis: Analysis, finding: own.Diagnostic) -> Diagnostic:
    is_unused = finding.code in FIXABLE
    lines = [f"{_elsewhere(analysis, finding)}{finding.message}"]
    if finding.help is not None:
        lines.append(f"help: {finding.help}")
    return Diagnostic(
        range=_range(analysis, finding.span),
        message=visible("\n".join(lines), keep="\n"),
        severity=DiagnosticSeverity.Hint if is_unused else _SEVERITIES[finding.severity],
        code=finding.code,
        source="wiregen",
        tags=[DiagnosticTag.Unnecessary] if is_unused else None,
        related_information=[
            DiagnosticRelatedInformation(
                location=Location(uri=uri_of(source), range=range_of(source, other.span)),
                message=visible(other.text),
            )
            for other in finding.others
            if (source := analysis.sources.get(other.span.source)) is not None
        ],
    )


def _elsewhere(analysis: Analysis, finding: own.Diagnostic) -> str:
    source = None if finding.span is None else analysis.sources.get(finding.span.source)
    if source is None or finding.span is None or source is analysis.source:
        return ""
    line, column = source.line_and_column(finding.span.start)
    return f"{source.path.name}:{line}:{column}: "


def _range(analysis: Analysis, span: own.Span | None) -> Range:
    if span is not None and span.source == analysis.source.name:
        return range_of(analysis.source, span)
    declarations = () if analysis.file is None else analysis.file.declarations
    first = next((each for each in declarations if isinstance(each, syntax.Import)), None)
    start = position_of(analysis.source, 0)
    return Range(start=start, end=start) if first is None else range_of(analysis.source, first.span)
