"""Exit codes of every verb where there is nothing to work on: 1 for a project without protocols, 2 for a wrong call or configuration."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from tests.commands import called

from wiregen.tools.cli import wiregen

BROKEN = "package = [\n"

OVER_PROJECTS = (
    "build",
    "check",
    "fmt",
    "lint",
    "docs build",
    "vectors build",
    "breaking --against .",
)
"""The calls that work on all protocols of a project, or on those that are named."""

OVER_NAMES = (
    "build NONE", "check NONE.wire", "fmt NONE.wire", "lint NONE.wire", "docs build NONE", "vectors build NONE",
    "vectors verify NONE", "vectors run NONE -- true", "ir NONE", "decode NONE --hex 00", "encode NONE", "replay NONE x.pcap",
    "diff NONE a b", "shrink NONE x", "transcode NONE --from native --to msgpack", "fuzz NONE", "play NONE",
    "proxy NONE --listen 0 --to 1", "simulate NONE --as a --connect 1",
)  # fmt: skip
"""Calls with the name of a protocol, or file, that is missing."""

OVER_FILES = (
    "decode lumberjack NONE", "encode lumberjack NONE", "replay lumberjack NONE", "diff lumberjack NONE NONE", "shrink lumberjack NONE",
    "transcode lumberjack NONE --from native --to msgpack", "vectors verify lumberjack NONE", "vectors run lumberjack NONE -- true",
)  # fmt: skip
"""Calls with a known protocol, and a file that is missing."""

OF_NO_PROJECT = ("explain NONE", "new 1", "completion NONE")
"""Calls with a wrong argument that read no configuration."""


def check_exit(call: str, folder: Path, code: int) -> None:
    """Check the exit code of a call, and that its message has a way out, or the code of a page."""
    result = called(*call.split(), folder=folder)
    assert result.exit_code == code, (call, result.output, result.exception)
    assert "help: " in result.output or "error[WG6002]" in result.output, (call, result.output)
    assert "Traceback" not in result.output


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    (tmp_path / "wiregen.toml").write_text(BROKEN, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("call", OVER_PROJECTS)
def test_a_folder_without_protocols_is_a_finding(call: str, tmp_path: Path) -> None:
    check_exit(call, tmp_path, 1)


@pytest.mark.parametrize("call", (*OVER_NAMES, *OVER_FILES, *OF_NO_PROJECT))
def test_a_missing_protocol_or_file_is_a_wrong_call(call: str, tmp_path: Path) -> None:
    check_exit(call, tmp_path, 2)


@pytest.mark.parametrize("call", (*OVER_PROJECTS, *OVER_NAMES, *OVER_FILES, *OF_NO_PROJECT))
def test_a_broken_configuration_is_a_wrong_call(call: str, broken: Path) -> None:
    check_exit(call, broken, 2)


def verbs(group: click.Group, path: str = "") -> list[str]:
    """Return the paths of all commands, those of groups too."""
    context, found = click.Context(group), []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found += verbs(command, f"{path}{name} ") if isinstance(command, click.Group) else [path + name]
    return found


VERBS = verbs(wiregen)


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_option_is_a_wrong_call(verb: str, tmp_path: Path) -> None:
    check_exit(f"{verb} --none", tmp_path, 2)


def test_every_verb_is_called_without_its_input() -> None:
    calls = (*OVER_PROJECTS, *OVER_NAMES, *OVER_FILES, *OF_NO_PROJECT)
    missing = {verb for verb in VERBS if not any(call.startswith(verb) for call in calls)}
    # A server waits for files or for an editor, an adapter for requests.
    assert {verb for verb in missing if not verb.startswith("spark ")} == {
        "docs serve",
        "lsp",
        "vectors testee",
    }
