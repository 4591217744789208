"""The analysis of one text: its tree, its model with placeholders where it has errors, and its findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wiregen.generate.frontend import check_resolved
from wiregen.language import syntax
from wiregen.language.diagnostics import Diagnostic, Report, Span
from wiregen.language.importers import MOST_FILES, imported_names
from wiregen.language.linter import lint
from wiregen.language.parser import parse_partial
from wiregen.language.resolver import Resolved, resolve_partial
from wiregen.language.source import Source, Sources, load
from wiregen.tools.editor.declared_names import NameIndex, NameOccurrence

__all__ = ["Analysis", "analyse"]


class CandidateReport(Report):
    """A report that also keeps, for each unknown name, the names that are known at its place."""

    __slots__ = ("offered",)

    def __init__(self) -> None:
        super().__init__()
        self.offered: dict[Span, tuple[str, ...]] = {}

    def offer(self, span: Span, words: Iterable[str]) -> None:
        self.offered[span] = tuple(dict.fromkeys(words))


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A text as far as it can be understood; everything is computed when it is first needed.

    Attributes:
        source: The text, whose line ends are single characters.
        sources: The text and those of the files that it imports.
        roots: The folders that imports may lead into.
        syntax_report: The findings about the form of the text.
    """

    source: Source
    sources: Sources
    roots: tuple[Path, ...]
    syntax_report: Report
    file: syntax.File | None

    @cached_property
    def _name_report(self) -> CandidateReport:
        return CandidateReport()

    @cached_property
    def resolved(self) -> Resolved | None:
        """The model of the declarations that can be read, or None without any."""
        if self.file is None:
            return None
        return resolve_partial(self.file, self.sources, self._name_report, roots=self.roots)

    def reads(self, name: str) -> bool:
        """Return whether the text is that of a file, or imports it, directly or not."""
        return self.resolved is not None and name in self.sources or name == self.source.name

    def imports(self, path: Path) -> bool:
        """Return whether the text is that of a file or imports it, directly or not, or would import it if it were there."""
        return self.reads(path.as_posix()) or any(stem == path.stem for stem, _ in self.imported)

    @cached_property
    def imported(self) -> frozenset[tuple[str, str]]:
        """The names that the text imports, each after the name of its file."""
        declared = () if self.file is None else self.file.declarations
        found = (each for each in declared if isinstance(each, syntax.Import))
        return frozenset((each.protocol.text, name.text) for each in found for name in each.names)

    @property
    def offered(self) -> dict[Span, tuple[str, ...]]:
        """The names that are known at the place of each unknown one."""
        return self._name_report.offered if self.resolved is not None else {}

    @cached_property
    def names(self) -> NameIndex:
        """The names of the file and of the declarations that it imports."""
        if self.file is None or self.resolved is None:
            return NameIndex(())
        imported = (
            each for each in self.resolved.workspace.declarations if each.span.source != self.source.name
        )
        return NameIndex((self.file, *imported))

    @cached_property
    def paths(self) -> dict[Span, str]:
        """The path in the model of each declared name, by its place."""
        if self.resolved is None:
            return {}
        ends = (
            (path.removesuffix("#name"), span)
            for path, span in self.resolved.origins.items()
            if path.endswith("#name")
        )
        return {span: path for path, span in ends}

    def name_at(self, offset: int) -> NameOccurrence | None:
        """Return the name at an offset of the text."""
        return self.names.at(self.source.name, offset)

    def declared_at(self, placed: NameOccurrence) -> tuple[Span, ...]:
        """Return the places of the declarations that a name refers to, or its own if it declares something."""
        span = placed.name.span
        uses = {} if self.resolved is None else self.resolved.workspace.uses
        return uses.get(span) or ((span,) if span in self.names.declared else ())

    def uses_of(self, declared: Iterable[Span]) -> Iterator[Span]:
        """Yield the places of the names that may refer to any of these declarations, without the declarations."""
        wanted = frozenset(declared)
        uses = {} if self.resolved is None else self.resolved.workspace.uses
        yield from (use for use, places in uses.items() if wanted.intersection(places) and use not in wanted)

    @cached_property
    def findings(self) -> tuple[Diagnostic, ...]:
        """The findings that `wiregen check` has about the text, and those of `wiregen lint` that it can fix."""
        report = Report()
        report.merge(self.syntax_report)
        resolved = None if report.has_errors else self.resolved
        if resolved is not None:
            report.merge(self._name_report)
        if resolved is not None and not report.has_errors:
            subject = check_resolved(resolved, self.source.path, report)
            if subject is not None:
                imported = imported_names(self.source.path, self.roots, self.sources.unsaved, most=MOST_FILES)
                mentioned = subject.mentioned | imported
                lint(subject.protocol, subject.origins, mentioned, self.sources, report, rules=_LINTED)
        return report.diagnostics


_LINTED = ("unused", "unused-allow")
"""The lint rules whose findings can be fixed; the other ones are for reviews, and would mark most lines of a new file."""


def analyse(path: Path, roots: tuple[Path, ...], texts: Mapping[str, str]) -> Analysis | None:
    """Return the analysis of a file, or None if it cannot be read. `texts`: those of files that differ from what is saved."""
    sources, report = Sources(unsaved=texts), Report()
    source = load(path, sources, report)
    name = path.as_posix()
    if name not in sources:
        return None
    file = None if source is None else parse_partial(source, report)
    return Analysis(
        source=sources[name],
        sources=sources,
        roots=(path.parent, *roots),
        syntax_report=report,
        file=file,
    )
