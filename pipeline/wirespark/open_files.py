"""Open files: whether one is still the same, and parts of it with positions of their own."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["FileView", "FirstBytes", "OpenState", "open_state"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenState:
    """Numbers of an open file that differ if it has changed or is another one."""

    size: int
    modified: int
    changed: int
    device: int
    number: int


def open_state(file: BinaryIO) -> OpenState:
    status = os.fstat(file.fileno())
    return OpenState(
        size=status.st_size,
        modified=status.st_mtime_ns,
        changed=status.st_ctime_ns,
        device=status.st_dev,
        number=status.st_ino,
    )


class FileView(io.RawIOBase):
    """The first bytes of an open file, with a position of its own."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__()
        self.name = file.name
        self._descriptor = file.fileno()
        self._left = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")[: self._left]
        n_bytes = os.preadv(self._descriptor, [view], self._position) if view else 0
        self._position += n_bytes
        self._left -= n_bytes
        return n_bytes


class FirstBytes(io.RawIOBase):
    """The first bytes of a file that was just opened, wherever it is."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__()
        self._file = file
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self._file.read(min(len(view), self._left))
        view[: len(data)] = data
        self._left -= len(data)
        return len(data)
