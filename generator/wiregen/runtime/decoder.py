"""Frames out of a stream that comes in chunks of any size.

Whole frames are decoded by a fast function straight from the chunk. Only a frame that a chunk cuts is put aside, and a
careful reading goes through it as its bytes come, without starting over: the work is linear at every chunk size, and what
is held is at most one frame (which its limit bounds) and what was fed but not yet read.
"""

from __future__ import annotations

from .codec import READ_FAULTS, as_bytes
from .errors import DecodeError, NeedMoreData
from .noting import Notes
from .options import Options
from .parked import Parked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any, Generic, Literal, TypeAlias, TypeVar

    from .codec import ReadState
    from .context import Context
    from .options import Plan
    from .tree import Node

    F = TypeVar("F")
    Buffer: TypeAlias = bytes | bytearray | memoryview
    DecodeFrom: TypeAlias = Callable[[bytes, int, int, ReadState | None], tuple[F, int]]
    Item: TypeAlias = tuple[int, int, F | DecodeError]
else:
    from .values import Generic

    F = None

__all__ = ["Decoder"]
_FAULTS = (DecodeError, *READ_FAULTS)


def _message(frame: Any) -> Any:
    """Return the message of a frame; an error, or a preamble, stays what it is."""
    return getattr(frame, "message", frame)


class Decoder(Generic[F]):
    """Frames out of chunks of one direction of a connection.

    Attributes:
        fed: How many bytes were fed.
    """

    __slots__ = (
        "_base", "_chunk", "_decode_from", "_decode_message", "_decode_opening", "_failed", "_failed_at", "_load_plan",
        "_namespace", "_notes", "_options", "_parked", "_position", "_queue", "_raises", "_skim", "_skip", "_state",
        "fed",
    )  # fmt: skip

    def __init__(
        self,
        plan_loader: Callable[[], Plan],
        decode_from: DecodeFrom[F],
        state: ReadState | None = None,
        *,
        from_role: str | None = None,
        context: Context | None = None,
        limits: dict[str, int] | None = None,
        strict: bool = False,
        variant: str | None = None,
        errors: Literal["raise", "yield"] = "raise",
        decode_opening: DecodeFrom[F] | None = None,
        decode_message: DecodeFrom[Any] | None = None,
        skim: DecodeFrom[Any] | None = None,
        namespace: dict[str, Any] | None = None,
    ) -> None:
        """`decode_from(buffer, offset, end, state)` returns a frame and its end; it may raise any of READ_FAULTS, for the
        careful reading says what is wrong, or a DecodeError whose positions count in the buffer.

        `decode_opening` is the same for the preamble that the sender begins with, if it does; `decode_message` for a
        frame's message without the frame around it; `skim` for nested frames, which keeps to the budgets of its state.
        `namespace`: the generated module's names, where frames may come that only the careful codec reads.
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
        self._notes: Notes | None = None
        if context is not None:
            self._notes = Notes(context, self._options, plan_loader, decode_from, state, namespace)
        self._chunk = b""
        self._position = self._base = self._skip = self._failed_at = 0
        self._queue: list[bytes] = []
        self._parked: Parked | None = None
        self._failed: DecodeError | None = None
        self.fed = 0

    @property
    def offset(self) -> int:
        """Where in the stream the next frame begins."""
        if self._failed is not None:
            return self._failed_at
        if self._parked is not None:
            return self._parked.start
        return max(self._skip, self._base + self._position)

    @property
    def pending(self) -> int:
        """How many bytes were fed and belong to no frame that was read."""
        return max(0, self.fed - self.offset)

    @property
    def needed(self) -> int:
        """How many bytes at least the frame that is cut still needs; 0: none is."""
        return 0 if self._parked is None else max(0, self._parked.missing)

    def begin_inside(self) -> None:
        """Take what comes as frames from the first byte on: the preamble, where the sender has one, came before."""
        self._decode_opening = None

    def feed(self, chunk: Buffer) -> Iterator[F]:
        """Take in a chunk, and return an iterator over what is complete now.

        Raises:
            DecodeError: By the iterator, behind the frames before the fault. With errors="yield" it is an item instead.
        """
        self._enqueue(chunk)
        return self._frames()

    def bare_messages(self, chunk: Buffer) -> Iterator[Any]:
        """Return the same without the frames around the messages, which is faster; only for frames that carry one.

        A context hears of whole frames only: where there is one, they are read.
        """
        self._enqueue(chunk)
        return self._frames(self._decode_message, is_bare=True)

    def items(self, chunk: Buffer) -> Iterator[Item[F]]:
        """Return the same as (offset, size, frame or error): together they tile the stream.

        What no decoding can follow is one item that `finish_items` returns, for only then its size is known. So it is with
        something divided that lacks its last piece, an error without bytes of its own.
        """
        self._enqueue(chunk)
        return self._items()

    def finish(self) -> None:
        """Say that no more bytes come. Frames that were fed and not read are dropped.

        Raises:
            DecodeError: A frame is cut, or the stream was given up before.
        """
        for item in self._frames():
            del item
        error = self._cut() or self._unfinished()
        if error is not None:
            raise error

    def finish_items(self) -> Iterator[Item[F]]:
        """Say that no more bytes come, and return what is left as items."""
        yield from self._items()
        self._cut()
        if self._failed is not None and self._failed_at < self.fed:
            yield self._failed_at, self.fed - self._failed_at, self._failed.copy()
            self._failed_at = self.fed
        error = self._unfinished()
        if error is not None:
            yield self.fed, 0, error

    # -- the road of whole frames -----------------------------------------------------------------------------------

    def _frames(
        self, decode_message: DecodeFrom[Any] | None = None, *, is_bare: bool = False
    ) -> Iterator[Any]:
        """Yield frames; if `is_bare` their messages, which `decode_message` reads where there is such a function."""
        decode_from, state, notes = decode_message or self._decode_from, self._state, self._notes
        while self._load():
            if self._parked is not None or self._decode_opening is not None:
                item = self._resume()
                if item is not None:
                    frame: Any = self._handed(item[2])
                    yield _message(frame) if is_bare else frame
                continue
            chunk, offset = self._chunk, self._position
            size = len(chunk)
            while offset < size and chunk is self._chunk:
                if state is not None and state.is_spent:
                    state.begin()
                try:
                    frame, offset = decode_from(chunk, offset, size, state)
                except _FAULTS as error:
                    fault = self._stumble(error)
                    if fault is not None:
                        frame = self._handed(fault)
                        yield _message(frame) if is_bare else frame
                    break
                start, self._position = self._position, offset
                if notes is not None and type(getattr(frame, "message", None)) not in notes.quiet:
                    frame = self._handed(self._noted(frame, chunk, start, offset, self._base))
                yield _message(frame) if is_bare and decode_message is None else frame
                offset = self._position

    def _items(self) -> Iterator[Item[F]]:
        while self._load(is_quiet=True):
            start = self.offset
            if self._parked is not None or self._decode_opening is not None:
                item = self._resume()
                if item is not None and self._failed is None:
                    yield item
                continue
            if self._state is not None:
                self._state.begin()
            try:
                frame, end = self._decode_from(self._chunk, self._position, len(self._chunk), self._state)
            except _FAULTS as error:
                fault = self._stumble(error)
                if fault is not None and self._failed is None:
                    yield start, self.offset - start, fault
                continue
            begin, self._position = self._position, end
            yield start, end - begin, self._noted(frame, self._chunk, begin, end, self._base)

    def _handed(self, item: F | DecodeError) -> F:
        if self._raises and isinstance(item, DecodeError):
            raise item
        return item  # type: ignore[return-value]

    def _noted(self, frame: F, buffer: bytes, start: int, end: int, base: int) -> F | DecodeError:
        """Let a whole frame say what it says about later ones; return it, or what is wrong with that."""
        if self._notes is not None and hasattr(frame, "message"):
            try:
                taken: F = self._notes.take(frame, buffer, start, end, base)
            except DecodeError as error:
                return error
            return taken
        return frame

    # -- what is fed ------------------------------------------------------------------------------------------------

    def _enqueue(self, chunk: Buffer) -> None:
        data = as_bytes(chunk)
        if data:
            self._queue.append(data)
            self.fed += len(data)

    def _load(self, *, is_quiet: bool = False) -> bool:
        """Say whether there are bytes to look at; go on to those fed later where the chunk is at its end."""
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
            if not self._chunk:
                return False

    def _refuse(self, is_quiet: bool) -> bool:
        """Drop what came after the stream was given up."""
        assert self._failed is not None
        self._chunk, self._position, self._base = b"", 0, self.fed
        self._queue.clear()
        if self._raises and not is_quiet:
            raise self._failed.copy()
        return False

    # -- frames that a chunk cuts -----------------------------------------------------------------------------------

    def _stumble(self, error: Exception) -> F | DecodeError | None:
        """Deal with a frame that the fast function refused: put a cut one aside, or return what is wrong."""
        if isinstance(error, NeedMoreData):
            return self._park()
        fault = error.moved(self._base) if isinstance(error, DecodeError) else self._explained()
        if fault is None:
            return self._park()
        return self._fail(fault, self.offset) if isinstance(fault, DecodeError) else fault

    def _explained(self) -> F | DecodeError | None:
        """Return what is wrong with the frame that begins here, or the frame that only the careful codec reads.

        None: it is only cut.
        """
        steps = self._reading(self._chunk, self._position, self._base)
        try:
            next(steps)
        except DecodeError as error:
            return error
        except StopIteration as done:
            start, self._position = self._position, done.value.end - self._base
            return self._noted(self._built(done.value), self._chunk, start, self._position, self._base)
        steps.close()
        return None

    def _built(self, node: Node) -> F:
        """Return what the careful codec has read, as an object of the generated module."""
        if self._namespace is None:
            raise AssertionError("the fast code and the careful one do not agree")
        from .built import build

        frame: F = build(self._load_plan(), node.value, self._namespace)
        return frame

    def _reading(self, data: bytes | bytearray, offset: int, base: int) -> Generator[int, bool, Node]:
        """Return a careful reading of a frame, or of the preamble."""
        from .reading import read_frame, read_preamble

        how: Any = {"skim": self._skim, "is_quick": self._namespace is None}
        read, how = (read_frame, how) if self._decode_opening is None else (read_preamble, {})
        return read(self._load_plan(), data, offset, self._options, base=base, **how)

    def _park(self) -> DecodeError | None:
        data = bytearray(memoryview(self._chunk)[self._position :])
        start = self._base + self._position
        self._position = len(self._chunk)
        return self._begin(data, start)

    def _begin(self, data: bytearray, start: int) -> DecodeError | None:
        """Begin the careful reading of a frame, or of the preamble; return an error that is found at once."""
        self._parked = Parked(data, start, self._reading(data, 0, start))
        try:
            self._parked.need = next(self._parked.steps)
        except DecodeError as error:
            return self._fail(error, start)
        except StopIteration:
            raise AssertionError("the fast code and the careful one do not agree") from None
        return None

    def _resume(self) -> Item[F] | None:
        """Go on with the frame that was put aside; return what it came to, if it came to something."""
        parked = self._parked
        if parked is None:
            start = self.offset
            fault = self._begin(bytearray(), start)
            return None if fault is None else (start, self.offset - start, fault)
        while True:
            self._position = parked.fill(self._chunk, self._position)
            if parked.missing > 0:
                return None
            try:
                parked.need = parked.steps.send(False)
            except StopIteration as done:
                return self._unpark(parked, done.value)
            except DecodeError as error:
                fault = self._fail(error, parked.start)
                return parked.start, self.offset - parked.start, fault

    def _unpark(self, parked: Parked, node: Node) -> Item[F]:
        """Decode the frame that is whole now, with the fast function, and give back what was moved beyond its end."""
        size = node.end - parked.start
        self._parked = None
        self._position -= len(parked.data) - size
        decode_from, self._decode_opening = self._decode_opening or self._decode_from, None
        data = bytes(memoryview(parked.data)[:size])
        frame = self._whole(decode_from, data, node)
        return parked.start, size, self._noted(frame, data, 0, size, parked.start)

    def _whole(self, decode_from: DecodeFrom[F], data: bytes, node: Node) -> F:
        if self._state is not None:
            self._state.begin()
        try:
            return decode_from(data, 0, len(data), self._state)[0]
        except READ_FAULTS:
            return self._built(node)

    # -- faults -----------------------------------------------------------------------------------------------------

    def _fail(self, error: DecodeError, start: int) -> DecodeError:
        """Go behind the bad frame where its end is known, else give up the stream."""
        self._parked, self._decode_opening = None, None
        if self._notes is not None:
            self._notes.damage()
        if error.recoverable and error.end is not None and error.end > start:
            self._skip = error.end
            self._position = max(0, min(self._position, error.end - self._base))
        else:
            self._failed, self._failed_at = error.copy(), start
        return error

    def _cut(self) -> DecodeError | None:
        """Return the error of a frame that the end of the stream cuts."""
        if self._parked is None:
            return None
        parked = self._parked
        try:
            parked.steps.send(True)
        except DecodeError as error:
            return self._fail(error.settled(), parked.start)
        raise AssertionError("a reading goes on without bytes")

    def _unfinished(self) -> DecodeError | None:
        """Return the error of something divided that the end of the stream leaves without its last piece."""
        return None if self._notes is None or self._failed is not None else self._notes.unfinished(self.fed)
