"""The benchmark of the pipeline goes every way, with little."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytest.importorskip("numba", reason="numba is not installed")
pytestmark = pytest.mark.xdist_group("spark")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]


def test_every_way_has_a_speed(spark: SparkSession) -> None:
    places = [str(ROOT / each) for each in ("generator", "generated/python", "pipeline")]
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "pipeline" / "bench_pipeline.py"), "--quick"],
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    cells = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("|")]
    speeds = {row[0].strip(): float(row[1]) for row in cells if row[1].strip()[:1].isdigit()}
    assert len(speeds) == 6 + 4
    assert all(speed >= 0 for speed in speeds.values())
