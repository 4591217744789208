"""Objects of Azure's and Google's stores that are written under a condition: with obstore, the extra `spark-cloud`.

Invariant: an error names the store and no request.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import IO, TYPE_CHECKING, ClassVar, Final

from wirespark import cloud_stores
from wirespark.errors import WireSparkError
from wirespark.requests_ahead import N_AT_ONCE
from wirespark.stored_objects import ObjectText

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from obstore import WritableFile
    from obstore.store import ObjectStore

__all__ = ["CloudFolder"]

_VERSION: Final = ("e_tag", "version")
"""The marks of a version that obstore compares when it replaces an object: Azure has the first, Google the second."""
_REQUEST_SIZE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class CloudFolder:
    """The objects below a path `abfs://container/folder` or `gs://bucket/folder`; their names are relative to it."""

    n_at_once: ClassVar[int] = N_AT_ONCE

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
            found = ((each["path"], each["size"]) for page in pages for each in page)
            # A server may ignore the offset, as fake-gcs-server does.
            some = takewhile(lambda each: each[0] < begin or each[0].startswith(begin), found)
            return {name: size for name, size in some if name.startswith(begin)}

    def remove(self, names: Iterable[str]) -> None:
        import obstore
        from obstore.exceptions import PermissionDeniedError

        with self._told() as store:
            for name in names:
                with suppress(FileNotFoundError, PermissionDeniedError):
                    obstore.delete(store, name)

    def create(self, name: str) -> IO[bytes]:
        import obstore

        with self._told() as store:
            return io.BufferedWriter(_Upload(self.address, obstore.open_writer(store, name)), _REQUEST_SIZE)

    def open(self, name: str) -> IO[bytes]:
        return io.BufferedReader(cloud_stores.ObjectFile(self.address, name), _REQUEST_SIZE)

    @contextmanager
    def _told(self) -> Iterator[ObjectStore]:
        """Lend the store, and raise its errors as one sentence."""
        store = cloud_stores.store_of(self.address)
        from obstore.exceptions import BaseError

        try:
            yield store
        except (BaseError, OSError) as error:
            raise WireSparkError(
                f"cannot use {self.address}: {cloud_stores.error_text(self.address, error)}"
            ) from None


class _Upload(io.RawIOBase):
    """An object that is being written. Its errors are OSErrors, as those of other files."""

    def __init__(self, address: str, file: WritableFile) -> None:
        super().__init__()
        self._address = address
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        with cloud_stores.as_os_errors(self._address):
            return self._file.write(bytes(data))

    def close(self) -> None:
        if not self.closed:
            super().close()
            with cloud_stores.as_os_errors(self._address):
                self._file.close()
