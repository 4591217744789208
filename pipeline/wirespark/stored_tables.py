"""`format("wire_table")`: a table of a target, from the files that its receipts name when a query begins.

It reads targets whose folders have other files too, in storages that Spark may have no file system for, and a target on a
disk while a run writes files of it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from wirespark.errors import WireSparkError
from wirespark.output import DAY
from wirespark.projection import check_projection, projected
from wirespark.spark_types import struct_type
from wirespark.target_storage import TargetStorage, target_storage_of
from wirespark.task_groups import packed
from wirespark.untyped import ArrowArray, ArrowSchema, ArrowType, Batch

__all__ = ["TableSource", "placed_schema"]

_TASK_SIZE = 64 << 20
_N_LOOKS = 3


@dataclass
class FilesPartition(InputPartition):
    """The files that one task reads."""

    files: tuple[str, ...]


class TableSource(DataSource):
    """One table of a target; a schema of the user selects columns.

    The options `target` and `table` name it. Spark 4.3 gives the options of a table in a catalogue to no reader, so there the
    metadata of its first column have them.
    """

    @classmethod
    def name(cls) -> str:
        return "wire_table"

    def schema(self) -> StructType:
        storage, table = _place(self.options)
        return struct_type(_columns_of(storage, table))

    def reader(self, schema: StructType) -> TableReader:
        kept = schema.fields[0].metadata if schema.fields else {}
        storage, table = _place({**kept, **self.options})
        return TableReader(storage, table, schema)


def placed_schema(storage: TargetStorage, table: str) -> StructType:
    """Return the schema with which a table can be in a catalogue."""
    schema = struct_type(_columns_of(storage, table))
    schema.fields[0].metadata |= {"target": storage.address, "table": table}
    return schema


def _place(given: Mapping[str, str]) -> tuple[TargetStorage, str]:
    lacking = [name for name in ("target", "table") if name not in given]
    if lacking:
        raise WireSparkError(
            f"wire_table lacks the option {' and '.join(lacking)}: `target` is that of a conversion, `table` a folder in it, such as `_frames`"
        )
    return target_storage_of(given["target"]), given["table"]


class TableReader(DataSourceReader):
    """One read of a table."""

    def __init__(self, storage: TargetStorage, table: str, schema: StructType) -> None:
        self._storage = storage
        self._table = table
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        sizes = _sizes(self._storage, self._table)
        groups = packed(tuple(sizes), tuple(sizes.values()), _TASK_SIZE)
        return [FilesPartition(group) for group in groups] or [FilesPartition(())]

    def read(self, partition: InputPartition) -> Iterator[Batch]:
        from pyspark.sql.pandas.types import to_arrow_schema

        assert isinstance(partition, FilesPartition)
        asked = to_arrow_schema(self._schema, timezone="UTC")
        for file in partition.files:
            try:
                yield from self._batches(file, asked)
            except FileNotFoundError:
                raise _gone(self._storage, file) from None

    def _batches(self, file: str, asked: ArrowSchema) -> Iterator[Batch]:
        """Yield the rows of a file with these columns; those that an older protocol did not have are null."""
        names, types = tuple(asked.names), {field.name: field.type for field in asked}
        with pq.ParquetFile(self._storage.open(file)) as table:
            known = table.schema_arrow
            own = [name for name in names if name in known.names]
            check_projection(pa.schema([asked.field(name) for name in own]), known)
            for batch in table.iter_batches(columns=own):
                arrays = [
                    batch.column(name) if name in own else _constant(name, file, types[name], len(batch))
                    for name in names
                ]
                yield projected(pa.RecordBatch.from_arrays(arrays, names=list(names)), names, types)


def _sizes(storage: TargetStorage, table: str) -> dict[str, int]:
    """Return the sizes of a table's files by name, in the order in which receipts name them.

    Raises:
        WireSparkError: One is gone, which is not for the reason that a run replaces it just now.
    """
    for _ in range(_N_LOOKS):
        contents = storage.contents()
        named = (file for receipt in contents.counting for file in receipt.files)
        files = [file for file in named if file.partition("/")[0] == table]
        missing = [file for file in files if file not in contents.files]
        if not missing:
            return {file: contents.files[file] for file in files}
    raise _gone(storage, missing[0])


def _gone(storage: TargetStorage, file: str) -> WireSparkError:
    return WireSparkError(
        f"{file} of {storage.address} is gone: if another run has written its rows again, run the query again"
    )


def _columns_of(storage: TargetStorage, table: str) -> ArrowSchema:
    """Return the columns of the last file of a table."""
    files = tuple(_sizes(storage, table))
    if not files:
        raise WireSparkError(f"{storage.address} has no table {table!r}: convert into it first")
    file = files[-1]
    with pq.ParquetFile(storage.open(file)) as opened:
        schema = opened.schema_arrow
    return schema if f"/{DAY}=" not in file else schema.append(pa.field(DAY, pa.date32()))


def _constant(name: str, file: str, type_: ArrowType, n_rows: int) -> ArrowArray:
    """Return a column that the file does not have: the day in its path, or null."""
    day = file.partition(f"/{DAY}=")[2].partition("/")[0] if name == DAY else ""
    try:
        value = date.fromisoformat(day) if day else None
    except ValueError:  # rows without a time are in a folder of their own
        value = None
    return pa.repeat(pa.scalar(value, type_), n_rows)
