"""Runs a program within bounds: without a shell, with limits of time and output.

Invariant: when `run` returns or raises, the program and the processes in its process group have ended.
"""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

__all__ = ["Finished", "OutOfBoundsError", "PluginBounds", "bounds_of", "run"]

_CHUNK = 1 << 16
_AMOUNT = re.compile(r"([1-9][0-9]{0,5}) ?([A-Za-z]+)")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0}
_BYTES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginBounds:
    """The most seconds that a program may take, and the most bytes that it may write to each of its two streams."""

    seconds: float = 60.0
    n_bytes: int = 64 << 20


def bounds_of(time: str, output: str) -> PluginBounds:
    """Return the bounds in texts such as `5 min` and `256 MiB`.

    Raises:
        ValueError: A text is invalid; the message names it and the expected form.
    """
    seconds, n_bytes = _AMOUNT.fullmatch(time), _AMOUNT.fullmatch(output)
    if seconds is None or seconds[2] not in _SECONDS:
        raise ValueError(f"{time!r} is not a time: 500 ms, 90 s, 5 min")
    if n_bytes is None or n_bytes[2] not in _BYTES:
        raise ValueError(f"{output!r} is not a size: 512 KiB, 256 MiB, 1 GiB")
    return PluginBounds(
        seconds=int(seconds[1]) * _SECONDS[seconds[2]], n_bytes=int(n_bytes[1]) * _BYTES[n_bytes[2]]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The result of a program: its exit code (negative: the signal), and its output."""

    code: int
    output: bytes
    complaints: bytes


class OutOfBoundsError(Exception):
    """The program was ended because it took too long or wrote too much."""


def run(arguments: tuple[str, ...], data: bytes, folder: Path, bounds: PluginBounds) -> Finished:
    """Run a program in a folder with `data` on its stdin.

    Raises:
        OSError: It cannot be started.
        OutOfBoundsError: It exceeded a bound.
    """
    program = subprocess.Popen(
        arguments,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        return _Run(program, bounds).finish(data)
    finally:
        _end(program)


class _Run:
    """A running program; each of its three streams is served by a thread."""

    def __init__(self, program: "subprocess.Popen[bytes]", bounds: PluginBounds) -> None:
        self._program = program
        self._bounds = bounds
        self._output = bytearray()
        self._complaints = bytearray()
        self._is_too_large = False

    def finish(self, data: bytes) -> Finished:
        """Write the program's input and wait for its end."""
        program = self._program
        assert program.stdin and program.stdout and program.stderr
        deadline = time.monotonic() + self._bounds.seconds
        _start(self._feed, data, program.stdin)
        gatherers = (
            _start(self._gather, self._output, program.stdout),
            _start(self._gather, self._complaints, program.stderr),
        )
        for thread in gatherers:
            thread.join(max(0.0, deadline - time.monotonic()))
        is_late = any(thread.is_alive() for thread in gatherers) or not self._has_ended(deadline)
        if self._is_too_large:
            raise OutOfBoundsError(f"it wrote more than {self._bounds.n_bytes} bytes")
        if is_late:
            raise OutOfBoundsError(f"it took more than {self._bounds.seconds:g} s")
        return Finished(
            code=program.returncode, output=bytes(self._output), complaints=bytes(self._complaints)
        )

    def _has_ended(self, deadline: float) -> bool:
        try:
            self._program.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
        return True

    @staticmethod
    def _feed(data: bytes, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError):  # a program need not read its input
            stream.write(data)
        with suppress(OSError, ValueError):
            stream.close()

    def _gather(self, into: bytearray, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(stream.fileno(), _CHUNK):
                into += chunk
                if len(into) > self._bounds.n_bytes:
                    self._is_too_large = True
                    _kill(self._program)
                    return


def _start(act: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=act, args=arguments, daemon=True)
    thread.start()
    return thread


def _end(program: "subprocess.Popen[bytes]") -> None:
    """End a program that is still running, and close the streams."""
    _kill(program)
    program.wait()
    for stream in (program.stdout, program.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _kill(program: "subprocess.Popen[bytes]") -> None:
    """Kill a program and its process group, which exists as long as any process is in it."""
    with suppress(OSError):
        if os.name == "posix":
            os.killpg(program.pid, signal.SIGKILL)
        else:
            program.kill()
