"""A program that answers lines with lines, each within a time; when it does not, it is ended and says why.

Reading and writing block: a second thread ends a program that is late, which ends both. No shell is ever asked.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final

from wiregen.conformance.judge.implementation import ImplementationError

__all__ = ["AdapterBounds", "Process", "StartError"]

_TICK: Final = 0.05
_TAIL: Final = 2000
_LINES: Final = 5
_LINE: Final = 200
_GRACE: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterBounds:
    """Seconds for an answer, and for the first one of a process; bytes of an answer; how often none may come in a row, or be late in all."""

    seconds: float = 10.0
    starting_seconds: float = 30.0
    n_bytes: int = 64 << 20
    most_troubles: int = 20
    most_late: int = 10


class StartError(Exception):
    """The program cannot be started, or does not say hello."""


class Process:
    """One run of a program under test."""

    def __init__(self, arguments: tuple[str, ...], bounds: AdapterBounds) -> None:
        self._bounds = bounds
        self._program = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._program.stdin and self._program.stdout and self._program.stderr
        self._input: IO[bytes] = self._program.stdin
        self._output: IO[bytes] = self._program.stdout
        self._complaints = bytearray()
        self._deadline: float | None = None
        self._is_late = False
        self._is_over = threading.Event()
        self._listener = threading.Thread(target=self._listen, args=(self._program.stderr,), daemon=True)
        self._listener.start()
        threading.Thread(target=self._watch, daemon=True).start()

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Return the line that answers a line.

        Raises:
            ImplementationError: The answer is not in time; the program is ended then.
        """
        self._deadline = time.monotonic() + seconds
        try:
            self._input.write(line)
            self._input.flush()
            answer = self._output.readline(self._bounds.n_bytes + 1)
        except OSError:
            answer = b""
        finally:
            self._deadline = None
        if self._is_late:
            raise self._trouble(ImplementationError("hung", f"no answer within {seconds:g} s"))
        if len(answer) > self._bounds.n_bytes:
            raise self._trouble(
                ImplementationError("garbage", f"an answer of more than {self._bounds.n_bytes} bytes")
            )
        if not answer.endswith(b"\n"):
            raise self._trouble(None)
        return answer

    def close(self) -> None:
        """Let the program end by itself, or end it."""
        with suppress(OSError):
            self._input.close()
        with suppress(subprocess.TimeoutExpired):
            self._program.wait(_GRACE)
        self.kill()

    def kill(self) -> None:
        """End the program and the processes that it started."""
        self._is_over.set()
        self._end()
        self._program.wait()
        self._listener.join(_GRACE)
        for stream in (self._input, self._output):
            with suppress(OSError):
                stream.close()

    def _trouble(self, error: ImplementationError | None) -> ImplementationError:
        if error is None:  # the end of its output: it ends by itself, or is ended
            with suppress(subprocess.TimeoutExpired):
                self._program.wait(_GRACE)
        self.kill()
        return error or ImplementationError("crashed", self._ending())

    def _ending(self) -> str:
        code = self._program.returncode
        how = f"it ended with code {code}" if code >= 0 else f"it was ended by signal {-code}"
        said = _message_of(bytes(self._complaints).decode(errors="replace"))
        return f"{how}: {said}" if said else how

    def _watch(self) -> None:
        while not self._is_over.wait(_TICK):
            deadline = self._deadline
            if deadline is not None and time.monotonic() > deadline:
                self._is_late = True
                self._end()
                return

    def _listen(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:
            while chunk := os.read(stream.fileno(), 1 << 16):
                self._complaints += chunk
                del self._complaints[:-_TAIL]

    def _end(self) -> None:
        with suppress(OSError):
            if os.name == "posix":
                os.killpg(self._program.pid, signal.SIGKILL)
            else:
                self._program.kill()


def _message_of(stderr: str) -> str:
    """Return the last lines of stderr in one line; of a Python traceback only those after its frames."""
    lines = [line.rstrip() for line in stderr.splitlines() if line.strip()]
    if any(line.startswith("Traceback (most recent call last)") for line in lines):
        indented = [number for number, line in enumerate(lines) if line.startswith(" ")]
        lines = lines[indented[-1] + 1 :] or lines[-1:] if indented else lines
    return "; ".join(line.strip()[:_LINE] for line in lines[-_LINES:])
