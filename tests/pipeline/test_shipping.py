"""The files that are sent to workers: the trees of a session, and their identity."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import zipfile
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
    for name in [each for each in sys.modules if each.partition(".")[0] == "dipped"]:
        monkeypatch.delitem(sys.modules, name)
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


def test_workers_need_not_compile_what_the_driver_has_compiled(
    tree: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module whose byte code is older than its source comes as source alone."""
    folder = tmp_path / "python" / "dipped" / "deep" / "wire" / "lumberjack"
    compileall.compile_dir(folder, quiet=1)
    changed = folder / "__init__.py"
    changed.write_text(changed.read_text() + "\nCHANGED = True\n")
    write_code(tmp_path / "code.zip", [tree])
    with zipfile.ZipFile(tmp_path / "code.zip") as archive:
        names = {name for name in archive.namelist() if "lumberjack" in name}
    beginning = f"{tree.replace('.', '/')}/lumberjack"
    assert f"{beginning}/columns.pyc" in names and f"{beginning}/columns.py" in names
    assert f"{beginning}/__init__.pyc" not in names
    program = f"import {tree}.lumberjack.columns as c, {tree}.lumberjack as l; print(c.__cached__, l.CHANGED, c.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "code.zip")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    place = f"{tmp_path}/code.zip/{beginning}/columns.pyc"
    assert done.stdout.split() == [place, "True", place], done.stderr
