"""The observable results of a vector, as plain data; and the absence of an answer."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TypeAlias

__all__ = ["Hung", "Outcome", "guarded", "in_time", "plain", "raised"]

Outcome: TypeAlias = tuple[Any, ...]
_LARGE: Final = 1 << 16
_MOST: Final = 6 << 30
"""Bytes of memory that a faulty loop may fill."""


class Hung(BaseException):
    """No answer in time. No `Exception`: code that catches those must not catch this."""


@contextmanager
def guarded() -> Iterator[None]:
    """Raise Hung where `in_time` runs out, and MemoryError in what takes all memory; main thread only."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Hung

    least, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST, most))
    kept = signal.signal(signal.SIGVTALRM, ring)
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, kept)
        resource.setrlimit(resource.RLIMIT_AS, (least, most))


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """Within `guarded`, raise Hung in what computes longer, however busy the machine is."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def raised(error: Exception) -> tuple[Any, ...]:
    names = ("code", "rule", "path", "frame_offset", "at", "inner_at", "recoverable", "needed")
    return (type(error).__name__, *(getattr(error, name, None) for name in names))


def plain(value: Any) -> Any:
    """Return a value as plain data that compares by all that it holds."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bytes | str) and len(value) > _LARGE:
        return (type(value).__name__, len(value), hash(value))
    if isinstance(value, bytes | str | int | float | None):
        return repr(value) if isinstance(value, float) else (type(value).__name__, value)
    slots = [slot for class_ in type(value).__mro__ for slot in getattr(class_, "__slots__", ())]
    if not slots:
        return repr(value)
    return (type(value).__name__, [(slot, plain(getattr(value, slot, None))) for slot in slots])
