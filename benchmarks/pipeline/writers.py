"""Rows back to wire bytes: the pipeline's writer, which takes Arrow, next to one that takes rows and does
nothing else.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cells import NAME, PROTOCOL
from pyspark.sql.datasource import DataSource, DataSourceWriter, WriterCommitMessage
from rounds import Group

import wirespark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_MESSAGE = NAME.rpartition(".")[2]


def group(spark: SparkSession, folder: Path, n_rows: int) -> Group:
    """Return the ways; the cells of the other group are there."""
    read = wirespark.from_wire("cell", NAME)
    source = spark.read.parquet(str(folder / "cells"))
    source.select(read.alias("read")).select("read.*").write.parquet(str(folder / "rows"))
    rows = spark.read.parquet(str(folder / "rows"))
    spark.dataSource.register(RowSource)

    def by_arrow() -> None:
        shutil.rmtree(folder / "streams", ignore_errors=True)
        writer = rows.write.format("wire").options(protocol=PROTOCOL, message=_MESSAGE)
        writer.mode("append").save(str(folder / "streams"))

    def by_rows() -> None:
        (folder / "by-rows").mkdir(exist_ok=True)
        rows.write.format("rows").mode("append").save(str(folder / "by-rows"))

    ways = {"Arrow writer": by_arrow, "row writer": by_rows}
    return Group(title=f"{n_rows} rows, to wire bytes", unit="1000 rows", amount=n_rows, ways=ways)


class RowSource(DataSource):
    """Rows of one message to wire bytes, as Spark's manual has it."""

    @classmethod
    def name(cls) -> str:
        return "rows"

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        return RowWriter(self.options["path"])


class RowWriter(DataSourceWriter):
    def __init__(self, target: str) -> None:
        self._target = target

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        from wireproto import pravega_documented as pravega

        with open(f"{self._target}/{uuid4().hex}", "wb") as file:
            for row in iterator:
                data = bytes(row.data)
                file.write(
                    pravega.encode(
                        pravega.SegmentRead(row.segment, row.offset, row.tail, row.end_of_segment, data)
                    )
                )
        return WriterCommitMessage()
