"""The paths that may be written: inside the folder, valid on every common system, not below a symbolic link."""

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from wiregen.language.regular_files import read_regular

MANIFEST: Final = PurePosixPath(".wiregen-manifest.json")
STAGING: Final = ".wiregen-staging"
LOCK: Final = ".wiregen-lock"

_MAX_NAME_SIZE = 255  # bytes, on all common file systems
_MAX_PATH_LENGTH = 1024  # characters, the least that a common system bounds (PATH_MAX of macOS)
_MAX_SHOWN = 200  # characters of a path in a message
_FORBIDDEN = re.compile(r'[<>:"\\|?*\x00-\x1f\x7f]')
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


class WriteError(Exception):
    """The output cannot be written safely; files are unchanged."""


def check_paths(paths: Iterable[PurePosixPath]) -> None:
    """Refuse paths that leave the folder, that are invalid on some system, or that are the same path on some system."""
    files: set[PurePosixPath] = set()
    spellings: dict[str, PurePosixPath] = {}
    for path in sorted(paths):
        if fault := path_fault(path):
            raise WriteError(f"{_shown(path)} {fault}")
        for part in (path, *path.parents[:-1]):
            twin = spellings.setdefault(unicodedata.normalize("NFC", str(part)).casefold(), part)
            if twin != part:
                raise WriteError(f"{part} and {twin} are the same path where case is ignored")
        files.add(path)
    for path in files:
        if clash := files.intersection(path.parents):
            raise WriteError(f"{clash.pop()} would be a file and a folder")


def path_fault(path: PurePosixPath) -> str | None:
    if path.is_absolute():
        return "is absolute"
    if not path.parts:
        return "is empty"
    if len(str(path)) > _MAX_PATH_LENGTH:
        return "is a path that is too long"
    if path.parts[0].casefold() in {STAGING, LOCK, str(MANIFEST)}:
        return "is a name that wiregen reserves"
    return next((fault for part in path.parts if (fault := _name_fault(part))), None)


def check_places(wanted: Mapping[PurePosixPath, bytes], folder: Path) -> None:
    """Refuse to write through symbolic links, and over paths that are not regular files."""
    check_parents(wanted, folder)
    for path in wanted:
        if os.path.lexists(folder / path) and not is_regular(folder / path):
            raise WriteError(f"{folder / path} is in the way: not a regular file")


def check_parents(paths: Iterable[PurePosixPath], folder: Path) -> None:
    """Refuse paths below a parent that is not itself a folder."""
    for parent in sorted({parent for path in paths for parent in path.parents}):
        place = folder / parent
        if os.path.lexists(place) and not stat.S_ISDIR(place.lstat().st_mode):
            raise WriteError(f"{place} is not a folder of its own (a file or a symbolic link)")


def is_inside(path: PurePosixPath, folder: Path) -> bool:
    parents = (folder / parent for parent in path.parents)
    return is_regular(folder / path) and not any(parent.is_symlink() for parent in parents)


def is_regular(path: Path) -> bool:
    """Return whether `path` itself, not the target of a link, is a regular file."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def holds(path: Path, content: bytes) -> bool:
    """Return whether `path` itself is a regular file with this content; at most that many bytes are read."""
    try:
        return is_regular(path) and read_regular(path, len(content), follow_links=False) == content
    except OSError:
        return False


def _shown(path: PurePosixPath) -> str:
    """Return a path for a message: characters that control a terminal are escaped, a long path is shortened."""
    text = str(path)
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…")


def _name_fault(name: str) -> str | None:
    if name == "..":
        return "leaves the output folder"
    if _FORBIDDEN.search(name) or name.endswith((" ", ".")) or _DEVICE.fullmatch(name):
        return "is not a valid path on every system"
    try:
        return None if len(name.encode()) <= _MAX_NAME_SIZE else "has a name that is too long"
    except UnicodeEncodeError:
        return "is not Unicode text"
