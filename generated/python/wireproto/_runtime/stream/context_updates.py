"""The updates of a context by whole frames, and the frames that fragments complete."""

from __future__ import annotations

from ..codec.compiled import BRIEF, READ_FAULTS, Bad, is_certain, release
from ..codec.errors import DecodeError
from ..lazy import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..codec.compiled import ReadState
    from ..codec.options import Options
    from ..reference.expressions import Value
    from ..reference.reading.reader import CompiledCode
    from ..schema.protocol import Schema
    from ..schema.types import FrameReference
    from .context import Context

__all__ = ["Notes"]

_COMPILED_FRAMES = Lazy("stream.whole_blocks", "CompiledFrames")
_FAULTS = (DecodeError, *READ_FAULTS)


class Notes:
    """Lets a context take in the frames of one sender, in order.

    `decode_from`, `state`: straight-line code for frames; `namespace`: the generated module's names.
    Without them the results are values of the reference codec. `is_complete`: straight-line code reads all
    valid frames except fragments.

    Attributes:
        quiet: The known classes of messages to which no rule applies.
    """

    __slots__ = (
        "_compiled", "_context", "_decode_from", "_is_complete", "_load_plan", "_namespace", "_options", "_state", "quiet",
    )  # fmt: skip

    def __init__(
        self,
        context: Context,
        options: Options,
        load_plan: Callable[[], Schema],
        decode_from: Callable[[bytes, int, int, ReadState | None], tuple[object, int]] | None = None,
        state: ReadState | None = None,
        namespace: dict[str, object] | None = None,
        *,
        is_complete: bool = True,
    ) -> None:
        self._context = context
        self._options = options
        self._load_plan = load_plan
        self._decode_from = decode_from
        self._state = state
        self._namespace = namespace
        self._is_complete = is_complete
        self._compiled: CompiledCode | None = None
        self.quiet: set[type] = set()

    def take(self, frame: Any, buffer: bytes, start: int, end: int, base: int = 0) -> Value:
        """Take in the frame in `buffer` from `start` to `end`; return it, read again if it completes an open block.

        Raises:
            DecodeError: Its update, or the frame that it completes, does not conform; its place is that of the frame.
        """
        context, options = self._context, self._options
        if self._namespace is not None and context.is_quiet(frame):
            self.quiet.add(type(frame.message))
            return frame
        if self._namespace is not None and context.expects(frame, options.from_role):
            frame = self._read_again(buffer, start, end, base)
        try:
            context.take(frame, options, self._read)
        except DecodeError as error:
            raise _placed(error, base + start, base + end) from None
        return frame

    def damage(self) -> None:
        """Record that bytes of the sender were lost."""
        self._context.damage(self._options.from_role)

    def unfinished(self, at: int) -> DecodeError | None:
        """Return the error of a stream that ends at `at`, if a reassembly is incomplete."""
        error = self._context.unfinished(self._options.from_role)
        return None if error is None else _placed(error, at, at, is_recoverable=False)

    def compiled(self) -> CompiledCode | None:
        """Return straight-line code for reassembled blocks.

        The result is None without such blocks, or if the results are values of the reference codec.
        """
        is_wanted = self._compiled is None and self._decode_from is not None and self._namespace is not None
        if is_wanted and any(join.block is not None for join in self._load_plan().joins.values()):
            compiled = _COMPILED_FRAMES.load()
            self._compiled = compiled(self._decode_from, self._state, is_complete=self._is_complete)
        return self._compiled

    def _read_again(self, buffer: bytes, start: int, end: int, base: int) -> object:
        """Return the last fragment of an open block, read by the reference codec, which knows the open reassemblies."""
        from ..reference.explain import explain
        from ..reference.objects import build

        assert self._namespace is not None
        schema = self._load_plan()
        try:
            node = explain(schema, buffer, start, end, self._options, base, compiled=self.compiled())
        except DecodeError:
            self.damage()
            raise
        return build(schema, node.value, self._namespace)

    def _read(self, type_: FrameReference, name: str, data: bytes) -> Value:
        """Return the one frame in reassembled bytes."""
        schema = self._load_plan()
        is_sent = schema.sends.get(self._options.from_role or "", type_.name) == type_.name
        is_faulty = False
        if self._decode_from is not None and is_sent:
            try:
                return self._read_fast(data)
            except _FAULTS as error:
                is_faulty = self._is_fault(error, schema)
                release(error)
        from ..reference.explain import explain_type
        from ..reference.objects import build

        value = explain_type(schema, type_, data, self._options, name=name, is_faulty=is_faulty).value
        return value if self._namespace is None else build(schema, value, self._namespace)

    def _is_fault(self, error: BaseException, schema: Schema) -> bool:
        """Return whether reassembled bytes that compiled code refused do not conform: it does not read
        fragments of blocks.
        """
        has_blocks = any(join.block is not None for join in schema.joins.values())
        is_brief = BRIEF.has_inflated and BRIEF.inflated_left is not None
        return self._is_complete and not has_blocks and not is_brief and is_certain(error)

    def _read_fast(self, data: bytes) -> Value:
        assert self._decode_from is not None
        if self._state is not None:
            self._state.begin()
        frame, end = self._decode_from(data, 0, len(data), self._state)
        if end != len(data):
            raise Bad
        return frame


def _placed(error: DecodeError, start: int, end: int, *, is_recoverable: bool = True) -> DecodeError:
    """Return the error of a frame from `start` to `end`; an error in reassembled bytes is inside it."""
    placed = error.settled()
    if error.at or error.inner_at is not None:
        placed.inner_at = error.at if error.inner_at is None else error.inner_at
    placed.frame_offset = placed.at = start
    placed.recoverable, placed.end = is_recoverable, end if is_recoverable else None
    placed.args = (placed._text(),)
    return placed
