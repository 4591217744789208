"""docs/vectors.md: every command in it runs, its example file holds, its requests are requests, its codec is one."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.conformance.test_vectors_run import TESTEE, needs_node
from tests.unit.implementations import reference_implementation
from tests.unit.tools.test_cli_decode import GENERATOR, run

from wiregen.conformance.judge import judge
from wiregen.conformance.vectors.adapters.exchange import read_request
from wiregen.conformance.vectors.format import read_vectors

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "vectors.md").read_text(encoding="utf-8")


IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
VECTORS = "generated/vectors/lumberjack.json"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def thinned(text: str) -> str:
    """Return a file of vectors with every eighth, and those that commands of the page name; in a soak with all."""
    file, words = json.loads(text), {word for line in COMMANDS for word in line.split() if "-" in word}
    if not IS_SOAK:
        file["vectors"] = [
            each
            for n, each in enumerate(file["vectors"])
            if n % 8 == 0 or any(word in each["id"] for word in words)
        ]
    return json.dumps(file)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which the page's commands work as in this repository."""
    for name in ("idl", "examples/lumberjack_testee"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "wiregen.toml").write_text("")
    (tmp_path / "generated" / "vectors").mkdir(parents=True)
    (tmp_path / VECTORS).write_text(thinned((ROOT / VECTORS).read_text()))
    (tmp_path / "known.txt").write_text("# nothing yet\n")
    codec, tests = blocks("python")
    (tmp_path / "acks.py").write_text(codec)
    (tmp_path / "conftest.py").write_text("")
    (tmp_path / "tests_of_acks.py").write_text(tests)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "wiregen").write_text(f"#!{sys.executable}\n{TESTEE}\n")
    (tmp_path / "bin" / "wiregen").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(GENERATOR), str(tmp_path))))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_pytest(*arguments: str) -> subprocess.CompletedProcess[str]:
    plain = (sys.executable, "-m", "pytest", "-p", "wiregen.pytest_plugin", "-p", "no:cacheprovider", "-q")
    return subprocess.run([*plain, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("line", [line for line in COMMANDS if " -- node " not in line])
def test_a_command_of_the_page_runs(project: Path, line: str) -> None:
    program, *arguments = shlex.split(line)
    if program == "pytest":
        done = run_pytest(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        assert " passed" in done.stdout
        return
    assert program == "wiregen"
    if arguments[:2] == ["vectors", "run"]:
        arguments[2:2] = [
            "--timeout",
            "100",
        ]  # a busy machine may take longer than the default for one answer
    result = run(*arguments)
    assert result.exit_code == 0, result.output


@needs_node
@pytest.mark.parametrize("line", [line for line in COMMANDS if " -- node " in line])
def test_a_command_with_node_runs(project: Path, line: str) -> None:
    result = run(*shlex.split(line)[1:])
    told = [
        line for line in result.stderr.splitlines() if not re.fullmatch(r"\d+ of \d+ vectors, 0 failed", line)
    ]
    assert not told
    if " --save found.json " in line:
        assert result.exit_code == int((project / "found.json").exists())
    else:
        assert (result.exit_code, " 0 failed" in result.stdout) == (0, True)


def test_the_page_has_its_commands() -> None:
    verbs = {" ".join(word for word in line.split()[:3] if word.isalpha()) for line in COMMANDS}
    assert {"wiregen vectors verify", "wiregen vectors run", "wiregen fuzz lumberjack", "pytest"} <= verbs


def test_the_codec_of_the_page_is_given_by_a_fixture_too(project: Path) -> None:
    done = run_pytest("tests_of_acks.py", "--wire-vectors", VECTORS, "-k", "ack-sequence")
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


def test_the_file_of_the_page_holds() -> None:
    text, *_ = blocks("json")
    vectors = read_vectors(text).vectors
    assert [judge(vector, reference_implementation("lumberjack")).outcome for vector in vectors] == [
        "passed",
        "passed",
    ]


def test_the_requests_of_the_page_are_requests() -> None:
    requests = [text for text in re.findall(r"`(\{\"id\": \d+, \"do\": .*?\})`", PAGE) if "…" not in text]
    assert {read_request(text).do for text in requests} == {"hello", "decode"}
