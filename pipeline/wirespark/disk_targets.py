"""A target on a disk: files are written hidden and renamed, under locks of the target.

Invariant: bundles get their names and their receipts under a shared lock of the target, and it is cleaned under
an exclusive one. So a file without a receipt is never one that a run still needs. The names of bundles and files
are functions of the parts, so several runs write the same files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wirespark.output import DAY
from wirespark.receipts import FOLDER, INDEX, SUFFIX, Receipt, bundle_name
from wirespark.target_storage import Contents, Plan, Record, TableFile, taken, unfit
from wirespark.temporary_files import TEMPORARY, HiddenFile, alone, remove_left

__all__ = ["DiskTarget"]

_RECORD = "_target"
_BUNDLES = "_bundles"


@dataclass(frozen=True, slots=True)
class DiskTarget:
    """The target in a folder."""

    path: Path

    @property
    def address(self) -> str:
        return str(self.path)

    @property
    def _record(self) -> Path:
        return self.path / FOLDER / _RECORD

    @property
    def _bundles(self) -> Path:
        return self.path / FOLDER / _BUNDLES

    def record(self) -> Record | None:
        try:
            found: Record = json.loads(self._record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found

    def _noted(self) -> dict[str, list[str]]:
        """Return the names of the parts in the bundles that runs have begun with."""
        try:
            found: dict[str, list[str]] = json.loads(self._bundles.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found

    def contents(self) -> Contents:
        receipts = (self.receipt(name) for name in sorted(self.receipt_names()))
        return Contents(
            record=self.record(),
            bundles=self._noted(),
            receipts=tuple(receipt for receipt in receipts if receipt is not None),
            files={
                str(path.relative_to(self.path)): path.stat().st_size
                for path in self._files()
                if path.suffix == ".parquet"
            },
        )

    def receipt(self, name: str) -> Receipt | None:
        try:
            return Receipt.of(self._receipt_place(name).read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError):
            return None

    def receipt_names(self) -> set[str]:
        return {path.stem for path in (self.path / FOLDER).glob(f"*{SUFFIX}")}

    def is_whole(self, receipt: Receipt) -> bool:
        return all((self.path / file).is_file() for file in receipt.files)

    def check(self) -> None:
        there = next(path for path in (self.path, *self.path.parents) if path.exists())
        if not there.is_dir():
            raise unfit(self.address, "not a folder")
        if not os.access(there, os.W_OK):
            is_read_only = bool(os.statvfs(there).f_flag & os.ST_RDONLY)
            raise unfit(self.address, "the disk is read-only" if is_read_only else "no right to")

    def begin(self, planned: Callable[[Contents], Plan]) -> Plan:
        """Plan a run. Bundles on which another run may be at work stay as they are, so that both write the same files."""
        try:
            self._record.parent.mkdir(parents=True, exist_ok=True)
            with alone(self._record):
                plan = planned(self.contents())
                self._record.write_text(json.dumps(plan.record, sort_keys=True), encoding="utf-8")
                for receipt in plan.gone:
                    self._remove(receipt)
                self._remove_left({self.path / file for receipt in plan.kept for file in receipt.files})
                noted = {bundle.name: list(bundle.ways) for bundle in plan.bundles}
                self._bundles.write_text(json.dumps({**plan.others, **noted}), encoding="utf-8")
        except OSError as error:
            raise unfit(self.address, error.strerror) from None
        return plan

    def new_name(self, parts: Sequence[str]) -> str:
        return bundle_name(parts)

    def create(self, folder: str, name: str) -> TableFile:
        file = f"{folder}/{name}.parquet"
        return _DiskFile(file, HiddenFile(self.path / file))

    def open(self, file: str) -> Path:
        return self.path / file

    def publish(
        self, record: Record, name: str, files: Sequence[TableFile], receipt: Callable[[], Receipt]
    ) -> Receipt:
        """Rename the files of a bundle, and write its receipt. A concurrent run of the bundle writes the same bytes."""
        with alone(self._record, is_shared=True):
            is_ours = name in self._noted() or self.receipt(name) is not None
            if self.record() != record or not is_ours:
                raise taken(self.address)
            return self._named(files, receipt())

    def replace(
        self, old: Sequence[Receipt], files: Sequence[TableFile], receipt: Callable[[], Receipt]
    ) -> Receipt | None:
        with alone(self._record):
            if any(self.receipt(each.name) != each for each in old):
                return None
            new = self._named(files, receipt())
            for each in old:
                self._remove(each)
        return new

    def index_texts(self, key: str) -> Iterator[str]:
        for path in sorted((self.path / FOLDER).glob(f"{key}-*{INDEX}")):
            with suppress(OSError, UnicodeDecodeError):
                yield path.read_text(encoding="utf-8")

    def keep_index(self, name: str, text: str) -> None:
        try:
            _write(self.path / FOLDER / f"{name}{INDEX}", text)
        except OSError as error:
            raise unfit(self.address, error.strerror) from None

    def tables(self) -> Iterator[str]:
        for folder in (*self.path.glob("message=*"), self.path / "_frames"):
            if any(folder.rglob("*.parquet")):
                yield folder.name

    def folder(self, table: str) -> Path:
        return self.path / table

    def _receipt_place(self, name: str) -> Path:
        return self.path / FOLDER / f"{name}{SUFFIX}"

    def _named(self, files: Iterable[TableFile], receipt: Receipt) -> Receipt:
        """Give files their names, remove those of an earlier run that are not among them, and write the receipt."""
        for file in files:
            assert isinstance(file, _DiskFile)
            _rename(file.held.path, self.path / file.name)
            file.held.release()
        kept = {self.path / name for name in receipt.files}
        for folder in self._folders():
            path = folder / f"{receipt.name}.parquet"
            if path not in kept:  # a file that has changed may hold other messages
                path.unlink(missing_ok=True)
        self.write(receipt)
        return receipt

    def write(self, receipt: Receipt) -> None:
        """Write a receipt, completely or not at all."""
        _write(self._receipt_place(receipt.name), receipt.text())

    def _remove(self, receipt: Receipt) -> None:
        """Remove the files of a receipt, and then itself."""
        for name in receipt.files:
            self._inside(name).unlink(missing_ok=True)
        self._receipt_place(receipt.name).unlink(missing_ok=True)

    def _remove_left(self, kept: Collection[Path]) -> None:
        """Remove the files of interrupted runs. Files that a live run is writing stay."""
        for path in (*self._files(), *(self.path / FOLDER).iterdir()):
            if path.suffix == TEMPORARY:
                remove_left(path)
            elif path.suffix == ".parquet" and path not in kept:
                path.unlink(missing_ok=True)

    def _files(self) -> Iterator[Path]:
        for folder in self._folders():
            yield from folder.iterdir() if folder.is_dir() else ()

    def _folders(self) -> Iterator[Path]:
        """Yield the folders that have files of tables, those of days too."""
        for folder in (*self.path.glob("message=*"), self.path / "_frames"):
            yield folder
            yield from folder.glob(f"{DAY}=*")

    def _inside(self, name: str) -> Path:
        """Return a file below the target. A receipt that was tampered with cannot name another file."""
        path = (self.path / name).resolve()
        if self.path.resolve() not in path.parents:
            raise ValueError(f"{name!r} is not below {self.path}")
        return path


@dataclass(frozen=True, slots=True)
class _DiskFile:
    name: str
    held: HiddenFile

    @property
    def sink(self) -> Path:
        return self.held.path

    def finish(self) -> None:
        """Do nothing: the file is complete when its writer has closed it."""

    def drop(self) -> None:
        self.held.drop()


def _write(path: Path, text: str) -> None:
    """Write a text, completely or not at all."""
    held = HiddenFile(path)
    try:
        held.path.write_text(text, encoding="utf-8")
        _rename(held.path, path)
    finally:
        held.drop()


def _rename(temporary: Path, path: Path) -> None:
    """Rename a written file durably: its bytes and its name are on the disk when this returns."""
    _sync(temporary)
    os.replace(temporary, path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
