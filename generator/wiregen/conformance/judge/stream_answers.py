"""The output of a wiregen stream decoder as the answer of an adapter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wiregen.conformance.judge.implementation import DecodedFrames, Line, Refused

__all__ = ["collected"]


def collected(
    decoder: Any, chunks: Sequence[bytes], line: Callable[[Any], Line], *, is_all: bool = True
) -> DecodedFrames:
    """Return the frames of chunks up to the first error; `line` converts a frame to a decoded line.

    The decoder has errors="yield". If `is_all`, the stream ends after the chunks, and the error of a cut
    frame is reported. Otherwise more chunks may be fed to the decoder later.

    The decoder may be of any runtime, because every generated tree has its own: an error is recognised by
    its code.
    """
    base = decoder.fed
    frames: list[Line] = []
    for chunk in chunks:
        for item in decoder.feed(chunk):
            if isinstance(item, ValueError):
                return DecodedFrames(frames=tuple(frames), fault=fault_of(item, base))
            frames.append(line(item))
    if not is_all:
        return DecodedFrames(frames=tuple(frames), is_incomplete=decoder.pending > 0)
    is_incomplete = decoder.pending > 0
    errors = (item for _, _, item in decoder.finish_items() if isinstance(item, ValueError))
    fault = next((fault_of(error, base) for error in errors), None)
    if is_incomplete and fault is not None and not _is_end(fault, decoder.fed - base):
        return DecodedFrames(frames=tuple(frames), fault=fault)
    is_unfinished = not is_incomplete and fault is not None
    return DecodedFrames(frames=tuple(frames), is_incomplete=is_incomplete, is_unfinished=is_unfinished)


def _is_end(fault: Refused, size: int) -> bool:
    """Return whether an error reports only that the stream ends inside a frame."""
    return (fault.code, fault.at, fault.recoverable) == ("truncated", size, False)


def fault_of(error: Any, base: int) -> Refused:
    return Refused(
        code=error.code,
        at=error.at - base,
        recoverable=error.recoverable,
        rule=error.rule,
        path=error.path,
        inner_at=error.inner_at,
    )
