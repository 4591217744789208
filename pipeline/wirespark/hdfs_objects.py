"""A target in HDFS: its files are used as objects that are written under a condition, by renames.

Invariant: a text is written under a name of its own, and then renamed to the object's name, which fails if that exists. The name
node does so in one step. So an object is whole, and of several writers one wins. Who finds its own file removed writes it again.
Files of tables are written under their final names, because only a receipt makes them count: those of killed writers are
seen, half written, until a run removes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, ClassVar
from uuid import uuid4

from wirespark.errors import WireSparkError
from wirespark.hdfs import created, hdfs_client, hdfs_errors, opened, read_text, write_text
from wirespark.hdfs_versions import VersionedText
from wirespark.receipts import FOLDER
from wirespark.stored_objects import RECORD, UNFINISHED, ObjectText

if TYPE_CHECKING:
    from hdfs_native import Client, FileStatus
    from pyarrow import NativeFile

__all__ = ["HdfsFolder"]

_VERSIONS = f"{FOLDER}/_versions"
"""The folder with the versions of the record. A target that was copied from another store has it as a file instead."""
_NEW = f"{FOLDER}/_new"
"""The folder with texts that are being written. It has few names, so that it is listed quickly."""
_N_TRIES = 5


@dataclass(frozen=True, slots=True)
class HdfsFolder:
    """The files below a path `hdfs://name-node:8020/folder`; their names are relative to it."""

    n_at_once: ClassVar[int] = 64
    """A text takes half a second, in which the client waits."""

    address: str

    def text(self, name: str) -> ObjectText | None:
        with self._told() as client:
            found = self._record(client).text() if name == RECORD else None
            if found is not None:
                return found
            try:
                return ObjectText(text=read_text(client, self._path(name)), version="0")
            except FileNotFoundError:
                return None

    def write(self, name: str, text: str, version: str | None = None) -> bool:
        with self._told() as client:
            if name == RECORD:
                return self._record(client).write(text, version)
            is_first = self._is_placed(client, name, text)
            self._remove_unfinished(client, name)
        return is_first

    def put(self, name: str, text: str) -> None:
        with self._told() as client:
            self._place(client, name, text, overwrite=True)

    def sizes(self, begin: str = "") -> dict[str, int]:
        folder = self._path(begin.rpartition("/")[0])
        n_before = len(self._path(""))
        with self._told() as client:
            found = [each for each in _below(client, folder) if not each.isdir]
        sizes = {each.path[n_before:].lstrip("/"): each.length for each in found}
        return {
            name: size
            for name, size in sizes.items()
            if name.startswith(begin) and not name.startswith(f"{_VERSIONS}/")
        }

    def remove(self, names: Iterable[str]) -> None:
        with self._told() as client:
            for name in names:
                with suppress(PermissionError), hdfs_errors():
                    client.delete(self._path(name))

    def create(self, name: str) -> IO[bytes]:
        return created(hdfs_client(self.address), self._path(name))

    def open(self, name: str) -> NativeFile:
        return opened(hdfs_client(self.address), self._path(name))

    def _path(self, name: str) -> str:
        folder = self.address.partition("://")[2].partition("/")[2]
        return "/" + "/".join(filter(None, (folder, name)))

    def _record(self, client: Client) -> VersionedText:
        return VersionedText(client, self._path(_VERSIONS))

    def _is_placed(self, client: Client, name: str, text: str) -> bool:
        try:
            self._place(client, name, text, overwrite=False)
        except FileExistsError:
            return False
        return True

    def _place(self, client: Client, name: str, text: str, *, overwrite: bool) -> None:
        """Write a text, and rename it to its name.

        Raises:
            FileExistsError: The name exists, and may not be overwritten.
        """
        for _ in range(_N_TRIES):
            new = self._path(f"{self._unfinished(name)}{uuid4().hex}{UNFINISHED}")
            write_text(client, new, text)
            with suppress(FileNotFoundError):  # a run that has begun meanwhile has removed it
                client.rename(new, self._path(name), overwrite)
                return
        raise OSError(f"{name} was removed {_N_TRIES} times while it was written")

    def _remove_unfinished(self, client: Client, name: str) -> None:
        """Remove the texts of other writers of an object that is there: their renames would fail."""
        for status in client.list_status(self._path(_NEW)):
            if status.path.startswith(self._path(self._unfinished(name))):
                client.delete(status.path)

    def _unfinished(self, name: str) -> str:
        """Return the beginning of the names under which an object is written."""
        return f"{_NEW}/{name.rpartition('/')[2]}."

    @contextmanager
    def _told(self) -> Iterator[Client]:
        """Lend the client, and raise its errors as one sentence."""
        try:
            with hdfs_errors():
                yield hdfs_client(self.address)
        except OSError as error:
            raise WireSparkError(f"cannot use {self.address}: {error}") from None


def _below(client: Client, folder: str) -> list[FileStatus]:
    """Return all that is below a folder, or nothing if it is not there.

    Raises:
        OSError: Folders below it vanish again and again, so that the list may lack files.
    """
    for _ in range(_N_TRIES):
        try:
            return list(client.list_status(folder, True))
        except FileNotFoundError:
            try:
                client.get_file_info(folder)
            except FileNotFoundError:
                return []
    raise OSError(f"folders below {folder} vanish while they are listed: let only wiregen change it")
