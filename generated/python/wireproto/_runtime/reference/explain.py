"""Finds the reason and the place of an error after compiled code refused a frame.

Generated packages import this module, and with it the reference decoder, only when they need it.
"""

from __future__ import annotations

from collections.abc import Generator

from ..codec.errors import DecodeError
from ..codec.options import Options
from ..schema.protocol import Schema
from .layout import Type
from .reading.frames import read_frame, read_preamble, read_type
from .tree import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .reading.reader import CompiledCode

__all__ = ["explain", "explain_type", "finished"]


def finished(steps: Generator[int, bool, Node]) -> Node:
    """Return the result of a reading without further bytes.

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
    schema: Schema,
    buffer: bytes,
    offset: int,
    end: int,
    options: Options,
    base: int = 0,
    *,
    is_preamble: bool = False,
    compiled: CompiledCode | None = None,
) -> Node:
    """Return the tree of the frame (or preamble) that begins at `offset`; bytes from `end` on are ignored.

    `base`: where buffer[0] lies in the outer stream. `compiled`: as `read_frame` has it; then the items of lists have no nodes.

    Raises:
        DecodeError: The frame does not conform.
        NeedMoreData: It is not whole.
    """
    if is_preamble:
        return finished(read_preamble(schema, buffer, offset, options, base=base, stop=end))
    is_seen = compiled is None
    return finished(
        read_frame(schema, buffer, offset, options, base=base, stop=end, compiled=compiled, has_items=is_seen)
    )


def explain_type(
    schema: Schema,
    type_: Type,
    buffer: bytes,
    options: Options,
    *,
    name: str,
    offset: int = 0,
    base: int = 0,
    is_faulty: bool = False,
) -> Node:
    """Return the tree of one shape that fills the buffer from `offset` on: the content of a view or a bare
    message.

    `is_faulty`: compiled code refused it; the limit `work` bounds the search for the fault.

    Raises:
        DecodeError: The bytes do not conform, or some remain.
    """
    steps = read_type(
        schema, type_, buffer, offset, len(buffer), options, name=name, base=base, is_faulty=is_faulty
    )
    node = finished(steps)
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
