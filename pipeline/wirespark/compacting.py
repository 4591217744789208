"""`compact`: the small files of a target become few large ones, with receipts that a later conversion still knows.

A task merges the files of some receipts, and one receipt takes the place of theirs. Files of a table that have different
columns, since the protocol was changed, are not merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from wirespark.catalogue import refresh
from wirespark.errors import WireSparkError, as_it_was_said
from wirespark.output import FileForm, divided
from wirespark.receipts import Receipt
from wirespark.rewriting import Rewrite, rewritten
from wirespark.spark_types import struct_type
from wirespark.target_storage import TargetStorage, target_storage_of
from wirespark.untyped import ArrowSchema, Batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["CompactReader", "Compaction", "compact"]

_SCHEMA = pa.schema([pa.field("before", pa.int64()), pa.field("after", pa.int64())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """The result: how many files became how many others."""

    before: int
    after: int


def compact(spark: SparkSession, target: str | Path, **options: object) -> Compaction:
    """Merge the small files of a target: tables have the same rows in fewer files.

    `options`: `filesize` (128MiB), the size that files have afterwards, about, and `compression`. A later
    conversion into the target still knows what is done. Do not read the tables meanwhile: for a moment rows are
    in old and new files.

    Raises:
        WireSparkError: An option is invalid, or the folder has no receipts of a conversion.
    """
    given = {name: str(value) for name, value in options.items() if value is not None}
    storage = target_storage_of(str(target))
    _groups(storage, _output(given))
    spark.dataSource.register(CompactSource)
    try:
        with as_it_was_said():
            rows = spark.read.format("wire_compact").options(**given, target=storage.address).load().collect()
    finally:
        refresh(spark, target)
    return Compaction(before=sum(row["before"] for row in rows), after=sum(row["after"] for row in rows))


def _output(given: Mapping[str, str]) -> FileForm:
    output, rest = divided(given)
    if rest:
        raise WireSparkError(f"unknown option {next(iter(rest))!r}; the options are filesize and compression")
    return output


def _groups(target: TargetStorage, output: FileForm) -> list[tuple[Receipt, ...]]:
    """Return the receipts whose files are merged, those of neighbouring sources together."""
    contents = target.contents()
    receipts = sorted(contents.counting, key=lambda receipt: sorted(receipt.sources.values()))
    if not receipts:
        raise WireSparkError(f"{target.address} has no receipts: give the target of a conversion")
    groups, group, size = list[tuple[Receipt, ...]](), list[Receipt](), 0
    for receipt in receipts:
        own = sum(contents.files[file] for file in receipt.files) if contents.is_whole(receipt) else 0
        if not own or own >= output.file_size:
            continue
        if group and size + own > output.file_size:
            groups.append(tuple(group))
            group, size = [], 0
        group.append(receipt)
        size += own
    groups.append(tuple(group))
    return [each for each in groups if len(each) > 1]


@dataclass
class GroupPartition(InputPartition):
    """Receipts whose files one task merges, as text."""

    receipts: tuple[str, ...]


class CompactSource(DataSource):
    """A read that merges files; its rows are numbers of files."""

    @classmethod
    def name(cls) -> str:
        return "wire_compact"

    def schema(self) -> StructType:
        return struct_type(_SCHEMA)

    def reader(self, schema: StructType) -> CompactReader:
        given = dict(self.options)
        target = target_storage_of(given.pop("target"))
        return CompactReader(target, _output(given))


class CompactReader(DataSourceReader):
    """One compaction."""

    def __init__(self, target: TargetStorage, output: FileForm) -> None:
        self._target = target
        self._output = output

    def partitions(self) -> Sequence[InputPartition]:
        groups = _groups(self._target, self._output)
        texts = [tuple(receipt.text() for receipt in group) for group in groups]
        return [GroupPartition(each) for each in texts] or [GroupPartition(())]

    def read(self, partition: InputPartition) -> Iterator[Batch]:
        assert isinstance(partition, GroupPartition)
        for group in self._alike(map(Receipt.of, partition.receipts)):
            files = tuple(file for receipt in group for file in receipt.files)
            rewrite = Rewrite(old=tuple(group), sources=None, files=files)
            new = rewritten(self._target, rewrite, self._output) if len(group) > 1 else None
            if new is not None:
                numbers = (len(files), len(new.files))
                yield pa.RecordBatch.from_arrays([pa.array([each]) for each in numbers], schema=_SCHEMA)

    def _alike(self, receipts: Iterable[Receipt]) -> Iterable[list[Receipt]]:
        """Return receipts in groups whose files have the same columns in each table, without those whose files are missing."""
        groups: list[tuple[dict[str, ArrowSchema], list[Receipt]]] = []
        for receipt in receipts:
            try:
                own = {file.rpartition("/")[0]: self._columns(file) for file in receipt.files}
            except FileNotFoundError:  # another run was quicker, or an earlier try of this task
                continue
            for known, group in groups:
                if all(known.get(table, schema).equals(schema) for table, schema in own.items()):
                    known |= own
                    group.append(receipt)
                    break
            else:
                groups.append((own, [receipt]))
        return (group for _, group in groups)

    def _columns(self, file: str) -> ArrowSchema:
        with pq.ParquetFile(self._target.open(file)) as table:
            return table.schema_arrow
