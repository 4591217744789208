"""The cost of `check` at four times the input: CPU against that at one time, for protocols that are large
in one way each.

python benchmarks/bench_check.py [--quick] [FAMILY]...

Linear work gives 4; the goal is at most 5.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import Goal, compare, table, told
from large_protocols import FAMILIES

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

_BOUND = 5.0


def main() -> int:
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")] or list(FAMILIES)
    is_quick = "--quick" in sys.argv
    base, rounds = (50, 1) if is_quick else (1000, 5)
    goals: list[Goal] = []
    with TemporaryDirectory() as folder:
        for name in names:
            sizes = {str(n): _checking(Path(folder), FAMILIES[name](n), n) for n in (base, 4 * base)}
            results = compare(sizes, rounds=rounds, seconds=0)
            print(table(name, results), "\n", flush=True)
            goals.append(Goal(what=f"{name}, 4 times as many", measured=results[1].ratio, bound=_BOUND))
    return told(goals, is_quick=is_quick)


def _checking(folder: Path, text: str, n: int) -> Callable[[], None]:
    path = folder / str(n) / "large.wire"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return partial(_check, path)


def _check(path: Path) -> None:
    report = Report()
    if load_protocol(path, Sources(), report, ()) is None:
        raise SystemExit(f"{path}: {report.diagnostics[0].message}")


if __name__ == "__main__":
    sys.exit(main())
