"""From captured bytes to Parquet: every way in each round, so that what disturbs one disturbs all; ratios are of one round.

python benchmarks/pipeline/bench_pipeline.py --size 256 --rounds 3
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from memory import watched
from traffic import write_traffic
from ways import OF_THE_POOL, ways

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
GOALS = (
    ("convert", 'format("wire")', 4.0),
    ("convert", "plain Python objects", 4.5),
    ("convert", "kernels without Spark", 0.9),
    ('format("wire")', "the JVM copies that", 0.65),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One way in one round: seconds, and the most memory that a worker held."""

    seconds: float
    memory: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=float, default=256, help="MiB of traffic")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    spark = wirespark.session("benchmark", master="local[2]", config=CONFIG)
    spark.sparkContext.setLogLevel("ERROR")
    report(spark, given.size, given.rounds)
    spark.stop()


def report(spark: SparkSession, size: float, rounds: int) -> None:
    """Print what all ways came to, with so many MiB."""
    with tempfile.TemporaryDirectory(prefix="wirespark-bench-") as folder:
        runs, mean = measured(spark, Path(folder), round(size * (1 << 20)), rounds)
        n_bytes = (Path(folder) / "traffic.bin").stat().st_size
    print(f"{n_bytes / (1 << 20):.1f} MiB, frames of {mean} bytes, {max(rounds, 1)} rounds, 2 processes\n")
    print_table(runs, n_bytes)


def measured(
    spark: SparkSession, folder: Path, size: int, rounds: int
) -> tuple[Mapping[str, list[Run]], int]:
    """Return the runs of each way; where there are rounds, another one before them compiles and starts things."""
    source = folder / "traffic.bin"
    mean = write_traffic(source, size)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        known = ways(spark, pool, source, folder, max(size // 8, 1 << 16))
        runs: dict[str, list[Run]] = {name: [] for name in known}
        for number in range(rounds + 1):
            for name, go in known.items():
                with watched(is_pool=name in OF_THE_POOL) as peak:
                    begun = perf_counter()
                    go()
                    seconds = perf_counter() - begun
                if number or not rounds:
                    runs[name].append(Run(seconds=seconds, memory=peak.size))
    return runs, mean


def print_table(runs: Mapping[str, list[Run]], n_bytes: int) -> None:
    print("| way | MB/s | worker, MiB |\n|---|--:|--:|")
    for name, own in runs.items():
        speed = median(n_bytes / 1e6 / run.seconds for run in own)
        print(f"| {name} | {speed:.1f} | {max(run.memory for run in own) >> 20} |")
    print("\n| ratio | | goal |\n|---|--:|--:|")
    for one, other, goal in GOALS:
        ratio = median(b.seconds / a.seconds for a, b in zip(runs[one], runs[other], strict=True))
        print(f"| {one} ÷ {other} | {ratio:.2f} | {goal} |")


if __name__ == "__main__":
    main()
