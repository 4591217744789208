"""A text in HDFS that is replaced only in the version that was read: its versions are files with numbers in a folder.

A writer that has read version N:

1. writes a temporary file `N+1.random`;
2. lists the folder, and gives up unless N is the highest version;
3. renames the temporary file to `N+1`, which fails if `N+1` is there or the temporary file is gone.

A writer whose version M is there then lists the folder, and removes first the temporary files for versions up to M, and
after them the versions below M.

Invariant: each number is written once. The name node renames in one step, so of several writers of a number that is free, one
wins. A number that was removed is never written again. Suppose that a writer is suspended before step 3, and N+1 is removed
meanwhile. The highest version is never removed, and step 2 did not see a higher one than N. So N+1 was written after step 2.
The writer that removed it had listed the folder later still, after M > N+1 was there. So it saw the temporary file, which is older than
step 2, and removed it before it removed N+1. The rename fails.

The folder has few names, so a listing is one answer of the name node, which has up to 1,000.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from wirespark.hdfs import read_text, write_text
from wirespark.stored_objects import ObjectText

if TYPE_CHECKING:
    from hdfs_native import Client

__all__ = ["VersionedText"]


class _Name(NamedTuple):
    """A name in the folder: a version, or a temporary file for one."""

    number: int
    is_temporary: bool
    path: str


@dataclass(frozen=True, slots=True)
class VersionedText:
    """The versions of a text in a folder of their own. The methods raise the errors of hdfs-native."""

    client: Client
    folder: str

    def text(self) -> ObjectText | None:
        """Return the highest version, or None if the text was never written."""
        while True:
            number = _highest(self._names())
            if not number:
                return None
            try:
                return ObjectText(text=read_text(self.client, f"{self.folder}/{number}"), version=str(number))
            except FileNotFoundError:  # a later version has replaced it since
                continue

    def write(self, text: str, version: str | None) -> bool:
        """Write the version after one that was read, and return whether that was the highest. None: there was none."""
        number = 1 + int(version or 0)
        temporary = f"{self.folder}/{number}.{uuid4().hex}"
        write_text(self.client, temporary, text)
        if not self._is_next(number) or not self._is_renamed(temporary, number):
            self.client.delete(temporary)
            return False
        self._remove_before(number)
        return True

    def _is_next(self, number: int) -> bool:
        return _highest(self._names()) == number - 1

    def _is_renamed(self, temporary: str, number: int) -> bool:
        try:
            self.client.rename(temporary, f"{self.folder}/{number}")
        except (FileExistsError, FileNotFoundError):
            return False
        return True

    def _remove_before(self, number: int) -> None:
        """Remove what this version replaces. The order matters: see the module."""
        names = self._names()
        temporary = [each.path for each in names if each.is_temporary and each.number <= number]
        replaced = [each.path for each in names if not each.is_temporary and each.number < number]
        for path in (*temporary, *replaced):
            self.client.delete(path)

    def _names(self) -> list[_Name]:
        try:
            found = [status.path for status in self.client.list_status(self.folder)]
        except FileNotFoundError:
            return []
        return [name for name in map(_name_of, found) if name is not None]


def _name_of(path: str) -> _Name | None:
    """Return what a path is, or None for one that no writer makes."""
    number, dot, _ = path.rpartition("/")[2].partition(".")
    return _Name(number=int(number), is_temporary=bool(dot), path=path) if number.isdecimal() else None


def _highest(names: Iterable[_Name]) -> int:
    return max((each.number for each in names if not each.is_temporary), default=0)
