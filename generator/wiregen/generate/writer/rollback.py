"""Rolling back an interrupted build by its journal, which is untrusted and checked against manifests and hashes.

Invariant: all entries are verified before the first change. A file is replaced or removed only if its content
has the hash that the build's own manifest has for that path. A content is restored only if the former
manifest names its path.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from wiregen.generate.writer.manifest import MAX_MANIFEST_SIZE, files_of, hash_of, hash_of_file, read_manifest
from wiregen.generate.writer.paths import (
    MANIFEST,
    STAGING,
    WriteError,
    check_parents,
    check_paths,
    is_regular,
)
from wiregen.language.regular_files import read_regular


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalLine:
    """A line of the journal: the hashes of a path's contents before and after the build, or None for a missing file."""

    path: PurePosixPath
    old: str | None
    new: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Undo:
    """A change that was carried out; `saved` is the old content, or None if there was none."""

    path: PurePosixPath
    saved: Path | None


def check_entries(entries: tuple[JournalLine, ...], journal: Path) -> None:
    """Refuse entries that builds never write.

    Raises:
        WriteError: A path is unsafe or a duplicate, or its content does not change.
    """
    paths = [entry.path for entry in entries]
    if len(set(paths)) < len(paths) or any(entry.old == entry.new for entry in entries):
        raise WriteError(f"{journal} is not a journal of wiregen's: delete {journal.parent}")
    try:
        check_paths(path for path in paths if path != MANIFEST)
    except WriteError as error:
        raise WriteError(f"{journal}: {error}") from None


def roll_back(entries: tuple[JournalLine, ...], folder: Path) -> None:
    """Restore each old content and remove each file that did not exist; may be interrupted and repeated.

    Raises:
        WriteError: An entry cannot be verified; files are unchanged.
    """
    check_parents((entry.path for entry in entries), folder)
    before, after = _manifests(entries, folder)
    undone = tuple(_undone(entries, before, after, folder))
    for undo in undone:
        if undo.path != MANIFEST:
            _carry_back(undo, folder)
    created = (entry.path for entry in entries if entry.old is None and str(entry.path) in after)
    remove_empty_folders(created, folder)
    for undo in undone:
        if undo.path == MANIFEST:  # last: a repeated roll-back verifies by it
            _carry_back(undo, folder)


def remove_empty_folders(paths: Iterable[PurePosixPath], folder: Path) -> None:
    """Remove the empty folders above these files, below `folder`."""
    parents = {parent for path in paths for parent in path.parents[:-1]}
    for parent in sorted(parents, key=lambda parent: len(parent.parts), reverse=True):
        with suppress(OSError):  # not empty, or gone with another
            (folder / parent).rmdir()


def _undone(
    entries: tuple[JournalLine, ...], before: dict[str, str], after: dict[str, str], folder: Path
) -> Iterator[_Undo]:
    """Yield the changes to be undone, each verified."""
    for index, entry in enumerate(entries):
        place, saved = folder / entry.path, folder / STAGING / "old" / str(index)
        found = _hash_there(place)
        if found == entry.old:
            continue
        name, is_manifest = str(entry.path), entry.path == MANIFEST
        if found != entry.new:
            raise _refusal(place, "is neither as the interrupted build found it nor as it left it", folder)
        if not is_manifest and (
            after.get(name) != entry.new or (entry.old is not None and name not in before)
        ):
            raise _refusal(place, "is in the journal of an interrupted build, and in no manifest", folder)
        if entry.old is not None and (not is_regular(saved) or hash_of_file(saved) != entry.old):
            raise _refusal(saved, "is not the content that the journal names", folder)
        yield _Undo(path=entry.path, saved=None if entry.old is None else saved)


def _manifests(entries: tuple[JournalLine, ...], folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the manifests before and after the build; {} if the one with the journal's hash is missing."""
    for index, entry in enumerate(entries):
        if entry.path == MANIFEST:
            old, new = (folder / STAGING / name / str(index) for name in ("old", "new"))
            return (
                _manifest_of(entry.old, folder / MANIFEST, old),
                _manifest_of(entry.new, folder / MANIFEST, new),
            )
    same = read_manifest(folder)
    return same, same


def _manifest_of(hash_: str | None, *places: Path) -> dict[str, str]:
    for place in places:
        with suppress(OSError):
            content = read_regular(place, MAX_MANIFEST_SIZE, follow_links=False)
            if hash_of(content) == hash_:
                return files_of(content)
    return {}


def _hash_there(place: Path) -> str | None:
    """Return the hash of a file, or None if it does not exist.

    Raises:
        WriteError: The path is not a file that a build could have written.
    """
    if not os.path.lexists(place):
        return None
    if found := hash_of_file(place):
        return found
    raise WriteError(f"{place} is in the way: not a regular file of a generated file's size")


def _refusal(place: Path, reason: str, folder: Path) -> WriteError:
    return WriteError(f"{place} {reason}: delete {folder / STAGING}, then build again")


def _carry_back(undo: _Undo, folder: Path) -> None:
    place = folder / undo.path
    if undo.saved is None:
        _if_there(place.unlink)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(undo.saved, place)


def _if_there(action: Callable[[], None]) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        action()
