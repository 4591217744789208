"""Objects of Azure's and Google's stores that are written under a condition: with obstore, the extra `spark-cloud`.

Invariant: obstore finds the credentials in the environment of the process. Errors are told by their names, because texts of
libraries may repeat requests.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import IO, TYPE_CHECKING, Final

from wirespark.errors import WireSparkError
from wirespark.stored_objects import ObjectText

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer
    from obstore import ReadableFile, WritableFile
    from obstore.store import ObjectStore

__all__ = ["CloudFolder"]

_VERSION: Final = ("e_tag", "version")
"""The marks of a version that obstore compares when it replaces an object: Azure has the first, Google the second."""


@dataclass(frozen=True, slots=True)
class CloudFolder:
    """The objects below a path `abfs://container/folder` or `gs://bucket/folder`; their names are relative to it."""

    address: str

    def text(self, name: str) -> ObjectText | None:
        import obstore

        with self._told() as store:
            try:
                found = obstore.get(store, name)
            except FileNotFoundError:
                return None
            version = {name: value for name in _VERSION if (value := found.meta[name]) is not None}
            return ObjectText(text=bytes(found.bytes()).decode(), version=json.dumps(version))

    def write(self, name: str, text: str, version: str | None = None) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._told() as store:
            try:
                obstore.put(
                    store, name, text.encode(), mode="create" if version is None else json.loads(version)
                )
            except (AlreadyExistsError, PreconditionError):
                return False
        return True

    def put(self, name: str, text: str) -> None:
        import obstore

        with self._told() as store:
            obstore.put(store, name, text.encode())

    def sizes(self, begin: str = "") -> dict[str, int]:
        """Return the sizes of the objects whose names begin so: stores list whole folders, in the order of names."""
        import obstore

        with self._told() as store:
            pages = obstore.list(store, begin.rpartition("/")[0] or None, offset=begin or None)
            found = (each for page in pages for each in page)
            return {
                each["path"]: each["size"]
                for each in takewhile(lambda each: each["path"].startswith(begin), found)
            }

    def remove(self, names: Iterable[str]) -> None:
        import obstore

        with self._told() as store:
            for name in names:
                with suppress(FileNotFoundError, PermissionError):
                    obstore.delete(store, name)

    def create(self, name: str) -> IO[bytes]:
        import obstore

        with self._told() as store:
            return io.BufferedWriter(_Upload(obstore.open_writer(store, name)), 1 << 20)

    def open(self, name: str) -> IO[bytes]:
        import obstore

        with _as_os_errors():
            return io.BufferedReader(_Download(obstore.open_reader(_store(self.address), name)), 1 << 20)

    @contextmanager
    def _told(self) -> Iterator[ObjectStore]:
        """Lend the store, and raise its errors as one sentence."""
        store = _store(self.address)
        from obstore.exceptions import BaseError

        try:
            yield store
        except (BaseError, OSError) as error:
            raise _unusable(self.address, error) from None


class _Download(io.RawIOBase):
    """An object that is read: a file of obstore's is not one of Python's."""

    def __init__(self, file: ReadableFile) -> None:
        super().__init__()
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        with _as_os_errors():
            data = bytes(self._file.read(len(view)))
        view[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)


class _Upload(io.RawIOBase):
    """An object that is being written. Its errors are OSErrors, as those of other files."""

    def __init__(self, file: WritableFile) -> None:
        super().__init__()
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        with _as_os_errors():
            return self._file.write(bytes(data))

    def close(self) -> None:
        if not self.closed:
            super().close()
            with _as_os_errors():
                self._file.close()


@contextmanager
def _as_os_errors() -> Iterator[None]:
    from obstore.exceptions import BaseError

    try:
        yield
    except BaseError as error:
        raise OSError(type(error).__name__) from None


@cache
def _store(address: str) -> ObjectStore:
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError:
        raise WireSparkError(
            "a target in Azure's or Google's store needs obstore: "
            "install it on the driver and the workers with `pip install 'wiregen[spark-cloud]'`"
        ) from None
    try:
        return from_url(address.replace("gcs://", "gs://", 1))
    except (BaseError, ValueError) as error:
        raise _unusable(address, error) from None


def _unusable(address: str, error: Exception) -> WireSparkError:
    """Return the error of a store: by its name, unless that says nothing."""
    from obstore.exceptions import GenericError

    if not isinstance(error, GenericError):
        return WireSparkError(f"cannot use {address}: {type(error).__name__}")
    names = (
        "AZURE_STORAGE_ACCOUNT_NAME and a key"
        if address.startswith("abfs")
        else "GOOGLE_APPLICATION_CREDENTIALS"
    )
    return WireSparkError(
        f"cannot use {address}: it does not answer, or the environment has no credentials for it ({names})"
    )
