"""Diagnostics: their places, the report that gathers them, their renderings and their pages."""

from wiregen.diagnostics.locations import Location, SourceText, SourceTexts, locate
from wiregen.diagnostics.pages import error_codes, explanation, known_codes, title
from wiregen.diagnostics.rendering import OutputFormat, render
from wiregen.diagnostics.report import Diagnostic, Label, Report, Severity, Span
from wiregen.diagnostics.suggestions import did_you_mean, suggest
from wiregen.diagnostics.terminal import summary
from wiregen.diagnostics.text import display_width, visible

__all__ = [
    "Diagnostic",
    "Label",
    "Location",
    "OutputFormat",
    "Report",
    "Severity",
    "SourceText",
    "SourceTexts",
    "Span",
    "did_you_mean",
    "display_width",
    "error_codes",
    "explanation",
    "known_codes",
    "locate",
    "render",
    "suggest",
    "summary",
    "title",
    "visible",
]
