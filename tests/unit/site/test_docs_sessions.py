"""docs/sessions.md: its protocol is built, its Python runs in the order of the page, and so do its commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.tools.test_cli_decode import run

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "sessions.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a package `acme`, built of the page's protocol."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "protocols").mkdir()
    [text] = blocks("wire")
    (folder / "protocols" / "jobs.wire").write_text(text, encoding="utf-8")
    (folder / "wiregen.toml").write_text('sources = ["protocols"]\noutput = "out"\npackage = "acme"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = run("build")
    assert result.exit_code == 0, result.output
    return folder / "out" / "python"


def test_the_python_of_the_page_runs(package: Path) -> None:
    program = "\n".join(blocks("python"))
    assert program.count("assert ") > 10
    command = (sys.executable, "-X", "dev", "-W", "error", "-c", program)
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(package)}, timeout=60
    )
    # A busy machine makes asyncio warn of slow steps, which are not errors of the page.
    errors = re.sub(r"^Executing .* took [\d.]+ seconds\n", "", done.stderr, flags=re.MULTILINE)
    assert (done.returncode, done.stdout, errors) == (0, "", "")


@pytest.mark.parametrize("line", [line for block in blocks("sh") for line in block.splitlines()])
def test_a_command_of_the_page_runs(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(line)
    assert program == "wiregen"
    result = run(*arguments)
    assert result.exit_code == 0, result.output
