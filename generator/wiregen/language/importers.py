"""The files that may import from another one, and the names that they import from it.

They are read as text: a file with errors imports too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from wiregen.language.regular_files import read_regular
from wiregen.language.source import MAX_SOURCE_SIZE, SUFFIX

__all__ = ["files_in", "imported_names", "text_of"]

_MOST_FILES: Final = 1000
"""The most files of all folders together that are read."""
_GAP: Final = r"(?:\s|//[^\n]*\n)*"
_NAME: Final = r"`?\w+`?"


def imported_names(
    path: Path, folders: Iterable[Path], unsaved: Mapping[str, str] = MappingProxyType({})
) -> frozenset[str]:
    """Return the names that files in some folders import from a file.

    `unsaved`: texts that are read instead of the files of these names, as an editor has them.
    """
    found: set[str] = set()
    names = rf"({_NAME}(?:{_GAP},{_GAP}{_NAME})*)"
    statement = re.compile(rf"^\s*import\s+`?{re.escape(path.stem)}`?{_GAP}:{_GAP}{names}", re.MULTILINE)
    for other in files_in(folders):
        for statement_found in statement.finditer(text_of(other, unsaved)):
            found.update(re.findall(r"\w+", re.sub(r"//[^\n]*", "", statement_found[1])))
    return frozenset(found)


def text_of(path: Path, unsaved: Mapping[str, str]) -> str:
    """Return the text of a file, "" if it cannot be read."""
    text = unsaved.get(path.as_posix())
    if text is not None:
        return text
    try:
        return read_regular(path, MAX_SOURCE_SIZE).decode(errors="replace")
    except (OSError, ValueError):
        return ""


def files_in(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the `.wire` files of some folders, without links that lead out of them."""
    absolute = dict.fromkeys(folder.absolute() for folder in folders if folder.is_dir())
    paths = (
        path for folder in absolute for path in sorted(folder.glob(f"*{SUFFIX}")) if _is_inside(path, folder)
    )
    yield from (path for _, path in zip(range(_MOST_FILES), paths, strict=False))


def _is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # RuntimeError: links that go round in a circle
        return False
