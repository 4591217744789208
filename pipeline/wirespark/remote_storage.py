"""Files in a remote storage: `pyarrow.fs` opens S3, obstore the stores of Azure and Google, hdfs-native HDFS.

Invariant: a failed request is never taken for the end of a file.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from wirespark.cloud_files import CloudFiles
from wirespark.cloud_stores import CLOUD
from wirespark.errors import WireSparkError, first_line
from wirespark.hdfs import HdfsFiles
from wirespark.remote_files import RemoteFiles
from wirespark.s3_files import S3Files
from wirespark.storage import S3, FileState, matches, missing, n_plain_parts

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["RemoteStorage", "remote_storage"]

_REQUEST_SIZE = 4 << 20
"""Bytes that a request asks for at least, as long as there are so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteStorage:
    """The files of one bucket, container or name node.

    `begin`: the beginning of its paths as a user writes them, `s3a://bucket/`.
    """

    begin: str
    stored: RemoteFiles

    def files(self, path: str) -> Mapping[str, FileState]:
        name = self._name(path)
        parts = name.split("/")
        n_plain = n_plain_parts(parts)
        unread = None
        try:
            state = self.stored.state(name)
            if state is not None:
                return {path: state}
            n_plain = len(parts)
        except FileNotFoundError:
            pass
        except PermissionError as error:
            # Rights may be those of the objects in a folder, and not of an object that is named like the folder.
            unread = _unreadable(path, error)
        except OSError as error:
            raise _unreadable(path, error) from None
        try:
            found = self._matching("/".join(parts[:n_plain]), parts[n_plain:])
        except OSError as error:
            raise unread or _unreadable(path, error) from None
        if not found:
            raise unread or missing(path)
        return found

    def has_files(self, path: str) -> bool:
        return bool(self.files(path))

    def state(self, path: str) -> FileState:
        try:
            state = self.stored.state(self._name(path))
        except FileNotFoundError:
            state = None
        except OSError as error:
            raise _unreadable(path, error) from None
        if state is None:
            raise FileNotFoundError(f"{path} is not there any more")
        return state

    def open(self, path: str, start: int = 0) -> BinaryIO:
        import pyarrow as pa

        try:
            file = self.stored.open(self._name(path))
            size = file.size() - start
            file.seek(start)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _unreadable(path, error) from None
        return io.BufferedReader(_RemoteFile(path, pa.BufferedInputStream(file, _REQUEST_SIZE), size))

    def _name(self, path: str) -> str:
        return path.removeprefix(self.begin[:-1]).strip("/")

    def _matching(self, folder: str, patterns: Sequence[str]) -> dict[str, FileState]:
        """Return the files below a folder whose first parts match the patterns, as those of a disk do."""
        found: dict[str, FileState] = {}
        for parts, state in self.stored.below(folder, patterns):
            if matches(parts, patterns):
                found["/".join(filter(None, (self.begin[:-1], folder, *parts)))] = state
        return dict(sorted(found.items()))


class _RemoteFile(io.RawIOBase):
    """The next bytes of a remote file.

    A failed read is not an OSError: readers of captures take that for the end of a damaged file.
    """

    def __init__(self, path: str, stream: BinaryIO, size: int) -> None:
        super().__init__()
        self._path = path
        self._stream = stream
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read bytes into the buffer, and return their number: 0 at the end only.

        Raises:
            WireSparkError: The storage gives no more bytes, but the file has more.
        """
        view = memoryview(buffer).cast("B")
        try:
            data = self._stream.read(min(len(view), self._left))
        except OSError as error:
            raise _unreadable(self._path, error) from None
        if not data and self._left and len(view):
            raise WireSparkError(f"{self._path} ended {self._left} bytes too early: read it again")
        view[: len(data)] = data
        self._left -= len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def remote_storage(scheme: str, authority: str) -> RemoteStorage:
    """Return the storage of a bucket, a container or a name node. Nothing is opened yet."""
    begin = f"{scheme}://{authority}/"
    if scheme in S3:
        return RemoteStorage(begin=begin, stored=S3Files(authority))
    return RemoteStorage(begin=begin, stored=CloudFiles(begin) if scheme in CLOUD else HdfsFiles(begin))


def _unreadable(path: str, error: OSError) -> WireSparkError:
    return WireSparkError(f"cannot read {path}: {first_line(error)}")
