"""The command in this process: its output is compared many times, and each start of a Python takes longer
than the work.
"""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner, Result

from wiregen.tools.cli import wiregen

__all__ = ["called", "printed"]


def called(*arguments: str, folder: Path, data: bytes = b"") -> Result:
    """Return the result of the command, outside this repository's configuration."""
    with chdir(folder):
        return CliRunner().invoke(wiregen, arguments, input=data)


def printed(*arguments: str, folder: Path, data: bytes = b"") -> bytes:
    """Return the output of the command, which must succeed."""
    done = called(*arguments, folder=folder, data=data)
    assert done.exit_code == 0, done.output
    return done.stdout_bytes
