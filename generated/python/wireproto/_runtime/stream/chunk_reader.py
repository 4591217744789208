"""Holds the chunks of a stream and the frames cut by their ends, and reads these when they are whole: the
base of decoders. The ends, and the limit of a frame, are the matter of `header` and `extent`.
"""

from __future__ import annotations

from ..codec.compiled import BRIEF, BRIEF_REFERENCE, READ_FAULTS, as_bytes, release
from ..codec.errors import DecodeError, NeedMoreData
from ..codec.options import Options
from ..lazy import Lazy
from .partial_frame import KEPT, PartialFrame
from .suspended_frame import SuspendedFrame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Generic, Literal, TypeAlias, TypeVar

    from ..codec.compiled import ReadState
    from ..codec.options import ContextSource
    from ..reference.tree import Node
    from ..schema.protocol import Schema
    from .extent_interface import Extents
    from .updates_interface import Updates

    F = TypeVar("F")
    Buffer: TypeAlias = bytes | bytearray | memoryview
    DecodeFrom: TypeAlias = Callable[[bytes, int, int, ReadState | None], tuple[F, int]]
    Item: TypeAlias = tuple[int, int, F | DecodeError]
else:
    from ..codec.values import Generic

    F = None

__all__ = ["ChunkReader"]
_NOTES = Lazy("stream.context_updates", "Notes")


class ChunkReader(Generic[F]):
    """Reads the chunks that a `Decoder` is fed."""

    __slots__ = (
        "_base", "_chunk", "_decode_from", "_decode_message", "_decode_opening", "_extents", "_failed", "_failed_at", "_incomplete", "_is_complete", "_is_whole", "_late",
        "_load_plan", "_n_last", "_n_queued", "_namespace", "_notes", "_options", "_position", "_queue", "_raises", "_skim", "_skip", "_state", "is_brief", "is_postponed",
    )  # fmt: skip

    def __init__(
        self,
        plan_loader: Callable[[], Schema],
        decode_from: DecodeFrom[F],
        state: ReadState | None = None,
        *,
        from_role: str | None = None,
        context: ContextSource | None = None,
        limits: dict[str, int] | None = None,
        strict: bool = False,
        variant: str | None = None,
        errors: Literal["raise", "yield"] = "raise",
        decode_opening: DecodeFrom[F] | None = None,
        decode_message: DecodeFrom[object] | None = None,
        skim: DecodeFrom[object] | None = None,
        namespace: dict[str, object] | None = None,
        is_complete: bool = True,
    ) -> None:
        """`decode_from(buffer, offset, end, state)` returns a frame and its end. It may raise any of
        READ_FAULTS, whose reason the reference codec finds, or a DecodeError with positions in the buffer.

        `decode_opening` is the same for the preamble that the sender begins with, if it does;
        `decode_message` for a frame's message without the frame around it; `skim` for nested frames, within
        the budgets of its state.
        `namespace`: the generated module's names, if only the reference codec reads some frames; with
        `is_complete` only fragments of blocks.
        """
        if errors not in ("raise", "yield"):
            raise ValueError("errors is 'raise' or 'yield'")
        self._load_plan = plan_loader
        self._decode_from = decode_from
        self._decode_opening = decode_opening
        self._decode_message, self._skim = decode_message, skim
        self._options = Options(from_role, context=context, limits=limits, strict=strict, variant=variant)
        self._raises = errors == "raise"
        self._state = state
        self._namespace = namespace
        self._is_complete = is_complete
        self._notes: Updates | None = None
        if context is not None:
            self._notes = _NOTES.load()(
                context, self._options, plan_loader, decode_from, state, namespace, is_complete=is_complete
            )
        self._chunk = b""
        self._position = self._base = self._skip = self._failed_at = 0
        self._n_last = 0  # bytes of the last frame
        self._queue: list[bytes] = []
        self._n_queued = 0  # bytes there
        self._incomplete: SuspendedFrame | PartialFrame | None = None
        self._extents: Extents | None = None
        self._is_whole = False  # the frame at the position is whole, or wrong, by its lengths
        self._failed: DecodeError | None = None
        self._late: Item[F] | None = None  # an error in a frame that is not fed whole, by its lengths
        self.is_brief = self.is_postponed = False

    @property
    def fed(self) -> int:
        """The number of bytes that were fed."""
        return self._base + len(self._chunk) + self._n_queued

    @property
    def offset(self) -> int:
        """The offset of the next frame in the stream."""
        if self._failed is not None:
            return self._failed_at
        if self._incomplete is not None:
            return self._incomplete.start
        return max(self._skip, self._base + self._position)

    # -- fed bytes --------------------------------------------------------------------------------------------------

    def _is_too_little(self, chunk: Buffer) -> bool:
        """Take in a chunk, and return whether a suspended frame still needs more than it."""
        data = chunk if type(chunk) is bytes else as_bytes(chunk)
        size = len(data)
        partial = self._incomplete
        if type(partial) is not PartialFrame or self._n_queued or self._position != len(self._chunk):
            if size:
                self._queue.append(data)
                self._n_queued += size
            return False
        if size < partial.missing:
            partial.missing -= size
            self._base += size  # as if the chunk had been loaded and put aside
            if size >= KEPT:
                partial.chunks.append(data)
            else:
                partial.add_small(data)
            return True
        if self._begins_again(partial, data):
            return False
        self._base += size
        return True

    def _begins_again(self, partial: PartialFrame, more: bytes | memoryview) -> bool:
        """Add bytes to a suspended frame; if it may be whole now, prepend it to the chunk, and return True."""
        if not partial.is_to_try(len(more), self._n_last):
            partial.add(bytes(more))
            if not partial.is_whole():
                return False
            more = b""
        partial.chunks.append(more)
        self._chunk = b"".join(partial.chunks)
        self._position, self._base, self._incomplete = 0, partial.start, None
        self._is_whole = True
        return True

    def _load(self, *, is_quiet: bool = False) -> bool:
        """Return whether there are bytes to read; at the end of the chunk, continue with those fed later."""
        if self._failed is not None:
            return self._refuse(is_quiet)
        while True:
            if self._skip > self._base + self._position:
                self._position = min(len(self._chunk), self._skip - self._base)
            if self._position < len(self._chunk):
                return True
            self._base += len(self._chunk)
            self._position = 0
            queue = self._queue
            self._chunk = b"" if not queue else queue[0] if len(queue) == 1 else b"".join(queue)
            queue.clear()
            self._n_queued = 0
            if not self._chunk:
                return False

    def _refuse(self, is_quiet: bool) -> bool:
        """Drop the bytes after the stream was given up."""
        assert self._failed is not None
        self._chunk, self._position, self._base = b"", 0, self.fed
        self._queue.clear()
        self._n_queued = 0
        if self._raises and not is_quiet:
            raise self._failed.copy()
        return False

    # -- frames that a chunk cuts -----------------------------------------------------------------------------------

    def _stumble(self, error: Exception) -> F | DecodeError | None:
        """Handle a frame that compiled code refused: suspend an incomplete one, or return the error."""
        if isinstance(error, DecodeError):
            if not isinstance(error, NeedMoreData):
                return self._fail(error.moved(self._base), self.offset)
            return None if self._postpones_reference() else self._park()
        release(error)
        if self._hold() or self._postpones_reference():
            return None
        start = self._position
        try:
            read = self._explained(self._chunk, start, self._base)
        except DecodeError as fault:
            return self._fail(fault, self.offset)
        if read is None:
            return self._park(is_faulty=self._is_faulty)
        frame, self._position = read
        return self._noted(frame, self._chunk, start, self._position, self._base)

    def _postpones_reference(self) -> bool:
        """Decide whether the current frame, which compiled code refused, is left for a call that is not brief."""
        n_bytes = len(self._chunk) - self._position
        self.is_postponed = self.is_brief and (n_bytes > BRIEF_REFERENCE or BRIEF.has_inflated)
        return self.is_postponed

    def _hold(self) -> bool:
        """Suspend the frame that begins here if its size shows that it is incomplete, and return whether it does."""
        extents, chunk, position = self._extents, self._chunk, self._position
        if extents is None:
            from .header_extents import extents_of

            extents = self._extents = extents_of(self._load_plan(), self._options)
        self._is_whole = False
        extent = extents.begin(chunk, position)
        try:
            need = extent.measure(chunk, position)
        except extents.end_unknown as error:
            self._is_whole = isinstance(error, extents.wrong)
            return False
        if need <= len(chunk) - position:
            self._is_whole = True
            return False
        self._incomplete = PartialFrame(chunk[position:], self._base + position, extent, need)
        self._base += len(chunk)
        self._chunk, self._position = b"", 0
        return True

    def _explained(self, data: bytes, offset: int, base: int) -> tuple[F, int] | None:
        """Return the frame at `offset`, which only the reference codec reads, and its end, or None if it is incomplete.

        Raises:
            DecodeError: It does not conform.
        """
        steps = self._reading(data, offset, base, is_faulty=self._is_faulty)
        try:
            next(steps)
        except DecodeError as error:
            release(error)
            raise
        except StopIteration as done:
            return self._built(done.value), done.value.end - base
        steps.close()
        return None

    @property
    def _is_faulty(self) -> bool:
        """Whether the frame at the position does not conform, given that compiled code has refused it."""
        return self._is_whole and self._is_complete

    def _built(self, node: Node) -> F:
        """Return the result of the reference codec as an object of the generated module."""
        if self._namespace is None:
            raise AssertionError("the compiled codec and the reference codec do not agree")
        from ..reference.objects import build

        frame: F = build(self._load_plan(), node.value, self._namespace)
        return frame

    def _reading(
        self, data: bytes | bytearray, offset: int, base: int, *, is_faulty: bool = False
    ) -> Generator[int, bool, Node]:
        """Return a reading of a frame, or of the preamble, by the reference codec."""
        from ..reference.reading.frames import read_frame, read_preamble

        schema, options = self._load_plan(), self._options
        if self._decode_opening is not None:
            return read_preamble(schema, data, offset, options, base=base)
        compiled = None if self._notes is None else self._notes.compiled()
        is_quick = self._namespace is None
        return read_frame(
            schema, data, offset, options, base=base, skim=self._skim, is_quick=is_quick, is_faulty=is_faulty, compiled=compiled
        )  # fmt: skip

    def _park(self, *, is_faulty: bool = False) -> DecodeError | None:
        data = bytearray(memoryview(self._chunk)[self._position :])
        start = self._base + self._position
        self._position = len(self._chunk)
        return self._begin(data, start, is_faulty=is_faulty)

    def _begin(self, data: bytearray, start: int, *, is_faulty: bool = False) -> DecodeError | None:
        """Begin to read a frame, or the preamble, with the reference codec; return an error that is found at once."""
        self._incomplete = SuspendedFrame(data, start, self._reading(data, 0, start, is_faulty=is_faulty))
        try:
            self._incomplete.need = next(self._incomplete.steps)
        except DecodeError as error:
            return self._fail(error, start)
        except StopIteration:
            raise AssertionError("the compiled codec and the reference codec do not agree") from None
        return None

    def _resume(self) -> Item[F] | None:
        """Continue with the suspended frame; return its result, if it has one."""
        incomplete = self._incomplete
        if isinstance(incomplete, PartialFrame):
            if not self._begins_again(incomplete, memoryview(self._chunk)[self._position :]):
                self._position = len(self._chunk)
            return None
        if incomplete is None:
            start, opening = self.offset, self._opened()
            if opening is not None:
                return start, self.offset - start, opening
            fault = self._begin(bytearray(), start)
            return None if fault is None else (start, self.offset - start, fault)
        while True:
            self._position = incomplete.fill(self._chunk, self._position)
            if incomplete.missing > 0:
                return None
            try:
                incomplete.need = incomplete.steps.send(False)
            except StopIteration as done:
                return self._resumed(incomplete, done.value)
            except DecodeError as error:
                fault = self._fail(error, incomplete.start)
                return incomplete.start, self.offset - incomplete.start, fault

    def _opened(self) -> F | None:
        """Return the preamble, if it is whole and conforms; the reference codec finds out what it is otherwise."""
        chunk, position, decode_opening = self._chunk, self._position, self._decode_opening
        assert decode_opening is not None
        try:
            opening, self._position = decode_opening(chunk, position, len(chunk), self._state)
        except (DecodeError, *READ_FAULTS) as error:
            release(error)
            return None
        self._decode_opening = None
        return opening

    def _resumed(self, incomplete: SuspendedFrame, node: Node) -> Item[F]:
        """Decode the frame that is whole now, with compiled code, and give back the bytes after its end."""
        size = node.end - incomplete.start
        self._incomplete = None
        self._position -= len(incomplete.data) - size
        decode_from, self._decode_opening = self._decode_opening or self._decode_from, None
        data = bytes(memoryview(incomplete.data)[:size])
        frame = self._whole(decode_from, data, node)
        return incomplete.start, size, self._noted(frame, data, 0, size, incomplete.start)

    def _whole(self, decode_from: DecodeFrom[F], data: bytes, node: Node) -> F:
        if self._state is not None:
            self._state.begin()
        try:
            return decode_from(data, 0, len(data), self._state)[0]
        except READ_FAULTS:
            return self._built(node)

    def _noted(self, frame: F, buffer: bytes, start: int, end: int, base: int) -> F | DecodeError:
        """Update the context with a whole frame; return the frame, or the error of the update."""
        if self._notes is not None and hasattr(frame, "message"):
            try:
                taken: F = self._notes.take(frame, buffer, start, end, base)
            except DecodeError as error:
                return error
            return taken
        return frame

    # -- faults -----------------------------------------------------------------------------------------------------

    def _fail(self, error: DecodeError, start: int) -> DecodeError:
        """Skip to the end of the bad frame if it is known, else give up the stream."""
        self._incomplete, self._decode_opening = None, None
        if self._notes is not None:
            self._notes.damage()
        if error.recoverable and error.end is not None and error.end > start:
            self._skip = error.end
            self._position = max(0, min(self._position, error.end - self._base))
        else:
            self._failed, self._failed_at = error.copy(), start
        return error
