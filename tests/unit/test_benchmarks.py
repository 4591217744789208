"""The benchmarks run, and what they compare gives the same; their figures are for `make bench`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "bench_codecs.py"


def test_all_codecs_agree_and_every_table_is_printed() -> None:
    pytest.importorskip("construct")
    pytest.importorskip("google.protobuf")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generated" / "python")}
    done = subprocess.run(
        [sys.executable, SCRIPT, "--quick"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    titles = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [title.split()[:2] for title in titles[:-1]] == [
        [verb, message] for message in ("M1", "M2", "M3", "M4") for verb in ("decode", "encode")
    ]
    assert titles[-1] == "goals"
