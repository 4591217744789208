"""Skips valid frames in inflated bytes while searching for an error: few of their nodes and values are made.

Without it a peer could, with sixty bytes, make the reference codec read as many frames as the limits allow.
"""

from __future__ import annotations

from ..codec.compiled import READ_FAULTS, ReadState, release
from ..schema.elements import Skipped
from ..schema.types import FrameReference, List, ToEnd
from .reading.reader import Reader
from .tree import Node
from .window import Place

__all__ = ["BYTES_OF_WORK", "SKIPPED", "Skim", "skim_of"]

SKIPPED = Node("[]", "", Skipped(), 0, 0, inner=True)
"""Placeholder for each item that the reference codec did not read."""

BYTES_OF_WORK = 512
"""Inflated bytes that count as an eighth of a value in the search."""
_SMALL_SIZE = 4096
_SMALL_COUNT = 64


class Skim:
    """One list of frames that compiled code tries first; the reference codec still reads the first small
    ones, for `partial`.
    """

    __slots__ = ("_is_shown", "_reader", "_state")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._is_shown = True
        self._state = _state(reader)

    def is_past(self, place: Place) -> bool:
        """Skip the next frame and return True; if it is bad, or to be shown, change nothing."""
        reader, state, window = self._reader, self._state, self._reader.window
        start, end, read = window.position, window.end, reader.skim
        assert end is not None and read is not None and isinstance(window.data, bytes)
        state.messages_left, state.inflated_left = reader.messages_left, reader.inflated_left
        try:
            _, stop = read(window.data, start, end, state)
        except READ_FAULTS as error:
            release(error)
            self._spend(place)
            self._state = _state(reader)
            return False
        self._spend(place)
        if stop > window.frame_end or (self._is_shown and self._show(stop - start)):
            return False
        window.position = stop
        reader.messages_left, reader.inflated_left = state.messages_left, state.inflated_left
        return True

    def _spend(self, place: Place) -> None:
        """Take the cost of the last frame from the budget of the search: an eighth an item, and the bytes inflated.

        A count that was refused was taken from the budget of items, though none was read: bytes bound the items, too.
        """
        reader, state, window = self._reader, self._state, self._reader.window
        assert window.end is not None
        inflated = reader.inflated_left - state.inflated_left
        n_items = min(reader.messages_left - state.messages_left, window.end - window.position + inflated)
        reader.spend_work(1 + n_items + inflated // BYTES_OF_WORK, place)

    def _show(self, size: int) -> bool:
        """Return whether a frame of that size is shown with its values; the items in `partial` have no gaps."""
        reader, state = self._reader, self._state
        self._is_shown = (
            reader.shown_left > 0
            and size + reader.inflated_left - state.inflated_left <= _SMALL_SIZE
            and reader.messages_left - state.messages_left <= _SMALL_COUNT
        )
        reader.shown_left -= self._is_shown
        return self._is_shown


def _state(reader: Reader) -> ReadState:
    """Return the state with which compiled code reads the nested frames here."""
    layout = reader.layout
    limits: dict[str, int | None] = {
        "frame": layout.frame,
        "inflated": layout.inflated,
        "count": layout.count,
        "messages": layout.n_messages,
        "depth": layout.depth,
    }
    state = ReadState(limits, strict=layout.strict)
    state.level = reader.level
    return state


def skim_of(reader: Reader, type_: List) -> Skim | None:
    """Return the object that skips the items of a list, or None if the reference codec reads each."""
    item = type_.item
    if reader.skim is None or not isinstance(item, FrameReference) or not isinstance(type_.length, ToEnd):
        return None
    is_same = item.only is None and item.name == reader.layout.frame_of(reader.options.from_role)
    return Skim(reader) if is_same and reader.window.is_inflated else None
