"""Bytes changed in the middle, with all enclosing lengths corrected."""

from __future__ import annotations

from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.types import CodingReference, Integer, Varint

__all__ = ["number_bytes", "replaced", "spliced"]


def replaced(data: bytes, node: Node, new: bytes) -> bytes:
    """Return the bytes with those of a node replaced, without corrections."""
    return data[: node.start] + new + data[node.end :]


def spliced(
    data: bytes, start: int, end: int, new: bytes, lengths: tuple[Node, ...], unit: int = 1
) -> bytes | None:
    """Return the bytes with a part replaced and all enclosing lengths corrected, or None if a length cannot
    encode the result.

    `unit`: the bytes that the innermost length counts as one.
    """
    grown = len(new) - (end - start)
    head = data[:start]
    for index, node in enumerate(lengths):
        more, rest = divmod(grown, unit if index == 0 else 1)
        if rest or node.inner or not isinstance(node.value, int) or node.end > start:
            return None
        told = number_bytes(node, node.value + more)
        if told is None or len(told) != node.size:
            return None
        head = head[: node.start] + told + head[node.end :]
    return b"".join((head, new, data[end:]))


def number_bytes(node: Node, number: int) -> bytes | None:
    """Return a number as the bytes of a node, or None if its type cannot encode it."""
    match node.type:
        case Integer() as type_:
            try:
                return type_.encode(number)
            except OverflowError:
                return None
        case Varint(bits, is_zigzag):
            return _varint(number, bits, is_zigzag)
        case CodingReference() if 0 <= number < 200 and node.size == 1:
            return bytes([number])
        case _:
            return None


def _varint(number: int, bits: int, zigzag: bool) -> bytes | None:
    raw = (number << 1 ^ number >> bits - 1) if zigzag else number
    if not 0 <= raw < 1 << bits:
        return None
    data = bytearray()
    while raw > 127:
        data.append(raw & 127 | 128)
        raw >>= 7
    return bytes([*data, raw])
