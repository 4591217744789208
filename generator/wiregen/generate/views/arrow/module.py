"""A protocol's `columns.py`, as the template prints it: the table columns of each message."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.generate.views.arrow.builder import ColumnsBuilder, ColumnView, Named
from wiregen.schema import model as m
from wiregen.schema.naming import Namespace, python_name

__all__ = ["ColumnsView", "TableView", "columns_view"]

_UNKNOWN = (
    ColumnView(
        name="code",
        type="pa.int64()",
        doc="The value that its layout would follow from; null if it is unknown.",
    ),
    ColumnView(name="data", type="pa.binary()"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """The table of a message, a header or a reassembled value."""

    name: str
    doc: str
    columns: tuple[ColumnView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnsView:
    """The module; `structs` are in an order in which each follows those that it needs."""

    name: str
    wire_name: str
    source: str
    ports: tuple[int, ...]
    structs: tuple[Named, ...]
    headers: tuple[TableView, ...]
    messages: tuple[TableView, ...]
    joined: tuple[TableView, ...]


def columns_view(protocol: m.Protocol, source: str) -> ColumnsView:
    """Return the view of a protocol's module."""
    builder = ColumnsBuilder(protocol)
    headers = tuple(_header(builder, frame) for frame in protocol.frames if frame.message is not None)
    messages = (*_messages(builder, protocol), *_pieces(protocol), *_unknown(protocol))
    joined = tuple(
        TableView(name=join.name, doc=join.doc, columns=builder.columns_of("joined", join.type, ""))
        for join in protocol.joins
        if join.type is not None
    )
    return ColumnsView(
        name=python_name(protocol.name, Namespace.PACKAGE),
        wire_name=protocol.name,
        source=source,
        ports=tuple(port.number for port in protocol.ports),
        structs=builder.structs,
        headers=headers,
        messages=messages,
        joined=joined,
    )


def _header(builder: ColumnsBuilder, frame: m.Frame) -> TableView:
    columns = builder.fields("frame", frame.name, frame.fields, without=frame.message)
    return TableView(name=frame.name, doc=frame.doc, columns=columns)


def _messages(builder: ColumnsBuilder, protocol: m.Protocol) -> tuple[TableView, ...]:
    """Return the tables of messages, of frames without a message, and of preambles, in the order of the file."""
    carried = tuple(
        TableView(
            name=message.name,
            doc=message.doc,
            columns=builder.fields("message", message.name, message.fields),
        )
        for message in protocol.messages
    )
    alone: tuple[m.Frame | m.Preamble, ...] = (
        *(frame for frame in protocol.frames if frame.message is None),
        *protocol.preambles,
    )
    return (
        *carried,
        *(
            TableView(name=each.name, doc=each.doc, columns=builder.fields("frame", each.name, each.fields))
            for each in alone
        ),
    )


def _pieces(protocol: m.Protocol) -> tuple[TableView, ...]:
    """Return the tables of fragments of blocks, which are bytes under the name of their join."""
    return tuple(
        TableView(
            name=join.name,
            doc=join.doc,
            columns=(ColumnView(name="data", type="pa.binary()"),),
        )
        for join in protocol.joins
        if join.block is not None
    )


def _unknown(protocol: m.Protocol) -> tuple[TableView, ...]:
    """Return the table of messages without a layout, unless the protocol has a message of that name."""
    if any(message.name == "Unknown" for message in protocol.messages):
        return ()
    return (TableView(name="Unknown", doc="A message whose layout is not known.", columns=_UNKNOWN),)
