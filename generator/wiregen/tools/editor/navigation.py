"""From a name to its declaration and its uses, and a new name for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from lsprotocol.types import Location, TextEdit

from wiregen.language import syntax
from wiregen.language.diagnostics import Diagnostic, Span
from wiregen.language.source import SUFFIX, Source
from wiregen.tools.editor.analysis import Analysis
from wiregen.tools.editor.declared_names import NameOccurrence
from wiregen.tools.editor.positions import range_of

__all__ = ["RenameError", "definitions", "importers", "locations", "references", "rename"]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_FILES: Final = 1000
"""The most files of a folder that are searched for imports."""


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


def importers(analysis: Analysis, analyse: Callable[[Path], Analysis | None]) -> Iterator[Analysis]:
    """Yield the analysis, and those of the files of its roots that import the file."""
    yield analysis
    if analysis.file is None:
        return
    protocol = analysis.file.protocol.name.text
    for path in _files(analysis.roots):
        other = analyse(path) if path.absolute() != analysis.source.path.absolute() else None
        if other is not None and other.file is not None and _imports(other.file, protocol):
            yield other


def _files(roots: Iterable[Path]) -> Iterator[Path]:
    folders = dict.fromkeys(root.absolute() for root in roots if root.is_dir())
    paths = (path for folder in folders for path in sorted(folder.glob(f"*{SUFFIX}")))
    yield from (path for _, path in zip(range(_MOST_FILES), paths, strict=False))


def _imports(file: syntax.File, protocol: str) -> bool:
    imports = (each for each in file.declarations if isinstance(each, syntax.Import))
    return any(each.protocol.text == protocol for each in imports)


def rename(
    analyses: Iterable[Analysis],
    declared: Iterable[Span],
    name: str,
    again: Callable[[Mapping[Path, str]], Iterable[Analysis]],
) -> dict[str, list[TextEdit]]:
    """Return the edits that give the declarations and all their uses a name, by file.

    `again`: analyses files with other texts.

    Raises:
        RenameError: The name is none, or the files would have errors with it.
    """
    if not _NAME.fullmatch(name):
        raise RenameError(f"`{name}` is not a name: use letters, digits and underscores, and no digit first")
    files = tuple(analyses)
    places = frozenset(declared)
    edits: dict[str, list[TextEdit]] = {}
    texts: dict[Path, str] = {}
    for analysis in files:
        source = analysis.source
        spans = sorted(
            (each for each in {*places, *analysis.uses_of(places)} if each.source == source.name),
            key=lambda each: each.start,
        )
        if spans:
            texts[source.path] = _replaced(source.text, spans, name)
            edits[uri_of(source)] = [TextEdit(range=range_of(source, span), new_text=name) for span in spans]
    known = {each.code for analysis in files for each in _errors(analysis)}
    for analysis in again(texts):
        for error in _errors(analysis):
            if error.code not in known:
                raise RenameError(f"`{name}` does not fit here: {error.message}")
    return edits


def _replaced(text: str, spans: Iterable[Span], name: str) -> str:
    parts: list[str] = []
    end = 0
    for span in spans:
        parts += (text[end : span.start], name)
        end = span.end
    return "".join((*parts, text[end:]))


def _errors(analysis: Analysis) -> Iterator[Diagnostic]:
    return (each for each in analysis.findings if each.severity == "error")
