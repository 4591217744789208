"""Writes values by interpreting the schema: slowly, and with a reason for every refusal.

It raises only EncodeError, for any value. Its bytes are canonical, and the reference decoder reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...codec.errors import EncodeError
from ...codec.options import Options
from ...lazy import Dispatch, Lazy
from ...schema.protocol import Schema
from ...schema.types import (
    Block,
    Bytes,
    FrameReference,
    List,
    Match,
    MessageMatch,
    MessageReference,
    Region,
    StructReference,
    Text,
    UnionReference,
)
from ..access import declared_name, unknown_of
from ..expressions import Undefined, Value
from ..tree import FrameValue
from . import records as writing_records
from .lengths import write_sized
from .messages import write_message_match
from .regions import write_region
from .writer import Writer

__all__ = ["WRITERS", "write", "write_frame", "write_message"]

WRITERS = Dispatch(
    {
        Bytes: write_sized,
        Text: write_sized,
        StructReference: writing_records.write_struct,
        Block: writing_records.write_block,
        MessageReference: writing_records.write_message,
        FrameReference: writing_records.write_frame,
        MessageMatch: write_message_match,
        Region: write_region,
    },
    {
        List: Lazy("reference.writing.lists", "write_list"),
        UnionReference: Lazy("reference.writing.choices", "write_union"),
        Match: Lazy("reference.writing.choices", "write_match"),
    },
)
_REFUSE_UNREADABLE = Lazy("reference.writing.verification", "refuse_unreadable")


def write_frame(
    schema: Schema,
    frame: object,
    options: Options | None = None,
    *,
    compression: int = -1,
    is_tail_kept: bool = False,
    needs_context: bool = True,
    is_faulty: bool = False,
    skim: Callable[[object], bytes | None] | None = None,
) -> bytes:
    """Return the bytes of a frame, of a message in a frame with defaults, or of a preamble.

    `compression`: zlib's level, 0 to store. `is_tail_kept`: write the trailing bytes that were read after a message.
    Without `needs_context`, values that only a context could determine are written as given, for checks only.
    `is_faulty`: compiled code refused the frame; the limit `work` bounds the search for the error.
    `skim`: compiled code for nested frames; with it only errors are right, and limits of the whole frame are not checked.

    Raises:
        EncodeError: It cannot be written.
    """
    chosen = options or Options()
    if type(compression) is not int or not -1 <= compression <= 9:
        raise EncodeError("invalid_value", path="compression", expected="-1 to 9")
    writer = Writer(
        schema,
        chosen,
        WRITERS,
        compression=compression,
        is_tail_kept=is_tail_kept,
        needs_context=needs_context,
        is_faulty=is_faulty,
        skim=skim,
    )
    name = _outermost(writer, frame)
    try:
        data = writing_records.write_outermost(writer, name, frame)
        if writer.is_to_be_read and not is_tail_kept and needs_context:
            _REFUSE_UNREADABLE.load()(schema, name, frame, data, chosen)
        return data
    except RecursionError:
        raise EncodeError("too_deep", path=name, expected="fewer levels of nesting") from None
    except Undefined as error:
        raise EncodeError("constraint", path=name, expected=f"{error.what} {error.name}".strip()) from None


write = write_frame


def write_message(
    schema: Schema,
    message: Any,
    options: Options | None = None,
    *,
    header: Mapping[str, Value] | None = None,
    compression: int = -1,
) -> bytes:
    """Return the bytes of a frame around a message; `header`: fields of the frame that do not have their defaults.

    Raises:
        EncodeError: It cannot be written.
    """
    chosen = options or Options()
    writer = Writer(schema, chosen, WRITERS, compression=compression, is_tail_kept=False)
    frame = FrameValue(_frame_of(writer, message), dict(header or {}), message)
    return write_frame(schema, frame, chosen, compression=compression)


def _outermost(writer: Writer, value: object) -> str:
    """Return the name of the frame or preamble that a value is, or is sent in."""
    name = declared_name(value)
    layout = writer.layout
    if name in layout.preambles:
        return name
    if name in layout.frames:
        return _refuse_other(writer, name)
    return _frame_of(writer, value)


def _refuse_other(writer: Writer, name: str) -> str:
    role = writer.layout.role
    if role is not None and writer.layout.frame_of(role) != name:
        raise EncodeError(
            "invalid_value", path=name, expected=f"a {writer.layout.frame_of(role)}", found=f"a {name}"
        )
    return name


def _frame_of(writer: Writer, message: object) -> str:
    """Return the frame in which a message is sent: the sender's, else that of the role that may send it."""
    layout = writer.layout
    name = writer.message_name(message)
    if name is None and unknown_of(message, layout.messages, "") is None:
        found = declared_name(message)[:64]
        raise EncodeError("invalid_value", expected="a frame or a message", found=found)
    role = layout.role or (layout.messages[name].role if name is not None else None)
    if role is None and len(set(layout.schema.sends.values())) > 1:
        raise EncodeError(
            "invalid_value", path=name or "Unknown", expected="a role that sends it", found="none"
        )
    return layout.frame_of(role)
