"""The generated packages and the command next to those of another commit, as ratios inside one interleaved run.

Run `make bench-against REF=main~1`, or `python benchmarks/against.py REF [--quick]`. Each tree is read by a process of its own,
with this tree's cases, and the two take turns. 1.00 is as fast as the commit, smaller is faster; a case that takes more than
1.05 times as long misses its goal.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import process_time_ns
from typing import IO

from harness import Goal, compare, told

ROOT = Path(__file__).parents[1]
GENERATED, GENERATOR = "generated/python", "generator"
BOUND = 1.05
CHUNKS = (512, 1448, 65536)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ref", help="a commit, branch or tag")
    parser.add_argument("--quick", action="store_true", help="a few short rounds: to see that it runs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        extract(options.ref, Path(folder))
        goals = [
            *codec_goals(Path(folder), is_quick=options.quick),
            *command_goals(Path(folder), is_quick=options.quick),
        ]
    return told(goals, is_quick=options.quick)


def extract(ref: str, folder: Path) -> None:
    """Write the generated packages and the generator of a commit to a folder."""
    packed = subprocess.run(
        ["git", "-C", ROOT, "archive", ref, GENERATED, GENERATOR, "idl"], check=True, stdout=subprocess.PIPE
    )
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


# ---- codecs: two processes that take turns


class Tree:
    """A process that has one tree's packages, and runs a case as often as it is told to."""

    def __init__(self, root: Path) -> None:
        self.taken = 0
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve"], env=environment(root), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        self.cases = self._ask("cases").split("\t")

    def run(self, case: str, calls: int) -> int:
        """Run a case; return its nanoseconds of CPU."""
        taken = int(self._ask(f"{calls}\t{case}"))
        self.taken += taken
        return taken

    def _ask(self, question: str) -> str:
        print(question, file=self._to, flush=True)
        answer = self._from.readline()
        assert answer, "a process that runs the cases has ended"
        return answer.rstrip("\n")

    def end(self) -> None:
        self._to.close()
        self._process.wait()


def environment(root: Path) -> dict[str, str]:
    path = os.pathsep.join(str(each) for each in (root / GENERATED, root / GENERATOR, ROOT / "benchmarks"))
    return {**os.environ, "PYTHONPATH": path}


def codec_goals(before: Path, *, is_quick: bool) -> list[Goal]:
    rounds, seconds = (3, 0.0005) if is_quick else (21, 0.02)
    trees = {"before": Tree(before), "now": Tree(ROOT)}
    own = trees["now"]
    goals = []
    for case in own.cases[:: 3 if is_quick else 1]:
        calls = max(1, int(seconds * 1e9 / max(1, own.run(case, 1))))
        batches: dict[str, Callable[[], object]] = {
            name: partial(tree.run, case, calls) for name, tree in trees.items()
        }
        _, now = compare(
            batches, rounds=rounds, seconds=seconds, clock=lambda: sum(tree.taken for tree in trees.values())
        )
        print(f"{case:<52} {now.ratio:5.2f}   {now.low:.2f} to {now.high:.2f}", flush=True)
        goals.append(Goal(what=case, measured=now.ratio, bound=BOUND))
    for tree in trees.values():
        tree.end()
    return goals


def serve(questions: IO[str], answers: IO[str]) -> None:
    """Run the cases that are asked for: a line with a number of calls and a name, answered with nanoseconds of CPU."""
    calls = cases_of_tree()
    gc.disable()
    for line in questions:
        if line == "cases\n":
            print("\t".join(calls), file=answers, flush=True)
            continue
        count, _, name = line.rstrip("\n").partition("\t")
        call = calls[name]
        gc.collect()
        begin = process_time_ns()
        for _ in range(int(count)):
            call()
        print(process_time_ns() - begin, file=answers, flush=True)


def cases_of_tree() -> dict[str, Callable[[], object]]:
    """Return the calls to compare: each message in each serialization, and streams in chunks of several sizes."""
    from bench_chunks import streams
    from serialization_cases import MSGPACK, NATIVE, PROTOBUF, serial_cases

    calls: dict[str, Callable[[], object]] = {}
    for case in serial_cases():
        case.assert_same()
        for form in (NATIVE, PROTOBUF, MSGPACK):
            calls[f"decode {case.name}, {form}"] = case.decode[form]
            calls[f"encode {case.name}, {form}"] = case.encode[form]
    for stream in streams():
        for chunk in CHUNKS:
            calls[f"{stream.name} in chunks of {chunk}"] = stream.reading(chunk, 400)
    return calls


# ---- commands and imports: a process each


def command_goals(before: Path, *, is_quick: bool) -> list[Goal]:
    names = sorted(path.stem for path in (before / "idl").glob("*.wire"))[:: 3 if is_quick else 1]
    commands = {f"import {name}": ["-c", f"import wireproto.{name}"] for name in names}
    commands |= {f"wiregen check {name}": ["-m", "wiregen", "check", f"idl/{name}.wire"] for name in names}
    goals = []
    for what, command in commands.items():
        ratios = []
        for number in range(1 if is_quick else 15):
            order = (before, ROOT) if number % 2 else (ROOT, before)
            taken = {root: cpu_of(root, command) for root in order}
            ratios.append(taken[ROOT] / taken[before])
        print(f"{what:<52} {median(ratios):5.2f}", flush=True)
        goals.append(Goal(what=what, measured=median(ratios), bound=BOUND))
    return goals


def cpu_of(root: Path, command: list[str]) -> float:
    """Return the seconds of CPU that a Python takes for a command."""
    begin = getrusage(RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *command],
        cwd=root,
        env=environment(root),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = getrusage(RUSAGE_CHILDREN)
    return end.ru_utime - begin.ru_utime + end.ru_stime - begin.ru_stime


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve(sys.stdin, sys.stdout)
    else:
        sys.exit(main())
