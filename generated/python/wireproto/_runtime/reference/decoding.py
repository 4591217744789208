"""Frames that only the reference codec reads, as objects of a generated module."""

from __future__ import annotations

from typing import Any

from ..codec.errors import check_end
from ..codec.options import Options
from ..lazy import Lazy
from .explain import finished
from .objects import build
from .reading.frames import read_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..codec.compiled import ReadState
    from ..schema.protocol import Schema
    from .reading.reader import Skimming

__all__ = ["decode_by_reference"]


_COMPILED_FRAMES = Lazy("stream.whole_blocks", "CompiledFrames")


def decode_by_reference(
    schema: Schema,
    namespace: dict[str, Any],
    buffer: bytes,
    options: Options,
    *,
    is_compiled: bool = False,
    read: Skimming | None = None,
    state: ReadState | None = None,
) -> Any:
    """Return the frame that `buffer` is, as an object of the generated module whose names are given.

    `is_compiled`: all frames except fragments have compiled code, which refused this one; so the limit
    `work` bounds the search.
    `read`, `state`: that code, if fragments of a block may have come before.

    Raises:
        DecodeError: It does not conform.
    """
    compiled = None if read is None else _COMPILED_FRAMES.load()(read, state, is_complete=is_compiled)
    steps = read_frame(schema, buffer, 0, options, stop=len(buffer), is_faulty=is_compiled, compiled=compiled)
    node = finished(steps)
    check_end(node.end, len(buffer))
    return build(schema, node.value, namespace)
