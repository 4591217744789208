"""Packages of npm that tests need; where they cannot be had, the test is skipped and says why."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["AT_ONCE", "npm_modules"]

AT_ONCE = ("--no-audit", "--no-fund", "--fetch-retries=0")
"""Options without which npm asks for minutes where there is no network."""


def npm_modules(folder: Path, *packages: str) -> Path:
    """Install packages into a folder, and return the folder of their modules."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    command = [npm, "install", "--silent", *AT_ONCE, "--prefix", str(folder), *packages]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not fetch {packages[0]} within five minutes")
    if done.returncode:
        pytest.skip(f"npm cannot install {packages[0]}: it ended with code {done.returncode}")
    return folder / "node_modules"
