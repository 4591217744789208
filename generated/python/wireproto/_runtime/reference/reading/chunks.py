"""Regions whose bytes come in chunks, each a struct."""

from __future__ import annotations

from collections.abc import Generator

from ...schema.elements import JoinedBody
from ...schema.types import Chunks, Region, StructReference
from ..skimming import SKIPPED
from ..tree import Node, Record
from ..window import Place
from .lists import holds
from .reader import Reader, Steps
from .regions import note_end, read_inside

__all__ = ["read_chunks"]


def read_chunks(reader: Reader, type_: Region, carrier: Chunks, place: Place) -> Steps:
    """Return the node of a region in chunks."""
    outside = reader.window
    start = outside.here
    chunks, pieces = yield from _chunks(reader, carrier, place)
    note_end(reader, outside.here)
    data = b"".join(pieces)
    body = reader.node(place.part("body"), JoinedBody(carrier.struct), outside.here)
    body.children = yield from read_inside(
        reader, type_.content, type_.lenient, place, outside.inside(data, start, is_inflated=False)
    )
    return reader.node(place, type_, start, body.children[0].value, (*chunks, body))


def _chunks(
    reader: Reader, carrier: Chunks, place: Place
) -> Generator[int, bool, tuple[list[Node], list[bytes]]]:
    """Return the chunks and the bytes of each; their nodes are not kept if the reader only searches for an
    error.
    """
    after, is_last = reader.after, reader.is_last
    reader.after, reader.is_last = None, False
    chunks: list[Node] = []
    pieces: list[bytes] = []
    chunk = None
    while chunk is None or not holds(reader, carrier.until, chunk, place):
        here = place.item(len(chunks))
        reader.spend_messages(1, here)
        chunk = yield from reader.read(reader, StructReference(carrier.struct), here)
        chunks.append(SKIPPED if reader.is_quick else chunk)
        pieces.append(_data_of(chunk, carrier.data))
    reader.after, reader.is_last = after, is_last
    return chunks, pieces


def _data_of(chunk: Node, name: str) -> bytes:
    value = chunk.value.fields[name] if isinstance(chunk.value, Record) else b""
    return value if isinstance(value, bytes) else b""
