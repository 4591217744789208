"""Where bytes go: stdout, or a file that is written all or nothing."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from wiregen.cli.failure import Failure
from wiregen.cli.talk import is_terminal

__all__ = ["destination", "refuse_terminal"]


def refuse_terminal(output: str | None) -> None:
    """Refuse to write bytes where somebody would read them."""
    if output is None and is_terminal(sys.stdout):
        raise Failure("the result is binary, and stdout is a terminal", "write it to a file: -o FILE")


@contextmanager
def destination(name: str | None) -> Iterator[IO[bytes]]:
    """Open stdout; or a file beside the one that is named, which takes its place when all is written."""
    if name is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    folder = path.parent if path.parent.is_dir() else None
    if folder is None or path.is_dir():
        raise Failure(f"`{name}` cannot be written", "name a file in a folder that exists")
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
