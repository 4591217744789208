"""What was converted: a receipt beside the tables for each part, written when all its files stand.

Invariant: the name of a part is a function of its file, its beginning and its end; so are the names of its files. What has no
receipt does not count, and is written again or removed.
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
    """What became of a part.

    Attributes:
        way: A hash of how it was read, and of the file as it was then.
        size: The part's bytes, holes in a capture's streams not counted.
        rows: That were written; `dropped` were left out.
        messages: Rows by message.
        errors: Faults by code, those that were left out too.
        files: Below the target.
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
    """Return what a part is called, here and in any other run."""
    place: tuple[object, ...] = (part.path, *bounds_of(part))
    if not isinstance(part, Slice):
        place = (*place, "share")
    return sha256(repr(place).encode()).hexdigest()[:20]


def bounds_of(part: Part) -> tuple[int, int | None]:
    """Return where a part begins and ends; of a capture which of how many shares it is."""
    return (part.start, part.end) if isinstance(part, Slice) else (part.index, part.n_shares)


def way_of(part: Part, wishes: Wishes) -> str:
    """Return a hash of all that a part's rows depend on."""
    status = os.stat(part.path)
    told = (
        name_of(part), status.st_size, status.st_mtime_ns, wishes.protocol, wishes.backend, part.role, wishes.variant, wishes.strict,
        sorted(wishes.limits.items()), wishes.mode, wishes.error_bytes, repr(wishes.package.plan), getattr(part, "port", None),
    )  # fmt: skip
    return sha256(repr(told).encode()).hexdigest()


def read_receipt(target: Path, name: str) -> Receipt | None:
    """Return a receipt; None where there is none that can be read."""
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
    """Remove what an interrupted run left, and what files gave that are now cut in other places.

    Only for who has the target alone: see `targets`. What a run that lives is writing stays.
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
    """Remove what the part of that name gave before but no more: a file that has changed may hold other messages."""
    kept = {target / file for file in files}
    for folder in _tables(target):
        path = folder / f"{name}.parquet"
        if path not in kept:
            path.unlink(missing_ok=True)


def _tables(target: Path) -> Iterator[Path]:
    yield from target.glob("message=*")
    yield target / "_frames"


def _inside(target: Path, name: str) -> Path:
    """Return a file below the target; a receipt that was tampered with names no other."""
    path = (target / name).resolve()
    if target.resolve() not in path.parents:
        raise ValueError(f"{name!r} is not below {target}")
    return path


def replace_file(temporary: Path, path: Path) -> None:
    """Give a written file its name, for good: its bytes and its name are on the disk when this returns."""
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
    """Write a receipt, whole or not at all."""
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
