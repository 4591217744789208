"""The files of S3 as `pyarrow.fs` opens them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wirespark.errors import first_line
from wirespark.of_process import OfProcess
from wirespark.remote_files import ListedFile, state_of_object
from wirespark.storage import FileState

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, S3FileSystem

__all__ = ["S3Files", "s3_system"]


@dataclass(frozen=True, slots=True)
class S3Files:
    """The files of a bucket."""

    bucket: str

    def state(self, name: str) -> FileState | None:
        from pyarrow.fs import FileType

        with self._lent() as system:
            info = system.get_file_info(self._place(name))
        if info.type == FileType.NotFound:
            raise FileNotFoundError(name)
        return _state_of(info) if info.is_file else None

    def below(self, folder: str, patterns: Sequence[str]) -> Iterator[ListedFile]:
        from pyarrow.fs import FileSelector

        place = self._place(folder)
        with self._lent() as system:
            found = system.get_file_info(FileSelector(place, recursive=True, allow_not_found=True))
        for info in found:
            if info.is_file:
                parts = info.path.removeprefix(place).strip("/").split("/")
                yield ListedFile(tuple(parts), _state_of(info))

    def open(self, name: str) -> NativeFile:
        with self._lent() as system:
            return system.open_input_file(self._place(name))

    def create(self, name: str) -> NativeFile:
        """Begin an object, which is there once its file is closed."""
        with self._lent() as system:
            return system.open_output_stream(self._place(name))

    def _place(self, name: str) -> str:
        return f"{self.bucket}/{name}" if name else self.bucket

    @contextmanager
    def _lent(self) -> Iterator[S3FileSystem]:
        """Lend the file system, and raise its errors as OSErrors of one line: the others have the whole request."""
        try:
            yield s3_system(self.bucket)
        except FileNotFoundError:
            raise
        except (OSError, ValueError, NotImplementedError) as error:
            is_denied = "ACCESS_DENIED" in str(error)
            raise (PermissionError if is_denied else OSError)(first_line(error)) from None


@OfProcess
def s3_system(bucket: str) -> S3FileSystem:
    """Return the bucket's S3: at the end point of the environment, or in its region, or where Amazon says that the bucket is."""
    from pyarrow.fs import S3FileSystem, resolve_s3_region

    endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
    if endpoint.netloc:  # pyarrow reads these variables only with its own form of URIs
        return S3FileSystem(
            scheme=endpoint.scheme, endpoint_override=f"{endpoint.netloc}{endpoint.path}".rstrip("/")
        )
    is_told = "AWS_REGION" in os.environ or "AWS_DEFAULT_REGION" in os.environ
    return S3FileSystem() if is_told else S3FileSystem(region=resolve_s3_region(bucket))


def _state_of(info: FileInfo) -> FileState:
    return state_of_object(info.size, info.mtime)
