"""The files of Azure's and Google's stores, with the calls that a source makes to a file system of pyarrow's.

pyarrow has file systems for both, but reads other variables than obstore, which writes the targets: no account or key of
Azure's. Its errors repeat signatures (SAS), and its requests to Google go on for a quarter of an hour without an answer.

Invariant: modification times are whole seconds, as listings and single requests round differently.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirespark import cloud_stores

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, FileSelector

__all__ = ["CloudFiles"]


@dataclass(frozen=True, slots=True)
class CloudFiles:
    """The files of a container or a bucket. Their places begin with a slash.

    All methods raise an OSError if the store refuses or does not answer.
    """

    address: str

    def get_file_info(self, place: str | FileSelector) -> Any:  # as that of pyarrow, which has no types
        """Return whether a place is a file or a folder, or the files below the folder of a selector."""
        return self._info(place.strip("/")) if isinstance(place, str) else self._below(place.base_dir.strip("/"))  # fmt: skip

    def open_input_file(self, place: str) -> NativeFile:
        import pyarrow as pa

        return pa.PythonFile(cloud_stores.ObjectFile(self.address, place.strip("/")), mode="r")

    def _info(self, name: str) -> FileInfo:
        import obstore
        from pyarrow.fs import FileInfo, FileType

        with self._lent() as store:
            found = _head(store, name) if name else None
            if found is not None:
                return _info_of(found)
            is_folder = any(obstore.list(store, name or None, chunk_size=1))
            return FileInfo(f"/{name}", FileType.Directory if is_folder else FileType.NotFound)

    def _below(self, folder: str) -> list[FileInfo]:
        import obstore

        with self._lent() as store:
            found = [each for page in obstore.list(store, folder or None) for each in page]
            folders = _folders_of(each["path"] for each in found)
            return [_info_of(each) for each in found if _is_file(store, each, folders)]

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
    """Return whether an object is not the mark of a folder: an empty one `a/`, listed as `a`, or `a` beside `a/b`."""
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


def _info_of(found: ObjectMeta) -> FileInfo:
    from pyarrow.fs import FileInfo, FileType

    seconds = int(found["last_modified"].timestamp())
    return FileInfo(f"/{found['path']}", FileType.File, mtime=seconds, size=found["size"])
