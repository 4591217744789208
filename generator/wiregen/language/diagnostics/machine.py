"""Renderings for programs: JSON, GitHub's workflow annotations, SARIF 2.1.0.

Offsets, lines and columns count characters of the text as read, its line ends one character each.
"""

import json
from typing import Any, Final
from urllib.parse import quote

from wiregen.language.diagnostics.locations import SourceTexts, locate
from wiregen.language.diagnostics.pages import explanation, title
from wiregen.language.diagnostics.report import Diagnostic, Label, Report, Severity, Span
from wiregen.language.terminal_text import visible

_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_COMMANDS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "note": "notice"}

_Object = dict[str, Any]


def as_json(report: Report, sources: SourceTexts) -> str:
    """Return a JSON array with an object for every finding; unknown places are null."""
    return _dump([_json_object(diagnostic, sources) for diagnostic in report.diagnostics])


def github(report: Report, sources: SourceTexts) -> str:
    """Return a workflow command for every finding, which GitHub shows next to the line."""
    return "".join(f"{_annotation(diagnostic, sources)}\n" for diagnostic in report.diagnostics)


def sarif(report: Report, sources: SourceTexts) -> str:
    """Return a SARIF 2.1.0 log of one run."""
    codes = sorted({diagnostic.code for diagnostic in report.diagnostics})
    rules = {code: index for index, code in enumerate(codes)}
    run: _Object = {
        "tool": {"driver": {"name": "wiregen", "rules": [_sarif_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(diagnostic, rules, sources) for diagnostic in report.diagnostics],
    }
    return _dump({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _dump(value: object) -> str:
    # ASCII only: control, bidi and surrogate characters leave as JSON's own escapes.
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"


def _json_object(diagnostic: Diagnostic, sources: SourceTexts) -> _Object:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_json_place(diagnostic.span, sources),
        "label": diagnostic.label,
        "others": [_json_other(other, sources) for other in diagnostic.others],
        "help": diagnostic.help,
    }


def _json_other(other: Label, sources: SourceTexts) -> _Object:
    return {**_json_place(other.span, sources), "text": other.text}


def _json_place(span: Span | None, sources: SourceTexts) -> _Object:
    location = None if span is None else locate(span, sources)
    return {
        "file": None if span is None else span.source,
        "line": location and location.line,
        "column": location and location.column,
        "end_line": location and location.end_line,
        "end_column": location and location.end_column,
        "offset": location and location.offset,
    }


def _annotation(diagnostic: Diagnostic, sources: SourceTexts) -> str:
    properties = {**_annotated_place(diagnostic.span, sources), "title": diagnostic.code}
    listed = ",".join(f"{key}={_github_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_github_data(_github_text(diagnostic, sources))}"


def _annotated_place(span: Span | None, sources: SourceTexts) -> dict[str, str]:
    if span is None:
        return {}
    location = locate(span, sources)
    if location is None:
        return {"file": span.source}
    lines = {"file": span.source, "line": str(location.line), "endLine": str(location.end_line)}
    if location.line != location.end_line:  # GitHub refuses columns on a span of several lines
        return lines
    return lines | {"col": str(location.column), "endColumn": str(location.end_column)}


def _github_text(diagnostic: Diagnostic, sources: SourceTexts) -> str:
    message = f"{diagnostic.message} ({diagnostic.label})" if diagnostic.label else diagnostic.message
    others = (_github_other(other, sources) for other in diagnostic.others)
    help_ = () if diagnostic.help is None else (f"help: {diagnostic.help}",)
    return "\n".join((message, *others, *help_))


def _github_other(other: Label, sources: SourceTexts) -> str:
    location = locate(other.span, sources)
    place = (
        other.span.source if location is None else f"{other.span.source}:{location.line}:{location.column}"
    )
    return f"{place}: {other.text}"


def _github_data(text: str) -> str:
    """Escape a command's message. Source: GitHub, "Workflow commands", as the actions toolkit does it."""
    return visible(text, keep="\r\n").replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    """Escape a command's property, where colon and comma end it."""
    return _github_data(text).replace(":", "%3A").replace(",", "%2C")


def _sarif_rule(code: str) -> _Object:
    page, short = explanation(code), title(code)
    if page is None or short is None:
        return {"id": code}
    return {"id": code, "shortDescription": {"text": short}, "help": {"text": page, "markdown": page}}


def _sarif_result(diagnostic: Diagnostic, rules: dict[str, int], sources: SourceTexts) -> _Object:
    labelled = f"{diagnostic.message} ({diagnostic.label})" if diagnostic.label else diagnostic.message
    text = f"{labelled}\nhelp: {diagnostic.help}" if diagnostic.help else labelled
    result: _Object = {
        "ruleId": diagnostic.code,
        "ruleIndex": rules[diagnostic.code],
        "level": diagnostic.severity,
        "message": {"text": _sarif_text(text)},
    }
    if diagnostic.span is not None:
        result["locations"] = [_sarif_location(diagnostic.span, sources)]
    if diagnostic.others:
        result["relatedLocations"] = [_sarif_related(other, sources) for other in diagnostic.others]
    return result


def _sarif_related(other: Label, sources: SourceTexts) -> _Object:
    return {**_sarif_location(other.span, sources), "message": {"text": _sarif_text(other.text)}}


def _sarif_location(span: Span, sources: SourceTexts) -> _Object:
    place: _Object = {"artifactLocation": {"uri": _uri(span.source)}}
    location = locate(span, sources)
    if location is not None:
        place["region"] = {
            "startLine": location.line,
            "startColumn": location.column,
            "endLine": location.end_line,
            "endColumn": location.end_column,
            "charOffset": location.offset,
            "charLength": location.end_offset - location.offset,
        }
    return {"physicalLocation": place}


def _sarif_text(text: str) -> str:
    """Keep a message from making placeholders and links. Source: SARIF 2.1.0, 3.11.5 and 3.11.6."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _uri(file: str) -> str:
    path = quote(file.encode("utf-8", "surrogatepass"))
    return f"file://{path}" if path.startswith("/") else path
