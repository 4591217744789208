"""Objects of a store without locks: they are written whole, and under a condition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, ClassVar, Protocol

from wirespark.cloud_stores import CLOUD
from wirespark.receipts import FOLDER
from wirespark.storage import HDFS, S3

if TYPE_CHECKING:
    from pyarrow import NativeFile

__all__ = ["OBJECT_STORES", "RECORD", "UNFINISHED", "ObjectFolder", "ObjectText", "object_folder_of"]  # fmt: skip

OBJECT_STORES = (*S3, *CLOUD, *HDFS)
"""The schemes of these stores: Amazon's, Azure's and Google's, and HDFS, whose files are used as objects."""
RECORD = f"{FOLDER}/_target"
"""The only object that is replaced. All others have names of their own, and are written once or by `put`."""
UNFINISHED = ".unfinished"
"""The end of the names under which a store without conditions writes texts, before it renames them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectText:
    """The text of an object, and the version that it has."""

    text: str
    version: str


class ObjectFolder(Protocol):
    """The objects below a path `s3a://bucket/folder`; their names are relative to it.

    All methods raise a WireSparkError with the address if the store does not allow what they do.

    Attributes:
        n_at_once: How many of its texts a process reads or writes at the same time.
    """

    n_at_once: ClassVar[int]

    @property
    def address(self) -> str: ...

    def text(self, name: str) -> ObjectText | None:
        """Return the text of an object, or None if there is no such object."""

    def write(self, name: str, text: str, version: str | None = None) -> bool:
        """Write an object if its version is still this one; None: if there is no such object. Only `RECORD` has versions.

        Return False, with nothing changed, if it is not so. If an answer was lost, the write was repeated and finds
        its own result: then it returns False too, and the caller compares the text.
        """

    def put(self, name: str, text: str) -> None:
        """Write an object, whatever was there."""

    def sizes(self, begin: str = "") -> dict[str, int]:
        """Return the sizes of the objects whose names begin so, by name, with those that are `UNFINISHED`."""

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects; those that are not there, or that may not be removed, are skipped."""

    def create(self, name: str) -> NativeFile | IO[bytes]:
        """Begin an object, which is there once its file is closed.

        Raises:
            OSError: The store does not take it; its file raises it too.
        """

    def open(self, name: str) -> NativeFile | IO[bytes]:
        """Open an object to read it.

        Raises:
            FileNotFoundError: It is gone.
        """


def object_folder_of(address: str) -> ObjectFolder:
    """Return the objects below a path of one of these stores."""
    from wirespark.cloud_objects import CloudFolder
    from wirespark.hdfs_objects import HdfsFolder
    from wirespark.s3_objects import S3Folder

    scheme = address.partition("://")[0]
    if scheme in HDFS:
        return HdfsFolder(address)
    return S3Folder(address) if scheme in S3 else CloudFolder(address)
