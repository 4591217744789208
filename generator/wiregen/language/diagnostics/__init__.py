"""Diagnostics: their places, the report that gathers them, their renderings and their pages."""

from wiregen.language.diagnostics.locations import Location, SourceText, SourceTexts, locate
from wiregen.language.diagnostics.pages import error_codes, explanation, known_codes, title
from wiregen.language.diagnostics.rendering import OUTPUT_FORMATS, OutputFormat, render
from wiregen.language.diagnostics.report import Diagnostic, Label, Report, Severity, Span
from wiregen.language.diagnostics.suggestions import did_you_mean, suggest
from wiregen.language.diagnostics.terminal import summary
from wiregen.language.terminal_text import display_width, visible

__all__ = [
    "OUTPUT_FORMATS",
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
