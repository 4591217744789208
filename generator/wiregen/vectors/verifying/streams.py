"""What a stream decoder of ours says, as the answer of a door."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wiregen.vectors.verifying.doors import Decoded, Fault, Line

__all__ = ["collected"]


def collected(
    decoder: Any, chunks: Sequence[bytes], line: Callable[[Any], Line], *, is_all: bool = True
) -> Decoded:
    """Return what a decoder with errors="yield" makes of chunks, up to the first fault; `line` shows a frame.

    Unless `is_all`, more may be fed to it later.

    It may be of any runtime, for every generated tree has its own: an error is known by its code.
    """
    base = decoder.fed
    frames: list[Line] = []
    for chunk in chunks:
        for item in decoder.feed(chunk):
            if isinstance(item, ValueError):
                return Decoded(frames=tuple(frames), fault=fault_of(item, base))
            frames.append(line(item))
    if decoder.pending:
        return Decoded(frames=tuple(frames), is_incomplete=True)
    is_unfinished = is_all and any(isinstance(item, ValueError) for _, _, item in decoder.finish_items())
    return Decoded(frames=tuple(frames), is_unfinished=is_unfinished)


def fault_of(error: Any, base: int) -> Fault:
    return Fault(
        code=error.code,
        at=error.at - base,
        recoverable=error.recoverable,
        rule=error.rule,
        path=error.path,
        inner_at=error.inner_at,
    )
