"""Folders of this user's cache that other users cannot write, so that what is found there may be used.

Invariant: a folder has files of one suffix, which count for its limit, and a lock file beside some of them.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from wirespark.temporary_files import TEMPORARY, HiddenFile, remove_left

__all__ = ["keep", "kept", "make_room", "place_of", "private_folder"]

_MOST_KEPT = 16 << 20
"""Bytes of the texts in a folder, each of which counts as a block of a disk at least."""
_BLOCK = 4096
_SHARE = 16
"""Old files are removed after each 16th of `_MOST_KEPT` that a process writes. That takes 20 ms, as each file is looked at."""
_written: dict[Path, int] = {}
"""Bytes that this process has written to a folder since it removed old files there. Before its first write there is no number."""


def place_of(folder: str, facts: tuple[object, ...]) -> Path | None:
    """Return the place in a private folder of a JSON text that depends on the facts, or None if there is no such folder."""
    found = private_folder(folder)
    return None if found is None else found / f"{sha256(repr(facts).encode()).hexdigest()}.json"


def kept(place: Path) -> str | None:
    """Return the text in a place, which counts as used now, or None if there is none."""
    with suppress(OSError, UnicodeDecodeError):
        text = place.read_text(encoding="utf-8")
        with suppress(OSError):  # only the order of removal depends on it
            os.utime(place)
        return text
    return None


def keep(place: Path, text: str) -> None:
    """Write a text to its place, completely or not at all. A cache that cannot be written is ignored.

    Each process may have a 16th more than the limit in it, for a while.
    """
    with suppress(OSError):
        held = HiddenFile(place)
        try:
            held.path.write_text(text, encoding="utf-8")
            os.replace(held.path, place)
        finally:
            held.drop()
    size = _written.get(place.parent, _MOST_KEPT) + max(len(text), _BLOCK)
    _written[place.parent] = size
    if size >= _MOST_KEPT // _SHARE:
        make_room(place, _MOST_KEPT)
        _written[place.parent] = 0


def make_room(own: Path, most: int) -> None:
    """Remove what writers that are gone have left, and the least recently used files beyond `most` bytes, but not `own`.

    Only files with the suffix of `own` count. Those that are open stay readable. A file that another task removes first
    is no error.
    """
    with suppress(OSError):
        for left in own.parent.glob(f".*{TEMPORARY}"):
            remove_left(left)
        found = [(path.stat(), path) for path in own.parent.glob(f"*{own.suffix}")]
        size = sum(max(status.st_size, _BLOCK) for status, _ in found)
        for status, path in sorted(found, key=lambda each: each[0].st_mtime_ns):
            if size <= most:
                return
            if path != own:
                path.unlink(missing_ok=True)
                path.with_suffix(".lock").unlink(missing_ok=True)
                size -= max(status.st_size, _BLOCK)


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
