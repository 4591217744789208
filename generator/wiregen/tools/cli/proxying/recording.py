"""The recording of a proxy: a capture that only its owner may read, because it holds the peers' bytes unmasked."""

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from wiregen.formats.capture import ConnectionWriter, Endpoint, PcapWriter
from wiregen.tools.cli.failure import Failure

__all__ = ["CaptureRecording", "RecordedConnection", "create_private"]

_BUFFER: Final = 1 << 20
"""Bytes between two writes: in each, the event loop gives up the interpreter to the thread that decodes."""


def create_private(name: str, *, is_forced: bool) -> BinaryIO:
    """Create a file with the mode 0600; links are not followed. `is_forced`: an existing regular file is emptied and used."""
    path = Path(name)
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if path.is_symlink():
        raise Failure(f"`{name}` is a symbolic link", "give the path of a file")
    try:
        descriptor = os.open(path, flags if is_forced else flags | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Failure(f"`{name}` exists already", "give another path, or --force to overwrite it") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Failure(f"`{name}` is not a regular file", "give the path of a file")
    os.fchmod(descriptor, 0o600)
    os.ftruncate(descriptor, 0)
    return os.fdopen(descriptor, "wb", _BUFFER)


class CaptureRecording:
    """Writes relayed connections; after an error of the system it ends, and the relay goes on.

    Attributes:
        error: The error that ended it.
    """

    def __init__(self, file: BinaryIO, failed: Callable[[OSError], None]) -> None:
        self.error: OSError | None = None
        self._file = file
        self._failed = failed
        self._pcap = PcapWriter(file)

    def open(self, opener: Endpoint, other: Endpoint) -> "RecordedConnection":
        """Begin a connection."""
        connection = ConnectionWriter(self._pcap, opener, other)
        self.attempt(lambda: connection.open(time.time()))
        return RecordedConnection(self, connection)

    def flush(self) -> None:
        """Hand all packets to the system, for readers of the growing file."""
        self.attempt(self._pcap.flush)

    def close(self) -> None:
        self.attempt(self._file.close)
        with suppress(OSError):  # the rest could not be written
            self._file.close()

    def attempt(self, write: Callable[[], None]) -> None:
        """Write, unless an earlier write failed."""
        if self.error is not None:
            return
        try:
            write()
        except OSError as error:
            self.error = error
            self._failed(error)


class RecordedConnection:
    """One connection of a recording; times are those of the calls."""

    def __init__(self, recording: CaptureRecording, connection: ConnectionWriter) -> None:
        self._recording = recording
        self._connection = connection

    def send(self, data: bytes, *, from_opener: bool) -> None:
        self._recording.attempt(lambda: self._connection.send(data, time.time(), from_opener=from_opener))

    def finish(self, *, from_opener: bool) -> None:
        self._recording.attempt(lambda: self._connection.finish(time.time(), from_opener=from_opener))

    def reset(self, *, from_opener: bool) -> None:
        self._recording.attempt(lambda: self._connection.reset(time.time(), from_opener=from_opener))
