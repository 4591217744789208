"""Folders of this user's cache that other users cannot write, so that what is found there may be used."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from wirespark.temporary_files import TEMPORARY, HiddenFile, remove_left

__all__ = ["keep", "place_of", "private_folder"]


def place_of(folder: str, facts: tuple[object, ...]) -> Path | None:
    """Return the place in a private folder of a JSON text that depends on the facts, or None if there is no such folder."""
    found = private_folder(folder)
    return None if found is None else found / f"{sha256(repr(facts).encode()).hexdigest()}.json"


def keep(place: Path, text: str) -> None:
    """Write a text to its place, completely or not at all. A cache that cannot be written is ignored."""
    with suppress(OSError):
        for left in place.parent.glob(f".*{TEMPORARY}"):
            remove_left(left)
        held = HiddenFile(place)
        try:
            held.path.write_text(text, encoding="utf-8")
            os.replace(held.path, place)
        finally:
            held.drop()


def private_folder(name: str) -> Path | None:
    """Return the folder `wirespark/NAME` of the user's cache; create it if it is missing.

    Return None if it cannot be written, or if others can write there, or could put another folder in its place.
    """
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        cache.mkdir(parents=True, exist_ok=True)
        folder = cache / "wirespark"
        for each in (folder, folder / name):
            each.mkdir(mode=0o700, exist_ok=True)
            if not _is_own(each):
                return None
    except (OSError, RuntimeError):  # RuntimeError: the user has no home
        return None
    return folder / name if os.access(folder / name, os.W_OK) else None


def _is_own(folder: Path) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
