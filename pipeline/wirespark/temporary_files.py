"""Files being written: under temporary names, and locked, so that others see whether their writer is alive."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

__all__ = ["TEMPORARY", "HiddenFile", "alone", "remove_left"]

TEMPORARY = ".tmp"


class HiddenFile:
    """A new hidden file next to `path`, to be renamed to it; Spark and Arrow skip names that begin with a dot.

    It is locked until `release`, or until the process ends, however it ends.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            self.path = path.with_name(f".{path.stem}.{uuid4().hex}{TEMPORARY}")
            self._descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
            _lock(self._descriptor, fcntl.LOCK_EX)
            if os.fstat(self._descriptor).st_nlink:
                return
            os.close(self._descriptor)  # somebody who cleaned was quicker than the lock

    def release(self) -> None:
        """Release the lock, whatever the name of the file is by now."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def drop(self) -> None:
        """Remove the file, and release the lock."""
        self.path.unlink(missing_ok=True)
        self.release()


def remove_left(path: Path) -> None:
    """Remove such a file if its writer is gone. Where the disk has no locks, the file stays."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(descriptor)


@contextmanager
def alone(path: Path, *, is_shared: bool = False) -> Iterator[None]:
    """Run the block under a lock on the file: exclusively, or together with others that share it."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        _lock(descriptor, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):
            os.close(descriptor)


def _lock(descriptor: int, kind: int) -> None:
    try:
        fcntl.flock(descriptor, kind)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL):
            raise
