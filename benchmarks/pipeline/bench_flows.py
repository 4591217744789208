"""Captures of the same bytes in few and in many connections, decoded by one process in turn: seconds of a core.

python benchmarks/pipeline/bench_flows.py --size 16 --flows 32,2000 --rounds 3
"""

from __future__ import annotations

import argparse
import tempfile
from collections import deque
from pathlib import Path
from statistics import median
from time import process_time

from captured import write_capture

from wirespark.captures import Share, share_columns
from wirespark.options import Wishes

PROTOCOL = "pravega_documented"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=float, default=16, help="MiB of packets")
    parser.add_argument("--flows", default="32,2000,20000", help="numbers of connections")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    numbers = [int(number) for number in given.flows.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        paths = {number: Path(folder, f"{number}.pcap") for number in numbers}
        for number, path in paths.items():
            write_capture(path, Path(folder, "flow.bin"), int(given.size * (1 << 20)), number)
        runs = [{number: _decoded(path) for number, path in paths.items()} for _ in range(given.rounds + 1)]
        sizes = {number: path.stat().st_size for number, path in paths.items()}
    print("| connections | MB | s of a core | MB/s of a core | times the first |")
    print("|--:|--:|--:|--:|--:|")
    for number in numbers:
        seconds = median(run[number] for run in runs[1:])
        ratio = median(
            run[number] / sizes[number] / (run[numbers[0]] / sizes[numbers[0]]) for run in runs[1:]
        )
        size = sizes[number] / 1e6
        print(f"| {number:,} | {size:.1f} | {seconds:.2f} | {size / seconds:.1f} | {ratio:.2f} |")


def _decoded(path: Path) -> float:
    begun = process_time()
    wishes = Wishes(protocol=PROTOCOL, role=None)
    deque(share_columns(Share(path=str(path)), wishes, 1 << 20), 0)
    return process_time() - begun


if __name__ == "__main__":
    main()
