"""README.md: its commands print the shown output, its protocol is built, its Python prints the stated result, its picture is the site's."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.docs_sites import site_of_text

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = ROOT / "docs" / "pictures" / "reading.svg"
STYLE = """<style>svg{background:#fff}text{font:12px monospace;fill:#1b1f24;text-anchor:middle}.tick{font-size:10px}\
.offset{text-anchor:end}.tick,.offset,.detail{fill:#57606a}.box path{fill:#eef4fb;stroke:#57606a}</style>"""
MAIN = "import sys; from wiregen.tools.cli import main; main()"
N_FILES = re.compile(r"^generated: \d+ files", re.MULTILINE)
"""The number changes with the modules of the runtime, so that the page shows none."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Run the page's commands in one shell; return the folder of the project, and the commands with their output."""
    folder = tmp_path_factory.mktemp("readme")
    command = folder / ".venv" / "bin" / "wiregen"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec {shlex.join((sys.executable, "-c", MAIN))} "$@"\n')
    command.chmod(0o755)
    commands = re.findall(r"^\$ (.*)$", "".join(blocks("console")), re.MULTILINE)
    script = [f"printf '%s\\n' {shlex.quote(f'$ {each}')}\n{each}" for each in commands]
    done = subprocess.run(
        ("sh", "-c", "\n".join([*script, f"pwd >{shlex.quote(str(folder / 'where'))}"])),
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT / "generator"), "TMPDIR": str(folder)},
    )  # fmt: skip
    return Path((folder / "where").read_text().strip()), done.stdout


def test_the_commands_print_the_output_that_is_shown(transcript: tuple[Path, str]) -> None:
    assert N_FILES.sub("generated: … files", transcript[1]) == "".join(blocks("console"))


def test_the_protocol_is_that_of_a_new_project_without_comments(transcript: tuple[Path, str]) -> None:
    [shown] = blocks("wire")
    written = (transcript[0] / "idl" / "demo.wire").read_text(encoding="utf-8")
    written = re.sub(r'^example .*$| @source\("[^"]*"\)', "", written, flags=re.MULTILINE)
    assert bare(shown) == bare(written)


def bare(text: str) -> str:
    """Return a `.wire` text without comments and white space."""
    return "".join(re.sub(r"//.*", "", text).split())


def test_the_python_of_the_page_is_true(transcript: tuple[Path, str]) -> None:
    [program] = blocks("python")
    program += 'assert message == demo.Reading(sensor="roof", tenths=-35)\n'
    program += "assert [frame.message for frame in frames] == [message]\n"
    done = subprocess.run(
        (sys.executable, "-W", "error", "-c", program), capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(transcript[0] / "generated" / "python")}, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "-35\n")
    assert "# -35\n" in program and "# Reading(sensor='roof', tenths=-35)\n" in program


def test_the_picture_is_that_of_the_site(tmp_path: Path) -> None:
    page = site_of_text(blocks("wire")[0], tmp_path, "demo")["demo/Reading.html"].decode()
    [diagram] = re.findall(r'<svg class="diagram".*?</svg>', page, re.DOTALL)
    head, _, rest = diagram.partition(">")
    text = f'{head} xmlns="http://www.w3.org/2000/svg">{STYLE}{rest}\n'
    if os.environ.get("UPDATE_DOCS"):
        PICTURE.write_text(text, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == text, "make update-docs writes it"


def test_the_page_is_short() -> None:
    assert PAGE.count("\n") < 150
