"""Receipts of a conversion: one next to the tables for each bundle of parts, written once all its files exist.

Invariant: the name of a part is a function of its file, its beginning and its end, the name of a bundle one of
its parts; so are the names of its files. A file without a receipt does not count, and is written again or removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path

from wirespark.batches import Slice
from wirespark.options import Wishes
from wirespark.packages import Package
from wirespark.planning import Part
from wirespark.storage import storage_of
from wirespark.temporary_files import TEMPORARY, HiddenFile, remove_left

__all__ = [
    "FOLDER", "Receipt", "bounds_of", "bundle_name", "clean", "is_whole", "name_of", "read_receipt", "receipt_names", "receipts_in", "remove", "remove_others", "replace_file", "summed", "tables_in",
    "way_of", "write_receipt",
]  # fmt: skip

FOLDER = "_receipts"
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The result of converting a bundle.

    Attributes:
        ways: For each part by name, a hash of the options of the read and of the state of the file then.
        sources: For each part by name, its file.
        size: The bytes of the parts, without holes in the streams of a capture.
        rows: The number of rows that were written; `dropped` rows were left out.
        messages: The number of rows by message; `inner` has those of frames inside of others.
        errors: The number of errors by code, dropped ones included.
        files: The paths of the written files, relative to the target.
        replaces: The names of the receipts whose rows were moved into these files.
    """

    name: str
    ways: dict[str, str]
    sources: dict[str, str]
    size: int
    rows: int
    dropped: int
    messages: dict[str, int]
    inner: dict[str, int]
    errors: dict[str, int]
    files: list[str]
    seconds: float
    replaces: list[str] = field(default_factory=list)

    def text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def of(cls, text: str) -> Receipt:
        return cls(**json.loads(text))


def name_of(part: Part) -> str:
    """Return the name of a part, which is the same in every run."""
    place: tuple[object, ...] = (part.path, *bounds_of(part))
    if not isinstance(part, Slice):
        place = (*place, "share")
    return sha256(repr(place).encode()).hexdigest()[:20]


def bundle_name(names: Sequence[str]) -> str:
    """Return the name of a bundle of parts with these names: of a single part, its own."""
    return names[0] if len(names) == 1 else sha256(" ".join(names).encode()).hexdigest()[:20]


def bounds_of(part: Part) -> tuple[int, int | None]:
    """Return the beginning and the end of a part; for a capture, the index and the number of shares."""
    return (part.start, part.end) if isinstance(part, Slice) else (part.index, part.n_shares)


def way_of(part: Part, wishes: Wishes) -> str:
    """Return a hash of everything that the rows of a part depend on."""
    state = storage_of(part.path).state(part.path)
    facts = (
        name_of(part), state.size, state.modified, wishes.protocol, wishes.backend, part.role, wishes.variant, wishes.strict,
        sorted(wishes.limits.items()), wishes.mode, wishes.error_bytes, _plan_hash(wishes.package), getattr(part, "port", None),
    )  # fmt: skip
    return sha256(repr(facts).encode()).hexdigest()


@cache
def _plan_hash(package: Package) -> str:
    return sha256(repr(package.schema).encode()).hexdigest()


def read_receipt(target: Path, name: str) -> Receipt | None:
    """Return a receipt, or None if it is missing or cannot be read."""
    try:
        text = (target / FOLDER / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
        return Receipt.of(text)
    except (OSError, ValueError, TypeError):
        return None


def receipt_names(target: Path) -> set[str]:
    """Return the names of the bundles that have a receipt."""
    return {path.stem for path in (target / FOLDER).glob(f"*{_SUFFIX}")}


def receipts_in(target: Path) -> Iterator[Receipt]:
    """Yield all receipts of a target."""
    for name in sorted(receipt_names(target)):
        receipt = read_receipt(target, name)
        if receipt is not None:
            yield receipt


def is_whole(target: Path, receipt: Receipt) -> bool:
    """Return whether all files of a receipt are there."""
    return all((target / file).is_file() for file in receipt.files)


def clean(target: Path, wanted: Mapping[str, str], files: Collection[str]) -> list[Receipt]:
    """Remove the remains of interrupted runs, and receipts with parts of `files` that are not as wanted any more.

    `wanted`: the way of each part by name. The receipts of these parts that stay are returned. The caller must
    hold the target exclusively: see `targets`. Files that a live run is writing stay.
    """
    receipts = {receipt.name: receipt for receipt in receipts_in(target)}
    for receipt in tuple(receipts.values()):  # what a compaction moved, and was killed before it removed it
        for name in receipt.replaces:
            if name in receipts:
                remove(target, receipts.pop(name))
    done, kept = [], set()
    for receipt in receipts.values():
        is_ours = any(file in files for file in receipt.sources.values())
        is_stale = any(
            wanted.get(part) != way for part, way in receipt.ways.items() if receipt.sources[part] in files
        )
        if is_stale or (is_ours and not is_whole(target, receipt)):
            remove(target, receipt)
            continue
        kept.add(receipt.name)
        if is_ours:
            done.append(receipt)
    for folder in (*tables_in(target), target / FOLDER):
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.suffix == TEMPORARY:
                remove_left(path)
            elif path.suffix == ".parquet" and path.stem not in kept:
                path.unlink(missing_ok=True)
    return done


def remove(target: Path, receipt: Receipt) -> None:
    """Remove the files of a receipt, and then itself."""
    for name in receipt.files:
        _inside(target, name).unlink(missing_ok=True)
    (target / FOLDER / f"{receipt.name}{_SUFFIX}").unlink(missing_ok=True)


def remove_others(target: Path, name: str, files: Iterable[str]) -> None:
    """Remove tables that the bundle no longer fills: a file that has changed may hold other messages."""
    kept = {target / file for file in files}
    for folder in tables_in(target):
        path = folder / f"{name}.parquet"
        if path not in kept:
            path.unlink(missing_ok=True)


def tables_in(target: Path) -> Iterator[Path]:
    """Yield the folders of a target that have files of tables, those of days too."""
    for folder in (*target.glob("message=*"), target / "_frames"):
        yield folder
        yield from folder.glob("date=*")


def _inside(target: Path, name: str) -> Path:
    """Return a file below the target. A receipt that was tampered with cannot name another file."""
    path = (target / name).resolve()
    if target.resolve() not in path.parents:
        raise ValueError(f"{name!r} is not below {target}")
    return path


def replace_file(temporary: Path, path: Path) -> None:
    """Rename a written file durably: its bytes and its name are on the disk when this returns."""
    _sync(temporary, os.O_RDONLY)
    os.replace(temporary, path)
    _sync(path.parent, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_receipt(target: Path, receipt: Receipt) -> None:
    """Write a receipt, completely or not at all."""
    path = target / FOLDER / f"{receipt.name}{_SUFFIX}"
    held = HiddenFile(path)
    try:
        held.path.write_text(receipt.text(), encoding="utf-8")
        replace_file(held.path, path)
    finally:
        held.drop()


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums by key, the largest first."""
    found: dict[str, int] = {}
    for each in counts:
        for key, number in each.items():
            found[key] = found.get(key, 0) + int(number)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
