"""`format("wire_convert")`: a read whose rows are receipts; its tasks write the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from wirespark.captures import Share
from wirespark.columns import Columns, selected
from wirespark.divisions import SourceIndex
from wirespark.errors import WireSparkError
from wirespark.inner_frames import inner_tables, outer_table
from wirespark.options import ReadOptions
from wirespark.output import divided
from wirespark.parquet import TableWriters, folder_of
from wirespark.planning import Part, division_of, files_of, n_shares_of, parts_in, size_of
from wirespark.reading import ReadReport, columns_of
from wirespark.receipts import Receipt, name_of, way_of
from wirespark.spark_types import struct_type
from wirespark.storage import FileState, storage_of
from wirespark.table_rows import rows_table
from wirespark.target_storage import Bundle, Plan
from wirespark.targets import Target, target_of
from wirespark.untyped import Batch

if TYPE_CHECKING:
    from pyspark.sql import Row

__all__ = ["ConvertPartition", "ConvertSource", "IndexPartition", "is_index", "receipts_of"]

_SCHEMA = pa.schema([pa.field("receipt", pa.string()), pa.field("resumed", pa.bool_())])


@dataclass
class ConvertPartition(InputPartition):
    """The parts whose rows one task writes to common files, and the name of their bundle.

    `done`: receipts of earlier runs, as text.
    """

    parts: tuple[Part, ...]
    name: str = ""
    done: tuple[str, ...] = ()


@dataclass
class IndexPartition(InputPartition):
    """The files that one task divides, with the states in which they were listed. `key`: that of their index."""

    files: Mapping[str, FileState]
    key: str


class ConvertSource(DataSource):
    """Files to one table per message below `target`.

    If there are many files, a first read divides them, and its rows have no receipt. A second one, with the option
    `indexed`, converts them.
    """

    @classmethod
    def name(cls) -> str:
        return "wire_convert"

    def schema(self) -> StructType:
        return struct_type(_SCHEMA)

    def reader(self, schema: StructType) -> ConvertReader:
        output, given = divided(self.options)
        target, is_indexed = given.pop("target", ""), given.pop("indexed", "false") == "true"
        return ConvertReader(target_of(target, ReadOptions.of(given), output), is_indexed=is_indexed)


class ConvertReader(DataSourceReader):
    """One conversion, or the division of the files before it. `is_indexed`: the files were divided by an earlier read."""

    def __init__(self, target: Target, *, is_indexed: bool = False) -> None:
        self._options = target.options
        self._target = target
        self._is_indexed = is_indexed

    def partitions(self) -> Sequence[InputPartition]:
        """List the files, and return the tasks that convert them, or those that divide them first."""
        options, files = self._options, files_of(self._options.paths)
        index = SourceIndex.of(self._target.storage, options)
        large = index.divided(files)
        known = index.known(large) if index.is_worthwhile(large) else {}
        due = {path: state for path, state in large.items() if path not in known}
        if not self._is_indexed and index.is_worthwhile(due):
            self._target.look()
            return [IndexPartition(some, index.key) for some in index.tasks(due)]
        parts = (
            part
            for path, state in files.items()
            for part in parts_in(
                path, state.size, known.get(path) or division_of(path, state.size, options), options
            )
        )
        return self._conversions(self._target.begin(parts, files))

    def _conversions(self, plan: Plan) -> Sequence[InputPartition]:
        texts = tuple(receipt.text() for receipt in plan.done)
        first = [ConvertPartition((), done=texts)] if texts or not plan.bundles else []
        return [*first, *(ConvertPartition(bundle.parts, bundle.name) for bundle in plan.bundles)]

    def read(self, partition: InputPartition) -> Iterator[Batch]:
        if isinstance(partition, IndexPartition):
            SourceIndex(self._target.storage, self._options, partition.key).keep(partition.files)
            yield _batch_of((None,), is_resumed=False)
            return
        assert isinstance(partition, ConvertPartition)
        if partition.done:
            yield _batch_of(partition.done, is_resumed=True)
        if partition.parts:
            receipt, is_resumed = self._converted(partition.parts, partition.name)
            yield _batch_of((receipt.text(),), is_resumed=is_resumed)

    def _converted(self, parts: tuple[Part, ...], name: str) -> tuple[Receipt, bool]:
        """Return the receipt of a bundle, and whether it existed before."""
        states = _states_of(parts)
        names = {name_of(part): part for part in parts}
        ways = {
            each: way_of(part, each, self._options.wishes, states[part.path]) for each, part in names.items()
        }
        storage = self._target.storage
        former = storage.receipt(name)
        if former is not None and former.ways == ways and storage.is_whole(former):
            return former, True
        return _Conversion(Bundle(name=name, parts=parts, ways=ways), states, self._target).run(), False


def _batch_of(receipts: Sequence[str | None], *, is_resumed: bool) -> Batch:
    columns = [pa.array(receipts, pa.string()), pa.array([is_resumed] * len(receipts))]
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


class _Conversion:
    """The conversion of a bundle of parts. `states`: those of their files, by path, before anything is read."""

    def __init__(self, bundle: Bundle, states: Mapping[str, FileState], target: Target) -> None:
        self._bundle = bundle
        self._states = states
        self._options = target.options
        self._package = target.options.wishes.package
        self._target = target
        self._writers = TableWriters(target.storage, bundle.name, target.output)
        self._messages: dict[str, int] = {}
        self._inner: dict[str, int] = {}
        self._errors: dict[str, int] = {}
        self._report = ReadReport()
        self._missing = 0
        self._n_rows = 0
        self._n_dropped = 0
        self._size = 0

    def run(self) -> Receipt:
        """Write the tables of the part, and return its receipt.

        Raises:
            WireSparkError: In the mode FAILFAST, some bytes cannot be decoded. The part then leaves no files.
        """
        begun = perf_counter()
        target, writers = self._target, self._writers
        wishes = self._options.wishes
        seen = replace(wishes, mode="FAILFAST" if wishes.mode == "FAILFAST" else "PERMISSIVE")
        try:
            for columns in columns_of(self._bundle.parts, seen, self._options, self._report):
                self._take(columns)
            writers.finish()
            return target.storage.publish(
                target.own(), self._bundle.name, writers.files, lambda: self._receipt(perf_counter() - begun)
            )
        except BaseException:
            writers.drop()
            raise

    def _receipt(self, seconds: float) -> Receipt:
        """Return the receipt of the written files.

        Raises:
            WireSparkError: The file has changed since it was read.
        """
        now = _states_of(self._bundle.parts)
        for part in self._bundle.parts:
            if not self._is_as_planned(part, now[part.path]):
                raise WireSparkError(f"{part.path} changed while it was converted: convert it again")
        self._check_size()
        return Receipt(
            name=self._bundle.name,
            ways=self._bundle.ways,
            sources=self._bundle.sources,
            size=self._size,
            rows=self._n_rows,
            dropped=self._n_dropped,
            messages=self._messages,
            inner=self._inner,
            errors=self._errors,
            missing=self._missing,
            issues={kind.value: count for kind, count in self._report.issues.items() if not kind.is_harmless},
            files=[file.name for file in self._writers.files],
            seconds=seconds,
        )

    def _is_as_planned(self, part: Part, now: FileState) -> bool:
        """Return whether another run would cut the file like this one; a capture may have grown."""
        if part.path not in self._report.captures:
            return now == self._states[part.path]
        n_shares = part.n_shares if isinstance(part, Share) else 1
        return n_shares_of(part.path, now.size, self._options) == n_shares

    def _check_size(self) -> None:
        """Compare the rows with the bytes that they should tile, unless some are of a capture.

        Raises:
            AssertionError: Bytes are missing or duplicated: a bug of this package.
        """
        if self._report.captures:
            return
        n_bytes = sum(size_of(part, self._states[part.path].size) for part in self._bundle.parts)
        if self._size != n_bytes:
            raise AssertionError(f"rows of {self._size} bytes for {n_bytes} of {self._bundle.sources}")

    def _take(self, columns: Columns) -> None:
        kept = columns
        if self._options.wishes.mode == "DROPMALFORMED":
            kept = selected(columns, pc.is_null(columns.rows.column("_error")))
        self._count(columns, kept)
        if kept.rows.num_rows and self._target.output.has_frames:
            self._writers.write("_frames", rows_table(kept))
        for name in kept.messages:
            self._writers.write(folder_of(name), outer_table(kept, self._package, name))
        for name, table in inner_tables(kept, self._package):
            self._inner[name] = self._inner.get(name, 0) + len(table)
            self._writers.write(folder_of(name), table)

    def _count(self, columns: Columns, kept: Columns) -> None:
        rows = columns.rows
        self._n_rows += kept.rows.num_rows
        self._n_dropped += rows.num_rows - kept.rows.num_rows
        codes = pc.struct_field(rows.column("_error"), "code")
        is_gap = pc.fill_null(pc.equal(codes, "gap"), False)
        n_all, n_missing = (
            pc.sum(each).as_py() or 0 for each in (rows.column("_size"), rows.column("_size").filter(is_gap))
        )
        self._size, self._missing = self._size + n_all - n_missing, self._missing + n_missing
        for name, found in kept.messages.items():
            self._messages[name] = self._messages.get(name, 0) + len(found.rows)
        for counted in pc.value_counts(codes.drop_null()).to_pylist():
            self._errors[counted["values"]] = self._errors.get(counted["values"], 0) + counted["counts"]


def _states_of(parts: Sequence[Part]) -> dict[str, FileState]:
    """Return the present states of the files of parts, by path."""
    return {path: storage_of(path).state(path) for path in {part.path for part in parts}}


def is_index(rows: Sequence[Row]) -> bool:
    """Return whether a read has divided the files, which are to be converted by another one."""
    return any(row["receipt"] is None for row in rows)


def receipts_of(rows: Sequence[Row]) -> tuple[tuple[Receipt, bool], ...]:
    """Return the receipts that a conversion read, each with whether it existed before."""
    return tuple((Receipt.of(row["receipt"]), row["resumed"]) for row in rows)
