"""Files in a remote storage: `pyarrow.fs` opens S3, obstore the stores of Azure and Google, hdfs-native HDFS.

Invariant: a failed request is never taken for the end of a file.
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, BinaryIO, TypeAlias
from urllib.parse import urlsplit

from wirespark.cloud_files import CloudFiles
from wirespark.cloud_stores import CLOUD
from wirespark.errors import WireSparkError, first_line
from wirespark.storage import S3, FileState, matches, missing, storage_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from pyarrow.fs import FileInfo, FileSystem, S3FileSystem

    from wirespark.hdfs import HdfsSystem

    System: TypeAlias = FileSystem | CloudFiles | HdfsSystem

__all__ = ["Located", "RemoteStorage", "located", "remote_storage"]

_REQUEST_SIZE = 4 << 20
"""Bytes that a request asks for at least, as long as there are so many."""
_DENIALS = ("ACCESS_DENIED", "PermissionDeniedError")
"""In texts of errors. Rights may be those of the objects in a folder, and not of an object that is named like the folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A path in a file system of pyarrow."""

    system: FileSystem
    path: str


def located(path: str) -> Located:
    """Return where a remote path is for pyarrow.

    Raises:
        WireSparkError: There is no storage of that scheme, or the path has a password.
    """
    storage = storage_of(path)
    assert isinstance(storage, RemoteStorage)
    return Located(system=storage.system, path=storage.place(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteStorage:
    """The files of one bucket, container or name node.

    Attributes:
        begin: The beginning of its paths as a user writes them, `s3a://bucket/`.
        base: The beginning of the same paths in `system`.
    """

    begin: str
    base: str
    system: System

    def files(self, path: str) -> Mapping[str, FileState]:
        from pyarrow.fs import FileType

        name = path.removeprefix(self.begin[:-1]).strip("/")
        parts = name.split("/")
        n_plain = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
        unread = None
        try:
            info = self.system.get_file_info(self._place(name))
            if info.type == FileType.File:
                return {path: _told_state(info)}
            if info.type != FileType.NotFound:
                n_plain = len(parts)
        except OSError as error:
            unread = _unreadable(path, error)
            if not any(each in str(error) for each in _DENIALS):
                raise unread from None
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
            info: FileInfo = self.system.get_file_info(self.place(path))
        except OSError as error:
            raise _unreadable(path, error) from None
        if not info.is_file:
            raise FileNotFoundError(f"{path} is not there any more")
        return _told_state(info)

    def open(self, path: str, start: int = 0) -> BinaryIO:
        import pyarrow as pa

        try:
            file = self.system.open_input_file(self.place(path))
            size = file.size() - start
            file.seek(start)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _unreadable(path, error) from None
        return io.BufferedReader(_RemoteFile(path, pa.BufferedInputStream(file, _REQUEST_SIZE), size))

    def place(self, path: str) -> str:
        """Return a path as `system` has it."""
        return self._place(path.removeprefix(self.begin))

    def _place(self, name: str) -> str:
        return f"{self.base}/{name}" if name else self.base or "/"

    def _matching(self, folder: str, patterns: Sequence[str]) -> dict[str, FileState]:
        """Return the files below a folder whose first parts match the patterns, as those of a disk do."""
        from pyarrow.fs import FileSelector

        place = self._place(folder)
        found: dict[str, FileState] = {}
        for info in self.system.get_file_info(FileSelector(place, recursive=True, allow_not_found=True)):
            parts = info.path.removeprefix(place).strip("/").split("/")
            if info.is_file and matches(parts, patterns):
                file = "/".join(filter(None, (self.begin[:-1], folder, *parts)))
                found[file] = _told_state(info)
        return dict(sorted(found.items()))


def _told_state(info: FileInfo) -> FileState:
    return FileState(size=info.size, modified=info.mtime_ns or 0)


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


@cache
def remote_storage(scheme: str, authority: str) -> RemoteStorage:
    """Return the storage of a bucket, a container or a name node.

    Raises:
        WireSparkError: It cannot be opened, or a library is missing.
    """
    begin = f"{scheme}://{authority}/"
    try:
        system, base = _opened(scheme, authority, begin)
    except WireSparkError:
        raise
    except (OSError, ValueError, NotImplementedError) as error:
        raise WireSparkError(f"cannot open {begin}: {first_line(error)}") from None
    return RemoteStorage(begin=begin, base=base, system=system)


def _opened(scheme: str, authority: str, begin: str) -> tuple[System, str]:
    """Return a file system, and the path of its bucket in it."""
    from wirespark.hdfs import HdfsSystem, hdfs_client

    if scheme in S3:
        return _s3(authority), authority
    return (CloudFiles(begin) if scheme in CLOUD else HdfsSystem(hdfs_client(begin))), ""


def _s3(bucket: str) -> S3FileSystem:
    """Return the bucket's S3: at the end point of the environment, or in its region, or where Amazon says that the bucket is."""
    from pyarrow.fs import S3FileSystem, resolve_s3_region

    endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URLS3") or os.environ.get("AWS_ENDPOINT_URL") or "")
    if endpoint.netloc:  # pyarrow reads these variables only with its own form of URIs
        return S3FileSystem(
            scheme=endpoint.scheme, endpoint_override=f"{endpoint.netloc}{endpoint.path}".rstrip("/")
        )
    is_told = "AWS_REGION" in os.environ or "AWS_DEFAULT_REGION" in os.environ
    return S3FileSystem() if is_told else S3FileSystem(region=resolve_s3_region(bucket))


def _unreadable(path: str, error: OSError) -> WireSparkError:
    return WireSparkError(f"cannot read {path}: {first_line(error)}")
