"""Azure's and Google's stores as obstore opens them, the extra `spark-cloud`: for sources and targets alike.

Invariant: obstore finds the credentials in the environment of the process. Errors are told by their names or by the status
of the answer, because texts of libraries may repeat requests.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from wirespark.errors import WireSparkError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from obstore.store import ObjectStore

__all__ = ["CLOUD", "ObjectFile", "as_os_errors", "said", "store_of"]

CLOUD: Final = ("gs", "gcs", "abfs", "abfss")
"""The schemes of these stores."""
_STATUS: Final = re.compile(r"status code: ([0-9]{3}[A-Za-z ]*)")


@cache
def store_of(address: str) -> ObjectStore:
    """Return the store below a path; names in it are relative to the path.

    Raises:
        WireSparkError: obstore is not installed, or the environment does not say which store it is.
    """
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError:
        raise WireSparkError(
            "Azure's and Google's stores need obstore: "
            "install it on the driver and the workers with `pip install 'wiregen[spark-cloud]'`"
        ) from None
    try:
        return from_url(address.replace("gcs://", "gs://", 1))
    except (BaseError, ValueError) as error:
        raise WireSparkError(f"cannot use {address}: {said(address, error)}") from None


def said(address: str, error: Exception) -> str:
    """Return the text of an error of obstore's without the request: its name, or the status of the answer."""
    from obstore.exceptions import GenericError

    if not isinstance(error, GenericError):
        return type(error).__name__
    status = _STATUS.search(str(error))
    if status and "token request" not in str(error):
        return status[1].strip()
    names = (
        "AZURE_STORAGE_ACCOUNT_NAME and a key"
        if address.startswith("abfs")
        else "GOOGLE_APPLICATION_CREDENTIALS"
    )
    return f"it does not answer, or the environment has no credentials for it ({names})"


@contextmanager
def as_os_errors(address: str) -> Iterator[None]:
    """Raise errors of obstore's as those of files."""
    from obstore.exceptions import BaseError

    try:
        yield
    except BaseError as error:
        raise OSError(said(address, error)) from None


class ObjectFile(io.RawIOBase):
    """An object that is read; each read is one request.

    Raises:
        FileNotFoundError: There is no such object.
        OSError: The store does not give it; a read raises it too.
    """

    def __init__(self, address: str, name: str) -> None:
        import obstore

        super().__init__()
        self._address = address
        self._name = name
        self._offset = 0
        with as_os_errors(address):
            self._size = obstore.head(store_of(address), name)["size"]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> Any:
        """Return the next bytes as a view, which types of files do not allow: pyarrow takes it, and it is not copied."""
        import obstore

        left = self._size - self._offset
        length = left if size < 0 else min(size, left)
        if length <= 0:
            return memoryview(b"")
        with as_os_errors(self._address):
            store = store_of(self._address)
            data = memoryview(obstore.get_range(store, self._name, start=self._offset, length=length))
        self._offset += len(data)
        return data

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        begins = {os.SEEK_SET: 0, os.SEEK_CUR: self._offset, os.SEEK_END: self._size}
        self._offset = begins[whence] + offset
        return self._offset
