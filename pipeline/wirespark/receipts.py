"""Receipts of a conversion: one next to the tables for each part, written once all files of the part exist.

Invariant: the name of a part is a function of its file, its beginning and its end; so are the names of its
files. A file without a receipt does not count, and is written again or removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from wirespark.batches import Slice
from wirespark.options import Wishes
from wirespark.planning import Part
from wirespark.temporary_files import TEMPORARY, Held, remove_left

__all__ = [
    "FOLDER", "Receipt", "bounds_of", "clean", "name_of", "read_receipt", "receipts_in", "remove_others", "replace_file", "summed",
    "way_of", "write_receipt",
]  # fmt: skip

FOLDER = "_receipts"
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The result of converting a part.

    Attributes:
        way: A hash of the options of the read and of the state of the file then.
        size: The bytes of the part, without holes in the streams of a capture.
        rows: The number of rows that were written; `dropped` rows were left out.
        messages: The number of rows by message.
        errors: The number of errors by code, dropped ones included.
        files: The paths of the written files, relative to the target.
    """

    name: str
    file: str
    start: int
    end: int | None
    way: str
    size: int
    rows: int
    dropped: int
    messages: dict[str, int]
    errors: dict[str, int]
    files: list[str]
    seconds: float

    def text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def name_of(part: Part) -> str:
    """Return the name of a part, which is the same in every run."""
    place: tuple[object, ...] = (part.path, *bounds_of(part))
    if not isinstance(part, Slice):
        place = (*place, "share")
    return sha256(repr(place).encode()).hexdigest()[:20]


def bounds_of(part: Part) -> tuple[int, int | None]:
    """Return the beginning and the end of a part; for a capture, the index and the number of shares."""
    return (part.start, part.end) if isinstance(part, Slice) else (part.index, part.n_shares)


def way_of(part: Part, wishes: Wishes) -> str:
    """Return a hash of everything that the rows of a part depend on."""
    status = os.stat(part.path)
    told = (
        name_of(part), status.st_size, status.st_mtime_ns, wishes.protocol, wishes.backend, part.role, wishes.variant, wishes.strict,
        sorted(wishes.limits.items()), wishes.mode, wishes.error_bytes, repr(wishes.package.plan), getattr(part, "port", None),
    )  # fmt: skip
    return sha256(repr(told).encode()).hexdigest()


def read_receipt(target: Path, name: str) -> Receipt | None:
    """Return a receipt, or None if it is missing or cannot be read."""
    try:
        text = (target / FOLDER / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
        return Receipt(**json.loads(text))
    except (OSError, ValueError, TypeError):
        return None


def receipts_in(target: Path) -> Iterator[Receipt]:
    """Yield all receipts of a target."""
    folder = target / FOLDER
    for path in sorted(folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else ():
        receipt = read_receipt(target, path.stem)
        if receipt is not None:
            yield receipt


def clean(target: Path, parts: Iterable[Part]) -> None:
    """Remove the remains of an interrupted run, and the tables of files that are now cut at other offsets.

    The caller must hold the target exclusively: see `targets`. Files that a live run is writing stay.
    """
    wanted = {name_of(part): part.path for part in parts}
    files = set(wanted.values())
    kept = set(wanted)
    for receipt in tuple(receipts_in(target)):
        if receipt.name in wanted or receipt.file not in files:
            kept.add(receipt.name)
            continue
        for name in receipt.files:
            _inside(target, name).unlink(missing_ok=True)
        (target / FOLDER / f"{receipt.name}{_SUFFIX}").unlink(missing_ok=True)
    for folder in (*_tables(target), target / FOLDER):
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.suffix == TEMPORARY:
                remove_left(path)
            elif path.suffix == ".parquet" and path.stem not in kept:
                path.unlink(missing_ok=True)


def remove_others(target: Path, name: str, files: Iterable[str]) -> None:
    """Remove tables that the part no longer fills: a file that has changed may hold other messages."""
    kept = {target / file for file in files}
    for folder in _tables(target):
        path = folder / f"{name}.parquet"
        if path not in kept:
            path.unlink(missing_ok=True)


def _tables(target: Path) -> Iterator[Path]:
    yield from target.glob("message=*")
    yield target / "_frames"


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
    held = Held(path)
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
