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
from typing import TYPE_CHECKING, Final

from wirespark.errors import WireSparkError
from wirespark.of_process import OfProcess
from wirespark.untyped import Buffer

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from obstore.store import ObjectStore

__all__ = ["CLOUD", "ObjectFile", "as_os_errors", "error_text", "store_of"]

CLOUD: Final = ("gs", "gcs", "abfs", "abfss")
"""The schemes of these stores."""
_STATUS: Final = re.compile(r"status code: ([0-9]{3}[A-Za-z ]*)")
_DENIED: Final = ("401", "403")


@OfProcess
def store_of(address: str) -> ObjectStore:
    """Return the store below a path; names in it are relative to the path.

    Raises:
        WireSparkError: obstore is not installed, or the environment does not say which store it is. Or this is a fork of a
            process that has opened stores. All stores share threads, which a fork does not have: it would wait for ever.
    """
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError:
        raise WireSparkError(
            "Azure's and Google's stores need obstore: "
            "install it on the driver and the workers with `pip install 'wiregen[spark-cloud]'`"
        ) from None
    if store_of.was_used_by_parent:
        raise WireSparkError(
            f"cannot use {address} in a fork of a process that has used stores: start it by `spawn`"
        )
    try:
        return from_url(address.replace("gcs://", "gs://", 1))
    except (BaseError, ValueError) as error:
        raise WireSparkError(f"cannot use {address}: {error_text(address, error)}") from None


def error_text(address: str, error: Exception) -> str:
    """Return the text of an error of obstore's without the request: an advice, its name, or the status of the answer."""
    from obstore.exceptions import GenericError

    names = (
        "AZURE_STORAGE_ACCOUNT_NAME and a key"
        if address.startswith("abfs")
        else "GOOGLE_APPLICATION_CREDENTIALS"
    )
    if is_denial(error):
        return f"it is denied: give credentials that have the right to it ({names})"
    if _is_of_name(error):
        return "a name has an empty part, or one that is `.` or `..`: write it without"
    if isinstance(error, ValueError) or str(error).startswith("Generic URL error"):
        return "this is not the address of a store: give gs://bucket/folder or abfs://container/folder"
    if not isinstance(error, GenericError):
        return type(error).__name__
    return _status(error) or f"it does not answer, or the environment has no credentials for it ({names})"


def is_denial(error: Exception) -> bool:
    """Return whether an error of obstore's says that the credentials do not suffice."""
    from obstore.exceptions import PermissionDeniedError, UnauthenticatedError

    denials = (PermissionDeniedError, UnauthenticatedError)
    return isinstance(error, denials) or _status(error)[:3] in _DENIED


def _status(error: Exception) -> str:
    """Return the status of the store's answer, or an empty text."""
    from obstore.exceptions import GenericError

    text = str(error) if isinstance(error, GenericError) else ""
    status = _STATUS.search(text)
    return status[1].strip() if status and "token request" not in text else ""


@contextmanager
def as_os_errors(address: str) -> Iterator[None]:
    """Raise errors of obstore's as those of files."""
    from obstore.exceptions import BaseError

    try:
        yield
    except BaseError as error:
        raise (PermissionError if is_denial(error) else OSError)(error_text(address, error)) from None
    except ValueError as error:
        if not _is_of_name(error):
            raise
        raise OSError(error_text(address, error)) from None


def _is_of_name(error: Exception) -> bool:
    """Return whether obstore could not parse a name; there are several types of such errors."""
    return "path segment" in str(error)


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

    def read(self, size: int = -1, /) -> Buffer:
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
