"""The counts of a receipt, added up by file while the rows are written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from wirespark.columns import Columns
from wirespark.receipts import Counts
from wirespark.untyped import ArrowArray, Batch

__all__ = ["Tallies"]


@dataclass(slots=True)
class _Tally:
    """The numbers of one file: see `Counts`. `n_read`: its rows, dropped ones included."""

    size: int = 0
    missing: int = 0
    n_read: int = 0
    rows: int = 0
    messages: dict[str, int] = field(default_factory=dict)
    inner: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)


class Tallies:
    """The numbers of several files."""

    def __init__(self) -> None:
        self._tallies: defaultdict[str, _Tally] = defaultdict(_Tally)

    @property
    def size(self) -> int:
        return sum(each.size for each in self._tallies.values())

    def add(self, read: Columns, kept: Columns) -> None:
        """Count rows that were read, of which some are kept."""
        codes = pc.struct_field(read.rows.column("_error"), "code")
        for file, n_bytes, n_missing in _sizes(read, codes):
            tally = self._tallies[file]
            tally.size += n_bytes - n_missing
            tally.missing += n_missing
        is_error = codes.is_valid()
        for file, code, count in _by_key(_files(read, is_error), codes.filter(is_error)):
            errors = self._tallies[file].errors
            errors[code] = errors.get(code, 0) + count
        for file, count in _times(read.origin.file, read.rows.num_rows):
            self._tallies[file].n_read += count
        for file, count in _times(kept.origin.file, kept.rows.num_rows):
            self._tallies[file].rows += count
        for name, found in kept.messages.items():
            files = kept.origin.file
            own = files if isinstance(files, str) else files.take(found.rows)
            for file, count in _times(own, len(found.rows)):
                messages = self._tallies[file].messages
                messages[name] = messages.get(name, 0) + count

    def add_inner(self, name: str, table: Batch) -> None:
        """Count the rows of a message's frames inside of others."""
        for file, count in _times(table.column("_file"), len(table)):
            inner = self._tallies[file].inner
            inner[name] = inner.get(name, 0) + count

    def counts(self, file: str, issues: dict[str, int]) -> Counts:
        """Return the counts of a file. `issues`: those that were found in it."""
        tally = self._tallies[file]
        return Counts(
            size=tally.size,
            rows=tally.rows,
            dropped=tally.n_read - tally.rows,
            missing=tally.missing,
            messages=tally.messages,
            inner=tally.inner,
            errors=tally.errors,
            issues=issues,
        )


def _sizes(columns: Columns, codes: ArrowArray) -> Iterator[tuple[str, int, int]]:
    """Yield for each file the bytes of its rows, and those of them that are missing."""
    sizes = columns.rows.column("_size")
    gaps = pc.if_else(pc.fill_null(pc.equal(codes, "gap"), False), sizes, 0)
    files = columns.origin.file
    if isinstance(files, str):
        yield files, pc.sum(sizes).as_py() or 0, pc.sum(gaps).as_py() or 0
        return
    table = pa.table({"file": files, "size": sizes, "gap": gaps})
    sums = table.group_by("file").aggregate([("size", "sum"), ("gap", "sum")])
    found = (sums.column(name).to_pylist() for name in ("file", "size_sum", "gap_sum"))
    for file, size, gap in zip(*found, strict=True):
        yield file, size or 0, gap or 0


def _files(columns: Columns, chosen: ArrowArray) -> str | ArrowArray:
    files = columns.origin.file
    return files if isinstance(files, str) else files.filter(chosen)


def _times(files: str | ArrowArray, n_rows: int) -> Iterator[tuple[str, int]]:
    """Yield how many of the rows each file has."""
    if isinstance(files, str):
        yield files, n_rows
        return
    counted = pc.value_counts(files)
    yield from zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)


def _by_key(files: str | ArrowArray, keys: ArrowArray) -> Iterator[tuple[str, str, int]]:
    """Yield how many of the rows each file has with each key."""
    if isinstance(files, str):
        for each in pc.value_counts(keys).to_pylist():
            yield files, each["values"], each["counts"]
        return
    table = pa.table({"file": files, "key": keys})
    for row in table.group_by(["file", "key"]).aggregate([([], "count_all")]).to_pylist():
        yield row["file"], row["key"], row["count_all"]
