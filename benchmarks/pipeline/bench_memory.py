"""How much memory workers hold at most: each way and each size in a session of its own, for a worker keeps what it once imported.

python benchmarks/pipeline/bench_memory.py 64 1024
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory import Peak, watched
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from traffic import write_traffic

import wirespark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONFIG = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
_OPTIONS = {"protocol": "pravega_documented", "from": "client", "index": "false", "split": "32MiB"}


def main() -> None:
    match sys.argv[1:]:
        case ["--one", way, size]:
            peak = one(way, int(size))
            print(json.dumps([peak.resident, peak.own]))
        case sizes:
            print(memory_table([int(size) for size in sizes]))


def memory_table(sizes: Sequence[int]) -> str:
    """Return the largest worker of each way with so many MiB: its resident set, and the part of it that is
    not shared with a file.
    """
    heads = " | ".join(f"{size} MiB" for size in sizes)
    lines = [f"| largest worker, MiB; of it its own | {heads} |", "|---|" + "--:|" * len(sizes)]
    for way in WAYS:
        found = (_apart(way, size) for size in sizes)
        cells = (f"{resident >> 20}; {own >> 20}" for resident, own in found)
        lines.append(f"| {way} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _apart(way: str, size: int) -> tuple[int, int]:
    """Return the same of one way, in a process of its own."""
    command = [sys.executable, __file__, "--one", way, str(size)]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    resident, own = json.loads(output)
    return resident, own


def one(way: str, size: int) -> Peak:
    """Run one way, and return the memory of the largest worker."""
    spark = wirespark.session("memory", master="local[2]", config=CONFIG)
    with tempfile.TemporaryDirectory(prefix="wirespark-bench-") as folder:
        source = Path(folder) / "traffic.bin"
        write_traffic(source, size << 20)
        with watched() as peak:
            WAYS[way](spark, source)
    spark.stop()
    return peak


def _converted(spark: SparkSession, source: Path) -> None:
    options = {name: text for name, text in _OPTIONS.items() if name not in ("protocol", "from")}
    target = source.with_name("tables")
    wirespark.convert(spark, source, target, protocol=_OPTIONS["protocol"], from_=_OPTIONS["from"], **options)


def _read(spark: SparkSession, source: Path) -> None:
    reader = spark.read.format("wire").options(**_OPTIONS).option("message", "SegmentRead")
    reader.load(str(source)).write.format("noop").mode("overwrite").save()


def _nothing(spark: SparkSession, source: Path) -> None:
    spark.dataSource.register(Nothing)
    spark.read.format("nothing").load().collect()


class Nothing(DataSource):
    """A source of one row, to measure the memory of an idle worker of Spark."""

    @classmethod
    def name(cls) -> str:
        return "nothing"

    def schema(self) -> str:
        return "nothing string"

    def reader(self, schema: Any) -> DataSourceReader:
        return NothingReader()


class NothingReader(DataSourceReader):
    def read(self, partition: InputPartition) -> Iterator[tuple[str]]:
        import time

        yield ("nothing",)
        time.sleep(1)  # long enough to be seen


WAYS: Mapping[str, Callable[[SparkSession, Path], None]] = {
    "convert": _converted,
    'format("wire") of one message': _read,
    "a source of one row": _nothing,
}

if __name__ == "__main__":
    main()
