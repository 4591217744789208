"""A target in an object store: what counts is decided by conditional writes, because there are neither renames nor locks.

Invariant: the record names the bundles whose receipts count. It is replaced only in the version that was read, so of two
runs that begin at once one is refused. A receipt is written once: of several tries of a bundle the first one wins.
The name of a bundle that is no longer in the record never comes back. So an object counts from the moment when its
receipt is there, and one that counted or may still count is never removed. Files that are rewritten belong to no bundle of the
record until they are complete; a run that begins meanwhile removes them, and then they may not count any more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import IO, TYPE_CHECKING
from uuid import uuid4

from wirespark.errors import WireSparkError, first_line
from wirespark.receipts import FOLDER, INDEX, SUFFIX, Receipt
from wirespark.stored_objects import RECORD, UNFINISHED, ObjectFolder, object_folder_of
from wirespark.target_storage import Bundle, Contents, Plan, Record, TableFile, taken, unfit

if TYPE_CHECKING:
    from pyarrow import NativeFile

__all__ = ["ObjectTarget"]

_NOTE = ".parts"
_N_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ledger:
    """The record with the names of the bundles whose receipts count, and the version in which it was read.

    `run`: a name of the last run that began.
    """

    record: Record | None = None
    bundles: tuple[str, ...] = ()
    run: str = ""
    version: str | None = None

    @property
    def mark(self) -> str:
        """Return the beginning of the names of bundles that are rewritten during the run."""
        return sha256(self.run.encode()).hexdigest()[:8]

    def text(self) -> str:
        """Return the text of an object, which no other write has."""
        told = {"record": self.record, "bundles": self.bundles, "run": self.run, "write": uuid4().hex}
        return json.dumps(told)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    """The ways of the parts of a bundle, and their files, as in its receipt. It is written before the record names the bundle."""

    ways: dict[str, str]
    sources: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """All objects with their sizes, and what of them counts. `notes`: of the bundles in the ledger."""

    ledger: _Ledger
    sizes: dict[str, int]
    receipts: tuple[Receipt, ...]
    notes: dict[str, _Note]

    @property
    def contents(self) -> Contents:
        return Contents(
            record=self.ledger.record,
            bundles={name: note.ways for name, note in self.notes.items()},
            receipts=self.receipts,
            files={name: size for name, size in self.sizes.items() if _is_of_table(name)},
        )


@dataclass(frozen=True, slots=True)
class ObjectTarget:
    """The target below a path in a store of objects."""

    address: str

    @property
    def _objects(self) -> ObjectFolder:
        return object_folder_of(self.address)

    def record(self) -> Record | None:
        return self._ledger().record

    def contents(self) -> Contents:
        return self._found().contents

    def receipt(self, name: str) -> Receipt | None:
        found = self._objects.text(_receipt_name(name))
        return None if found is None else Receipt.of(found.text)

    def receipt_names(self) -> set[str]:
        names = self._objects.sizes(f"{FOLDER}/")
        return {_bundle_of(name) for name in names if name.endswith(SUFFIX)}

    def is_whole(self, receipt: Receipt) -> bool:
        """Return True: the run has compared the names in the receipts with all objects when it began."""
        return True

    def check(self) -> None:
        self._ledger()

    def begin(self, planned: Callable[[Contents], Plan]) -> Plan:
        found = self._found()
        plan = _named(planned(found.contents), found.notes)
        notes = {bundle.name: _note(bundle) for bundle in plan.bundles if bundle.name not in found.notes}
        names = {receipt.name for receipt in plan.kept} | {bundle.name for bundle in plan.bundles}
        for name in plan.others:  # whose files are cut elsewhere by this run, or are not read by it
            if plan.files.isdisjoint(found.notes[name].sources.values()):
                names.add(name)
        with ThreadPoolExecutor(self._objects.n_at_once) as threads:
            list(threads.map(self._write_note, notes.items()))
        ledger = replace(found.ledger, record=plan.record, bundles=tuple(sorted(names)), run=uuid4().hex)
        if not self._replace(ledger):
            self._objects.remove(map(_note_name, notes))
            raise WireSparkError(
                f"another run has begun to write to {self.address} at the same moment: start this one again when it has ended"
            )
        self._objects.remove(_left(found.sizes, plan, names))
        return plan

    def new_name(self, parts: Sequence[str]) -> str:
        """Return a name that no object has: a run that begins later removes those with it that do not count."""
        mark = self._ledger().mark
        return f"{mark}{_new_name()[len(mark) :]}"

    def create(self, folder: str, name: str) -> TableFile:
        file = f"{folder}/{name}-{uuid4().hex}.parquet"
        try:
            return _ObjectFile(self._objects, file, self._objects.create(file))
        except OSError as error:
            raise unfit(self.address, first_line(error)) from None

    def open(self, file: str) -> NativeFile | IO[bytes]:
        try:
            return self._objects.open(file)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise WireSparkError(f"cannot read {self.address}/{file}: {first_line(error)}") from None

    def publish(
        self, record: Record, name: str, files: Sequence[TableFile], receipt: Callable[[], Receipt]
    ) -> Receipt:
        own = self._released(files, receipt())
        first = self._first(own)
        if name not in self._ledger().bundles:
            raise taken(self.address)
        if first != own:
            self._objects.remove(own.files)
        begins = [f"{file.rpartition('-')[0]}-" for file in own.files]
        there = {file for begin in begins for file in self._objects.sizes(begin)}
        self._objects.remove(there.difference(first.files))
        return first

    def replace(
        self, old: Sequence[Receipt], files: Sequence[TableFile], receipt: Callable[[], Receipt]
    ) -> Receipt | None:
        new = self._first(self._released(files, receipt()))
        names = {each.name for each in old}
        ledger = self._ledger()
        while new.name not in ledger.bundles:
            if not names.issubset(ledger.bundles) or not new.name.startswith(ledger.mark):
                self._objects.remove(_names_of(new))
                return None
            self._replace(replace(ledger, bundles=(*set(ledger.bundles).difference(names), new.name)))
            ledger = self._ledger()
        self._objects.remove(name for each in old for name in (*_names_of(each), _note_name(each.name)))
        return new

    def index_texts(self, key: str) -> Iterator[str]:
        names = sorted(self._objects.sizes(f"{FOLDER}/{key}-"))
        with ThreadPoolExecutor(self._objects.n_at_once) as threads:
            yield from (found.text for found in threads.map(self._objects.text, names) if found is not None)

    def keep_index(self, name: str, text: str) -> None:
        self._objects.put(f"{FOLDER}/{name}{INDEX}", text)

    def tables(self) -> Iterable[str]:
        return {file.partition("/")[0] for each in self._found().receipts for file in each.files}

    def folder(self, table: str) -> None:
        """Return None: objects that do not count lie beside the others."""

    def _ledger(self) -> _Ledger:
        found = self._objects.text(RECORD)
        if found is None:
            return _Ledger()
        told = json.loads(found.text)
        if "bundles" not in told:
            raise unfit(self.address, "it was copied from a disk")
        return _Ledger(
            record=told["record"],
            bundles=tuple(told["bundles"]),
            run=told.get("run", ""),
            version=found.version,
        )

    def _found(self) -> _Found:
        """Return what is there, at a moment at which no bundle became invalid."""
        while True:
            ledger, sizes = self._ledger(), self._objects.sizes()
            done = [name for name in ledger.bundles if _receipt_name(name) in sizes]
            with ThreadPoolExecutor(self._objects.n_at_once) as threads:
                receipts = tuple(each for each in threads.map(self.receipt, done) if each is not None)
                due = set(ledger.bundles).difference(each.name for each in receipts)
                notes = {
                    name: note for name, note in zip(due, threads.map(self._note, due), strict=True) if note
                }
            notes |= {each.name: _Note(ways=each.ways, sources=each.sources) for each in receipts}
            if self._ledger().version == ledger.version:
                if ledger.version is None and any(map(_is_receipt, sizes)):
                    raise unfit(self.address, "its receipts are there, but not their record")
                return _Found(ledger=ledger, sizes=sizes, receipts=receipts, notes=notes)

    def _note(self, name: str) -> _Note | None:
        found = self._objects.text(_note_name(name))
        return None if found is None else _Note(**json.loads(found.text))

    def _write_note(self, note: tuple[str, _Note]) -> None:
        self._objects.write(_note_name(note[0]), json.dumps(asdict(note[1])))

    def _replace(self, ledger: _Ledger) -> bool:
        """Replace the record, unless it was replaced since its version.

        Raises:
            WireSparkError: The server does not respect conditions.
        """
        text = ledger.text()
        is_done = self._objects.write(RECORD, text, ledger.version)
        if is_done and ledger.version is None and self._objects.write(RECORD, text):
            raise unfit(self.address, "its server ignores conditions of writes, such as `If-None-Match`")
        found = None if is_done else self._objects.text(RECORD)
        return is_done or (found is not None and found.text == text)

    def _released(self, files: Iterable[TableFile], receipt: Receipt) -> Receipt:
        """Let files stay whatever happens from now on: from now on a receipt may name them, even if its writer hears of an error."""
        for file in files:
            assert isinstance(file, _ObjectFile)
            file.is_released = True
        return receipt

    def _first(self, own: Receipt) -> Receipt:
        """Write a receipt, and return it, or the one that was written before under its name."""
        for _ in range(_N_TRIES):
            if self._objects.write(_receipt_name(own.name), own.text()):
                return own
            former = self.receipt(own.name)
            if former is not None:
                return former
        raise unfit(self.address, "conflicts of writes do not end")


@dataclass(slots=True)
class _ObjectFile:
    """An object under a name of its own. `is_released`: others decide what becomes of it."""

    objects: ObjectFolder
    name: str
    sink: NativeFile | IO[bytes]
    is_released: bool = False

    def finish(self) -> None:
        try:
            self.sink.close()
        except OSError as error:
            raise unfit(self.objects.address, first_line(error)) from None

    def drop(self) -> None:
        if not self.is_released:
            with suppress(OSError):
                self.sink.close()
            self.objects.remove([self.name])


def _named(plan: Plan, notes: dict[str, _Note]) -> Plan:
    """Return a plan whose bundles have the names under which they are noted already, or new ones."""
    gone = {receipt.name for receipt in plan.gone}
    known = {frozenset(note.ways.items()): name for name, note in notes.items() if name not in gone}

    def named(bundle: Bundle) -> Bundle:
        return replace(bundle, name=known.get(frozenset(bundle.ways.items())) or _new_name())

    return replace(plan, bundles=tuple(map(named, plan.bundles)))


def _note(bundle: Bundle) -> _Note:
    return _Note(ways=bundle.ways, sources=bundle.sources)


def _new_name() -> str:
    return uuid4().hex[:20]


def _left(names: Iterable[str], plan: Plan, bundles: Iterable[str]) -> list[str]:
    """Return the objects that no run needs. A bundle that is not done may be the work of a live run."""
    due = set(bundles).difference(receipt.name for receipt in plan.kept)
    needed = {name for receipt in plan.kept for name in _names_of(receipt)}
    ours = (name for name in names if _is_of_table(name) or _is_of_bundle(name))
    return [name for name in ours if name not in needed and _bundle_of(name) not in due]


def _is_of_table(name: str) -> bool:
    return name.startswith(("message=", "_frames/")) and name.endswith(".parquet")


def _is_of_bundle(name: str) -> bool:
    return name.startswith(f"{FOLDER}/") and name.endswith((SUFFIX, _NOTE, UNFINISHED))


def _is_receipt(name: str) -> bool:
    return name.startswith(f"{FOLDER}/") and name.endswith(SUFFIX)


def _receipt_name(bundle: str) -> str:
    return f"{FOLDER}/{bundle}{SUFFIX}"


def _note_name(bundle: str) -> str:
    return f"{FOLDER}/{bundle}{_NOTE}"


def _bundle_of(name: str) -> str:
    """Return the name of the bundle that an object belongs to."""
    return name.rpartition("/")[2].partition(".")[0].partition("-")[0]


def _names_of(receipt: Receipt) -> tuple[str, ...]:
    """Return the objects of a bundle: its files and its receipt."""
    return (*receipt.files, _receipt_name(receipt.name))
