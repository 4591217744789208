"""Frames to batches: the events of each, their bytes in a file, and its ack. No I/O.

Invariant: no batch extends past a Window, and every event is in exactly one batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wireproto import lumberjack as lj

__all__ = ["Ack", "Batch", "Batches"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """The ack that is sent when a batch is safe; `sequence` 0 answers an empty Window."""

    sequence: int
    version: lj.Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Events in the form of a file; `ack`: that of their window, or None before its end."""

    data: bytes
    n_events: int
    ack: Ack | None


class Batches:
    """The windows of one connection. A window of more than `max_size` bytes is handed out in several batches."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._left = 0
        self._size = 0
        self._events: list[bytes] = []
        self._last: tuple[int, lj.Version] | None = None

    @property
    def is_open(self) -> bool:
        """Whether there are events of an incomplete window."""
        return bool(self._events)

    def take(self, frame: lj.Frame) -> Iterator[Batch]:
        """Yield the batches that a frame completes, each as soon as it is complete, so that memory holds one of them."""
        message = frame.message
        for each in message.frames if isinstance(message, lj.Compressed) else (frame,):
            yield from self._take(each)

    def rest(self) -> Batch:
        """Return the events of an incomplete window; later events may still complete it."""
        return self._batch(is_whole=False)

    def _take(self, frame: lj.Frame) -> Iterator[Batch]:
        match frame.message:
            case lj.Data(sequence=sequence) | lj.Json(sequence=sequence):
                yield from self._event(frame, sequence)
            case lj.Compressed():
                yield from self.take(frame)
            case lj.Window(size=size):
                if self._last is not None:  # the window before ends short
                    yield self._batch(is_whole=True)
                self._left = size
                if size == 0:
                    yield Batch(data=b"", n_events=0, ack=Ack(sequence=0, version=frame.version))
            case lj.Ack():
                raise AssertionError("the connection refuses acks from a writer")

    def _event(self, frame: lj.Frame, sequence: int) -> Iterator[Batch]:
        data = frame.encode()
        self._events.append(data)
        self._size += len(data)
        self._last = sequence, frame.version
        self._left = max(0, self._left - 1)  # without a window, an event is one of its own
        if self._left == 0:
            yield self._batch(is_whole=True)
        elif self._size >= self._max_size:
            yield self._batch(is_whole=False)

    def _batch(self, *, is_whole: bool) -> Batch:
        """Return the events after a Window with their number: a file is a sequence of frames that a writer
        might have sent.
        """
        n_events, head, ack = len(self._events), b"", None
        if self._last is not None:
            sequence, version = self._last
            head = lj.encode(lj.Window(n_events), version=version) if n_events else b""
            ack = Ack(sequence=sequence, version=version) if is_whole else None
        data = b"".join((head, *self._events))
        self._events, self._size = [], 0
        if is_whole:
            self._last = None
        return Batch(data=data, n_events=n_events, ack=ack)
