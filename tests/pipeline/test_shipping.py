"""The files that are sent to workers: the trees of a session, and their identity."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

from wirespark.packages import look_in, package_of
from wirespark.spark_session import write_code

ROOT = Path(__file__).resolve().parents[2]
WORKER = """
import sys
sys.path[:0] = sys.argv[1:2]
from wirespark.packages import package_of
print(package_of("lumberjack").name, package_of("dipped.deep.wire.lumberjack").name)
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A tree of another name that has a protocol."""
    folder = tmp_path / "python" / "dipped" / "deep" / "wire"
    source = ROOT / "generated" / "python" / "wireproto"
    for name in ("_runtime", "lumberjack"):
        shutil.copytree(source / name, folder / name)
    shutil.copy(source / "__init__.py", folder)
    monkeypatch.syspath_prepend(tmp_path / "python")
    return "dipped.deep.wire"


def test_a_protocol_of_the_session_needs_no_dotted_name(
    tree: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wirespark import packages

    monkeypatch.setattr(packages, "_roots", ["wireproto"])
    package_of.cache_clear()
    try:
        assert package_of("lumberjack").name == "wireproto.lumberjack"
        look_in([tree])
        assert package_of("lumberjack").name == f"{tree}.lumberjack"
        assert package_of("geode").name == "wireproto.geode"
    finally:
        monkeypatch.undo()
        package_of.cache_clear()


def test_a_worker_knows_the_trees_that_came(tree: str, tmp_path: Path) -> None:
    write_code(tmp_path / "code.zip", [tree])
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", WORKER, str(tmp_path / "code.zip")],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [f"{tree}.lumberjack"] * 2, done.stderr
