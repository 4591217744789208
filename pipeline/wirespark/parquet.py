"""Tables to Parquet files, some rows at a time: the rows do not count until the part is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wirespark.output import DAY, Compression, FileForm
from wirespark.requests_ahead import N_AT_ONCE
from wirespark.spark_types import struct_type
from wirespark.table_rows import SHARED
from wirespark.target_storage import TableFile, TargetStorage
from wirespark.untyped import ArrowSchema, Batch

__all__ = ["ParquetFile", "TableWriters", "folder_of"]

_MOST_ROWS = 1 << 16
_MOST_BYTES = 4 << 20
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_NO_DAY = "__HIVE_DEFAULT_PARTITION__"
_ROW_METADATA = b"org.apache.spark.sql.parquet.row.metadata"
_REPEATING = ("_file", "_flow", "_from", "_message", "message", "variety")


def folder_of(message: str) -> str:
    """Return the folder of a message's table, in the form of a partition that Spark reads."""
    words = [word for part in message.split("_") for word in _WORD.findall(part)]
    return f"message={'_'.join(words).lower() or message}"


class TableWriters:
    """The files of one part; their content counts only once all of them are published."""

    def __init__(self, storage: TargetStorage, name: str, output: FileForm) -> None:
        self._storage = storage
        self._name = name
        self._output = output
        self._tables: dict[str, ParquetFile] = {}

    @property
    def files(self) -> list[TableFile]:
        return [table.file for table in self._tables.values()]

    def write(self, folder: str, batch: Batch) -> None:
        """Add rows to the table of a folder, each to its day if the output is partitioned so."""
        if self._output.partition == "message":
            self.add(folder, batch)
            return
        days = batch["_time"].cast(pa.date32())
        for day in pc.unique(days).to_pylist():
            is_own = pc.is_null(days) if day is None else pc.fill_null(pc.equal(days, day), False)
            self.add(f"{folder}/{DAY}={_NO_DAY if day is None else day.isoformat()}", batch.filter(is_own))

    def add(self, folder: str, batch: Batch) -> None:
        """Add rows to the file in this very folder."""
        if folder not in self._tables:
            file = self._storage.create(folder, self._name)
            self._tables[folder] = ParquetFile(file, batch.schema, self._output.compression)
        self._tables[folder].write(batch)

    def finish(self) -> None:
        """Write the waiting rows; the files are complete then, and wait to be published.

        A storage takes a while to complete each file, so it completes several at the same time.
        """
        for table in self._tables.values():
            table.flush()
        if self._tables:
            with ThreadPoolExecutor(min(len(self._tables), N_AT_ONCE)) as threads:
                list(threads.map(lambda table: table.file.finish(), self._tables.values()))

    def drop(self) -> None:
        """Remove the files, unless they were published."""
        for table in self._tables.values():
            table.drop()


class ParquetFile:
    """One file, with the comments of its columns for Spark; rows wait until they fill a row group."""

    def __init__(self, file: TableFile, schema: ArrowSchema, compression: Compression) -> None:
        self.file = file
        self._schema = schema
        self._writer = pq.ParquetWriter(
            file.sink,
            schema.with_metadata({**(schema.metadata or {}), _ROW_METADATA: _spark_schema(schema)}),
            compression=compression,
            use_dictionary=list(_repeating(schema)),
            write_statistics=True,
        )
        self._own = [name for name in schema.names if name not in SHARED]
        self._batches: list[Batch] = []
        self._n_rows = 0
        self._n_bytes = 0

    def write(self, batch: Batch) -> None:
        self._batches.append(batch)
        self._n_rows += batch.num_rows
        self._n_bytes += sum(batch.column(name).nbytes for name in self._own)
        if self._n_rows >= _MOST_ROWS or self._n_bytes >= _MOST_BYTES:
            self._flush()

    def flush(self) -> None:
        """Write the waiting rows, and the end of the file."""
        self._flush()
        self._writer.close()

    def drop(self) -> None:
        with suppress(OSError):  # a full disk refuses the rest of the file, which is removed
            self._writer.close()
        self.file.drop()

    def _flush(self) -> None:
        if self._batches:
            self._writer.write_table(pa.Table.from_batches(self._batches, self._schema))
        self._batches, self._n_rows, self._n_bytes = [], 0, 0


@cache
def _spark_schema(schema: ArrowSchema) -> bytes:
    """Return a schema as Spark leaves it in files that it writes: from it the comments of columns are read."""
    return struct_type(schema).json().encode()


def _repeating(schema: ArrowSchema, path: str = "") -> Iterator[str]:
    """Yield the columns whose values repeat, judged by their types.

    For others a dictionary costs more than it saves.
    """
    for field in schema:
        here = f"{path}{field.name}"
        type_ = field.type
        while pa.types.is_list(type_):
            here, type_ = f"{here}.list.element", type_.value_type
        if pa.types.is_struct(type_):
            yield from _repeating(type_, f"{here}.")
        elif field.name in _REPEATING or (field.metadata or {}).get(b"wire") == b"member":
            yield here
