"""Compressed regions of compiled code."""

from __future__ import annotations

from .compiled import BRIEF, Bad, ReadState, WriteState
from .transforms import TRANSFORMS, MalformedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..schema.literals import Algorithm

__all__ = ["deflate", "inflate"]


def inflate(data: bytes, algorithm: Algorithm, state: ReadState) -> bytes:
    """Return the content of a compressed region, within the budgets of the frame and of a brief call.

    Raises:
        Bad: Not one whole stream that fills the region, or more than a budget.
    """
    brief = BRIEF.inflated_left
    most = state.inflated_left if brief is None else min(brief, state.inflated_left)
    BRIEF.has_inflated = True
    try:
        inner = TRANSFORMS[algorithm].decode(data, most)
    except MalformedError:
        raise Bad from None
    if len(inner) > most:
        raise Bad
    state.is_spent = True
    state.inflated_left -= len(inner)
    if brief is not None:
        BRIEF.inflated_left = brief - len(inner)
    return inner


def deflate(data: bytes, algorithm: Algorithm, state: WriteState) -> bytes:
    """Return one compressed stream; the same bytes for the same level and build of zlib.

    Raises:
        Bad: More bytes than a reader's budget.
    """
    state.is_spent = True
    state.inflated_left -= len(data)
    if state.inflated_left < 0:
        raise Bad
    return TRANSFORMS[algorithm].encode(data, state.compression)
