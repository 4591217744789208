"""Captures of the same bytes in few and in many connections, and in one split and in many, decoded by one process in turn.

python benchmarks/pipeline/bench_flows.py --size 1024 --flows 32,20000 --splits 1,8,33 --rounds 3

Each goal is a share of the speed of the first number: 0.5 is twice the time.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path

from captured import write_capture
from rounds import Goal, Group, goals_table, group_table, measured, missed

from wirespark.captures import Share, share_columns
from wirespark.options import Wishes

PROTOCOL = "pravega_documented"
_FLOWS = 0.5
"""Of the speed with the first number of connections."""
_SPLITS = 1 / 1.3
"""Of the speed with the first number of splits."""
_FULL = 1024
"""MiB of traffic of which the goals are."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=float, default=_FULL, help="MiB of packets")
    parser.add_argument("--flows", default="32,20000", help="numbers of connections")
    parser.add_argument("--splits", default="1,8,33", help="numbers of splits")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    flows, splits = ([int(number) for number in text.split(",")] for text in (given.flows, given.splits))
    with tempfile.TemporaryDirectory(prefix="wirespark-bench-") as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # so that each run makes the index of a capture
        groups = [_group(Path(folder), int(given.size * (1 << 20)), number, splits) for number in flows]
        measured(groups, 1)
        runs = measured(groups, given.rounds)
    goals = _goals(flows, splits)
    for group in groups:
        print(f"{group_table(group, runs)}\n")
    print(goals_table(groups, goals, runs))
    late = missed(groups, goals, runs)
    is_full = given.size >= _FULL
    if late:
        print(f"\nnot met: {', '.join(late)}{'' if is_full else ' (with so little, no goal counts)'}")
    return int(is_full and bool(late))


def _group(folder: Path, size: int, n_flows: int, splits: list[int]) -> Group:
    path = folder / f"{n_flows}.pcap"
    write_capture(path, folder / "flow.bin", size, n_flows)
    n_bytes = path.stat().st_size
    ways = {_name(n_flows, n_splits): _decoding(path, n_splits) for n_splits in splits}
    title = f"{n_bytes / (1 << 20):.0f} MiB of packets"
    return Group(title=title, unit="MB", amount=n_bytes / 1000, ways=ways)


def _goals(flows: list[int], splits: list[int]) -> list[Goal]:
    of_flows = [
        Goal(one=_name(number, splits[0]), other=_name(flows[0], splits[0]), least=_FLOWS)
        for number in flows[1:]
    ]
    of_splits = [
        Goal(one=_name(number, each), other=_name(number, splits[0]), least=_SPLITS)
        for number in flows
        for each in splits[1:]
    ]
    return of_flows + of_splits


def _name(n_flows: int, n_splits: int) -> str:
    return f"{n_flows:,} connections, {n_splits} split{'s' if n_splits > 1 else ''}"


def _decoding(path: Path, n_splits: int) -> Callable[[], None]:
    """Return the work of all tasks of a capture, which begins without an index."""

    def go() -> None:
        os.utime(path)
        wishes = Wishes(protocol=PROTOCOL, role=None)
        for index in range(n_splits):
            deque(share_columns(Share(path=str(path), index=index, n_shares=n_splits), wishes, 1 << 20), 0)

    return go


if __name__ == "__main__":
    sys.exit(main())
