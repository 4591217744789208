"""`format("wire_convert")`: a read whose rows are receipts; its tasks write the tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from wirespark.batches import Slice
from wirespark.columns import Columns, selected
from wirespark.errors import WireSparkError
from wirespark.options import ReadOptions
from wirespark.parquet import TableWriters, folder_of
from wirespark.planning import Part, bundled, parts_of, shares_of
from wirespark.reading import located_columns
from wirespark.receipts import Receipt, bounds_of, name_of, read_receipt, way_of
from wirespark.source import WirePartition
from wirespark.spark_types import struct_type
from wirespark.tables import message_table, rows_table
from wirespark.targets import Target, target_of
from wirespark.untyped import Batch

if TYPE_CHECKING:
    from pyspark.sql import Row

__all__ = ["ConvertSource", "receipts_of"]

_SCHEMA = pa.schema([pa.field("receipt", pa.string()), pa.field("resumed", pa.bool_())])


class ConvertSource(DataSource):
    """Files to one table per message below `target`."""

    @classmethod
    def name(cls) -> str:
        return "wire_convert"

    def schema(self) -> StructType:
        return struct_type(_SCHEMA)

    def reader(self, schema: StructType) -> ConvertReader:
        given = dict(self.options)
        target = given.pop("target", "")
        return ConvertReader(target_of(target, ReadOptions.of(given)))


class ConvertReader(DataSourceReader):
    """One conversion."""

    def __init__(self, target: Target) -> None:
        self._options = target.options
        self._target = target

    def partitions(self) -> Sequence[InputPartition]:
        parts = parts_of(self._options)
        self._target.begin(parts)
        return [WirePartition(bundle) for bundle in bundled(parts)] or [WirePartition(())]

    def read(self, partition: InputPartition) -> Iterator[Batch]:
        assert isinstance(partition, WirePartition)
        for part in partition.parts:
            receipt, is_resumed = self._converted(part)
            yield pa.RecordBatch.from_arrays(
                [pa.array([receipt.text()]), pa.array([is_resumed])], schema=_SCHEMA
            )

    def _converted(self, part: Part) -> tuple[Receipt, bool]:
        """Return the receipt of a part, and whether it existed before."""
        way = way_of(part, self._options.wishes)
        path = self._target.path
        former = read_receipt(path, name_of(part))
        if former is not None and former.way == way and all((path / f).is_file() for f in former.files):
            return former, True
        return _Conversion(part, way, self._target).run(), False


class _Conversion:
    """The conversion of one part."""

    def __init__(self, part: Part, way: str, target: Target) -> None:
        self._part = part
        self._way = way
        self._options = target.options
        self._package = target.options.wishes.package
        self._target = target
        self._writers = TableWriters(target.path, name_of(part))
        self._messages: dict[str, int] = {}
        self._errors: dict[str, int] = {}
        self._n_rows = 0
        self._n_dropped = 0
        self._size = 0

    def run(self) -> Receipt:
        """Write the tables of the part, and return its receipt.

        Raises:
            WireSparkError: In the mode FAILFAST, some bytes cannot be decoded. The part then leaves no files.
        """
        begun = perf_counter()
        wishes = self._options.wishes
        seen = replace(wishes, mode="FAILFAST" if wishes.mode == "FAILFAST" else "PERMISSIVE")
        try:
            for columns, file, flow in located_columns(self._part, seen, self._options):
                self._take(columns, file, flow)
            self._check_size()
            self._writers.finish()
            return self._target.publish(lambda: self._named(perf_counter() - begun))
        except BaseException:
            self._writers.drop()
            raise

    def _named(self, seconds: float) -> Receipt:
        """Give the files their names, and return the receipt.

        Raises:
            WireSparkError: The file has changed since it was read.
        """
        if not self._is_as_planned():
            raise WireSparkError(f"{self._part.path} changed while it was converted: convert it again")
        return self._receipt(self._writers.publish(), seconds)

    def _is_as_planned(self) -> bool:
        """Return whether another run would cut the file like this one; a capture may have grown."""
        if isinstance(self._part, Slice):
            return way_of(self._part, self._options.wishes) == self._way
        return shares_of(self._part.path, self._options) == self._part.n_shares

    def _take(self, columns: Columns, file: str, flow: str | None) -> None:
        kept = columns
        if self._options.wishes.mode == "DROPMALFORMED":
            kept = selected(columns, pc.is_null(columns.rows.column("_error")))
        self._count(columns, kept)
        if kept.rows.num_rows:
            self._writers.write("_frames", rows_table(kept, file, flow))
        for name in kept.messages:
            table = message_table(kept, self._package, name, file, flow)
            self._writers.write(folder_of(name), table)

    def _count(self, columns: Columns, kept: Columns) -> None:
        rows = columns.rows
        self._n_rows += kept.rows.num_rows
        self._n_dropped += rows.num_rows - kept.rows.num_rows
        codes = pc.struct_field(rows.column("_error"), "code")
        is_gap = pc.fill_null(pc.equal(codes, "gap"), False)
        self._size += pc.sum(rows.column("_size").filter(pc.invert(is_gap))).as_py() or 0
        for name, found in kept.messages.items():
            self._messages[name] = self._messages.get(name, 0) + len(found.rows)
        for counted in pc.value_counts(codes.drop_null()).to_pylist():
            self._errors[counted["values"]] = self._errors.get(counted["values"], 0) + counted["counts"]

    def _check_size(self) -> None:
        """Compare the rows with the bytes that they should tile.

        Raises:
            AssertionError: Bytes are missing or duplicated: a bug of this package.
        """
        if isinstance(self._part, Slice):
            end = self._part.end if self._part.end is not None else Path(self._part.path).stat().st_size
            if self._size != end - self._part.start:
                raise AssertionError(
                    f"rows of {self._size} bytes for {end - self._part.start} of {self._part.path}"
                )

    def _receipt(self, files: list[str], seconds: float) -> Receipt:
        start, end = bounds_of(self._part)
        return Receipt(
            name=name_of(self._part),
            file=self._part.path,
            start=start,
            end=end,
            way=self._way,
            size=self._size,
            rows=self._n_rows,
            dropped=self._n_dropped,
            messages=self._messages,
            errors=self._errors,
            files=files,
            seconds=seconds,
        )


def receipts_of(rows: Sequence[Row]) -> tuple[tuple[Receipt, bool], ...]:
    """Return the receipts that a conversion read, each with whether it existed before."""
    return tuple((Receipt(**json.loads(row["receipt"])), row["resumed"]) for row in rows)
