"""What tells whether an open file is still the one that it was."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO

__all__ = ["OpenState", "open_state"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenState:
    """Numbers of an open file that differ if it has changed or is another one."""

    size: int
    modified: int
    changed: int
    device: int
    number: int


def open_state(file: BinaryIO) -> OpenState:
    status = os.fstat(file.fileno())
    return OpenState(
        size=status.st_size,
        modified=status.st_mtime_ns,
        changed=status.st_ctime_ns,
        device=status.st_dev,
        number=status.st_ino,
    )
