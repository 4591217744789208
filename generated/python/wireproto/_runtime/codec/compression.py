"""Compressed regions of compiled code."""

from __future__ import annotations

from .compiled import BRIEF, Bad, ReadState, WriteState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

__all__ = ["deflate", "inflate"]


_WINDOW_BITS: Final[dict[str, int]] = {"zlib": 15, "gzip": 31, "deflate": -15}


def inflate(data: bytes, algorithm: str, state: ReadState) -> bytes:
    """Return the content of a compressed region, within the budgets of the frame and of a brief call.

    Raises:
        Bad: Not one whole stream that fills the region, or more than a budget.
    """
    import zlib

    brief = BRIEF.inflated_left
    most = state.inflated_left if brief is None else min(brief, state.inflated_left)
    BRIEF.has_inflated = True
    stream = zlib.decompressobj(_WINDOW_BITS[algorithm])
    try:
        inner = stream.decompress(data, most + 1)
    except zlib.error:
        raise Bad from None
    if not stream.eof or stream.unused_data or len(inner) > most:
        raise Bad
    state.is_spent = True
    state.inflated_left -= len(inner)
    if brief is not None:
        BRIEF.inflated_left = brief - len(inner)
    return inner


def deflate(data: bytes, algorithm: str, state: WriteState) -> bytes:
    """Return one compressed stream; the same bytes for the same level and build of zlib.

    Raises:
        Bad: More bytes than a reader's budget.
    """
    import zlib

    state.is_spent = True
    state.inflated_left -= len(data)
    if state.inflated_left < 0:
        raise Bad
    stream = zlib.compressobj(state.compression, zlib.DEFLATED, _WINDOW_BITS[algorithm])
    return stream.compress(data) + stream.flush()
