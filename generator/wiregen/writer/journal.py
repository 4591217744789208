"""Renames that are all done or all undone: contents staged, old ones linked, a journal, then the renames.

Invariant: while the journal lies there, every old content is either in its place or under `old`.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from wiregen.writer.paths import MANIFEST, STAGING, WriteError, is_clear_of_links, is_regular, path_fault

_JOURNAL = "journal.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One rename of a build: `content` None deletes; `was_there` says whether the path has an old content to go back to."""

    path: PurePosixPath
    content: bytes | None
    was_there: bool


def apply(changes: tuple[Change, ...], folder: Path) -> None:
    if not changes:
        return
    staging = folder / STAGING
    try:
        _stage(changes, folder)
        for index, change in enumerate(changes):
            _carry_out(change, staging / "new" / str(index), folder / change.path)
        _remove_empty_folders((change.path for change in changes if change.content is None), folder)
        (staging / _JOURNAL).unlink()
    except BaseException:
        recover(folder)
        raise
    shutil.rmtree(staging, ignore_errors=True)


def recover(folder: Path) -> bool:
    """Roll back a build that was killed among its renames; return whether there was one.

    Raises:
        WriteError: The journal is not one of ours, or there is a symbolic link where it lies.
    """
    staging = folder / STAGING
    if not os.path.lexists(staging):
        return False
    for place in (folder, staging, staging / "old"):
        if place.is_symlink():
            raise WriteError(f"{place} is a symbolic link")
    journal = staging / _JOURNAL
    if was_under_way := journal.is_file():
        _roll_back(_read_journal(journal), folder)
        journal.unlink()
    shutil.rmtree(staging)
    return was_under_way


def write_file(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as file:
        file.write(content)


def _stage(changes: tuple[Change, ...], folder: Path) -> None:
    """Prepare all contents, new and old; the journal comes last and whole."""
    staging = folder / STAGING
    for name in ("new", "old"):
        (staging / name).mkdir(parents=True)
    for index, change in enumerate(changes):
        if change.content is not None:
            write_file(staging / "new" / str(index), change.content)
        if change.was_there:
            _second_link(folder / change.path, staging / "old" / str(index))
    entries = [{"path": str(change.path), "was_there": change.was_there} for change in changes]
    write_file(staging / "journal.new", json.dumps(entries).encode())
    os.replace(staging / "journal.new", staging / _JOURNAL)


def _second_link(place: Path, link: Path) -> None:
    try:
        os.link(place, link)
    except OSError:  # a file system without hard links
        shutil.copy2(place, link)


def _carry_out(change: Change, staged: Path, place: Path) -> None:
    if change.content is None:
        place.unlink()
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    os.replace(staged, place)


def _read_journal(journal: Path) -> tuple[Change, ...]:
    try:
        entries = json.loads(journal.read_bytes())
        changes = tuple(
            Change(path=PurePosixPath(entry["path"]), content=None, was_there=entry["was_there"] is True)
            for entry in entries
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise WriteError(f"{journal} is not a journal of wiregen's: delete {journal.parent}") from error
    for change in changes:
        if change.path != MANIFEST and (fault := path_fault(change.path)):
            raise WriteError(f"{journal}: {str(change.path)!r} {fault}")
    return changes


def _roll_back(changes: tuple[Change, ...], folder: Path) -> None:
    """Bring back what was there and remove what was not; may itself be interrupted and repeated."""
    for index, change in enumerate(changes):
        place, old = folder / change.path, folder / STAGING / "old" / str(index)
        if not is_clear_of_links(change.path, folder):
            raise WriteError(f"{place} lies behind a symbolic link")
        if not change.was_there:
            _if_there(place.unlink)
        elif is_regular(old):  # else it is back already
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(old, place)
    _remove_empty_folders((change.path for change in changes if not change.was_there), folder)


def _if_there(action: Callable[[], None]) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        action()


def _remove_empty_folders(paths: Iterable[PurePosixPath], folder: Path) -> None:
    parents = {parent for path in paths for parent in path.parents[:-1]}
    for parent in sorted(parents, key=lambda parent: len(parent.parts), reverse=True):
        with suppress(OSError):  # not empty, or gone with another
            (folder / parent).rmdir()
