"""The requests of sources to a remote storage: `S3Files`, `CloudFiles` and `HdfsFiles` answer them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from wirespark.storage import FileState

if TYPE_CHECKING:
    from pyarrow import NativeFile

__all__ = ["RemoteFiles"]


class RemoteFiles(Protocol):
    """The files of a bucket, a container or a name node. Their names are relative to it.

    All methods raise a PermissionError if the storage denies it, and an OSError if the storage cannot be reached or opened.
    """

    def state(self, name: str) -> FileState | None:
        """Return the state of a file, or None for a folder.

        Raises:
            FileNotFoundError: There is neither.
        """

    def below(self, folder: str, patterns: Sequence[str]) -> Iterator[tuple[tuple[str, ...], FileState]]:
        """Yield the files below a folder, if there is one: the parts of their names in it, and their states.

        Those whose first parts do not match the patterns, and hidden ones, may be left out.
        """

    def open(self, name: str) -> NativeFile:
        """Open a file to read it.

        Raises:
            FileNotFoundError: It is gone.
        """
