"""The receiver of `examples/` as a process of its own, and the content of its files."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Container, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from wireproto import lumberjack as lj

__all__ = [
    "ROOT",
    "CuttingProxy",
    "Receiver",
    "environment",
    "files",
    "running",
    "stored_events",
    "stored_numbers",
]

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"


def environment() -> dict[str, str]:
    """Return the environment in which the receiver and its imports are found."""
    paths = (ROOT / "examples", ROOT / "generated" / "python")
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}


class Receiver:
    """A running receiver; the constructor returns when it listens."""

    def __init__(self, folder: Path, *arguments: str, log: Path | None = None) -> None:
        with nullcontext() if log is None else log.open("w") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "lumberjack_receiver", str(folder), "--port", "0", "--metrics-port", "0", *arguments],
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise ChildProcessError(f"the receiver ended with {self._reap()}")
        found = re.fullmatch(r"listening on \S+ (\d+), metrics on 127\.0\.0\.1 (\d+)\n", line)
        assert found, line
        self.port, self._metrics_port = int(found[1]), int(found[2])

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self._reap()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Stop in order, by SIGTERM or SIGINT; return the exit code."""
        self.process.send_signal(number)
        return self._reap()

    def metrics(self) -> dict[str, float]:
        with urllib.request.urlopen(f"http://{HOST}:{self._metrics_port}/metrics", timeout=60) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain")
            lines = answer.read().decode().splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines)
        return {name.removeprefix("lumberjack_receiver_"): float(value) for name, value in pairs}

    def _reap(self) -> int:
        code = self.process.wait(timeout=60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@contextmanager
def running(folder: Path, *arguments: str, log: Path | None = None) -> Iterator[Receiver]:
    """Run a receiver with these arguments, `--insecure` without any; its stderr goes to `log`."""
    receiver = Receiver(folder, *(arguments or ("--insecure",)), log=log)
    try:
        yield receiver
    finally:
        if receiver.process.poll() is None:
            receiver.kill()


def files(folder: Path) -> list[Path]:
    """Return the files that a reader of the folder sees, which are not those that are still written."""
    return sorted(path for path in folder.glob("*.lumberjack") if not path.name.startswith("."))


def stored_events(folder: Path, but: Container[str] = ()) -> list[lj.Data | lj.Json]:
    """Return the events of all files in the order of their names, each file being a legal stream of a strict writer.

    `but`: names of files to be left out.
    """
    events: list[lj.Data | lj.Json] = []
    for path in files(folder):
        if path.name in but:
            continue
        session = lj.Session(strict=True)
        for event in [*session.observe("writer", path.read_bytes()), *session.eof("writer")]:
            match event:
                case lj.Received(frame=lj.Frame(message=(lj.Data() | lj.Json()) as message)):
                    events.append(message)
                case lj.Violation() | lj.Fault():
                    raise AssertionError(f"{path.name}: {event}")
    return events


def stored_numbers(folder: Path, but: Container[str] = ()) -> list[int]:
    """Return the `number` of each event as the files have them."""
    events = stored_events(folder, but)
    return [json.loads(event.document)["number"] for event in events if isinstance(event, lj.Json)]


class CuttingProxy:
    """Passes bytes to a port, and cuts each connection whose turn it is after that many bytes from its client."""

    def __init__(self, port: int, cuts: dict[int, int]) -> None:
        self.n_cut = 0
        self._target = port
        self._cuts = cuts
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        number = 0
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection((HOST, self._target))
                budget = self._cuts.get(number)
                number += 1
                threading.Thread(target=self._pass, args=(client, server, budget), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client, None), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, budget: int | None) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if budget is not None and len(data) >= budget:
                    target.sendall(data[:budget])
                    self.n_cut += 1
                    break
                budget = None if budget is None else budget - len(data)
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
