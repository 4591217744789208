"""Rendering for build servers: JUnit XML, as `wiregen vectors run` writes it; and texts that XML can hold."""

import re
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from wiregen.language.diagnostics.locations import SourceTexts, locate
from wiregen.language.diagnostics.report import Diagnostic, Report

__all__ = ["attribute", "content", "junit"]

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\x7e]")


def junit(report: Report, sources: SourceTexts) -> str:
    """Return a suite with a case for every finding; notes are cases that pass, and without findings one case does."""
    found = report.diagnostics
    n_failures = sum(each.severity != "note" for each in found)
    cases = [case for each in found for case in _case(each, sources)]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuite name=\"wiregen\" tests='{max(len(found), 1)}' failures='{n_failures}' skipped='0'>",
        *(cases or ['<testcase name="no findings"/>']),
        "</testsuite>",
    ]
    return "\n".join(lines) + "\n"


def attribute(text: str) -> str:
    """Return a text as an XML attribute, with its quotes."""
    return quoteattr(_ascii(text))


def content(text: str) -> str:
    """Return a text as the content of an XML element."""
    return escape(_ascii(text), {"\r": "&#13;", "\t": "&#9;"})


def _case(diagnostic: Diagnostic, sources: SourceTexts) -> Iterator[str]:
    span = diagnostic.span
    location = None if span is None else locate(span, sources)
    place = "" if location is None else f":{location.line}:{location.column}"
    name = f"{diagnostic.code}{'' if span is None else f' {span.source}'}{place}"
    properties = "" if span is None else f" classname={attribute(span.source)} file={attribute(span.source)}"
    properties += "" if location is None else f" line={attribute(str(location.line))}"
    labelled = f"{diagnostic.message} ({diagnostic.label})" if diagnostic.label else diagnostic.message
    text = f"{labelled}\nhelp: {diagnostic.help}" if diagnostic.help else labelled
    yield f"<testcase name={attribute(name)}{properties}>"
    if diagnostic.severity == "note":
        yield f"<system-out>{content(text)}</system-out></testcase>"
    else:
        yield f"<failure type={attribute(diagnostic.severity)} message={attribute(text)}/></testcase>"


def _ascii(text: str) -> str:
    """Return text with an escape for each character that XML cannot hold or that is not ASCII."""
    return _NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
