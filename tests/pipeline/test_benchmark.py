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
    importlib.import_module("bench_pipeline").report(spark, 0.1, 0)
    cells = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    speeds = {row[0].strip(): float(row[1]) for row in cells if row[1].strip()[:1].isdigit()}
    assert len(speeds) == 6 + 4
    assert all(speed >= 0 for speed in speeds.values())


def test_functions_of_columns_have_speeds(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    importlib.import_module("bench_functions").report(spark, tmp_path, 500, 0)
    assert capsys.readouterr().out.count("÷") == 2
