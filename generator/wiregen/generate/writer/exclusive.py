"""One writer of a tree at a time: an exclusive lock of the system on a file next to the tree.

Invariant: the system releases the lock of a process that ends in any way; the file alone does not lock. Its
text, the number of the writing process, is only displayed.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from wiregen.generate.writer.paths import LOCK, WriteError

_POLL: Final = 0.05  # seconds between two attempts
_LONGEST: Final = 600.0  # seconds
_PLACE: Final = 1 << 30  # byte that is locked on Windows, where locked bytes cannot be read
_MAX_DIGITS: Final = 12

try:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

except ImportError:  # Windows
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True


@contextmanager
def exclusive(
    folder: Path, at_wait: Callable[[str], None] = lambda text: None, *, seconds: float = _LONGEST
) -> Iterator[None]:
    """Hold the exclusive right to write `folder`, which need not exist; `at_wait` gets the holder's number once.

    Raises:
        WriteError: Another process held it for `seconds`, or the place of the lock is not a regular file.
        OSError: The lock can be made neither next to the folder nor in it.
    """
    place, descriptor = _locked(folder, at_wait, seconds)
    try:
        yield
    finally:
        _release(place, descriptor)


def _locked(folder: Path, at_wait: Callable[[str], None], seconds: float) -> tuple[Path, int]:
    """Return the lock's path and its open descriptor; wait while another process holds it."""
    end, was_told = time.monotonic() + seconds, False
    while True:
        place, descriptor = _opened(folder)
        try:
            is_locked = _try_lock(descriptor)
            if is_locked and _is_still_there(place, descriptor):
                _note_process(descriptor)
                return place, descriptor
            holder = _holder(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if is_locked:
            continue
        if time.monotonic() >= end:
            raise WriteError(f"{folder} is being written by {holder} for more than {seconds:.0f} s")
        if not was_told:
            at_wait(f"waiting for {holder}, which is writing {folder}")
            was_told = True
        time.sleep(_POLL)


def _opened(folder: Path) -> tuple[Path, int]:
    """Open the lock's file next to the folder, or in it if files cannot be made next to it (a mounted folder)."""
    place = folder.with_name(f".{folder.name}{LOCK}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        return place, _open(place)
    except OSError:
        if not folder.is_dir() or folder.is_symlink() or os.path.lexists(place):
            raise
    return folder / LOCK, _open(folder / LOCK)


def _open(place: Path) -> int:
    """Open or make a regular file that has only one name: a link would be written through.

    Raises:
        WriteError: The path is not such a file.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if os.path.lexists(place) and not stat.S_ISREG(place.lstat().st_mode):
        raise WriteError(f"{place} is in the way: not a regular file")
    descriptor = os.open(place, flags | getattr(os, "O_CLOEXEC", 0), 0o666)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_nlink <= 1:
        return descriptor
    os.close(descriptor)
    raise WriteError(f"{place} is in the way: not a regular file of one name")


def _is_still_there(place: Path, descriptor: int) -> bool:
    """Return whether the locked file is the one at its path: its former holder may have removed it meanwhile."""
    try:
        return os.path.samestat(place.lstat(), os.fstat(descriptor))
    except OSError:
        return False


def _release(place: Path, descriptor: int) -> None:
    """Remove the file while it is locked, so that other processes cannot lock it meanwhile; then always unlock."""
    if os.name == "nt":  # Windows does not remove an open file: the waiting process removes it later
        os.close(descriptor)
    try:
        with suppress(OSError):
            place.unlink()
    finally:
        if os.name != "nt":
            os.close(descriptor)


def _note_process(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, f"{os.getpid()}\n".encode())


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    noted = os.read(descriptor, _MAX_DIGITS + 1).strip()
    return f"process {noted.decode()}" if noted.isdigit() else "another process"
