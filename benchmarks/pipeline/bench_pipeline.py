"""From captured bytes to tables and back: every way in each round, then the memory of workers, each way in a session of its own.

python benchmarks/pipeline/bench_pipeline.py --size 256 --cells 1000000 --rounds 3 --memory 64,1024
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import captured
import cells
import files
import writers
from bench_memory import CONFIG, memory_table
from rounds import Goal, Group, goals_table, group_table, measured, missed

import wirespark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GOALS = (
    Goal(one="convert", other='format("wire")', least=4),
    Goal(one="convert", other="plain Python objects", least=4.5),
    Goal(one="convert", other="kernels without Spark", least=0.9),
    Goal(one='format("wire")', other="Spark copies that Parquet", least=0.65),
    Goal(one="from_wire", other="decode, row by row", least=3),
    Goal(one="to_wire", other="encode, row by row", least=5),
    Goal(one="Arrow writer", other="row writer", least=1),
    Goal(one="streams of a capture, one process", other=None, least=150),
)
_FULL = 256
"""MiB of traffic of which the goals are."""
_WARM = 16
"""MiB, and thousands of cells, of the round before the first."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=float, default=_FULL, help="MiB of traffic")
    parser.add_argument(
        "--cells", type=int, default=1_000_000, help="cells and rows, for functions and writers"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--memory", default="64,1024", help="MiB of traffic of which memory is measured; none: empty"
    )
    given = parser.parse_args()
    known = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), known])  # of workers
    spark = wirespark.session("benchmark", master="local[2]", config=CONFIG)
    spark.sparkContext.setLogLevel("ERROR")
    late = report(spark, given.size, given.cells, given.rounds)
    spark.stop()
    sizes = [int(size) for size in given.memory.split(",") if size]
    if sizes:
        print(f"\n{memory_table(sizes)}")
    is_full = given.size >= _FULL
    if late:
        print(f"\nnot met: {', '.join(late)}{'' if is_full else ' (with so little, no goal counts)'}")
    return int(is_full and bool(late))


def report(
    spark: SparkSession, size: float, n_cells: int, rounds: int, *, is_warming: bool = True
) -> list[str]:
    """Print what all ways came to, with so many MiB and cells; return the goals that are not met."""
    if is_warming:
        with prepared(spark, min(size, _WARM), min(n_cells, _WARM * 1000)) as groups:
            measured(groups, 1)
    with prepared(spark, size, n_cells) as groups:
        runs = measured(groups, rounds)
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{_processor()}, Python {platform.python_version()}, {rounds} rounds, 2 processes; load {load}")
    for group in groups:
        print(f"\n{group_table(group, runs)}")
    print(f"\n{goals_table(groups, GOALS, runs)}")
    return missed(groups, GOALS, runs)


@contextmanager
def prepared(spark: SparkSession, size: float, n_cells: int) -> Iterator[Sequence[Group]]:
    """Make all that the ways read, for as long as they go."""
    n_bytes = round(size * (1 << 20))
    with (
        tempfile.TemporaryDirectory(prefix="wirespark-bench-") as name,
        multiprocessing.get_context("spawn").Pool(2) as pool,
    ):
        folder = Path(name)
        yield (
            files.group(spark, pool, folder, n_bytes),
            captured.group(spark, folder, n_bytes),
            cells.group(spark, folder, n_cells),
            writers.group(spark, folder, n_cells),
        )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next(
        (line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor()
    )


if __name__ == "__main__":
    sys.exit(main())
