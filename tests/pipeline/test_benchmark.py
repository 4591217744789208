"""The benchmark of the pipeline goes every way, with little."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytest.importorskip("numba", reason="numba is not installed")
pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(
        os.environ.get("HYPOTHESIS_PROFILE") != "soak",
        reason="it compiles everything twice: `make soak` does",
    ),
]

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "pipeline"


def test_every_way_has_a_speed(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    benchmark = importlib.import_module("bench_pipeline")
    benchmark.report(spark, 0.1, 500, 1, is_warming=False)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    ratios = [row for row in cells if len(row) == 4 and row[3][:1].isdigit()]
    speeds = [row for row in cells if len(row) == 3 and row[1][:1].isdigit()]
    assert (len(speeds), len(ratios)) == (5 + 2 + 9 + 2, len(benchmark.GOALS))
    assert all(float(number) >= 0 for row in speeds for number in row[1:])


def test_the_memory_of_workers_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    table = importlib.import_module("bench_memory").memory_table([1])
    rows = [line.split("|")[2].split(";") for line in table.splitlines()[2:]]
    assert len(rows) == 3 and all(int(resident) > int(own) > 0 for resident, own in rows)
