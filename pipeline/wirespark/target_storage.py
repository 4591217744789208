"""The storage of a target: its record, its receipts and the files of its tables, and how they come to count.

Invariant: a file of a table counts if a receipt names it, and a receipt counts if it is among the contents. A storage
decides by its own means that the first receipt of a bundle wins, and that no two runs cut files differently.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, TypeAlias

from wirespark.errors import WireSparkError
from wirespark.planning import Part
from wirespark.receipts import Receipt, superseded
from wirespark.storage import check_has_no_password
from wirespark.stored_objects import OBJECT_STORES

if TYPE_CHECKING:
    from pyarrow import NativeFile

__all__ = ["Bundle", "Contents", "Plan", "Record", "TableFile", "TargetStorage", "taken", "target_storage_of", "unfit"]  # fmt: skip

Record: TypeAlias = dict[str, dict[str, object]]
"""The options that the rows of all parts share, and those that decide where files are cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Parts whose rows share files and a receipt.

    Attributes:
        name: The name of the receipt, with which the names of the files begin.
        ways: For each part by name, in the order of `parts`, its way: see `Receipt`.
    """

    name: str
    parts: tuple[Part, ...]
    ways: dict[str, str]

    @property
    def sources(self) -> dict[str, str]:
        """Return the file of each part by name."""
        return {name: part.path for name, part in zip(self.ways, self.parts, strict=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What counts in a target at one moment.

    Attributes:
        record: The options of the runs that filled it, or None if it is new.
        bundles: The names of the parts of bundles that runs have begun with, by the name of the bundle.
        files: The sizes of the files of tables in bytes, by their paths relative to the target.
    """

    record: Record | None
    bundles: Mapping[str, Collection[str]]
    receipts: tuple[Receipt, ...]
    files: Mapping[str, int]

    @property
    def counting(self) -> tuple[Receipt, ...]:
        """Return the receipts without those whose rows are in the files of other ones."""
        moved = superseded(self.receipts)
        return tuple(receipt for receipt in self.receipts if receipt.name not in moved)

    def is_whole(self, receipt: Receipt) -> bool:
        """Return whether all files of a receipt are there."""
        return all(file in self.files for file in receipt.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run makes of the contents of its target.

    Attributes:
        files: The files of this run.
        kept: The receipts that count from now on; `gone` are the other ones.
        done: Those of `kept` that have parts of this run.
        bundles: The bundles that this run converts.
        others: The parts of the bundles that stay to other runs, by the name of the bundle.
        replaced: The number of rows of `gone` that counted until now.
    """

    record: Record
    files: frozenset[str]
    kept: tuple[Receipt, ...]
    gone: tuple[Receipt, ...]
    done: tuple[Receipt, ...]
    bundles: tuple[Bundle, ...]
    others: Mapping[str, Collection[str]]
    replaced: int


class TableFile(Protocol):
    """A file that one try of a task writes. It counts for nobody yet.

    `name`: its path relative to the target, once it is published.
    """

    @property
    def name(self) -> str: ...

    @property
    def sink(self) -> Path | NativeFile | IO[bytes]: ...

    def finish(self) -> None:
        """Complete the file, all bytes of which are written."""

    def drop(self) -> None:
        """Remove the file, unless it was published."""


class TargetStorage(Protocol):
    """A place with one target.

    All its methods raise a WireSparkError with the address if the place does not allow what they do.
    """

    @property
    def address(self) -> str: ...

    def record(self) -> Record | None:
        """Return the record, or None if the target is new."""

    def contents(self) -> Contents:
        """Return what counts."""

    def receipt(self, name: str) -> Receipt | None:
        """Return a receipt, or None if it is missing or cannot be read."""

    def receipt_names(self) -> set[str]:
        """Return the names of the bundles that have a receipt."""

    def is_whole(self, receipt: Receipt) -> bool:
        """Return whether all files of a receipt are there, as far as a task needs to know."""

    def check(self) -> None:
        """Check that the target can be filled, and change nothing."""

    def begin(self, planned: Callable[[Contents], Plan]) -> Plan:
        """Plan a run from the contents, record it, and remove what no run needs. `planned` may be called again.

        Return the plan with the names that bundles have in this storage.
        """

    def new_name(self, parts: Sequence[str]) -> str:
        """Return the name of a bundle that is made of receipts and parts with these names: see `replace`."""

    def create(self, folder: str, name: str) -> TableFile:
        """Begin a file of a bundle in the folder of a table."""

    def open(self, file: str) -> Path | NativeFile | IO[bytes]:
        """Open a file of a table to read it.

        Raises:
            FileNotFoundError: It is gone.
            WireSparkError: The place does not give it.
        """

    def publish(
        self, record: Record, name: str, files: Sequence[TableFile], receipt: Callable[[], Receipt]
    ) -> Receipt:
        """Let the files of a bundle and the receipt that names them count.

        Return that receipt, or the one that another try of the bundle has published before.

        Raises:
            WireSparkError: Another run has started that cuts files elsewhere, or bundles them otherwise.
        """

    def replace(
        self, old: Sequence[Receipt], files: Sequence[TableFile], receipt: Callable[[], Receipt]
    ) -> Receipt | None:
        """Put a receipt in the place of others, and its files in the place of theirs. Its name was new before they were written.

        Return None, with nothing changed, if the old ones have changed meanwhile, or the files may have been removed.
        """

    def index_texts(self, key: str) -> Iterable[str]:
        """Yield the texts of the index with this key: see `SourceIndex`. One that cannot be read is left out."""

    def keep_index(self, name: str, text: str) -> None:
        """Write a text of an index, completely or not at all. `name`: its key, `-`, and the rest."""

    def tables(self) -> Iterable[str]:
        """Yield the names of the tables that have rows: their folders below the target."""

    def folder(self, table: str) -> Path | None:
        """Return the folder whose files are those of a table, or None if only receipts tell which they are."""


def taken(address: str) -> WireSparkError:
    """Return the error of a run whose target another run has taken over."""
    return WireSparkError(
        f"another run converts into {address} with another `split` or other options or files: wait for it to end"
    )


def unfit(address: str, why: str | None) -> WireSparkError:
    return WireSparkError(f"cannot write to {address} ({why}): give an existing or a new folder")


def target_storage_of(address: str) -> TargetStorage:
    """Return the storage of the target at a path.

    Raises:
        WireSparkError: There is none, or it is of a kind that has no targets.
    """
    from wirespark.disk_targets import DiskTarget
    from wirespark.object_targets import ObjectTarget

    scheme, mark, _ = address.partition("://")
    if scheme in OBJECT_STORES and mark:
        check_has_no_password(address)
        return ObjectTarget(address.rstrip("/"))
    if mark and scheme != "file":
        raise WireSparkError(
            f"a target is on a disk or in a storage ({', '.join(OBJECT_STORES)}), not in {scheme}: convert to one of these, then copy it"
        )
    if not address or mark:
        raise WireSparkError("the target is missing: give a folder on a disk that all workers can write to")
    return DiskTarget(Path(address).absolute())
