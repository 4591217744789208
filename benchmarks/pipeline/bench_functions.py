"""Functions of columns beside functions of rows: frames in cells to structs, and back; every way in each round.

python benchmarks/pipeline/bench_functions.py --rows 400000 --rounds 3
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from bench_pipeline import CONFIG
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType

import wirespark
from wireproto import pravega_documented as pravega

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PROTOCOL = "pravega_documented"
NAME = f"{PROTOCOL}.SegmentRead"
GOALS = (("from_wire", "a row's decode", 3.0), ("to_wire", "a row's encode", 5.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    spark = wirespark.session("benchmark", master="local[2]", config=CONFIG)
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory(prefix="wirespark-bench-") as folder:
        report(spark, Path(folder), given.rows, given.rounds)
    spark.stop()


def report(spark: SparkSession, folder: Path, n_rows: int, rounds: int) -> None:
    """Print what all ways came to; one round before them starts and compiles things."""
    known = ways(spark, folder, n_rows)
    seconds: dict[str, list[float]] = {name: [] for name in known}
    for number in range(rounds + 1):
        for name, table in known.items():
            begun = perf_counter()
            table.write.format("noop").mode("overwrite").save()
            if number or not rounds:
                seconds[name].append(perf_counter() - begun)
    print(f"{n_rows} cells, {max(rounds, 1)} rounds, 2 processes\n\n| way | 1000 rows/s |\n|---|--:|")
    for name, own in seconds.items():
        print(f"| {name} | {n_rows / 1000 / median(own):.0f} |")
    print("\n| ratio | | goal |\n|---|--:|--:|")
    for one, other, goal in GOALS:
        ratio = median(b / a for a, b in zip(seconds[one], seconds[other], strict=True))
        print(f"| {one} ÷ {other} | {ratio:.1f} | {goal} |")


def ways(spark: SparkSession, folder: Path, n_rows: int) -> Mapping[str, DataFrame]:
    cells = [
        pravega.encode(pravega.SegmentRead(f"scope/stream/{n % 100}", n, n % 2 == 0, False, b"x" * (n % 100)))
        for n in range(n_rows)
    ]
    for number in range(2):
        table = pa.table({"cell": pa.array(cells[number::2], pa.binary())})
        pq.write_table(table, folder / f"{number}.parquet")
    source = spark.read.parquet(str(folder))
    read = wirespark.from_wire("cell", NAME)
    source.select(read.alias("read")).write.parquet(str(folder / "read"))
    structs = spark.read.parquet(str(folder / "read"))
    schema = structs.schema["read"].dataType
    return {
        "from_wire": source.select(read),
        "from_wire, any message": source.select(wirespark.from_wire("cell", PROTOCOL)),
        "a row's decode": source.select(F.udf(_decode, schema)("cell")),
        "to_wire": structs.select(wirespark.to_wire("read", NAME)),
        "a row's encode": structs.select(F.udf(_encode, BinaryType())("read")),
    }


def _decode(cell: Any) -> Any:
    found: Any = pravega.decode_message(bytes(cell))
    return (found.segment, None, found.offset, found.tail_, found.end_of_segment, found.data)


def _encode(row: Any) -> bytes:
    return pravega.encode(
        pravega.SegmentRead(row.segment, row.offset, row.tail, row.end_of_segment, bytes(row.data))
    )


if __name__ == "__main__":
    main()
