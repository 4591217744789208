"""What shells complete, the hooks of pre-commit and the workflow of GitHub: all call the command as their scripts do."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.tools.test_cli import GENERATOR, TIDE, run

ROOT = GENERATOR.parent
HOOKS = re.findall(
    r"^- id: (\S+)\n(?:  .*\n)*?  entry: wiregen (.+)\n((?:  .*\n)*)",
    (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one protocol, which is the working folder."""
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "tide.wire").write_text(f"wire 1\n\n{TIDE}")
    (tmp_path / "wiregen.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_missing_shell_is_one_line_with_the_choices() -> None:
    result = run("completion")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[0] == "error: missing argument 'SHELL', choose from bash, fish, zsh"


def completed(*words: str) -> list[str]:
    """Return the values that bash is offered for the last word."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(GENERATOR),
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_WIREGEN_COMPLETE": "bash_complete",
    }
    done = subprocess.run(
        [sys.executable, "-m", "wiregen"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_verbs_options_and_values_are_completed() -> None:
    assert completed("wiregen", "de") == ["decode"]
    assert completed("wiregen", "decode", "--fr") == ["--from"]
    assert completed("wiregen", "decode", "--format", "j") == ["jsonl", "json"]
    assert completed("wiregen", "vectors", "ver") == ["verify"]


def test_protocols_of_the_project_and_shipped_ones_are_completed(project: Path) -> None:
    assert completed("wiregen", "decode", "ti") == ["tide", "ti"]  # `ti` lets the shell add files
    assert completed("wiregen", "vectors", "build", "lumb") == ["lumberjack", "lumb"]


def test_completion_of_a_project_with_a_wrong_configuration_offers_shipped_protocols(project: Path) -> None:
    (project / "wiregen.toml").write_text("sources = 3\n")
    assert completed("wiregen", "check", "geo") == ["geode", "geo"]


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_the_script_is_one_that_the_shell_reads(shell: str, tmp_path: Path) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0, result.output
    assert "_WIREGEN_COMPLETE" in result.stdout
    script = tmp_path / "script"
    script.write_text(result.stdout)
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    subprocess.run([shell, "-n", script], check=True)


def test_another_shell_is_refused_with_the_list() -> None:
    result = run("completion", "csh")
    assert result.exit_code == 2
    assert "'bash'" in result.stderr


def test_the_short_options() -> None:
    assert run("-V").stdout == run("--version").stdout
    for verb in ("decode", "vectors"):
        assert run(verb, "-h").stdout == run(verb, "--help").stdout
    assert run("vectors", "verify", "-h").exit_code == 0


def test_the_hooks_are_found() -> None:
    assert {hook for hook, _, _ in HOOKS} == {"wiregen-check", "wiregen-fmt", "wiregen-build"}


@pytest.mark.parametrize(("hook", "command", "more"), HOOKS, ids=[hook for hook, _, _ in HOOKS])
def test_a_hook_passes_a_clean_project(hook: str, command: str, more: str, project: Path) -> None:
    assert run("build").exit_code == 0
    files = () if "pass_filenames: false" in more else ("idl/tide.wire",)
    result = run(*command.split(), *files)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(("hook", "command", "more"), HOOKS, ids=[hook for hook, _, _ in HOOKS])
def test_a_hook_shows_what_it_is_for(hook: str, command: str, more: str, project: Path) -> None:
    assert run("build").exit_code == 0
    wire = project / "idl" / "tide.wire"
    wire.write_text(
        wire.read_text().replace("number : u32", "number  :  Odd" if "check" in hook else "number  :  u16")
    )
    before = wire.read_text()
    result = run(*command.split(), *(() if "pass_filenames: false" in more else ("idl/tide.wire",)))
    assert result.exit_code == 1 or wire.read_text() != before, result.output


def test_every_step_of_the_workflow_passes_in_a_new_project(tmp_path: Path) -> None:
    steps = re.findall(
        r"run: (wiregen .+)", (ROOT / "editors" / "github" / "wiregen.yml").read_text(encoding="utf-8")
    )
    assert [step.split()[1] for step in steps] == ["fmt", "lint", "build", "breaking"]
    environment = {**os.environ, "PYTHONPATH": str(GENERATOR), "BASE": "HEAD"}
    program = f'wiregen() {{ "{sys.executable}" -m wiregen "$@"; }}'
    git = "git -c user.name=A -c user.email=a@example.org"
    begin = [
        "wiregen new harbour",
        "cd harbour",
        "wiregen build",
        "git init -q",
        "git add -A",
        f"{git} commit -qm begin",
    ]
    script = "\n".join(["set -e", program, *begin, *steps])
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no changes" in done.stdout + done.stderr
