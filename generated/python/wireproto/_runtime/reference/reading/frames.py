"""Reads frames by interpreting the schema: slowly, with every byte accounted for, and each byte once.

A reading is a generator. It yields the position in the buffer up to which it needs bytes. The buffer may be
a bytearray that grows meanwhile. If it is sent True, no further bytes come, and a frame that is cut off
raises NeedMoreData. Memory for a count or a length is allocated only when its bytes have arrived. A reading
raises only DecodeError.
"""

from __future__ import annotations

from collections.abc import Generator

from ...codec.errors import DecodeError
from ...codec.options import Options
from ...lazy import Dispatch, Lazy
from ...schema.protocol import Schema
from ...schema.types import (
    Block,
    Boolean,
    Bytes,
    CodingReference,
    EnumReference,
    Float,
    FrameReference,
    Integer,
    List,
    Match,
    MessageMatch,
    MessageReference,
    Region,
    StructReference,
    Text,
    UnionReference,
    Uuid,
    Varint,
)
from ..layout import Layout, Type
from ..partial_record import partial_header, partial_record
from ..tree import Node
from ..window import Place, Window
from . import records as reading_records
from .lengths import read_bytes, read_text
from .messages import read_message_match
from .reader import Reader, ReadType, Steps
from .regions import read_region
from .scalars import read_bool, read_enum, read_number, read_uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .reader import CompiledCode, Skimming

__all__ = ["READERS", "read_frame", "read_preamble", "read_type"]

READERS = Dispatch(
    {
        Integer: read_number,
        Float: read_number,
        Boolean: read_bool,
        Uuid: read_uuid,
        EnumReference: read_enum,
        Bytes: read_bytes,
        Text: read_text,
        StructReference: reading_records.read_struct,
        Block: reading_records.read_block,
        MessageReference: reading_records.read_message,
        FrameReference: reading_records.read_frame,
        MessageMatch: read_message_match,
        Region: read_region,
    },
    {
        Varint: Lazy("reference.reading.variable_width", "read_varint"),
        CodingReference: Lazy("reference.reading.variable_width", "read_coding"),
        List: Lazy("reference.reading.lists", "read_list"),
        UnionReference: Lazy("reference.reading.choices", "read_union"),
        Match: Lazy("reference.reading.choices", "read_match"),
    },
)


def _read(reader: Reader, type_: Type, place: Place) -> Steps:
    read: ReadType = READERS[type(type_)]
    return read(reader, type_, place)


def _reader(schema: Schema, options: Options, window: Window) -> Reader:
    return Reader(Layout(schema, options), options, window, _read)


def read_frame(
    schema: Schema,
    buffer: bytes | bytearray,
    offset: int,
    options: Options,
    *,
    base: int = 0,
    stop: int | None = None,
    skim: Skimming | None = None,
    is_quick: bool = False,
    is_faulty: bool = False,
    compiled: CompiledCode | None = None,
    has_items: bool = False,
) -> Generator[int, bool, Node]:
    """Return the tree of the frame that begins at `offset`.

    `base`: the offset of buffer[0] in the outer stream. `stop`: the end of the usable bytes; by default
    that of the buffer.
    `skim`: compiled code for nested frames; with it only errors are complete, as the tree lacks valid frames.
    `is_quick`: the same for long lists of plain items.
    `compiled`: compiled code for frames; with it a reassembled frame has the object of that code instead of
    a tree.
    `has_items`: the items of lists have nodes, each many times as large as the item; else they have values only.
    `is_faulty`: compiled code refused the frame; the limit `work` bounds the search for the error, which
    keeps few values. Without an error, as in a message without compiled code, the frame is read again.

    Raises:
        DecodeError: It does not conform.
        NeedMoreData: It is cut off, and no further bytes come.
    """
    reader = _reader(schema, options, Window(buffer, offset, stop=stop, base=base))
    reader.skim, reader.is_quick = skim, is_quick
    reader.is_faulty, reader.compiled, reader.has_items = is_faulty, compiled, has_items
    if not reader.layout.divided:
        reader.begin_search()
    name = reader.layout.frame_of(options.from_role)
    _open(reader)
    node = yield from _guarded(reader, _frame(reader, name))
    is_wanted = not is_quick and (stop is None or node.end == base + stop)
    if reader.has_dropped and is_wanted:
        again = read_frame(
            schema, buffer, offset, options, base=base, stop=stop, compiled=compiled, has_items=has_items
        )
        return (yield from again)
    return node


def _open(reader: Reader) -> None:
    """Set the state at the start of an outermost frame."""
    window = reader.window
    window.frame_end = window.position + reader.layout.frame
    reader.after = 0


def _frame(reader: Reader, name: str) -> Steps:
    return reading_records.read_bare_frame(reader, name, Place(name, name), FrameReference(name))


def read_preamble(
    schema: Schema,
    buffer: bytes | bytearray,
    offset: int,
    options: Options,
    *,
    base: int = 0,
    stop: int | None = None,
) -> Generator[int, bool, Node]:
    """Return the tree of the sender's preamble; the arguments are those of `read_frame`."""
    reader = _reader(schema, options, Window(buffer, offset, stop=stop, base=base))
    name = schema.opens[options.from_role or ""]
    _open(reader)
    return (yield from _guarded(reader, reading_records.read_preamble(reader, name)))


def read_type(
    schema: Schema,
    type_: Type,
    buffer: bytes,
    offset: int,
    end: int,
    options: Options,
    *,
    name: str,
    base: int = 0,
    is_faulty: bool = False,
) -> Generator[int, bool, Node]:
    """Return the tree of one shape that begins at `offset`; the region extends to `end`. For views, and bare messages.

    `is_faulty`: as in `read_frame`; lists of plain items then have no nodes, as only an error is searched
    for.

    Raises:
        DecodeError: The bytes do not conform. Trailing bytes after the shape are left to the caller.
    """
    window = Window(buffer, offset, stop=end, base=base)
    window.end = end
    reader = _reader(schema, options, window)
    reader.is_last = True
    reader.is_quick = reader.is_faulty = is_faulty
    reader.begin_search()
    return (yield from _guarded(reader, _read(reader, type_, Place(name, name))))


def _settled(reader: Reader, end: int | None) -> DecodeError:
    """Return the postponed error, and end the reassembly that it is about."""
    assert reader.postponed is not None
    error, close = reader.postponed
    if end is not None:
        error.recoverable, error.end = True, end
    reader.postponed = None
    close()
    return error


def _guarded(reader: Reader, steps: Steps) -> Steps:
    """Run the steps; add the record read so far to an error."""
    try:
        node = yield from steps
    except DecodeError as error:
        if reader.postponed is not None:
            raise _settled(reader, None) from None
        error.partial, error.header = partial_record(reader), partial_header(reader)
        raise
    except RecursionError:
        raise reader.fail("too_deep", Place("", reader.prefix.rstrip("."))) from None
    finally:
        reader.close()
    if reader.postponed is not None:
        raise _settled(reader, node.end)
    return node
