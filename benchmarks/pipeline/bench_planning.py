"""The cost of planning a conversion, by number of files and by size of streams: each step in a process of its own.

python benchmarks/pipeline/bench_planning.py 1000 10000 100000    # small files, which are planned in place
python benchmarks/pipeline/bench_planning.py --streams 1 4        # GiB of streams of one direction
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time

from bench_memory import CONFIG
from memory import cpu_seconds, watched
from traffic import write_small_files, write_traffic

import wirespark
from wirespark.convert_source import ConvertReader, ConvertSource
from wirespark.options import ReadOptions
from wirespark.targets import target_of

_PROTOCOL = "pravega_documented"
_SMALL = 1_400
_LARGE = 512 << 20
_STEPS = ("in place", "list", "divide", "plan", "Spark")
"""All in one process; its three steps apart: the tasks are listed, they run, a later read finds what they kept; the first two with Spark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of a step. `memory`: the bytes by which the process grew."""

    seconds: float
    cpu: float
    memory: int
    n_tasks: int


def main() -> None:
    match sys.argv[1:]:
        case ["--one", step, source, target]:
            print(json.dumps(asdict(one(step, Path(source), Path(target)))))
        case ["--streams", *sizes]:
            print(
                table([f"{size} GiB" for size in sizes], [int(size) << 30 for size in sizes], is_small=False)
            )
        case numbers:
            print(
                table(
                    [f"{int(number):,} files" for number in numbers], list(map(int, numbers)), is_small=True
                )
            )


def table(heads: Sequence[str], amounts: Sequence[int], *, is_small: bool) -> str:
    lines = ["| | step | s | s of a core | MiB | tasks |", "|---|---|--:|--:|--:|--:|"]
    for head, amount in zip(heads, amounts, strict=True):
        with tempfile.TemporaryDirectory(prefix="wirespark-bench-") as folder:
            source = Path(folder) / "source"
            write_small_files(source, amount, _SMALL) if is_small else write_streams(source, amount)
            for step in ("in place",) if is_small else _STEPS:
                cost = _apart(step, source, Path(folder) / "target")
                numbers = (
                    f"{cost.seconds:.2f} | {cost.cpu:.2f} | {cost.memory / (1 << 20):.0f} | {cost.n_tasks}"
                )
                lines.append(f"| {head} | {step} | {numbers} |")
    return "\n".join(lines)


def write_streams(source: Path, size: int) -> None:
    source.mkdir()
    write_traffic(source / "0.client.bin", _LARGE)
    for number in range(1, size // _LARGE):
        shutil.copy(source / "0.client.bin", source / f"{number}.client.bin")


def _apart(step: str, source: Path, target: Path) -> Cost:
    command = [sys.executable, __file__, "--one", step, str(source), str(target)]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    return Cost(**json.loads(output.splitlines()[-1]))


def one(step: str, source: Path, target: Path) -> Cost:
    """Take one step; each needs those before it."""
    if step == "Spark":
        return _with_spark(source, target.with_name("of Spark"))
    if step == "in place":
        given = target_of(str(target.with_name("in place")), _options(source, index="false"))
        return _measured(lambda: len(ConvertReader(given).partitions()))
    reader = ConvertReader(target_of(str(target), _options(source)))
    if step != "divide":
        return _measured(lambda: len(reader.partitions()))
    tasks = reader.partitions()
    return _measured(lambda: sum(1 for task in tasks for _ in reader.read(task)))


def _options(source: Path, index: str = "true") -> ReadOptions:
    return ReadOptions.of({"protocol": _PROTOCOL, "path": str(source), "index": index})


def _measured(step: Callable[[], int]) -> Cost:
    before, begun, cpu = _memory(), perf_counter(), process_time()
    n_tasks = step()
    return Cost(
        seconds=perf_counter() - begun, cpu=process_time() - cpu, memory=_memory() - before, n_tasks=n_tasks
    )


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _with_spark(source: Path, target: Path) -> Cost:
    """Divide the files with Spark, after a read that starts its processes. The memory is that of its largest Python process."""
    spark = wirespark.session("planning", master="local[2]", config=CONFIG)
    spark.dataSource.register(ConvertSource)
    reader = spark.read.format("wire_convert").option("protocol", _PROTOCOL)
    reader.load(str(next(source.rglob("*.bin"))), target=f"{target} of one").collect()
    begun, cpu = perf_counter(), cpu_seconds()
    with watched() as peak:
        n_tasks = len(reader.load(str(source), target=str(target)).collect())
    cost = Cost(
        seconds=perf_counter() - begun, cpu=cpu_seconds() - cpu, memory=peak.resident, n_tasks=n_tasks
    )
    spark.stop()
    return cost


if __name__ == "__main__":
    main()
