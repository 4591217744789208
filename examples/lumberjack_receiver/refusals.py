"""One line for each connection that is refused, up to a number per minute; further ones are counted. No I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from wireproto import lumberjack as lj
from wireproto.lumberjack import aio

__all__ = ["Refusals", "reason_of"]

_SPAN: Final = 60.0
"""Seconds in which the number of lines is bounded."""
_LONGEST: Final = 300
"""Characters of a reason."""


class Refusals:
    """The lines for refused connections.

    Attributes:
        n_left_out: Refusals since the last line that have no line of their own.
    """

    def __init__(self, most: int, write: Callable[[str], None], clock: Callable[[], float]) -> None:
        """Write at most `most` lines in 60 seconds of `clock`."""
        self.n_left_out = 0
        self._most = most
        self._write = write
        self._clock = clock
        self._times: deque[float] = deque()

    def add(self, peer: aio.Peer | None, error: Exception) -> None:
        """Write the line of a refused connection, or count it."""
        now = self._clock()
        while self._times and now - self._times[0] >= _SPAN:
            self._times.popleft()
        if len(self._times) >= self._most:
            self.n_left_out += 1
            return
        self._times.append(now)
        self.flush()
        self._write(f"refused {_address_of(peer, error)}: {_visible(reason_of(peer, error))}")

    def flush(self) -> None:
        """Write how many refusals were left out since the last line."""
        if self.n_left_out:
            self._write(f"refused {self.n_left_out} more, left out: at most {self._most} lines a minute")
            self.n_left_out = 0


def reason_of(peer: aio.Peer | None, error: Exception) -> str:
    """Return the violation or error code, its rule and its offset in the bytes from the peer; no payload."""
    failure = None if peer is None else peer.connection.failure
    match error, failure:
        case lj.SessionError(frame_offset=None), lj.Violation():
            return f"{error.violation}: {failure.rule or 'a time ran out'}"
        case lj.SessionError(), lj.Violation():
            return f"{error.violation} at byte {error.frame_offset}: {failure.rule or 'not allowed now'}"
        case lj.SessionError(frame_offset=int(at)), _:
            return f"{error.violation} at byte {at}: {error.detail}"
        case lj.DecodeError(), _:
            rule = f" ({error.rule})" if error.rule else ""
            detail = f"{error.path}: expected {error.expected or 'none'}, found {error.found or 'one'}"
            return f"{error.code}{rule} at byte {error.at}: {detail}"
        case OSError(), _:
            return f"{type(error).__name__}: {error.strerror or error}"
        case _:
            return f"{type(error).__name__}: {error}"


def _address_of(peer: aio.Peer | None, error: Exception) -> str:
    address: Any = None if peer is None else peer.address
    if address is None and isinstance(error, OSError):
        address = error.filename
    match address:
        case (str(host), int(port), *_):
            return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        case _:
            return "a peer without an address"


def _visible(text: str) -> str:
    """Return a text of one line, of printable ASCII."""
    shown = "".join(each if " " <= each <= "~" else ascii(each)[1:-1] for each in text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
