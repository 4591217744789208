"""`spark.read.format("wire")`: files and captures as tables, decoded in batches where Spark runs its tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    Filter,
    InputPartition,
)
from pyspark.sql.types import StructType

from wirespark.filters import Pushed, pushed
from wirespark.options import ReadOptions, Wishes
from wirespark.planning import Part, sized_parts_of
from wirespark.projection import check_projection, projected
from wirespark.reading import columns_of
from wirespark.spark_types import struct_type
from wirespark.table_rows import message_schema, message_table, wide_schema, wide_table
from wirespark.task_groups import shared_if_many
from wirespark.untyped import ArrowSchema, Batch
from wirespark.writing import WireWriter, WriteOptions

__all__ = ["BatchConverter", "PushingWireSource", "WirePartition", "WireSource"]


@dataclass
class WirePartition(InputPartition):
    """The parts that one task reads."""

    parts: tuple[Part, ...]


class WireSource(DataSource):
    """Bytes of a protocol as a table: one nullable struct for each message, or one message's own columns."""

    @classmethod
    def name(cls) -> str:
        return "wire"

    def schema(self) -> StructType:
        options = ReadOptions.of(self.options)
        package = options.wishes.package
        if options.message is not None:
            return struct_type(message_schema(package, options.message))
        return struct_type(wide_schema(package))

    def reader(self, schema: StructType) -> WireReader:
        return WireReader(ReadOptions.of(self.options), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from wirespark.streaming import FollowReader

        return FollowReader(ReadOptions.of(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> WireWriter:
        return WireWriter(WriteOptions.of(self.options), schema, is_overwriting=overwrite)


class PushingWireSource(WireSource):
    """The same for sessions that push filters down: see `register`."""

    def reader(self, schema: StructType) -> WireReader:
        options = ReadOptions.of(self.options)
        return (PushingWireReader if options.takes_filters else WireReader)(options, schema)


class BatchConverter:
    """Converts parts to batches of a table, with the requested columns."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self._options = options
        self._schema = schema
        check_projection(self._arrow(), self._known())

    def _known(self) -> ArrowSchema:
        package, message = self._options.wishes.package, self._options.message
        return wide_schema(package) if message is None else message_schema(package, message)

    def _arrow(self) -> ArrowSchema:
        from pyspark.sql.pandas.types import to_arrow_schema

        return to_arrow_schema(self._schema, timezone="UTC")

    def batches(self, parts: Sequence[Part], wishes: Wishes) -> Iterator[Batch]:
        """Yield the batches of parts, none of them empty."""
        options, package = self._options, wishes.package
        asked = self._arrow()
        names, types = tuple(asked.names), {field.name: field.type for field in asked}
        for columns in columns_of(parts, wishes, options):
            if options.message is None:
                batch = wide_table(columns, package)
            else:
                batch = message_table(columns, package, options.message)
            if batch is not None and batch.num_rows:
                yield projected(batch, names, types)


class WireReader(DataSourceReader):
    """One read of a table."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self._options = options
        self._tables = BatchConverter(options, schema)
        self._pushed = Pushed()

    def partitions(self) -> Sequence[InputPartition]:
        sized = tuple(sized_parts_of(self._options, self._pushed))
        shared = shared_if_many([each.part for each in sized], [each.size for each in sized])
        return [WirePartition(parts) for parts in shared] or [WirePartition(())]

    def read(self, partition: InputPartition) -> Iterator[Batch]:
        assert isinstance(partition, WirePartition)
        options = self._options
        wanted = (options.message,) if options.message is not None else self._pushed.messages
        wishes = replace(options.wishes, messages=wanted)
        yield from self._tables.batches(partition.parts, wishes)


class PushingWireReader(WireReader):
    """A read that uses the filters as far as it can."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        self._pushed = pushed(filters, self._options.wishes.package)
        return filters
