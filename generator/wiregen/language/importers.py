"""The files that may import from another one, and the names that they import from it.

They are read as text: a file with errors imports too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Final

from wiregen.language.regular_files import read_regular
from wiregen.language.source import MAX_SOURCE_SIZE, SUFFIX

__all__ = ["MOST_FILES", "files_in", "imported_names", "text_of"]

MOST_FILES: Final = 1000
"""The most files of all folders together that an editor reads."""
_PROSE: Final = re.compile(r'"[^"\n]*"|//[^\n]*')
"""Texts and comments."""
_NAME: Final = r"`?\w+`?"


def imported_names(
    path: Path,
    folders: Iterable[Path],
    unsaved: Mapping[str, str] = MappingProxyType({}),
    *,
    most: int | None = None,
) -> frozenset[str]:
    """Return the names that files in some folders import from a file.

    `unsaved`: texts that are read instead of the files of these names, as an editor has them. `most`: the number of files
    that are read.
    """
    found: set[str] = set()
    statement = re.compile(
        rf"\bimport\s+`?{re.escape(path.stem)}`?\s*:\s*({_NAME}(?:\s*,\s*{_NAME})*)", re.ASCII
    )
    for other in files_in(folders, unsaved, most=most):
        text = text_of(other, unsaved)
        if "import" in text and path.stem in text:
            for names in statement.findall(_PROSE.sub("", text)):
                found.update(re.findall(r"\w+", names))
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


def files_in(
    folders: Iterable[Path], unsaved: Iterable[str] = (), *, most: int | None = None
) -> Iterator[Path]:
    """Yield the `.wire` files of some folders, without links that lead out of them, and those that only an editor has."""
    absolute = dict.fromkeys(folder.absolute() for folder in folders if folder.is_dir())
    saved = (
        path for folder in absolute for path in sorted(folder.glob(f"*{SUFFIX}")) if _is_inside(path, folder)
    )
    opened = (path for path in map(Path, unsaved) if path.parent in absolute and not path.exists())
    yield from islice(chain(opened, saved), most)


def _is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # RuntimeError: links that go round in a circle
        return False
