"""Files in HDFS, by hdfs-native: a client without Java and without Hadoop's libraries, the extra `spark-hdfs`.

Invariant: it finds its settings in the folder HADOOP_CONF_DIR, and the user in the environment or in Kerberos' cache. Its
errors are OSErrors with one line of text: a name node says no credentials, but a trace of its calls.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wirespark.errors import WireSparkError, first_line
from wirespark.of_process import OfProcess
from wirespark.remote_files import ListedFile
from wirespark.storage import FileState, matches

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from hdfs_native import Client, FileReader, FileStatus, FileWriter
    from pyarrow import NativeFile

__all__ = ["HdfsFiles", "created", "hdfs_client", "hdfs_errors", "opened", "read_text", "write_text"]

_TEXT: Final = re.compile(r'\w+\((?:"(?P<kind>[^"]*)", )?"(?P<text>(?:\\.|[^"\\])*)')
"""An error of hdfs-native as text, such as `RPCError("org.apache.hadoop.….SafeModeException", "…\\n\\tat …")`."""
_BUFFER_SIZE: Final = 1 << 20


def hdfs_client(address: str) -> Client:
    """Return the client of the name nodes, or of the mount table, of a path `hdfs://name-node:8020/…`.

    Raises:
        OSError: The settings do not have these name nodes, or the address is not that of a server.
        WireSparkError: The library is missing.
    """
    scheme, _, rest = address.partition("://")
    return _client(f"{scheme}://{rest.partition('/')[0]}")


@OfProcess
def _client(place: str) -> Client:
    try:
        from hdfs_native import Client
    except ImportError:
        raise WireSparkError(
            "files in HDFS need hdfs-native: install it on the driver and the workers with `pip install 'wiregen[spark-hdfs]'`"
        ) from None
    try:
        with hdfs_errors():
            return Client(place)
    except OSError as error:
        if str(error).startswith("UrlParseError"):
            raise OSError(
                f"{place} is not the address of a server: give hdfs://name-node:8020/folder"
            ) from None
        raise OSError(
            f"{error}; HADOOP_CONF_DIR names the folder of core-site.xml and hdfs-site.xml"
        ) from None


@contextmanager
def hdfs_errors() -> Iterator[None]:
    """Raise errors of hdfs-native as OSErrors of one line."""
    try:
        yield
    except (FileNotFoundError, FileExistsError, PermissionError) as error:
        raise type(error)(_said(error)) from None
    except (RuntimeError, OSError) as error:
        is_denied = "AccessControlException" in str(error)
        raise (PermissionError if is_denied else OSError)(_said(error)) from None


def _said(error: Exception) -> str:
    """Return the first line of the text of the server, or of the library."""
    found = _TEXT.match(str(error))
    text = re.sub(r'\\(["\'\\])', r"\1", found["text"].partition("\\n")[0]) if found else ""
    return text.strip() or first_line(error)


@dataclass(frozen=True, slots=True)
class HdfsFiles:
    """The files of the name nodes of an address."""

    address: str

    def state(self, name: str) -> FileState | None:
        with hdfs_errors():
            status = hdfs_client(self.address).get_file_info(f"/{name}")
        return None if status.isdir else _state_of(status)

    def below(self, folder: str, patterns: Sequence[str]) -> Iterator[ListedFile]:
        return self._below(f"/{folder}", (), patterns)

    def open(self, name: str) -> NativeFile:
        return opened(hdfs_client(self.address), f"/{name}")

    def _below(self, folder: str, above: tuple[str, ...], patterns: Sequence[str]) -> Iterator[ListedFile]:
        """Yield files as a disk does: without hidden folders, and without those that vanish."""
        try:
            with hdfs_errors():
                found = list(hdfs_client(self.address).list_status(folder))
        except FileNotFoundError:
            return
        for status in found:
            parts = (*above, status.path.rpartition("/")[2])
            if not status.isdir:
                yield ListedFile(parts, _state_of(status))
            elif matches(parts, patterns[: len(parts)]):
                yield from self._below(status.path, parts, patterns)


def _state_of(status: FileStatus) -> FileState:
    return FileState(size=status.length, modified=status.modification_time * 1_000_000)


def opened(client: Client, path: str) -> NativeFile:
    """Open a file to read it.

    Raises:
        FileNotFoundError: It is gone.
        OSError: It cannot be read; the file raises it too.
    """
    import pyarrow as pa

    with hdfs_errors():
        return pa.PythonFile(_Reader(client.read(path)), mode="r")


def created(client: Client, path: str) -> io.BufferedWriter:
    """Begin a new file, and its folders.

    Raises:
        FileExistsError: It is there.
        OSError: It cannot be written; the file raises it too.
    """
    with hdfs_errors():
        return io.BufferedWriter(_Writer(client.create(path)), _BUFFER_SIZE)


def read_text(client: Client, path: str) -> str:
    """Return the text of a file.

    Raises:
        FileNotFoundError: There is no such file.
    """
    with opened(client, path) as file:
        return bytes(file.read()).decode()


def write_text(client: Client, path: str, text: str) -> None:
    """Write a file that is not there yet."""
    with created(client, path) as file:
        file.write(text.encode())


class _Reader(io.RawIOBase):
    """A file that is read, with errors of one line."""

    def __init__(self, file: FileReader) -> None:
        super().__init__()
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        with hdfs_errors():
            return self._file.read(size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._file.seek(offset, whence)
        return self.tell()

    def tell(self) -> int:
        return self._file.tell()


class _Writer(io.RawIOBase):
    """A file that is written. It is whole once it is closed.

    A file that was removed meanwhile takes the rest of the bytes too: so it is as one that was removed after it was closed.
    """

    def __init__(self, file: FileWriter) -> None:
        super().__init__()
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        data = bytes(data)
        with suppress(FileNotFoundError), hdfs_errors():
            self._file.write(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            super().close()
            with suppress(FileNotFoundError), hdfs_errors():
                self._file.close()
