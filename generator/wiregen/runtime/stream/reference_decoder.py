"""A decoder of streams whose frames are trees of the reference codec."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Literal

from ..codec.errors import DecodeError, NeedMoreData
from ..codec.options import Options
from ..reference.reading.frames import read_frame, read_preamble
from ..reference.tree import FrameValue, Node
from ..schema.protocol import Schema
from .context_updates import Notes
from .decoder import Decoder

if TYPE_CHECKING:
    from ..codec.compiled import ReadState
    from .chunk_reader import DecodeFrom
    from .context import Context

__all__ = ["ReferenceDecoder", "reference_decoder"]


class ReferenceDecoder(Decoder[Node]):
    """A decoder whose frames are trees of the reference codec, with positions in the stream."""

    __slots__ = ()

    def __init__(
        self, schema: Schema, options: Options, errors: Literal["raise", "yield"], context: Context | None
    ) -> None:
        opens = options.from_role in schema.opens
        super().__init__(
            lambda: schema, self._tree, errors=errors, decode_opening=self._tree if opens else None
        )
        self._options = options
        self._notes = None if context is None else Notes(context, options, lambda: schema)

    def _tree(self, buffer: bytes, offset: int, end: int, state: ReadState | None) -> tuple[Node, int]:
        steps = self._reading(buffer, offset, self._base)
        try:
            next(steps)
        except StopIteration as done:
            node: Node = done.value
            return node, node.end - self._base
        steps.close()
        raise NeedMoreData

    def _reading(
        self, data: bytes | bytearray, offset: int, base: int, *, is_faulty: bool = False
    ) -> Generator[int, bool, Node]:
        if self._decode_opening is not None:
            return read_preamble(self._load_plan(), data, offset, self._options, base=base)
        return read_frame(self._load_plan(), data, offset, self._options, base=base, has_items=True)

    def _stumble(self, error: Exception) -> Node | DecodeError | None:
        if not isinstance(error, DecodeError):
            raise error
        is_cut = isinstance(error, NeedMoreData)
        return self._park() if is_cut else self._fail(error, self.offset)

    def _whole(self, decode_from: DecodeFrom[Node], data: bytes, node: Node) -> Node:
        return node

    def _noted(self, frame: Node, buffer: bytes, start: int, end: int, base: int) -> Node | DecodeError:
        if not isinstance(frame.value, FrameValue):
            return frame
        fault: object = super()._noted(frame.value, buffer, start, end, base)  # type: ignore[arg-type]
        return fault if isinstance(fault, DecodeError) else frame


def reference_decoder(
    schema: Schema,
    options: Options,
    errors: Literal["raise", "yield"] = "raise",
    *,
    context: Context | None = None,
) -> Decoder[Node]:
    """Return a decoder whose items are trees of the reference codec.

    `context`: takes in the frames; that of the options is only asked.
    """
    return ReferenceDecoder(schema, options, errors, context)
