"""The conversion of many small files beside that of one file with the same bytes, both with Spark.

python benchmarks/pipeline/bench_small_files.py --files 20000 --rounds 3

The goal is a share of the speed of one file: a third is three times the time. The index of the division is made in each run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench_memory import CONFIG
from files import emptied
from rounds import Goal, Group, goals_table, group_table, measured, missed
from traffic import write_small_files

import wirespark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROTOCOL = "pravega_documented"
_SIZE = 1_400
_FULL = 20_000
"""Files of which the goal is."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=_FULL)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    spark = wirespark.session("small files", master="local[2]", config=CONFIG)
    with tempfile.TemporaryDirectory(prefix="wirespark-bench-") as folder:
        group = _group(spark, Path(folder), given.files)
        measured([group], 1)
        runs = measured([group], given.rounds)
    spark.stop()
    one, many = group.ways
    goals = [Goal(one=many, other=one, least=1 / 3)]
    print(f"{group_table(group, runs)}\n\n{goals_table([group], goals, runs)}")
    late = missed([group], goals, runs)
    is_full = given.files >= _FULL
    if late:
        print(f"\nnot met: {', '.join(late)}{'' if is_full else ' (with so few files, no goal counts)'}")
    return int(is_full and bool(late))


def _group(spark: SparkSession, folder: Path, n_files: int) -> Group:
    write_small_files(folder / "small", n_files, _SIZE)
    data = b"".join(path.read_bytes() for path in sorted((folder / "small").rglob("*.bin")))
    one = folder / "one.client.bin"
    one.write_bytes(data)

    def converted(source: Path) -> None:
        target = emptied(folder / "target")
        summary = wirespark.convert(spark, source, target, protocol=_PROTOCOL)
        assert summary.size == len(data) and not summary.errors, summary

    ways = {
        "one file": lambda: converted(one),
        f"{n_files:,} files": lambda: converted(folder / "small"),
    }
    return Group(title=f"{len(data) / 1e6:.0f} MB", unit="MB", amount=len(data) / 1000, ways=ways)


if __name__ == "__main__":
    sys.exit(main())
