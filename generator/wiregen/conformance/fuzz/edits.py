"""Change a node of a frame whose tree is known; adjust the enclosing lengths and counts, or leave them wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from wiregen.runtime.codec.transforms import TRANSFORMS, MalformedError, Transform
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.elements import CompressedBody, JoinedBody
from wiregen.runtime.schema.types import Integer

__all__ = ["NodeSpot", "is_item", "number_bytes", "replaced", "spots"]

_MOST_INFLATED: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class NodeSpot:
    """A node, its ancestors from the outermost on, and the bytes that its offsets refer to."""

    node: Node
    above: tuple[Node, ...]
    data: bytes
    shell: NodeSpot | None = None
    """The compressed body that `data` is the content of."""

    @property
    def octets(self) -> bytes:
        return self.data[self.node.start : self.node.end]


def spots(data: bytes, roots: Sequence[Node], shell: NodeSpot | None = None) -> Iterator[NodeSpot]:
    """Yield every node of frames, also inside compressed bodies; reassembled fragments are left as they are."""
    stack: list[tuple[Node, tuple[Node, ...]]] = [(root, ()) for root in reversed(roots)]
    while stack:
        node, above = stack.pop()
        spot = NodeSpot(node, above, data, shell)
        yield spot
        if isinstance(node.type, CompressedBody):
            yield from _inside(spot)
        elif not isinstance(node.type, JoinedBody):
            stack.extend((child, (*above, node)) for child in reversed(node.children))


def _inside(spot: NodeSpot) -> Iterator[NodeSpot]:
    inflated = inflated_of(spot)
    if inflated is not None:
        yield from spots(inflated, spot.node.children, spot)


def inflated_of(spot: NodeSpot) -> bytes | None:
    """Return the content of a compressed body; None if it is invalid or larger than 1 MiB."""
    try:
        content = _transform(spot).decode(spot.octets, _MOST_INFLATED)
    except MalformedError:
        return None
    return content if len(content) <= _MOST_INFLATED else None


def _transform(spot: NodeSpot) -> Transform:
    assert isinstance(spot.node.type, CompressedBody)
    return TRANSFORMS[spot.node.type.algorithm]


def compressed(spot: NodeSpot, inflated: bytes, level: int = 0) -> bytes:
    """Return bytes as a compressed body with the algorithm of a spot."""
    return _transform(spot).encode(inflated, level)


def replaced(spot: NodeSpot, octets: bytes, *, is_mended: bool, n_items: int = 0) -> bytes:
    """Return the outermost bytes with a spot replaced; `n_items` is added to the count of its list."""
    start, end = spot.node.start, spot.node.end
    buffer = bytearray(spot.data)
    if is_mended:
        for node, by in _to_mend(spot, len(octets) - (end - start), n_items):
            _add(buffer, node, by)
    buffer[start:end] = octets
    if spot.shell is None:
        return bytes(buffer)
    return replaced(spot.shell, compressed(spot.shell, bytes(buffer)), is_mended=is_mended)


def _to_mend(spot: NodeSpot, by: int, n_items: int) -> Iterator[tuple[Node, int]]:
    """Yield the numbers before a spot that hold a size or count which the change affects, with the amount to add."""
    sizes = {node.size for node in spot.above}
    for node in spot.above:
        for child in node.children:
            if child.end > spot.node.start or not isinstance(child.value, int):
                continue
            is_size = child.part == "length" or (child.note == "derived" and child.value in sizes)
            if is_size and by:
                yield child, by
            elif child.part == "count" and n_items and node is spot.above[-1]:
                yield child, n_items


def _add(buffer: bytearray, node: Node, by: int) -> None:
    if not isinstance(node.type, Integer):
        return
    octets = number_bytes(node.value + by, node.type)
    buffer[node.start : node.end] = octets


def number_bytes(value: int, type_: Integer) -> bytes:
    """Return the encoding of an integer type, the value truncated to its size."""
    return (value % (1 << 8 * type_.size)).to_bytes(type_.size, type_.endian)


def is_item(node: Node) -> bool:
    return node.name.startswith("[")
