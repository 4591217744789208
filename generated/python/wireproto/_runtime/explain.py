"""The careful road: where fast code met a fault, this says what and where.

The door to the reader that walks a plan. Generated packages import it only when they need it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Literal

from .decoder import Decoder
from .errors import DecodeError, NeedMoreData
from .layout import Type
from .noting import Notes
from .options import Options
from .reading import read_frame, read_preamble, read_type
from .schema.protocol import Schema
from .tree import FrameValue, Node

if TYPE_CHECKING:
    from .codec import ReadState
    from .context import Context
    from .decoder import DecodeFrom

__all__ = ["CarefulDecoder", "careful_decoder", "explain", "explain_type", "fault", "finished"]


def finished(steps: Generator[int, bool, Node]) -> Node:
    """Return what a reading comes to when no more bytes come.

    Raises:
        DecodeError: The bytes do not conform.
        NeedMoreData: They are cut.
    """
    try:
        next(steps)
        steps.send(True)
    except StopIteration as done:
        node: Node = done.value
        return node
    raise AssertionError("a reading goes on without bytes")


def explain(
    plan: Schema,
    buffer: bytes,
    offset: int,
    end: int,
    options: Options,
    base: int = 0,
    *,
    is_preamble: bool = False,
) -> Node:
    """Return the tree of the frame (or preamble) that begins at `offset`; bytes from `end` on are not looked at.

    `base`: where buffer[0] lies in the outer stream.

    Raises:
        DecodeError: The frame does not conform.
        NeedMoreData: It is not whole.
    """
    read = read_preamble if is_preamble else read_frame
    return finished(read(plan, buffer, offset, options, base=base, stop=end))


def explain_type(
    plan: Schema, type_: Type, buffer: bytes, options: Options, *, name: str, offset: int = 0, base: int = 0
) -> Node:
    """Return the tree of one shape that fills the buffer from `offset` on: what a view or a bare message holds.

    Raises:
        DecodeError: It does not conform, or leaves bytes over.
    """
    node = finished(read_type(plan, type_, buffer, offset, len(buffer), options, name=name, base=base))
    if node.end != base + len(buffer):
        raise DecodeError(
            "trailing_bytes",
            path=name,
            frame_offset=base + offset,
            at=node.end,
            expected="the end",
            found=f"{base + len(buffer) - node.end} bytes",
        )
    return node


def fault(plan: Schema, buffer: bytes, offset: int, end: int, options: Options, base: int = 0) -> DecodeError:
    """Return what is wrong with a frame that the fast code refused; NeedMoreData where it is only cut."""
    try:
        explain(plan, buffer, offset, end, options, base)
    except DecodeError as error:
        return error
    raise AssertionError("the fast code and the careful one do not agree")


class CarefulDecoder(Decoder[Node]):
    """A decoder whose frames are the trees of the careful reading, with positions in the stream."""

    __slots__ = ()

    def __init__(
        self, plan: Schema, options: Options, errors: Literal["raise", "yield"], context: Context | None
    ) -> None:
        opens = options.from_role in plan.opens
        super().__init__(
            lambda: plan, self._tree, errors=errors, decode_opening=self._tree if opens else None
        )
        self._options = options
        self._notes = None if context is None else Notes(context, options, lambda: plan)

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
        return read_frame(self._load_plan(), data, offset, self._options, base=base)

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
        fault: Any = super()._noted(frame.value, buffer, start, end, base)  # type: ignore[arg-type]
        return fault if isinstance(fault, DecodeError) else frame


def careful_decoder(
    plan: Schema,
    options: Options,
    errors: Literal["raise", "yield"] = "raise",
    *,
    context: Context | None = None,
) -> Decoder[Node]:
    """Return a decoder whose items are the trees of the careful reading.

    `context`: takes in what is read; that of the options is only asked.
    """
    return CarefulDecoder(plan, options, errors, context)
