"""The requests of sources to a remote storage: `S3Files`, `CloudFiles` and `HdfsFiles` answer them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from wirespark.storage import FileState

if TYPE_CHECKING:
    from datetime import datetime

    from pyarrow import NativeFile

__all__ = ["ListedFile", "RemoteFiles", "state_of_object"]


class ListedFile(NamedTuple):
    """A file below a folder: the parts of its name there, and its state."""

    parts: tuple[str, ...]
    state: FileState


class RemoteFiles(Protocol):
    """The files of a bucket, a container or a name node. Their names are relative to it.

    All methods raise a PermissionError if the storage denies it, and an OSError if the storage cannot be reached or opened.
    """

    def state(self, name: str) -> FileState | None:
        """Return the state of a file, or None for a folder.

        Raises:
            FileNotFoundError: There is neither.
        """

    def below(self, folder: str, patterns: Sequence[str]) -> Iterator[ListedFile]:
        """Yield the files below a folder, if there is one.

        Those whose first parts do not match the patterns, and hidden ones, may be left out.
        """

    def open(self, name: str) -> NativeFile:
        """Open a file to read it.

        Raises:
            FileNotFoundError: It is gone.
        """


def state_of_object(size: int, modified: datetime) -> FileState:
    """Return the state of an object. Stores tell fractions of a second in listings and not elsewhere, or round them in two ways."""
    return FileState(size=size, modified=int(modified.timestamp()) * 1_000_000_000)
