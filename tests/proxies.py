"""`wiregen proxy` and `wiregen simulate` as processes of their own, and the plain peers on both sides of them."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["HOST", "Ended", "Listener", "Tool", "connected", "received", "running_tool"]

ROOT = Path(__file__).resolve().parents[1]
HOST = "127.0.0.1"
WAIT = 120
"""Seconds after which a test fails that waits for a peer or a process."""
_LISTENING = re.compile(r"listening on (\S+) port (\d+)")


class Ended:
    """The end of a process: its exit code, and all that it printed."""

    def __init__(self, code: int, stdout: str, errors: list[str]) -> None:
        self.code = code
        self.stdout = stdout
        self.errors = errors

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]

    @property
    def summary(self) -> str:
        return self.errors[-1]

    def messages(self, role: str) -> list[str]:
        """Return the names of a role's messages in the order of its stream."""
        return [line["message"] for line in self.lines if line.get("from") == role and "message" in line]


class Tool:
    """A running verb of the command."""

    def __init__(self, folder: Path, *arguments: str | Path) -> None:
        self._stdout = folder / f"stdout-{os.urandom(4).hex()}"
        with self._stdout.open("wb") as stdout:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "wiregen", *map(str, arguments)],
                env=os.environ | {"PYTHONPATH": str(ROOT / "generator")},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
            )
        self.errors: list[str] = []
        self._told: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def port(self) -> int:
        """Return the port at which it listens, once it does."""
        return int(self.told(_LISTENING)[2])

    def told(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """Wait for a line on stderr; return its match."""
        while (line := self._told.get(timeout=WAIT)) is not None:
            if match := pattern.search(line):
                return match
        raise ChildProcessError("\n".join(self.errors))

    def stop(self, number: signal.Signals = signal.SIGINT) -> Ended:
        """Interrupt it, and return its end."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> Ended:
        code = self.process.wait(timeout=WAIT)
        self._reader.join(timeout=WAIT)
        return Ended(code, self._stdout.read_text(encoding="utf-8"), self.errors)

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                self.errors.append(line.rstrip("\n"))
                self._told.put(line)
        self._told.put(None)


@contextmanager
def running_tool(folder: Path, *arguments: str | Path) -> Iterator[Tool]:
    """Run a verb, and kill it if the test has not stopped it."""
    tool = Tool(folder, *arguments)
    try:
        yield tool
    finally:
        if tool.process.poll() is None:
            tool.process.kill()
            tool.wait()


class Listener:
    """A peer that listens, and handles each connection in a thread."""

    def __init__(self, handle: Callable[[socket.socket], object]) -> None:
        self._handle = handle
        self._socket = socket.create_server((HOST, 0))
        self.port: int = self._socket.getsockname()[1]
        self._handled: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def join(self, n_connections: int = 1) -> None:
        """Wait until so many connections are handled; further ones are not accepted."""
        for _ in range(n_connections):
            assert self._handled.get(timeout=WAIT) is None
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._accepting.join(timeout=WAIT)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                peer, _ = self._socket.accept()
                peer.settimeout(WAIT)
                threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        error: BaseException | None = None
        try:
            with peer:
                self._handle(peer)
        except BaseException as caught:  # noqa: BLE001 - the test that waits for it fails with it
            error = caught
        self._handled.put(error)


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    """Connect to a port of this computer."""
    with socket.create_connection((HOST, port), timeout=WAIT) as peer:
        yield peer


def received(peer: socket.socket, size: int | None = None) -> bytes:
    """Return the next `size` bytes, or all to the end; fewer if the connection ends or is reset before."""
    data = bytearray()
    with suppress(ConnectionResetError):
        while size is None or len(data) < size:
            chunk = peer.recv(65536 if size is None else min(65536, size - len(data)))
            if not chunk:
                break
            data += chunk
    return bytes(data)
