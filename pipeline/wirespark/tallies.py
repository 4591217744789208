"""The counts of a receipt, added up by file while the rows are written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from wirespark.columns import Columns
from wirespark.receipts import Counts
from wirespark.untyped import ArrowArray, Batch

__all__ = ["Tallies"]


class Tallies:
    """The counts of several files."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, Counts] = defaultdict(Counts)

    @property
    def size(self) -> int:
        return sum(each.size for each in self._counts.values())

    def add(self, read: Columns, kept: Columns) -> None:
        """Count rows that were read. `kept`: the same, or those of them that are no errors."""
        codes = pc.struct_field(read.rows.column("_error"), "code")
        for file, n_bytes, n_missing in _sizes(read, codes):
            counts = self._counts[file]
            counts.size += n_bytes - n_missing
            counts.missing += n_missing
        is_error = codes.is_valid()
        for file, code, count in _by_key(_files(read, is_error), codes.filter(is_error)):
            counts = self._counts[file]
            counts.errors[code] = counts.errors.get(code, 0) + count
            counts.dropped += 0 if kept is read else count
        for file, count in _times(kept.origin.file, kept.rows.num_rows):
            self._counts[file].rows += count
        for name, found in kept.messages.items():
            files = kept.origin.file
            own = files if isinstance(files, str) else files.take(found.rows)
            for file, count in _times(own, len(found.rows)):
                messages = self._counts[file].messages
                messages[name] = messages.get(name, 0) + count

    def add_inner(self, name: str, table: Batch) -> None:
        """Count the rows of a message's frames inside of others."""
        for file, count in _times(table.column("_file"), len(table)):
            inner = self._counts[file].inner
            inner[name] = inner.get(name, 0) + count

    def of(self, file: str) -> Counts:
        """Return the counts of a file."""
        return self._counts[file]


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
