"""The files of Azure's and Google's stores.

pyarrow has file systems for both, but reads other variables than obstore, which writes the targets: no account or key of
Azure's. Its errors repeat signatures (SAS), and its requests to Google go on for a quarter of an hour without an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirespark import cloud_stores
from wirespark.remote_files import ListedFile, state_of_object
from wirespark.storage import FileState

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore
    from pyarrow import NativeFile

__all__ = ["CloudFiles"]


@dataclass(frozen=True, slots=True)
class CloudFiles:
    """The files of a container or a bucket.

    An empty object is not a file if it is the mark of a folder: `a/`, which is listed as `a`, or `a` if there is an `a/b`.
    """

    address: str

    def state(self, name: str) -> FileState | None:
        with self._lent() as store:
            found = _head(store, name) if name else None
        if found is not None and found["size"]:
            return _state_of(found)
        try:
            is_folder = not name or self._has_below(name)
        except PermissionError:
            if found is None:
                raise
            is_folder = False
        if found is None and not is_folder:
            raise FileNotFoundError(name)
        return None if is_folder or found is None else _state_of(found)

    def below(self, folder: str, patterns: Sequence[str]) -> Iterator[ListedFile]:
        import obstore

        with self._lent() as store:
            found = [each for page in obstore.list(store, folder or None) for each in page]
            folders = _folders_of(each["path"] for each in found)
            files = [each for each in found if _is_file(store, each, folders)]
        for each in files:
            parts = each["path"].removeprefix(folder).strip("/").split("/")
            yield ListedFile(tuple(parts), _state_of(each))

    def open(self, name: str) -> NativeFile:
        import pyarrow as pa

        return pa.PythonFile(cloud_stores.ObjectFile(self.address, name), mode="r")

    def _has_below(self, folder: str) -> bool:
        import obstore

        with self._lent() as store:
            return any(obstore.list(store, folder, chunk_size=1))

    @contextmanager
    def _lent(self) -> Iterator[ObjectStore]:
        store = cloud_stores.store_of(self.address)
        with cloud_stores.as_os_errors(self.address):
            yield store


def _head(store: ObjectStore, name: str) -> ObjectMeta | None:
    import obstore

    try:
        return obstore.head(store, name)
    except FileNotFoundError:
        return None


def _is_file(store: ObjectStore, found: ObjectMeta, folders: Collection[str]) -> bool:
    """Return whether an object that is listed is a file."""
    if found["size"]:
        return True
    return found["path"] not in folders and _head(store, found["path"]) is not None


def _folders_of(names: Iterable[str]) -> set[str]:
    folders: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _state_of(found: ObjectMeta) -> FileState:
    return state_of_object(found["size"], found["last_modified"])
