"""The files that are read: on a disk, or in a remote storage (`s3a`, `s3`, `gs`, `abfs`, `hdfs`).

Invariant: credentials come from the environment of the process that reads. They are never part of a path, so that they are
in no plan, row, receipt or message.
"""

from __future__ import annotations

import glob
import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from wirespark.cloud_stores import CLOUD
from wirespark.errors import WireSparkError

__all__ = ["HDFS", "S3", "FileState", "Storage", "canonical", "check_has_no_password", "disk_matches", "folder_around", "is_remote", "matches", "missing", "n_plain_parts", "storage_of"]  # fmt: skip

S3 = ("s3", "s3a", "s3n")
HDFS = ("hdfs", "viewfs")
_SCHEMES = (*S3, *CLOUD, *HDFS)
_LOST_AND_FOUND = "lost+found"
"""The folder at the root of many disks that only its administrator may read; it has no files of users."""
_FAMILIES = {"s3": "s3a", "s3n": "s3a", "gcs": "gs", "abfss": "abfs"}
"""The scheme under which the files of another one are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """The size of a file in bytes, and when it was modified, in nanoseconds since 1970.

    Storages of objects know whole seconds only. A replacement of the same size with the same time is not noticed.
    """

    size: int
    modified: int


class Storage(Protocol):
    """A place with files to read. Remote paths are as a user gave them, with their scheme: see `canonical`."""

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
    from wirespark.remote_storage import remote_storage

    return remote_storage(scheme, authority)


def canonical(path: str) -> str:
    """Return a remote path in the spelling under which the file is known, whatever the user's was."""
    scheme, _, rest = path.partition("://")
    authority, _, name = rest.partition("/")
    if scheme in HDFS:  # a name node has folders, and ignores empty parts
        name = posixpath.normpath(f"/{name.strip('/')}")
    return f"{_FAMILIES.get(scheme, scheme)}://{authority}/{name.strip('/')}"


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


class _Found(NamedTuple):
    """A file on a disk that was found. `target`: the file that it leads to, if it is a link."""

    path: str
    state: FileState
    target: str | None = None


@dataclass(frozen=True, slots=True)
class _Disk:
    """The disks of this computer. Files are known by their real paths, whatever links lead to their folders.

    A link to a file keeps its path, whatever it leads to: archives move files and leave such links.
    """

    def files(self, path: str) -> Mapping[str, FileState]:
        """Return the same as for any storage. A file that links lead to as well is there once: by its own name, or by the first link."""
        found = tuple(self._found(path))
        files = {each.path: each.state for each in found if each.target is None}
        links = {each.target: each for each in reversed(found) if each.target and each.target not in files}
        return files | {each.path: each.state for each in reversed(links.values())}

    def has_files(self, path: str) -> bool:
        return next(self._found(path), None) is not None

    def _found(self, path: str) -> Iterator[_Found]:
        matches = disk_matches(path)
        if not matches:
            raise _denied(path) if _is_denied(path) else missing(path)
        for match in map(str, matches):
            if os.path.isdir(match):
                yield from _below(match)
            else:
                target = os.path.realpath(match) if os.path.islink(match) else None
                yield _Found(match, self.state(match), target)

    def state(self, path: str) -> FileState:
        return _state_of(os.stat(path))

    def open(self, path: str, start: int = 0) -> BinaryIO:
        file = open(path, "rb")  # noqa: SIM115 - the caller closes it
        file.seek(start)
        return file


def n_plain_parts(parts: Sequence[str]) -> int:
    """Return the number of the first parts of a path that are not patterns."""
    return next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))


def _is_denied(path: str) -> bool:
    """Return whether a path, or the folder in which a pattern begins, cannot be looked at for want of rights."""
    parts = _local(path).split("/")
    n_plain = n_plain_parts(parts)
    try:
        if n_plain == len(parts):
            os.stat("/".join(parts))
        else:
            os.scandir("/".join((*parts[:n_plain], "."))).close()
    except PermissionError:
        return True
    except OSError:
        pass
    return False


def _denied(path: str) -> WireSparkError:
    return WireSparkError(
        f"{path!r} may not be read: get the right to read it, or give a pattern that leaves it out"
    )


def disk_matches(path: str) -> list[Path]:
    """Return the paths of the files and folders on the disk that a path or a pattern names, all their folders being real."""
    local = _local(path)
    found = [local] if os.path.exists(local) else sorted(glob.glob(local))
    real_folder = cache(os.path.realpath)
    return [Path(_in_real_folder(each, real_folder)) for each in found]


def _local(path: str) -> str:
    return path.removeprefix("file://") if path.startswith("file:///") else path.removeprefix("file:")


def _in_real_folder(path: str, real_folder: Callable[[str], str]) -> str:
    folder, name = os.path.split(path)
    return real_folder(path) if os.path.isdir(path) else os.path.join(real_folder(folder), name)


def folder_around(path: str, source: str) -> str | None:
    """Return the folder that `source` names, itself or by a pattern, if files below `path` are read with it."""
    if is_remote(path) and is_remote(source):
        own, given = (_place_of(each) for each in (path, source))
        return source if own[:1] == given[:1] and matches(own, given) else None
    if is_remote(path) or is_remote(source):
        return None
    real = Path(os.path.realpath(path))
    for folder in disk_matches(source):
        is_inside = folder.is_dir() and real.is_relative_to(folder)
        if is_inside and not _is_hidden(real.relative_to(folder).parts):
            return str(folder)
    return None


def _place_of(path: str) -> list[str]:
    """Return the kind of a remote storage with its bucket, and the parts of the name in it."""
    scheme, _, rest = path.rstrip("/").partition("://")
    bucket, *parts = rest.split("/")
    return [f"{_FAMILIES.get(scheme, scheme)}://{bucket}", *parts]


def missing(path: str) -> WireSparkError:
    """Return the error of a path or a pattern without files."""
    return WireSparkError(f"no file is named {path!r}: give a path or a pattern of existing files")


def _state_of(status: os.stat_result) -> FileState:
    return FileState(size=status.st_size, modified=status.st_mtime_ns)


def _below(folder: str) -> Iterator[_Found]:
    """Yield the files below a folder, in the order of their names.

    Raises:
        WireSparkError: A folder may not be read.
    """
    try:
        with os.scandir(folder) as entries:
            found = sorted(
                (each for each in entries if not _is_hidden((each.name,))), key=lambda each: each.name
            )
    except PermissionError:
        if os.path.basename(folder) == _LOST_AND_FOUND:
            return
        raise _denied(folder) from None
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path)
            continue
        with suppress(FileNotFoundError):  # it was removed meanwhile
            if entry.is_file():
                target = os.path.realpath(entry.path) if entry.is_symlink() else None
                yield _Found(entry.path, _state_of(entry.stat()), target)


def _is_hidden(parts: Sequence[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)


def matches(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """Return whether the first parts of a path match patterns, and the others are not hidden."""
    n_patterns = len(patterns)
    if len(parts) < n_patterns or _is_hidden(parts[n_patterns:]):
        return False
    return all(
        fnmatchcase(part, pattern) and (pattern.startswith(".") or not part.startswith("."))
        for part, pattern in zip(parts, patterns, strict=False)
    )
