"""One direction of a connection: pieces of bytes in, frames and errors out, which cover the stream without gaps.

Invariant: at most one frame and the current piece are held, for any bytes.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings, without_places

if TYPE_CHECKING:
    from wiregen.generate.serialization import ItemDecoder, StreamItem

__all__ = ["Direction", "HeldBytes"]


class Direction:
    """Decodes the bytes that one role sends; `context` is shared with the other direction of the connection.

    `is_live`: bytes after an error from which decoding cannot continue are yielded at once, in pieces as they arrive,
    and not as one item.
    """

    def __init__(
        self, settings: DecodingSettings, role: str | None, context: Context, *, is_live: bool = False
    ) -> None:
        self._settings = settings
        self._is_live = is_live
        self._role = role
        self._context = context
        self._held = HeldBytes()
        self._owed: StreamItem | None = None
        self._base = 0
        self._is_lost = False
        self._is_seeking = False
        self._decoder = self._new_decoder()

    @property
    def offset(self) -> int:
        """The offset of the next bytes in the stream."""
        return self._held.end

    def feed(self, data: bytes) -> Iterator[Decoded]:
        """Process the next bytes of the stream, and yield the frames and errors that are complete now."""
        if self._is_seeking:
            self._seek(data)
        self._held.add(data)
        if self._is_lost or self._is_seeking:
            yield self._lost()
            return
        if self._owed is not None:
            yield from self._settled((self._owed,))
        yield from self._settled(self._decoder.items(data))
        if self._has_given_up():
            yield from self._rest()
            self._context.damage(self._role)
            self._is_lost = True

    def _has_given_up(self) -> bool:
        """Return whether the decoder only counts further bytes; without `is_live`, when they exceed any frame."""
        decoder = self._decoder
        if self._is_live and decoder.pending and not decoder.needed:
            return True
        return decoder.pending > self._settings.largest_frame

    def gap(self, size: int) -> Iterator[Decoded]:
        """Record missing bytes; afterwards each piece is tried until one begins with a frame."""
        yield from self._rest()
        self._context.damage(self._role)
        offset = self._held.end
        error = DecodeError("gap", frame_offset=offset, at=offset, expected=f"{size} bytes", found="none")
        yield Decoded(offset=offset, size=size, role=self._role, raw=b"", outcome=error)
        self._held.skip(size)
        self._is_lost, self._is_seeking = False, True

    def finish(self) -> Iterator[Decoded]:
        """Process the end of the stream; yield the remaining bytes, and an error for an unfinished reassembly."""
        yield from self._rest()
        error = self._context.unfinished(self._role)
        if error is not None:
            error.frame_offset = error.at = self._held.end
            yield Decoded(offset=self._held.end, size=0, role=self._role, raw=b"", outcome=error.moved(0))

    def _rest(self) -> Iterator[Decoded]:
        if self._is_lost or self._is_seeking:
            return
        yield from self._settled(self._decoder.finish_items())
        if self._owed is not None:
            offset, _, outcome = self._owed
            yield from self._settled(((offset, self._held.end - self._base - offset, outcome),))

    def _new_decoder(self) -> "ItemDecoder":
        """Return a decoder from which the context learns: compiled code if the settings have it, or the reference codec."""
        options = self._settings.options(self._role, self._context)
        if self._settings.compiled is not None:
            return self._settings.compiled.decoder(options)
        return reference_decoder(self._settings.schema, options, "yield", context=self._context)

    def _seek(self, data: bytes) -> None:
        """Resume with the piece if it begins with a frame, or with a part of one."""
        attempt = reference_decoder(self._settings.schema, self._settings.options(self._role, self._context))
        attempt.begin_inside()
        try:
            next(attempt.feed(data), None)
        except DecodeError as error:
            if not error.recoverable:
                return
        self._is_seeking = False
        self._base = self._held.end
        self._decoder = self._new_decoder()
        self._decoder.begin_inside()

    def _lost(self) -> Decoded:
        offset = self._held.start
        raw = self._held.take(self._held.end - offset)
        error = DecodeError("lost_sync", frame_offset=offset, at=offset, expected="a frame")
        return Decoded(offset=offset, size=len(raw), role=self._role, raw=raw, outcome=error)

    def _settled(self, items: "Iterable[StreamItem]") -> Iterator[Decoded]:
        """Yield items once all their bytes have arrived: the end of a bad frame may be known before it is reached."""
        base, held, role = self._base, self._held, self._role
        for item in items:
            offset, size, outcome = item
            self._owed = item
            if base + offset + size > held.end:
                continue
            self._owed = None
            if isinstance(outcome, DecodeError):
                if size == 0:
                    continue
                outcome = outcome.moved(base)
            elif not isinstance(outcome, Node):
                outcome = without_places(outcome, size)
            yield Decoded(base + offset, size, role, held.take(size), outcome)


class HeldBytes:
    """Bytes that do not belong to an item yet; `start` and `end` are offsets in the stream."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._taken = 0
        self.end = 0

    @property
    def start(self) -> int:
        return self.end - len(self._data) + self._taken

    def add(self, data: bytes) -> None:
        del self._data[: self._taken]
        self._taken = 0
        self._data += data
        self.end += len(data)

    def take(self, size: int) -> bytes:
        raw = bytes(memoryview(self._data)[self._taken : self._taken + size])
        self._taken += size
        return raw

    def skip(self, size: int) -> None:
        """Skip bytes that are missing; all held bytes must have been taken."""
        self._data.clear()
        self._taken = 0
        self.end += size
