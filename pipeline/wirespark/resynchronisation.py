"""Finds frames again in a stream that lost them: a few frames are read strictly, and their state is dropped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from operator import gt

from wirespark.decoders import Context, Snapshot, StreamDecoder, context_of, decoder_of
from wirespark.options import Wishes
from wirespark.patterns import header_pattern

__all__ = ["OffsetTrial"]

N_CHAINED = 2
"""Frames that have to follow each other before an offset is believed."""
_N_AGAINST = 3
"""Frames that have to follow each other from inside a readable frame before its length is taken as wrong."""
_FIRST_BYTES = 4096


class OffsetTrial:
    """Tries offsets in the stream of a role; `begin` sets the connection state at the point of loss."""

    header_size = 64
    """Bytes at the end of the searched window in which an incomplete header may begin."""

    def __init__(self, wishes: Wishes, role: str | None) -> None:
        self._wishes = wishes
        self._role = role
        self._snapshot: Snapshot | None = None
        self._context: Context | None = None

    def begin(self, context: Context | None) -> None:
        """Use the current state for all offsets until the next `begin`."""
        self._context = self.copy(context)
        if self._context is not None:
            self._context.damage(
                self._role
            )  # open reassemblies may lack a piece now, which is not an error of the next frames
            self._snapshot = self._context.snapshot()

    def copy(self, context: Context | None) -> Context | None:
        """Return a copy of the context, which trials may change."""
        return None if context is None else context_of(self._wishes, context.snapshot())

    def candidates(self, window: bytes, start: int) -> Iterator[int]:
        """Yield the offsets from `start` on where a header may begin.

        Other backends than `native` have no header to search for.
        """
        if not self._wishes.is_native:
            return
        pattern = header_pattern(self._wishes.protocol, self._role, self._wishes.variant)
        found = pattern.search(window, start)
        while found is not None:
            yield found.start()
            found = pattern.search(window, found.start() + 1)

    def may_begin(self, window: bytes) -> bool:
        """Return whether the window begins with the header of a known message, or is too short to decide."""
        return len(window) < self.header_size // 4 or next(self.candidates(window, 0), None) == 0

    def verdict(self, window: bytes, start: int, *, is_end: bool) -> bool | None:
        """Return whether frames begin at an offset, or None if more bytes are needed."""
        if start >= len(window):
            return start == len(window) if is_end else None
        size = _FIRST_BYTES
        while True:
            data = window[start : start + size]
            is_all = start + size >= len(window)
            verdict = self._tried(data, is_end=is_end and is_all)
            if verdict is not None or is_all:
                return verdict
            size *= 8

    def hidden(self, data: bytes, end: int, *, is_end: bool, is_cut: bool = False) -> int | None:
        """Return the first offset in a frame where frames begin if some in it lead beyond its `end`, else 0.

        Those that lead beyond it show that the length of the outer frame is wrong. Others may come before them, and more
        damage between. The result is None if more bytes are needed.

        Frames that end at `end` belong to the outer frame. Frames that lead to the very end of the stream
        count for less if the stream only cuts (`is_cut`) the frame after this one.
        """
        n_at_end = _N_AGAINST if is_cut else 1
        known: set[int] = set()
        for start in self.candidates(data, 1):
            if start >= end:
                return 0
            if start in known:
                continue
            verdict = self._leads_beyond(data, start, end, known, n_at_end=n_at_end if is_end else None)
            if verdict is None:
                return None
            if verdict:
                earlier = takewhile(partial(gt, start), self.candidates(data, 1))
                return next((each for each in earlier if self.verdict(data, each, is_end=is_end)), start)
        return 0

    def _leads_beyond(
        self, data: bytes, start: int, end: int, known: set[int], *, n_at_end: int | None
    ) -> bool | None:
        """Return whether frames follow each other from `start` to an offset after `end`; add their offsets to `known`.

        `n_at_end`: how many frames suffice if they lead to the end of the stream, or None if it does not end
        here.
        """
        decoder = self._decoder()
        n_whole, position = 0, start
        try:
            for _, size, item in decoder.items(memoryview(data)[start:]):
                if not self._fits(item):
                    return False
                known.add(position)
                n_whole += 1
                position += size
                if position == end:
                    return False
                if position > end and n_whole >= _N_AGAINST:
                    return True
        finally:
            self._restore(n_whole)
        if n_at_end is None:
            return None if decoder.needed or not decoder.pending else False
        return not decoder.pending and position > end and n_whole >= n_at_end

    def _decoder(self) -> StreamDecoder:
        decoder = decoder_of(self._wishes, self._role, self._context, is_strict=True)
        decoder.begin_inside()
        return decoder

    def _restore(self, n_whole: int) -> None:
        """Restore the state from before the frames that were only tried."""
        if n_whole and self._context is not None and self._snapshot is not None:
            self._context.restore(self._snapshot)

    def _tried(self, data: bytes, *, is_end: bool) -> bool | None:
        decoder = self._decoder()
        n_whole = 0
        try:
            for _, _, item in decoder.items(data):
                if not self._fits(item):
                    return False
                n_whole += 1
                if n_whole == N_CHAINED:
                    return True
        finally:
            self._restore(n_whole)
        if not decoder.pending:
            return n_whole > 0 if is_end else None
        return None if decoder.needed and not is_end else False

    def _fits(self, item: object) -> bool:
        """Return whether an item is a frame that the role may send."""
        package = self._wishes.package
        if isinstance(item, package.native.DecodeError):
            return bool(item.code == "incomplete_join")  # a frame for itself, which lacks those before it
        return package.may_send(self._role, getattr(item, "message", item))
