"""Runs of adjacent bit fields."""

from __future__ import annotations

from collections.abc import Generator

from ...schema.declarations import Field
from ...schema.types import Bits
from ..scope import RecordScope
from ..tree import Node
from ..window import Place
from .reader import Reader
from .records import check_value

__all__ = ["read_bits"]


def read_bits(
    reader: Reader, record: RecordScope, run: list[Field], place: Place
) -> Generator[int, bool, list[Node]]:
    """Return the nodes of bit fields that fill whole bytes; a byte is the leaf of the field with its first bit."""
    types = [field.type for field in run if isinstance(field.type, Bits)]
    n_bytes = -(-sum(type_.bits for type_ in types) // 8)
    is_msb = types[0].order == "msb"
    start = reader.window.here
    data = yield from reader.take(n_bytes, place.field(run[0].name, run[0].rule))
    number = int.from_bytes(data, "big" if is_msb else "little")
    nodes: list[Node] = []
    done = 0
    for field, type_ in zip(run, types, strict=True):
        width = type_.bits
        bits = number >> (8 * n_bytes - done - width if is_msb else done) & (1 << width) - 1
        here = place.field(field.name, field.rule)
        node = reader.node(here, field.type, start + done // 8, bool(bits) if type_.is_flag else bits)
        first, end = start + -(-done // 8), start + -(-(done + width) // 8)
        node.start, node.end = (first, end) if end > first else (node.start, node.start)
        node.note = f"{width} bit{'s' * (width != 1)} from bit {done % 8}"
        record.add(field, node)
        check_value(reader, record, field, node, here)
        nodes.append(node)
        done += width
    return nodes
