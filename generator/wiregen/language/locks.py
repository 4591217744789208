"""Locks: decisions that a build stores next to a .wire file, so that a later build cannot change them.

Invariant: only a regular file next to a .wire file is read or written, and no symbolic link is followed.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from wiregen.language.diagnostics import Report
from wiregen.language.regular_files import read_regular, read_regular_text

__all__ = ["LOCK_SUFFIX", "LockError", "read_lock", "write_lock"]

LOCK_SUFFIX: Final = ".lock"
_LARGEST: Final = 8 * 1024 * 1024


class LockError(Exception):
    """A lock that cannot be written; the text says which and why."""


def read_lock(wire: Path, report: Report) -> str:
    """Return the text of the lock of a .wire file, or "" if it does not exist or cannot be read."""
    path = wire.with_suffix(LOCK_SUFFIX)
    try:
        if not os.path.lexists(path):
            return ""
        text = read_regular_text(path, _LARGEST, follow_links=False)
        if not text.strip():
            raise LockError("it is empty")
        return text
    except (OSError, UnicodeDecodeError, LockError) as error:
        reason = error.strerror or "unknown error" if isinstance(error, OSError) else str(error)
        report.error("WG5012", f"the lock `{path}` cannot be read: {reason}".lower(), None)
        return ""


def write_lock(path: Path, content: bytes) -> bool:
    """Set the text of a lock; return whether it was different.

    Raises:
        LockError: The path is not a regular file.
        OSError: The system refuses; the lock is unchanged.
    """
    if os.path.lexists(path):
        _refuse_strange(path)
        if read_regular(path, _LARGEST, follow_links=False) == content:
            return False
    other = path.with_name(f"{path.name}.new")
    other.unlink(missing_ok=True)
    with open(other, "xb") as file:
        file.write(content)
    os.replace(other, path)
    return True


def _refuse_strange(path: Path) -> None:
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        raise LockError(f"`{path}` is not a regular file")
    if status.st_size > _LARGEST:
        raise LockError(f"`{path}` is larger than {_LARGEST} bytes")
