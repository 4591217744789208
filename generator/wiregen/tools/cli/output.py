"""The destinations of bytes: stdout, or a file that is written completely or not at all."""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from wiregen.tools.cli.failure import Failure
from wiregen.tools.cli.messages import is_terminal

__all__ = ["destination", "refuse_terminal"]


def refuse_terminal(output: str | None) -> None:
    """Refuse to write binary output to a terminal."""
    if output is None and is_terminal(sys.stdout):
        raise Failure("the result is binary, and stdout is a terminal", "write it to a file: -o FILE")


@contextmanager
def destination(name: str | None) -> Iterator[IO[bytes]]:
    """Open stdout, or a temporary file that replaces the named one, with its permissions, when all is written.

    A device, a pipe or a socket is not replaced, but written directly. Links are followed.
    """
    if name is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        path = Path(name).resolve()
    except (OSError, RuntimeError):
        raise Failure(
            f"`{name}` does not lead to a file: its links form a cycle", "give another path"
        ) from None
    if not path.parent.is_dir() or path.is_dir():
        raise Failure(f"`{name}` cannot be written", "give a file in an existing folder")
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(path: Path) -> int:
    """Return the permissions of the file at this path, or those that it would get if a program just created it."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    withheld = os.umask(0)
    os.umask(withheld)
    return 0o666 & ~withheld
