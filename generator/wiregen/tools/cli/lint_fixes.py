"""`wiregen lint --fix`: the text of a file after all fixes, each pass checked before the next one."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wiregen.generate.backends import Subject
    from wiregen.language.config import Config
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Source, Sources

__all__ = ["Linted", "linted", "with_fixes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted:
    """A checked file and the findings in it.

    Attributes:
        source: Its text in `sources`, the texts of the run.
        imported: The names that other files import from it.
    """

    subject: "Subject"
    source: "Source"
    sources: "Sources"
    findings: "Report"
    imported: frozenset[str]


def linted(
    subject: "Subject", sources: "Sources", rules: Collection[str], imported: frozenset[str]
) -> Linted:
    """Return the findings of these rules in a file from which others import these names."""
    from wiregen.language.diagnostics import Report
    from wiregen.language.linter import lint

    findings = Report()
    lint(subject.protocol, subject.origins, subject.mentioned | imported, sources, findings, rules=rules)
    source = sources[subject.origins[subject.protocol.path].source]
    return Linted(subject=subject, source=source, sources=sources, findings=findings, imported=imported)


def with_fixes(before: Linted, config: "Config", rules: Collection[str]) -> Linted:
    """Return a file after its fixes: one removal may leave other declarations without a use.

    A fix after which the file has errors is not made.
    """
    from wiregen.generate.frontend import check_source
    from wiregen.language.diagnostics import Report
    from wiregen.language.formatter import FormattedText
    from wiregen.language.linter import fixed
    from wiregen.language.source import Sources

    done = before
    while True:
        text = fixed(FormattedText(name=done.source.name, text=done.source.text), done.findings.diagnostics)
        if text is None or text == done.source.text:
            return done
        source, report = replace(done.source, text=text), Report()
        sources = Sources(*{**done.sources, source.name: source}.values())
        subject = check_source(source, sources, report, config.sources)
        if subject is None or report.has_errors:
            return done
        done = linted(subject, sources, rules, before.imported)
