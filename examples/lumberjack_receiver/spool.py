"""Files that appear whole: written under another name, synchronised, renamed, and the folder synchronised.

Invariant: when `store` returns, the data is on disk in a file that the pipeline sees. Names consist of the
time and a number, so that their order is that of the events of one connection.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = ["Spool"]

_HIDDEN = ".part-"


class Spool:
    """A folder of files, written by one thread; data that waits meanwhile goes into the next file together."""

    def __init__(self, folder: Path, *, max_file: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.n_files = 0
        self.n_bytes = 0
        self._folder = folder
        self._max_file = max_file
        self._lock = _locked(folder)
        self._handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        for leftover in folder.glob(f"{_HIDDEN}*"):  # of one that was killed: never acknowledged
            leftover.unlink()
        self._started = time.time_ns()
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="spool")
        self._writing: asyncio.Task[None] | None = None

    async def store(self, data: bytes) -> None:
        """Store bytes; return when they are safe.

        Raises:
            OSError: The bytes are not safe.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((data, done))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        await done

    async def close(self) -> None:
        """Finish writing, and release the folder."""
        if self._writing is not None:
            await self._writing
        self._thread.shutdown()
        os.close(self._handle)
        os.close(self._lock)

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            chosen = self._next_file()
            written = loop.run_in_executor(self._thread, self._write, [data for data, _ in chosen])
            await asyncio.wait([written])
            _settle(chosen, written.exception())
        self._writing = None

    def _next_file(self) -> list[tuple[bytes, asyncio.Future[None]]]:
        """Return the data of one file: at least one piece, in the order of arrival."""
        size = n_chosen = 0
        for data, _ in self._waiting:
            if n_chosen and size + len(data) > self._max_file:
                break
            size += len(data)
            n_chosen += 1
        chosen, self._waiting = self._waiting[:n_chosen], self._waiting[n_chosen:]
        return chosen

    def _write(self, pieces: list[bytes]) -> None:
        name = f"{self._started:020}-{self.n_files:08}.lumberjack"
        hidden = self._folder / f"{_HIDDEN}{name}"
        try:
            with hidden.open("xb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            hidden.rename(self._folder / name)
        except OSError:
            hidden.unlink(missing_ok=True)
            raise
        self.n_files += 1
        self.n_bytes += sum(map(len, pieces))
        os.fsync(self._handle)


def _locked(folder: Path) -> int:
    """Return the handle of a lock that only one process has at a time.

    Raises:
        OSError: Another process has it.
    """
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        way_out = "stop it, or give this one a folder of its own"
        raise OSError(f"another receiver writes into {folder}: {way_out}") from None
    except OSError:
        os.close(handle)
        raise
    return handle


def _settle(chosen: list[tuple[bytes, asyncio.Future[None]]], error: BaseException | None) -> None:
    for _, done in chosen:
        if done.done():  # no caller waits any more
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
