"""From a name to its declaration and its uses, and a new name for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from lsprotocol.types import Location, TextEdit

from wiregen.language.diagnostics import Diagnostic, Span
from wiregen.language.importers import MOST_FILES, files_in, text_of
from wiregen.language.source import Source
from wiregen.tools.editor.analysis import Analysis
from wiregen.tools.editor.declared_names import NameOccurrence
from wiregen.tools.editor.positions import range_of

__all__ = ["RenameError", "Renaming", "definitions", "importers", "locations", "references", "rename"]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class RenameError(Exception):
    """A name cannot be given."""


def definitions(analysis: Analysis, placed: NameOccurrence) -> list[Location]:
    """Return the places of the declarations that a name may refer to."""
    return locations(analysis, analysis.declared_at(placed))


def references(
    analyses: Iterable[Analysis], declared: Iterable[Span], *, with_declarations: bool
) -> list[Location]:
    """Return the places of the uses of some declarations in these files."""
    places = tuple(declared)
    found: dict[tuple[str, int], Location] = {}
    for analysis in analyses:
        wanted = (*(places if with_declarations else ()), *analysis.uses_of(places))
        for span, location in zip(wanted, locations(analysis, wanted), strict=True):
            found[span.source, span.start] = location
    return [location for _, location in sorted(found.items(), key=lambda each: each[0])]


def locations(analysis: Analysis, spans: Iterable[Span]) -> list[Location]:
    """Return spans of files of an analysis as locations."""
    sources = ((analysis.sources[span.source], span) for span in spans)
    return [Location(uri=uri_of(source), range=range_of(source, span)) for source, span in sources]


def uri_of(source: Source) -> str:
    return source.path.absolute().as_uri()


def importers(
    analysis: Analysis,
    declared: Iterable[Span],
    analyse: Callable[[Path], Analysis | None],
    unsaved: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Analysis]:
    """Yield the analyses of the files of some declarations, and of those that read these files by imports and may use them.

    `unsaved`: the texts that files have in the editor.
    """
    places = tuple(declared)
    declaring = {span.source for span in places}
    words = {analysis.sources[span.source].text[span.start : span.end] for span in places}
    seen: set[str] = set()
    for path in (
        *(analysis.sources[name].path for name in sorted(declaring)),
        *files_in(analysis.roots, unsaved, most=MOST_FILES),
    ):
        name = path.as_posix()
        if name in seen:
            continue
        seen.add(name)
        found = analyse(path) if name in declaring or _may_use(path, words, unsaved) else None
        if found is not None and any(map(found.reads, declaring)):
            yield found


def _may_use(path: Path, words: Iterable[str], unsaved: Mapping[str, str]) -> bool:
    """Return whether a file has the word `import` and one of these names, which takes much less time than its analysis."""
    text = text_of(path, unsaved)
    return "import" in text and any(word in text for word in words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """The edits that give the declarations and all their uses a name, by file.

    Attributes:
        texts: Those of the changed files; each has to be analysed with them and checked.
        before: The analyses of these files as they are.
    """

    name: str
    edits: Mapping[str, list[TextEdit]]
    texts: Mapping[Path, str]
    before: Mapping[Path, Analysis]

    def check(self, changed: Analysis) -> None:
        """Check a file with its new text.

        Raises:
            RenameError: It would have errors.
        """
        _check(changed, self.before[changed.source.path], self.name)


def rename(analyses: Iterable[Analysis], declared: Iterable[Span], name: str) -> Renaming:
    """Return the renaming of some declarations in these files.

    Raises:
        RenameError: The text is not a name.
    """
    if not _NAME.fullmatch(name):
        raise RenameError(f"`{name}` is not a name: use letters, digits and underscores, and no digit first")
    places = frozenset(declared)
    edits: dict[str, list[TextEdit]] = {}
    texts: dict[Path, str] = {}
    before: dict[Path, Analysis] = {}
    for analysis in analyses:
        source = analysis.source
        spans = sorted(
            (each for each in {*places, *analysis.uses_of(places)} if each.source == source.name),
            key=lambda each: each.start,
        )
        if spans:
            before[source.path] = analysis
            texts[source.path] = _replaced(source.text, spans, name)
            edits[uri_of(source)] = [TextEdit(range=range_of(source, span), new_text=name) for span in spans]
    return Renaming(name=name, edits=edits, texts=texts, before=before)


def _check(changed: Analysis, before: Analysis, name: str) -> None:
    """Refuse a name with which a file has another error, or other names refer to each other, than now."""
    if before.syntax_report.has_errors:
        raise RenameError(
            f"correct the errors in {before.source.path.name} first: {_errors(before)[0].message}"
        )
    known = [(each.code, each.message) for each in _errors(before)]
    for error in _errors(changed):
        if (error.code, error.message) not in known:
            raise RenameError(f"`{name}` does not fit here: {error.message}")
    if _links(changed) != _links(before):
        raise RenameError(f"`{name}` means something else in {before.source.path.name}")


def _links(analysis: Analysis) -> list[list[int]]:
    """Return for each name of a file the numbers of the names that it refers to, those of all files in their order."""
    numbers = {each.name.span: number for number, each in enumerate(analysis.names.placed)}
    own = (each for each in analysis.names.placed if each.name.span.source == analysis.source.name)
    return [sorted(numbers[span] for span in analysis.declared_at(each) if span in numbers) for each in own]


def _replaced(text: str, spans: Iterable[Span], name: str) -> str:
    parts: list[str] = []
    end = 0
    for span in spans:
        parts += (text[end : span.start], name)
        end = span.end
    return "".join((*parts, text[end:]))


def _errors(analysis: Analysis) -> list[Diagnostic]:
    return [each for each in analysis.findings if each.severity == "error"]
