"""Regular files of bounded size: the only way in which untrusted files are read.

Invariant: no call waits for a pipe, reads a device, or holds more bytes than the caller's limit.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

__all__ = ["NotRegularError", "TooLargeError", "read_regular", "read_regular_text"]

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class NotRegularError(OSError):
    """The path leads to a folder, a pipe, a socket or a device."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(errno.EINVAL, "not a regular file", str(path))


class TooLargeError(OSError):
    """The file holds more bytes than the caller reads."""

    def __init__(self, path: str | Path, limit: int) -> None:
        super().__init__(errno.EFBIG, f"larger than {limit} bytes", str(path))


def read_regular(path: Path, limit: int, *, follow_links: bool = True) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raises:
        NotRegularError: The path, or the target of its link, is something else.
        TooLargeError: The file is larger.
        OSError: The system refuses; without `follow_links`, also for a symbolic link.
    """
    if not follow_links and path.is_symlink():  # for systems without O_NOFOLLOW
        raise NotRegularError(path)
    try:
        with open(path, "rb", opener=_without_waiting if follow_links else _without_links) as file:
            return _content(file.fileno(), path, limit)
    except IsADirectoryError:
        raise NotRegularError(path) from None


def read_regular_text(path: Path, limit: int, *, follow_links: bool = True) -> str:
    """Return the text of a regular file in UTF-8, its line ends as `\\n`.

    Raises:
        UnicodeDecodeError: The content is not UTF-8.
        OSError: As `read_regular` raises it.
    """
    text = read_regular(path, limit, follow_links=follow_links).decode()
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _content(descriptor: int, path: Path, limit: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularError(path)
    if status.st_size > limit:
        raise TooLargeError(path, limit)
    parts, n_read = [], 0
    while part := os.read(descriptor, min(limit + 1 - n_read, 1 << 20)):
        parts.append(part)
        n_read += len(part)
        if n_read > limit:  # it grows while it is read, or its file system gives no size (/proc)
            raise TooLargeError(path, limit)
    return b"".join(parts)


def _without_waiting(path: str, flags: int) -> int:
    # A named pipe without a writer would otherwise hold the caller for ever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))


def _without_links(path: str, flags: int) -> int:
    return _without_waiting(path, flags | _NOFOLLOW)
