"""Renames that are all done or all undone: contents staged, old ones linked, a journal, then the renames.

Invariant: while the journal exists, every old content is either in its place or under `old`. The journal
holds the hashes of both contents of each path; `rollback` decides which of them it may change.
"""

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from wiregen.generate.writer.manifest import hash_of, hash_of_file
from wiregen.generate.writer.paths import STAGING, WriteError
from wiregen.generate.writer.rollback import JournalLine, check_entries, remove_empty_folders, roll_back
from wiregen.language.regular_files import read_regular

_JOURNAL: Final = "journal.json"
_MAX_JOURNAL_SIZE: Final = 64 * 2**20
_HASH: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True, slots=True)
class JournaledRename:
    """One rename of a build; `content` None deletes. `was_there`: whether the path has an old content to restore."""

    path: PurePosixPath
    content: bytes | None
    was_there: bool


def apply(changes: tuple[JournaledRename, ...], folder: Path) -> None:
    if not changes:
        return
    staging = folder / STAGING
    try:
        _stage(changes, folder)
        for index, change in enumerate(changes):
            _carry_out(change, staging / "new" / str(index), folder / change.path)
        remove_empty_folders((change.path for change in changes if change.content is None), folder)
        (staging / _JOURNAL).unlink()
    except BaseException:
        recover(folder)
        raise
    shutil.rmtree(staging, ignore_errors=True)


def recover(folder: Path) -> bool:
    """Roll back a build that was killed during its renames; return whether there was one.

    The caller holds the tree's lock.

    Raises:
        WriteError: The journal is not one of wiregen's or names a path that the manifests lack, or a file is neither
            in its old nor in its new state. Files are unchanged.
    """
    staging = folder / STAGING
    if not os.path.lexists(staging):
        return False
    for place in (folder, staging, staging / "old", staging / "new"):
        if place.is_symlink():
            raise WriteError(f"{place} is a symbolic link")
    if not staging.is_dir():
        raise WriteError(f"{staging} is in the way: not a folder")
    journal = staging / _JOURNAL
    if was_under_way := os.path.lexists(journal):
        roll_back(_read_journal(journal), folder)
        journal.unlink()
    shutil.rmtree(staging)
    return was_under_way


def write_file(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as file:
        file.write(content)


def _stage(changes: tuple[JournaledRename, ...], folder: Path) -> None:
    """Prepare all contents, new and old; the journal is written last, as a whole."""
    staging = folder / STAGING
    for name in ("new", "old"):
        (staging / name).mkdir(parents=True)
    entries = [_staged(change, index, folder) for index, change in enumerate(changes)]
    write_file(staging / "journal.new", json.dumps(entries).encode())
    os.replace(staging / "journal.new", staging / _JOURNAL)


def _staged(change: JournaledRename, index: int, folder: Path) -> dict[str, str | None]:
    """Stage both contents of a change; return its entry in the journal."""
    staging = folder / STAGING
    old = new = None
    if change.content is not None:
        write_file(staging / "new" / str(index), change.content)
        new = hash_of(change.content)
    if change.was_there:
        _second_link(folder / change.path, staging / "old" / str(index))
        old = hash_of_file(staging / "old" / str(index))
        if old is None:
            raise WriteError(f"{folder / change.path} is in the way: larger than any generated file")
    return {"path": str(change.path), "old": old, "new": new}


def _second_link(place: Path, link: Path) -> None:
    try:
        os.link(place, link)
    except OSError:  # the file system has no hard links
        shutil.copy2(place, link)


def _carry_out(change: JournaledRename, staged: Path, place: Path) -> None:
    if change.content is None:
        place.unlink()
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    os.replace(staged, place)


def _read_journal(journal: Path) -> tuple[JournalLine, ...]:
    try:
        listed = json.loads(read_regular(journal, _MAX_JOURNAL_SIZE, follow_links=False))
        entries = tuple(
            JournalLine(path=PurePosixPath(each["path"]), old=_hash(each["old"]), new=_hash(each["new"]))
            for each in listed
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise WriteError(f"{journal} is not a journal of wiregen's: delete {journal.parent}") from error
    check_entries(entries, journal)
    return entries


def _hash(value: object) -> str | None:
    if value is None or (isinstance(value, str) and _HASH.fullmatch(value)):
        return value
    raise ValueError(value)
