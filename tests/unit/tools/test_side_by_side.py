"""Several protocols at once: the same files and the same words as one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.tools.test_cli_decode import run
from tests.unit.tools.test_cli_docs import WIRE

from wiregen.tools.cli import parallel as module
from wiregen.tools.cli.parallel import side_by_side


def test_each_result_stands_beside_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_n_cores", lambda: 2)
    assert dict(side_by_side(int, ["1", "none", "3"])) == {"1": 1, "3": 3}


def test_one_core_leaves_all_of_it_to_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_n_cores", lambda: 1)
    assert list(side_by_side(int, ["1", "2"])) == []


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "idl").mkdir()
    for name in ("p", "q"):
        (tmp_path / "idl" / f"{name}.wire").write_text(WIRE.replace("protocol p", f"protocol {name}"))
    (tmp_path / "wiregen.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_vectors_are_the_same_on_one_core_and_on_two(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said, files = [], []
    for n_cores in (1, 2):
        monkeypatch.setattr(module, "_n_cores", lambda n_cores=n_cores: n_cores)
        done = run("vectors", "build")
        assert done.exit_code == 0, done.output
        said.append(done.stdout)
        files.append({path.name: path.read_bytes() for path in (project / "generated/vectors").iterdir()})
    assert run("vectors", "build", "--check").exit_code == 0
    assert said[0] == said[1]
    assert said[0].index("p: ") < said[0].index("q: ")
    assert files[0] == files[1]


def test_what_goes_wrong_in_a_process_is_told_as_ever(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "idl" / "q.wire").write_text(WIRE.replace("protocol p", "protocol q").replace("u32", "u99"))
    told = []
    for n_cores in (1, 2):
        monkeypatch.setattr(module, "_n_cores", lambda n_cores=n_cores: n_cores)
        done = run("vectors", "build")
        told.append((done.exit_code, done.stderr))
    assert told[0] == told[1]
    assert told[0][0] == 1 and "u99" in told[0][1]
