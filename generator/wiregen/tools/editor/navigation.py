"""From a name to its declaration and its uses, and a new name for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from lsprotocol.types import Location, TextEdit

from wiregen.language.diagnostics import Diagnostic, Span
from wiregen.language.regular_files import read_regular
from wiregen.language.source import MAX_SOURCE_SIZE, SUFFIX, Source
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


def importers(
    analysis: Analysis, declared: Iterable[Span], analyse: Callable[[Path], Analysis | None]
) -> Iterator[Analysis]:
    """Yield the analyses of the files of some declarations, and of those that read these files by imports."""
    declaring = {span.source for span in declared}
    seen: set[str] = set()
    for path in (*(analysis.sources[name].path for name in sorted(declaring)), *_files(analysis.roots)):
        name = path.as_posix()
        if name in seen:
            continue
        seen.add(name)
        found = analyse(path) if name in declaring or _may_import(path) else None
        if found is not None and any(map(found.reads, declaring)):
            yield found


def _may_import(path: Path) -> bool:
    """Return whether a file has the word `import`."""
    try:
        return b"import" in read_regular(path, MAX_SOURCE_SIZE)
    except (OSError, ValueError):
        return False


def _files(roots: Iterable[Path]) -> Iterator[Path]:
    """Yield the files of some folders, without links that lead out of them."""
    folders = dict.fromkeys(root.absolute() for root in roots if root.is_dir())
    paths = (
        path for folder in folders for path in sorted(folder.glob(f"*{SUFFIX}")) if _is_inside(path, folder)
    )
    yield from (path for _, path in zip(range(_MOST_FILES), paths, strict=False))


def _is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # RuntimeError: links that go round in a circle
        return False


def rename(
    analyses: Iterable[Analysis],
    declared: Iterable[Span],
    name: str,
    again: Callable[[Mapping[Path, str]], Iterable[Analysis]],
) -> dict[str, list[TextEdit]]:
    """Return the edits that give the declarations and all their uses a name, by file.

    `again`: analyses files with other texts.

    Raises:
        RenameError: The text is not a name, or the files would have errors with it.
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
    for analysis in again(texts):
        _check(analysis, next(each for each in files if each.source.path == analysis.source.path), name)
    return edits


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
