"""`wiregen lint --fix`: the text of a file after all fixes, each pass checked before the next one."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wiregen.generate.backends import Subject
    from wiregen.language.config import Config
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Source, Sources

__all__ = ["Linted", "linted", "with_fixes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted:
    """A checked file and the findings in it; `source` is its text in `sources`, the texts of the run."""

    subject: "Subject"
    source: "Source"
    sources: "Sources"
    findings: "Report"


def linted(subject: "Subject", sources: "Sources", rules: Collection[str]) -> Linted:
    """Return the findings of these rules in a file."""
    from wiregen.language.diagnostics import Report
    from wiregen.language.linter import lint

    findings = Report()
    lint(subject.protocol, subject.origins, subject.mentioned, sources, findings, rules=rules)
    source = sources[subject.origins[subject.protocol.path].source]
    return Linted(subject=subject, source=source, sources=sources, findings=findings)


def with_fixes(before: Linted, config: "Config", rules: Collection[str]) -> Linted:
    """Return a file after its fixes: one removal may leave other declarations without a use.

    A fix after which the file has errors is not made. Declarations of a file that others import stay.
    """
    from wiregen.generate.frontend import check_source
    from wiregen.language.diagnostics import Report
    from wiregen.language.formatter import FormattedText
    from wiregen.language.linter import fixed
    from wiregen.language.source import Sources

    is_imported = _is_imported(before.source.path, config)
    done = before
    while True:
        findings = [each for each in done.findings.diagnostics if each.code != "WG7013" or not is_imported]
        text = fixed(FormattedText(name=done.source.name, text=done.source.text), findings)
        if text is None or text == done.source.text:
            return done
        source, report = replace(done.source, text=text), Report()
        sources = Sources(*{**done.sources, source.name: source}.values())
        subject = check_source(source, sources, report, config.sources)
        if subject is None or report.has_errors:
            return done
        done = linted(subject, sources, rules)


def _is_imported(path: Path, config: "Config") -> bool:
    """Return whether a file next to this one, or in the sources of the configuration, imports from it."""
    from wiregen.language.source import SUFFIX

    statement = re.compile(rf"^\s*import\s+`?{re.escape(path.stem)}\b", re.MULTILINE)
    others = {
        each.resolve() for folder in (path.parent, *config.sources) for each in folder.glob(f"*{SUFFIX}")
    }
    others.discard(path.resolve())
    return any(statement.search(each.read_text(encoding="utf-8", errors="replace")) for each in others)
