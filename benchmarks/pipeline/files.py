"""The ways from a file of frames to Parquet that are compared: with Spark and without, by kernels, by objects, by hand."""

from __future__ import annotations

import shutil
from multiprocessing.pool import Pool
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from rounds import Group
from traffic import write_traffic

from wirespark import convert
from wirespark.batches import Slice
from wirespark.convert_source import ConvertReader
from wirespark.options import ReadOptions
from wirespark.planning import parts_of
from wirespark.source import WirePartition
from wirespark.targets import target_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PROTOCOL, ROLE = "pravega_documented", "client"
_CHUNK = 1 << 20


def group(spark: SparkSession, pool: Pool, folder: Path, size: int) -> Group:
    """Return the ways; the last two read what `format("wire")` wrote."""
    source, table = folder / "traffic.bin", str(folder / "wire")
    mean = write_traffic(source, size)
    n_bytes = source.stat().st_size
    split = str(max(size // 8, 1 << 16))
    options = {"protocol": PROTOCOL, "from": ROLE, "split": split, "index": "false"}
    given = options | {"path": str(source)}

    def read() -> DataFrame:
        return spark.read.format("wire").options(**options).load(str(source))

    def written(rows: DataFrame, where: str) -> None:
        rows.write.mode("overwrite").parquet(where)

    def not_written(rows: DataFrame) -> None:
        rows.write.format("noop").mode("overwrite").save()

    ways = {
        "convert": lambda: converted(spark, source, emptied(folder / "convert"), split=split),
        "kernels without Spark": lambda: without_spark(pool, given, emptied(folder / "alone")),
        "plain Python objects": lambda: by_hand(pool, given, emptied(folder / "plain")),
        'format("wire")': lambda: written(read(), table),
        'format("wire"), not written': lambda: not_written(read()),
        "Spark copies that Parquet": lambda: written(spark.read.parquet(table), str(folder / "copy")),
        "that Parquet, not written": lambda: not_written(spark.read.parquet(table)),
    }
    title = f"{n_bytes / (1 << 20):.0f} MiB of frames of {mean} bytes, into Parquet"
    return Group(title=title, unit="MB", amount=n_bytes / 1000, ways=ways)


def converted(spark: SparkSession, source: Path, target: Path, **options: str) -> None:
    """Convert a file, and see that all of it is there."""
    summary = convert(
        spark, source, target, protocol=PROTOCOL, from_=ROLE, index="false", kernel="on", **options
    )
    assert summary.size and not summary.errors, summary


def emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# ---- the tasks of a conversion, in processes of our own


def without_spark(pool: Pool, given: dict[str, str], target: Path) -> None:
    reader = ConvertReader(target_of(str(target), ReadOptions.of(given | {"kernel": "on"})))
    pool.map(_task, [(given, target, partition) for partition in reader.partitions()], chunksize=1)


def _task(told: tuple[dict[str, str], Path, WirePartition]) -> None:
    given, target, partition = told
    for _ in ConvertReader(target_of(str(target), ReadOptions.of(given | {"kernel": "on"}))).read(partition):
        pass


# ---- messages one by one, as written by hand with care


def by_hand(pool: Pool, given: dict[str, str], target: Path) -> None:
    parts = parts_of(ReadOptions.of(given))
    pool.map(_plain, [(part, target) for part in parts], chunksize=1)


def _plain(told: tuple[Slice, Path]) -> None:
    from wireproto import pravega_documented as pravega

    part, target = told
    decoder = pravega.Decoder("client")
    tables: dict[type, _Plain] = {}
    with open(part.path, "rb") as file:
        file.seek(part.start)
        end = Path(part.path).stat().st_size if part.end is None else part.end
        while data := file.read(min(_CHUNK, end - file.tell())):
            for message in decoder.messages(data):
                kind = type(message)
                if kind not in tables:
                    tables[kind] = _Plain(kind, target / f"{kind.__name__}-{part.start}.parquet")
                tables[kind].add(message)
            for table in tables.values():
                table.flush()
    for table in tables.values():
        table.close()


class _Plain:
    """The table of one class of messages."""

    def __init__(self, kind: Any, path: Path) -> None:
        self._names = [name for name in kind.__slots__ if name != "tail"]
        self._get = (
            attrgetter(*self._names)
            if len(self._names) > 1
            else lambda message: (attrgetter(*self._names)(message),)
        )
        self._path = path
        self._rows: list[Any] = []
        self._writer: Any = None

    def add(self, message: Any) -> None:
        self._rows.append(self._get(message))

    def flush(self) -> None:
        if not self._rows:
            return
        columns = [
            pa.array([str(value) for value in values] if name == "writer_id" else values)
            for name, values in zip(self._names, zip(*self._rows, strict=True), strict=True)
        ]
        table = pa.table(columns, names=self._names)
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._path, table.schema, compression="snappy", use_dictionary=False
            )
        self._writer.write_table(table)
        self._rows = []

    def close(self) -> None:
        self.flush()
        self._writer.close()
