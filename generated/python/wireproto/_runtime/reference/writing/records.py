"""Fields in a row, and the records that they form: structs, messages, frames, alternatives, blocks."""

from __future__ import annotations

from ...codec.errors import EncodeError
from ...lazy import Lazy
from ...schema.types import Block, FrameReference, MessageReference, StructReference
from ..access import extra, is_named, kind_of
from ..expressions import Value
from ..tree import FrameValue
from .cells import RegionContext, Spot, join, joined
from .rows import CellRow
from .writer import Writer

__all__ = ["write_block", "write_frame", "write_message", "write_outermost", "write_struct"]


_DIVIDE = Lazy("reference.writing.fragments", "divide")


def write_struct(writer: Writer, type_: StructReference, value: Value, spot: Spot) -> bytes:
    name = type_.name
    if not is_named(value, name):
        raise EncodeError("invalid_value", path=spot.path, expected=f"a {name}", found=kind_of(value))
    writer.enter(name, spot.path)
    row = CellRow(writer, writer.layout.structs[name], value, spot.path, frame=spot.row.frame)
    spot.cell.inner = row
    data = row.write(spot.start, spot.around)
    writer.leave(name)
    return data


def write_message(writer: Writer, type_: MessageReference, value: object, spot: Spot) -> bytes:
    name = type_.name
    path = join(spot.path, name)
    if writer.message_name(value) != name:
        raise EncodeError("invalid_value", path=path, expected=f"a {name}", found=kind_of(value))
    writer.enter(name, path)
    frame = spot.row if spot.row.body is not None else spot.row.frame
    row = CellRow(writer, writer.layout.messages[name].fields, value, path, frame=frame)
    spot.cell.inner = row
    data = row.write(spot.start, spot.around)
    writer.leave(name)
    return data


def write_block(writer: Writer, type_: Block, value: object, spot: Spot) -> bytes:
    """Return the bytes of a block, whose fields are the surrounding record's; it has no value of its own."""
    if value is not None:
        raise EncodeError("constraint", path=spot.path, expected="nothing", found="a value")
    cells = spot.row.placed(type_.fields, spot.start, spot.around)
    for cell in cells:
        spot.row.data(cell)
    return joined(cells)


def write_frame(writer: Writer, type_: FrameReference, value: object, spot: Spot) -> bytes:
    """Return the bytes of a frame within a record; a list has counted its items itself."""
    name, only = type_.name, type_.only
    if spot.cell.is_declared:
        writer.spend_messages(1, spot.path)
    frame = as_frame(writer, name, value, spot.path)
    message = extra(frame, "message", None, spot.path)
    if only is not None and writer.message_name(message) not in only:
        raise EncodeError(
            "constraint", path=spot.path, expected=f"only {', '.join(only)}", found=kind_of(message)
        )
    data = writer.skimmed(frame)
    return _bare_frame(writer, name, frame, spot.path, spot.around.frame()) if data is None else data


def as_frame(writer: Writer, name: str, value: Value, path: str) -> object:
    """Return a frame; a message is put in its frame with defaults."""
    if is_named(value, name):
        return value
    if writer.message_name(value) is None:
        raise EncodeError("invalid_value", path=path, expected=f"a {name}", found=kind_of(value))
    return FrameValue(name, {}, value)


def _bare_frame(writer: Writer, name: str, frame: object, path: str, around: RegionContext) -> bytes:
    declared = writer.layout.frames[name]
    before = writer.sender, writer.frame
    writer.sender, writer.frame = writer.sender or declared.role, name
    row = CellRow(writer, declared.fields, frame, join(path, name), body=declared.message, body_path=path)
    try:
        if writer.layout.divided:
            _DIVIDE.load()(row, name, frame)
        data = row.write(lambda: 0, around)
    finally:
        writer.sender, writer.frame = before
    writer.refuse_long(len(data), join(path, name))
    return data


def write_outermost(writer: Writer, name: str, value: object) -> bytes:
    """Return the bytes of a frame, or of a preamble, in the outer stream."""
    if name in writer.layout.frames:
        return _bare_frame(writer, name, as_frame(writer, name, value, ""), "", RegionContext())
    row = CellRow(writer, writer.layout.preambles[name].fields, value, name)
    data = row.write(lambda: 0, RegionContext())
    writer.refuse_long(len(data), name)
    return data
