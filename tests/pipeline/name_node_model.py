"""A model of a name node in memory: the calls of hdfs-native's client that the pipeline makes, each in one step."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock

__all__ = ["NameNodeModel", "Status"]


@dataclass(frozen=True, slots=True)
class Status:
    path: str
    length: int
    isdir: bool
    modification_time: int


class _Written(io.BytesIO):
    """A file that is being written: its bytes are seen once it is closed."""

    def __init__(self, on_close: Callable[[bytes], None]) -> None:
        super().__init__()
        self.on_close = on_close

    def close(self) -> None:
        if not self.closed:
            data = self.getvalue()
            super().close()
            self.on_close(data)


@dataclass
class NameNodeModel:
    """Files by path, and the folders that were made for them; both stay as in HDFS."""

    files: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=lambda: {"/"})
    times: dict[str, int] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def get_file_info(self, path: str) -> Status:
        with self.lock:
            return self._status(path)

    def list_status(self, path: str, recursive: bool = False) -> Iterator[Status]:
        """Yield what is in a folder, and after each folder what is in it then, as it is asked for."""
        for each in self._listed(path):
            yield each
            if recursive and each.isdir:
                yield from self.list_status(each.path, True)

    def _listed(self, path: str) -> list[Status]:
        with self.lock:
            if path in self.files:
                return [self._status(path)]
            if path not in self.folders:
                raise FileNotFoundError(path)
            begin = f"{path.rstrip('/')}/"
            below = (each for each in (*self.folders, *self.files) if each.startswith(begin))
            return [
                self._status(each)
                for each in sorted(below)
                if each != begin and "/" not in each[len(begin) :]
            ]

    def read(self, path: str) -> io.BytesIO:
        with self.lock:
            if path not in self.files:
                raise FileNotFoundError(f"File does not exist: {path}")
            return io.BytesIO(self.files[path])

    def create(self, path: str, options: object = None) -> _Written:
        """Begin a file. Options are those of a file that replaces another one."""
        with self.lock:
            if path in self.files and options is None:
                raise FileExistsError(f"{path} already exists")
            self._put(path, b"")
            return _Written(lambda data: self._close(path, data))

    def rename(self, source: str, target: str, overwrite: bool = False) -> None:
        with self.lock:
            if source not in self.files or _folder(target) not in self.folders:
                raise FileNotFoundError(f"rename source {source} is not found.")
            if target in self.files and not overwrite:
                raise FileExistsError(f"rename destination {target} already exists")
            self._put(target, self.files.pop(source))

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Remove a file, or a folder with all that is in it."""
        with self.lock:
            if path in self.folders and recursive:
                self.folders = {each for each in self.folders if not f"{each}/".startswith(f"{path}/")}
                self.files = {
                    each: self.files[each] for each in self.files if not each.startswith(f"{path}/")
                }
                return True
            return self.files.pop(path, None) is not None

    def _close(self, path: str, data: bytes) -> None:
        with self.lock:
            if path not in self.files:
                raise FileNotFoundError(f"File does not exist: {path}")
            self._put(path, data)

    def _put(self, path: str, data: bytes) -> None:
        self.files[path] = data
        self.times[path] = len(self.times) + self.times.get(path, 0)
        while path != "/":
            path = _folder(path)
            self.folders.add(path)

    def _status(self, path: str) -> Status:
        if path not in self.files and path not in self.folders:
            raise FileNotFoundError(path)
        return Status(path, len(self.files.get(path, b"")), path in self.folders, self.times.get(path, 0))


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"
