"""Blocks in fragments: a fragment is read as bytes, and with the last one the reassembled block is read."""

from __future__ import annotations

from ...codec.errors import DecodeError
from ...codec.fragment import Part
from ...schema.declarations import Field, Setting
from ...schema.elements import JoinedBody
from ...schema.types import Region, Type
from ...stream.joins import Joins, OpenJoin
from ...stream.snapshots import Key
from ...stream.whole_blocks import spliced
from ..expressions import Undefined
from ..layout import as_octets
from ..partial_record import partial_header, partial_record
from ..scope import RecordScope, content
from ..tree import Node, Record
from ..window import Place
from .reader import Reader, Steps
from .regions import read_inside

__all__ = ["read_divided"]


def read_divided(reader: Reader, record: RecordScope, name: str, field: Field, place: Place) -> Steps:
    """Return the node of a block, whole or a fragment; a reassembly stays open until the context takes in the frame."""
    join = reader.layout.schema.joins[name]
    is_last = _holds(reader, join.lasts, place)
    is_part = _holds(reader, join.parts, place)
    if not is_last and not is_part:
        reader.begin_search()
        return (yield from reader.read(reader, field.type, place))
    source = _source(reader)
    direction = reader.sender
    key: Key = ()
    open_: OpenJoin | None = None
    if source is not None:
        key = tuple(record.field((each,), "own") for each in join.keys)
        open_ = source.find(name, direction, key)
        if is_last and open_ is None and not source.is_damaged(name, direction, None):
            source = None
    if is_last and source is None:
        reader.begin_search()
        return (yield from reader.read(reader, field.type, place))
    node = yield from reader.read(reader, as_octets(field.type), place)
    if is_last:
        assert source is not None
        last, restore = _Last(source, name, direction, key, open_), reader.standing()
        last.is_compiled = not is_part
        try:
            yield from _read_whole(reader, record, last, field, node, place)
        except DecodeError as error:
            error.partial, error.header = partial_record(reader), partial_header(reader)
            restore()
            reader.postponed = error, last.close
            record.message = Record(name, {"data": node.value})
    else:
        record.message = Record(name, {"data": node.value})
        index = 0 if open_ is None else open_.n_pieces
        header = {each: read.value for each, read in record.nodes.items()}
        record.part = None if source is None else Part(name, key, index, False, header=header)
    node.type, node.value = field.type, None
    return node


class _Last:
    """The last fragment of an open reassembly.

    Attributes:
        is_compiled: Compiled code may read a whole frame with such a header.
    """

    __slots__ = ("direction", "is_compiled", "key", "name", "open_", "source")

    def __init__(
        self, source: Joins, name: str, direction: str | None, key: Key, open_: OpenJoin | None
    ) -> None:
        self.source = source
        self.name = name
        self.direction = direction
        self.key = key
        self.open_ = open_
        self.is_compiled = False

    def close(self) -> None:
        self.source.close(self.name, self.direction, self.key)


def _content_of(type_: Type) -> tuple[Type, bool | str]:
    """Return the content of a field's region, and how trailing bytes are treated."""
    return (type_.content, type_.lenient) if isinstance(type_, Region) else (type_, False)


def _read_whole(
    reader: Reader, record: RecordScope, last: _Last, field: Field, node: Node, place: Place
) -> Steps:
    """Read the reassembled block below the node of the last fragment; compiled code reads valid blocks, without nodes."""
    inside = content(node)
    pieces, index = _pieces(reader, last, inside, place)
    reader.is_faulty = False  # compiled code refuses every last fragment alone: this is not an error
    if last.is_compiled:
        record.made = spliced(reader, record, field, node, inside, pieces)
        reader.begin_search()
    if record.made is not None:
        record.deferred.clear()  # these checks were made with the reassembled frame
        record.part = Part(last.name, last.key, index, True)
        return node
    window = reader.window.inside(b"".join(pieces), inside.start, is_inflated=False)
    nodes = yield from read_inside(reader, *_content_of(field.type), place, window)
    # As with chunks: the original bytes, then their content, which takes no bytes of its own.
    body = Node("body", place.path, JoinedBody(last.name), node.end, node.end, inner=node.inner)
    body.children = nodes
    inside.name = "piece"
    node.children = (*node.children, body)
    record.part = Part(last.name, last.key, index, True)
    return body


def _pieces(reader: Reader, last: _Last, inside: Node, place: Place) -> tuple[tuple[bytes, ...], int]:
    source, open_ = last.source, last.open_
    is_damaged = source.is_damaged(last.name, last.direction, open_)
    layout = reader.layout
    try:
        return source.pieces(last.name, open_, bytes(inside.value), layout.joined, is_damaged=is_damaged)
    except DecodeError as error:
        where = Place(place.name, last.name, error.rule)
        raise reader.fail(
            error.code, where, inside.start, expected=error.expected, found=error.found
        ) from None


def _source(reader: Reader) -> Joins | None:
    """Return the open reassemblies, or None without a context, or inside another frame, as fragments are not
    reassembled there.
    """
    is_outermost = sum(not isinstance(each, list) for _, each in reader.building) == 1
    joins = getattr(reader.options.context, "joins", None)
    return joins if is_outermost and isinstance(joins, Joins) and not reader.window.inner else None


def _holds(reader: Reader, settings: tuple[Setting, ...], place: Place) -> bool:
    for setting in settings:
        try:
            if setting.when is None or reader.evaluate(setting.when, place):
                return True
        except Undefined:
            continue
    return False
