"""The files that a soak leaves, and that other runs leave none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.evidence import SoakEvidence, circumstances

ROOT = Path(__file__).resolve().parents[2]
CONFTEST = """
import sys; sys.path.insert(0, {root!r})
from pathlib import Path
from tests import conftest
conftest.EVIDENCE = Path({folder!r})
conftest.SOAK = Path({folder!r}).parent / "progress"
from tests.conftest import evidence, pytest_configure
"""
TESTS = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_kills(evidence, number):
    evidence("kills", count=10, failures=number % 2, kind="receiver")

def test_that_fails(evidence):
    evidence("losses", count=5, failures=2)
    assert False
"""


def run(
    folder: Path, profile: str, tests: str = TESTS, n_workers: int = 2, **variables: str
) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST.format(root=str(ROOT), folder=str(folder / "evidence")))
    (folder / "test_it.py").write_text(tests)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        str(n_workers),
        "test_it.py",
    ]
    environment = os.environ | {"HYPOTHESIS_PROFILE": profile, **variables}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_soak_writes_the_figures_of_all_its_workers(tmp_path: Path) -> None:
    done = run(tmp_path, "soak")
    assert "1 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert sorted(path.name for path in (tmp_path / "evidence").iterdir()) == ["kills.json", "losses.json"]
    kills = json.loads((tmp_path / "evidence" / "kills.json").read_text())
    assert (kills["count"], kills["failures"], kills["kind"]) == (30, 1, "receiver")
    assert kills["tests"] == ["test_it.py::test_kills"]
    assert list(kills) == sorted(kills)
    assert kills["machine"]["cores"] == os.cpu_count() and kills["machine"]["cpu"]
    losses = json.loads((tmp_path / "evidence" / "losses.json").read_text())
    assert (losses["count"], losses["failures"]) == (5, 2)


def test_other_runs_leave_nothing(tmp_path: Path) -> None:
    assert "3 passed" in run(tmp_path, "default", n_workers=0).stdout
    assert not (tmp_path / "evidence").exists()


def test_equal_figures_are_equal_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for order in (("count", "failures"), ("failures", "count")):
        plugin = SoakEvidence(tmp_path, 1)
        plugin.take({"name": "kills", **dict.fromkeys(order, 3)}, "test_it.py::test_kills[1]", 0.25)
        [path] = plugin.write()
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]


def test_no_path_and_no_name_of_a_machine_is_in_it() -> None:
    text = json.dumps(circumstances())
    assert str(ROOT) not in text and os.uname().nodename not in text


SLOW = """
import os

def test_quick(): pass

def test_other(): pass

def test_last(): assert "FAILS" not in os.environ
"""


def test_a_soak_ends_with_its_time_and_the_next_goes_on(tmp_path: Path) -> None:
    first = run(tmp_path, "soak", SLOW, SOAK_MINUTES="0.00001").stdout
    assert "3 skipped" in first and "soak: 3 tests are left; `make soak` goes on with them" in first
    second = run(tmp_path, "soak", SLOW, FAILS="1").stdout
    assert "1 failed, 2 passed" in second and "soak: whole" not in second
    third = run(tmp_path, "soak", SLOW, SOAK_MINUTES="60").stdout
    assert "1 passed" in third and "2 tests passed in earlier parts" in third and "soak: whole" in third
    assert "3 passed" in run(tmp_path, "soak", SLOW).stdout


def test_another_seed_begins_anew(tmp_path: Path) -> None:
    assert "1 failed, 2 passed" in run(tmp_path, "soak", SLOW, n_workers=0, FAILS="1").stdout
    assert "3 passed" in run(tmp_path, "soak", SLOW, n_workers=0, SOAK_SEED="7").stdout
