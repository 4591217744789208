"""The cases that `make test` runs of tests with many that take long; a soak, and a choice by `-k` or by id, runs all.

`python -m tests.sampling JUNIT` renews tests/seconds.json from the report that a run wrote (`--junitxml`). It replaces the tests of
that run alone, so a run of some tests may be given; the machine should do nothing else meanwhile.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree
from zlib import crc32

import pytest

__all__ = ["SECONDS", "id_of", "sampled"]

TESTS = Path(__file__).resolve().parent
FILE = TESTS / "seconds.json"
SECONDS: Mapping[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
"""The mean time of a case by the id of its test without the case, for the tests whose cases take longer than `MOST` together."""
MOST = 2.0
"""Seconds for all cases of a test, or for one of them if that takes longer."""


def sampled(items: list[pytest.Item], seconds: Mapping[str, float]) -> list[pytest.Item]:
    """Return the items without the cases that are left to a soak; of each test at least one is left.

    Of a test whose cases take `MOST` n times every n-th is left. Tests begin with cases of their own, so that of tests over the
    same protocols not all leave the same ones out.
    """
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[f"{id_of(item.path)}::{_without_case(item.name)}"].append(item)
    left = {
        id(item)
        for name, all_of_it in cases.items()
        for item in _every_nth(all_of_it, seconds.get(name, 0.0), crc32(name.encode()))
    }
    return [item for item in items if id(item) in left]


def _every_nth(cases: list[pytest.Item], seconds: float, begin: int) -> list[pytest.Item]:
    step = min(max(ceil(seconds * len(cases) / MOST), 1), len(cases))
    return cases[begin % step :: step]


def id_of(path: Path) -> str:
    """Return the beginning of the ids of a file's tests."""
    return path.relative_to(TESTS).as_posix()


def _without_case(name: str) -> str:
    return name.partition("[")[0]


def renew(report: Path) -> None:
    """Replace the times of the tests in a report."""
    measured: dict[str, list[float]] = defaultdict(list)
    for case in ElementTree.parse(report).iter("testcase"):
        module, name = str(case.get("classname")), str(case.get("name"))
        path = module.removeprefix("tests.").replace(".", "/") + ".py"
        measured[f"{path}::{_without_case(name)}"].append(float(case.get("time", 0)))
    kept = {name: mean for name, mean in SECONDS.items() if name not in measured}
    long = {
        name: round(fmean(times), 2)
        for name, times in measured.items()
        if len(times) > 1 and sum(times) > MOST or name in SECONDS
    }
    FILE.write_text(json.dumps(kept | long, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    renew(Path(sys.argv[1]))
