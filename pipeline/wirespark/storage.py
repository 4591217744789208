"""The files that are read: on a disk, in a storage that `pyarrow.fs` opens (`s3a`, `s3`, `hdfs`), or that obstore does (`gs`, `abfs`).

Invariant: credentials come from the environment of the process that reads. They are never part of a path, so that they are
in no plan, row, receipt or message.
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol
from urllib.parse import urlsplit

from wirespark.cloud_files import CloudFiles
from wirespark.cloud_stores import CLOUD
from wirespark.errors import WireSparkError, first_line

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from pyarrow.fs import FileInfo, FileSystem, S3FileSystem

__all__ = ["S3", "FileState", "Located", "Storage", "check_has_no_password", "disk_matches", "folder_around", "is_remote", "located", "storage_of"]  # fmt: skip

S3 = ("s3", "s3a", "s3n")
_SCHEMES = (*S3, *CLOUD, "hdfs", "viewfs")
_HADOOP = (
    "give the driver and the workers a Java and Hadoop's client by JAVA_HOME, HADOOP_HOME and CLASSPATH, which "
    "is the output of `hadoop classpath --glob`"
)
"""The way out where pyarrow does not find the libraries of HDFS, libjvm and libhdfs."""
_REQUEST_SIZE = 4 << 20
"""Bytes that a request asks for at least, as long as there are so many."""
_DENIALS = ("ACCESS_DENIED", "PermissionDeniedError")
"""In texts of errors. Rights may be those of the objects in a folder, and not of an object that is named like the folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """The size of a file in bytes, and when it was modified, in nanoseconds since 1970.

    Storages of objects know whole seconds only: a replacement of the same size in the same second is not noticed.
    """

    size: int
    modified: int


class Storage(Protocol):
    """A place with files to read. Its paths are as a user gave them, with their scheme."""

    def files(self, path: str) -> Mapping[str, FileState]:
        """Return the files that a path, a folder or a pattern names, without hidden ones below folders. None is opened.

        Raises:
            WireSparkError: It does not match any file, or the storage cannot be reached.
        """

    def has_files(self, path: str) -> bool:
        """Return whether `files` returns any; on a disk they are not all listed for it.

        Raises:
            WireSparkError: As by `files`.
        """

    def state(self, path: str) -> FileState:
        """Return the state of a file.

        Raises:
            OSError: There is no such file.
            WireSparkError: The storage cannot be reached, or denies it.
        """

    def open(self, path: str, start: int = 0) -> BinaryIO:
        """Open a file at an offset, without reading the bytes before it.

        Raises:
            OSError: There is no such file, or a disk denies it.
            WireSparkError: The storage cannot be reached, or denies it.
        """


def is_remote(path: str) -> bool:
    """Return whether a path is not one of a disk."""
    return "://" in path and not path.startswith("file:")


def storage_of(path: str) -> Storage:
    """Return the storage that has the files of a path.

    Raises:
        WireSparkError: There is no storage of that scheme, or the path has a password.
    """
    if not is_remote(path):
        return _Disk()
    scheme, authority = _store_of(path)
    if scheme not in _SCHEMES:
        known = ", ".join(_SCHEMES)
        raise WireSparkError(
            f"{path!r} is neither on a disk nor in a known storage: its scheme is one of {known}"
        )
    return _remote(scheme, authority)


def check_has_no_password(path: str) -> None:
    """Check that credentials are not in a remote path.

    Raises:
        WireSparkError: They are.
    """
    _store_of(path)


def _store_of(path: str) -> tuple[str, str]:
    """Return the scheme of a remote path, and its bucket, container or server.

    Raises:
        WireSparkError: The path has a password.
    """
    scheme, _, rest = path.partition("://")
    authority = rest.partition("/")[0]
    user, at, _ = authority.rpartition("@")
    if at and ":" in user:
        raise WireSparkError(
            f"a path with a password is not read: give the credentials of {scheme} in the environment"
        )
    return scheme, authority


@dataclass(frozen=True, slots=True)
class _Disk:
    """The disks of this computer."""

    def files(self, path: str) -> Mapping[str, FileState]:
        return dict(self._found(path))

    def has_files(self, path: str) -> bool:
        return next(self._found(path), None) is not None

    def _found(self, path: str) -> Iterator[tuple[str, FileState]]:
        matches = disk_matches(path)
        if not matches:
            raise _missing(path)
        for match in map(str, matches):
            if os.path.isdir(match):
                yield from _below(match)
            else:
                yield match, self.state(match)

    def state(self, path: str) -> FileState:
        return _state_of(os.stat(path))

    def open(self, path: str, start: int = 0) -> BinaryIO:
        file = open(path, "rb")  # noqa: SIM115 - the caller closes it
        file.seek(start)
        return file


def disk_matches(path: str) -> list[Path]:
    """Return the absolute paths of the files and folders on the disk that a path or a pattern names."""
    local = path.removeprefix("file://") if path.startswith("file:///") else path.removeprefix("file:")
    found = [local] if os.path.exists(local) else sorted(glob.glob(local))
    return [Path(each).absolute() for each in found]


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
    assert isinstance(storage, _Remote)
    return Located(system=storage.system, path=storage.place(path))


def folder_around(path: str, source: str) -> str | None:
    """Return the folder that `source` names, itself or by a pattern, if files below `path` are read with it."""
    if is_remote(path) and is_remote(source):
        own, given = (_place_of(each) for each in (path, source))
        return source if own[:1] == given[:1] and _matches(own, given) else None
    if is_remote(path) or is_remote(source):
        return None
    for folder in disk_matches(source):
        is_inside = folder.is_dir() and Path(path).is_relative_to(folder)
        if is_inside and not _is_hidden(Path(path).relative_to(folder).parts):
            return str(folder)
    return None


def _place_of(path: str) -> list[str]:
    """Return the kind of a remote storage with its bucket, and the parts of the name in it."""
    scheme, _, rest = path.rstrip("/").partition("://")
    bucket, *parts = rest.split("/")
    return [f"{S3[0] if scheme in S3 else scheme}://{bucket}", *parts]


def _missing(path: str) -> WireSparkError:
    return WireSparkError(f"no file is named {path!r}: give a path or a pattern of existing files")


def _state_of(status: os.stat_result) -> FileState:
    return FileState(size=status.st_size, modified=status.st_mtime_ns)


def _below(folder: str) -> Iterator[tuple[str, FileState]]:
    """Yield the files below a folder, in the order of their names. A folder that may not be read counts as empty."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(
                (each for each in entries if not _is_hidden((each.name,))), key=lambda each: each.name
            )
    except PermissionError:
        return
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path)
            continue
        with suppress(FileNotFoundError):  # it was removed meanwhile
            if entry.is_file():
                yield entry.path, _state_of(entry.stat())


def _is_hidden(parts: Sequence[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remote:
    """What one bucket, container or name node has.

    Attributes:
        begin: The beginning of its paths as a user writes them, `s3a://bucket/`.
        base: The beginning of the same paths in `system`.
    """

    begin: str
    base: str
    system: FileSystem | CloudFiles

    def files(self, path: str) -> Mapping[str, FileState]:
        from pyarrow.fs import FileType

        name = path.removeprefix(self.begin.rstrip("/")).strip("/")
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
            raise unread or _missing(path)
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
            if info.is_file and _matches(parts, patterns):
                file = "/".join(filter(None, (self.begin.rstrip("/"), folder, *parts)))
                found[file] = _told_state(info)
        return dict(sorted(found.items()))


def _told_state(info: FileInfo) -> FileState:
    return FileState(size=info.size, modified=info.mtime_ns or 0)


def _matches(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    n_patterns = len(patterns)
    if len(parts) < n_patterns or _is_hidden(parts[n_patterns:]):
        return False
    return all(
        fnmatchcase(part, pattern) and (pattern.startswith(".") or not part.startswith("."))
        for part, pattern in zip(parts, patterns, strict=False)
    )


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
def _remote(scheme: str, authority: str) -> _Remote:
    from pyarrow.fs import FileSystem

    begin = f"{scheme}://{authority}/"
    if scheme in CLOUD:
        return _Remote(begin=begin, base="", system=CloudFiles(begin))
    try:
        if scheme not in S3:
            system, base = FileSystem.from_uri(begin)
            return _Remote(begin=begin, base=base.rstrip("/"), system=system)
        return _Remote(begin=begin, base=authority, system=_s3(authority))
    except (OSError, ValueError, NotImplementedError) as error:
        said = first_line(error)
        said = f"{_HADOOP} ({said})" if "Unable to load" in said else said
        raise WireSparkError(f"cannot open {begin}: {said}") from None


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
