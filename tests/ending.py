"""Processes that were to end: whether they have."""

from __future__ import annotations

import time
from pathlib import Path

__all__ = ["wait_for_end"]

_PATIENCE = 90.0


def wait_for_end(process: int) -> None:
    """Wait until a process is gone; fail where it lives on."""
    deadline = time.monotonic() + _PATIENCE
    while not _has_ended(process):
        assert time.monotonic() < deadline, f"process {process} lives on"
        time.sleep(0.01)


def _has_ended(process: int) -> bool:
    """Return whether a process is gone, or dead and not yet waited for by its parent."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
