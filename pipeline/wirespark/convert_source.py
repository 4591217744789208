"""`format("wire_convert")`: a read whose rows are the results of bundles; its tasks write the tables."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from wirespark.receipts import BundleResult, Counts, Receipt, name_of, way_of
from wirespark.requests_ahead import states_of
from wirespark.rewriting import Rewrite, rewritten
from wirespark.spark_types import struct_type
from wirespark.storage import FileState
from wirespark.table_rows import rows_table
from wirespark.tallies import Tallies
from wirespark.target_storage import Bundle, Plan
from wirespark.targets import SharedFilesError, Target, target_of
from wirespark.untyped import Batch

if TYPE_CHECKING:
    from pyspark.sql import Row

__all__ = ["PREPARATIONS", "ConvertPartition", "ConvertSource", "IndexPartition", "RewritePartition", "is_preparation", "results_of"]  # fmt: skip

PREPARATIONS = ("none", *("index",) * 4, "all")
"""The names of the reads of a conversion by their preparation: nothing is prepared, or the index, or everything. The last read converts.

Sources may change meanwhile, so that tables have to be prepared again.
"""
_ALLOCATIONS = 100_000
"""Objects after which the youngest ones are searched for cycles."""
_SCHEMA = pa.schema(
    [pa.field("parts", pa.int64()), pa.field("counts", pa.string()), pa.field("resumed", pa.bool_())]
)
"""A result; a preparation has no number of parts."""


@dataclass
class ConvertPartition(InputPartition):
    """The parts whose rows one task writes to common files, and the name of their bundle.

    `done`: the results of earlier runs.
    """

    parts: tuple[Part, ...]
    name: str = ""
    done: tuple[BundleResult, ...] = ()


@dataclass
class IndexPartition(InputPartition):
    """The files that one task divides, with the states in which they were listed. `key`: that of their index."""

    files: Mapping[str, FileState]
    key: str


@dataclass
class RewritePartition(InputPartition):
    """A receipt, as text, whose files one task writes again without the rows of some sources: see `Rewrite`."""

    receipt: str
    sources: frozenset[str]
    files: tuple[str, ...]

    @classmethod
    def of(cls, rewrite: Rewrite) -> RewritePartition:
        [receipt] = rewrite.old
        return cls(receipt.text(), rewrite.sources or frozenset(), rewrite.files)

    def rewrite(self) -> Rewrite:
        return Rewrite(old=(Receipt.of(self.receipt),), sources=self.sources, files=self.files)


class ConvertSource(DataSource):
    """Files to one table per message below `target`.

    Before it, other reads may be needed, whose results are of no part: one divides many files, one takes the rows of changed files out
    of files of tables that others share. The option `prepared` says which of `PREPARATIONS` this read is.
    """

    @classmethod
    def name(cls) -> str:
        return "wire_convert"

    def schema(self) -> StructType:
        return struct_type(_SCHEMA)

    def reader(self, schema: StructType) -> ConvertReader:
        output, given = divided(self.options)
        target, prepared = given.pop("target", ""), given.pop("prepared", PREPARATIONS[0])
        return ConvertReader(target_of(target, ReadOptions.of(given), output), prepared=prepared)


class ConvertReader(DataSourceReader):
    """One conversion, or its preparation. `prepared`: which of `PREPARATIONS` it is."""

    def __init__(self, target: Target, *, prepared: str = PREPARATIONS[0]) -> None:
        self._options = target.options
        self._target = target
        self._prepared = prepared

    def partitions(self) -> Sequence[InputPartition]:
        """List the files, and return the tasks that convert them, or those that prepare it."""
        options, files = self._options, files_of(self._options.paths)
        index = SourceIndex.of(self._target.storage, options)
        large = index.divided(files)
        known = index.known(large) if index.is_worthwhile(large) else {}
        due = {path: state for path, state in large.items() if path not in known}
        if self._prepared == PREPARATIONS[0] and index.is_worthwhile(due):
            self._target.look()
            return [IndexPartition(some, index.key) for some in index.tasks(due)]
        parts = (
            part
            for path, state in files.items()
            for part in parts_in(
                path, state.size, known.get(path) or division_of(path, state.size, options), options
            )
        )
        try:
            return self._conversions(self._target.begin(parts, files))
        except SharedFilesError as error:
            if self._prepared == PREPARATIONS[-1]:
                raise WireSparkError(str(error)) from None
            return [RewritePartition.of(each) for each in error.rewrites]

    def _conversions(self, plan: Plan) -> Sequence[InputPartition]:
        done = tuple(receipt.only(plan.files).result(is_resumed=True) for receipt in plan.done)
        if plan.replaced:
            done = (*done, _replacing(plan.replaced))
        first = [ConvertPartition((), done=done)] if done or not plan.bundles else []
        return [*first, *(ConvertPartition(bundle.parts, bundle.name) for bundle in plan.bundles)]

    def read(self, partition: InputPartition) -> Iterator[Batch]:
        if isinstance(partition, IndexPartition):
            SourceIndex(self._target.storage, self._options, partition.key).keep(partition.files)
            yield _prepared(0)
            return
        if isinstance(partition, RewritePartition):
            rewrite = partition.rewrite()
            storage = self._target.storage
            old_rows = sum(receipt.total.rows for receipt in rewrite.old if storage.is_whole(receipt))
            new = rewritten(storage, rewrite, self._target.output)
            yield _prepared(max(0, old_rows - new.total.rows) if new else 0)
            return
        assert isinstance(partition, ConvertPartition)
        if partition.done:
            yield _batch_of(partition.done)
        if partition.parts:
            yield _batch_of([self._converted(partition.parts, partition.name)])

    def _converted(self, parts: tuple[Part, ...], name: str) -> BundleResult:
        """Convert a bundle, unless an earlier run has done it."""
        states = states_of(part.path for part in parts)
        names = {name_of(part): part for part in parts}
        ways = {
            each: way_of(part, each, self._options.wishes, states[part.path]) for each, part in names.items()
        }
        storage = self._target.storage
        former = storage.receipt(name)
        if former is not None and former.ways == ways and storage.is_whole(former):
            return former.result(is_resumed=True)
        bundle = Bundle(name=name, parts=parts, ways=ways)
        return _Conversion(bundle, states, self._target).run().result(is_resumed=False)


def _batch_of(results: Sequence[BundleResult]) -> Batch:
    columns = [
        [each.n_parts for each in results],
        [json.dumps(each.counts.told()) for each in results],
        [each.is_resumed for each in results],
    ]
    return pa.RecordBatch.from_arrays(list(map(pa.array, columns)), schema=_SCHEMA)


def _replacing(n_rows: int) -> BundleResult:
    """Return the result of taking out so many rows, in whose place others come."""
    return BundleResult(n_parts=0, counts=Counts(replaced=n_rows), is_resumed=False)


def _prepared(n_rows: int) -> Batch:
    """Return that a read was prepared, and so many rows were taken out."""
    found = _batch_of([_replacing(n_rows)])
    return found.set_column(0, _SCHEMA.field("parts"), pa.nulls(1, pa.int64()))


class _Conversion:
    """The conversion of a bundle of parts. `states`: those of their files, by path, before anything is read."""

    def __init__(self, bundle: Bundle, states: Mapping[str, FileState], target: Target) -> None:
        self._bundle = bundle
        self._states = states
        self._options = target.options
        self._package = target.options.wishes.package
        self._target = target
        self._writers = TableWriters(target.storage, bundle.name, target.output)
        self._report = ReadReport()
        self._tallies = Tallies()

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
            with _few_collections():
                for columns in columns_of(self._bundle.parts, seen, self._options, self._report):
                    self._take(columns)
                writers.finish()
                return target.storage.publish(
                    target.own(),
                    self._bundle.name,
                    writers.files,
                    lambda: self._receipt(perf_counter() - begun),
                )
        except BaseException:
            writers.drop()
            raise

    def _receipt(self, seconds: float) -> Receipt:
        """Return the receipt of the written files.

        Raises:
            WireSparkError: The file has changed since it was read.
        """
        now = states_of(part.path for part in self._bundle.parts)
        for part in self._bundle.parts:
            if not self._is_as_planned(part, now[part.path]):
                raise WireSparkError(f"{part.path} changed while it was converted: convert it again")
        self._check_size()
        return Receipt(
            name=self._bundle.name,
            ways=self._bundle.ways,
            sources=self._bundle.sources,
            counts={
                path: replace(self._tallies.of(path), issues=self._issues(path)) for path in self._states
            },
            files=[file.name for file in self._writers.files],
            seconds=seconds,
        )

    def _issues(self, path: str) -> dict[str, int]:
        found = self._report.issues.get(path)
        return {kind.value: count for kind, count in found.items() if not kind.is_harmless} if found else {}

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
        if self._tallies.size != n_bytes:
            raise AssertionError(
                f"rows of {self._tallies.size} bytes for {n_bytes} of {self._bundle.sources}"
            )

    def _take(self, columns: Columns) -> None:
        kept = columns
        if self._options.wishes.mode == "DROPMALFORMED":
            kept = selected(columns, pc.is_null(columns.rows.column("_error")))
        self._tallies.add(columns, kept)
        if kept.rows.num_rows and self._target.output.has_frames:
            self._writers.write("_frames", rows_table(kept))
        for name in kept.messages:
            self._writers.write(folder_of(name), outer_table(kept, self._package, name))
        for name, table in inner_tables(kept, self._package):
            self._tallies.add_inner(name, table)
            self._writers.write(folder_of(name), table)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Search rarely for cycles: a conversion makes many objects that live as long as it, and no cycles."""
    former = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *former[1:])
    try:
        yield
    finally:
        gc.set_threshold(*former)


def is_preparation(rows: Sequence[Row]) -> bool:
    """Return whether a read has prepared the conversion, which is left to another one."""
    return any(row["parts"] is None for row in rows)


def results_of(rows: Sequence[Row]) -> list[BundleResult]:
    """Return the results that a conversion read, with those of its preparations."""
    return [
        BundleResult(
            n_parts=row["parts"] or 0, counts=Counts(**json.loads(row["counts"])), is_resumed=row["resumed"]
        )
        for row in rows
    ]
