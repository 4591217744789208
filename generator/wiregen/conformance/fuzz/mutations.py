"""Mutations: of the nodes that a frame's tree names, and of bytes without regard to structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from wiregen.conformance.fuzz.comparison import Trial
from wiregen.conformance.fuzz.edits import (
    NodeSpot,
    compressed,
    inflated_of,
    is_item,
    number_bytes,
    replaced,
    spots,
)
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.elements import CompressedBody, Data, Element
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import Boolean, Bytes, CodingReference, EnumReference, Integer, Text, Varint

__all__ = ["Mutator"]

_TEXTS: Final = tuple(
    bytes.fromhex(digits)
    for digits in "00 ff 80 c080 c3 c181 e0a080 eda080 edb080 eda081edb080 f09f9880 f4908080 efbbbf 7f e28098 0a".split()
)
"""NUL, lone and cut bytes, overlong forms, surrogates, supplementary characters, a byte order mark, a line feed."""
_VARINTS: Final = (
    0,
    1,
    127,
    128,
    2**14,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
)
_NUMBERS: Final = (Integer, EnumReference, Boolean, Varint, CodingReference)
_MOST_POOL: Final = 4096


class Mutator:
    """Makes trials from trials; it learns enum members and message codes from the schema."""

    def __init__(self, schema: Schema, random: Random) -> None:
        self._schema = schema
        self._random = random
        self._pool: list[tuple[type[Element], bytes]] = []
        self._codes = _codes(schema)

    def mutated(self, trial: Trial, roots: Sequence[Node], other: Trial) -> Trial:
        """Return a trial with one to three changes; `other` supplies bytes to append."""
        data = trial.data
        for turn in range(self._random.choice((1, 1, 1, 2, 3))):
            parts = list(spots(data, roots)) if turn == 0 else []
            self._learn(parts)
            changed = self._of_tree(parts) if parts and self._random.random() < 0.75 else None
            data = changed if changed is not None else self._of_bytes(data, other.data)
        return Trial(setting=trial.setting, data=data, cuts=self._cuts(len(data)))

    def _cuts(self, size: int) -> tuple[int, ...]:
        """Return where to cut: usually nowhere, sometimes at one place, sometimes everywhere."""
        match self._random.randrange(6):
            case 0 if size > 1:
                return (self._random.randrange(1, size),)
            case 1 if 1 < size <= 512:
                return tuple(range(1, size))
            case _:
                return ()

    # ---- parts of a tree

    def _of_tree(self, parts: list[NodeSpot]) -> bytes | None:
        """Return bytes with one change.

        The kind of change is chosen first, so that rare nodes are changed as often as common ones.
        """
        ways: dict[str, list[tuple[Callable[[NodeSpot], bytes], NodeSpot]]] = {}
        for spot in parts:
            for way in self._ways(spot):
                ways.setdefault(way.__name__, []).append((way, spot))
        if not ways:
            return None
        way, spot = self._random.choice(ways[self._random.choice(sorted(ways))])
        return way(spot)

    def _ways(self, spot: NodeSpot) -> list[Callable[[NodeSpot], bytes]]:
        node = spot.node
        ways: list[Callable[[NodeSpot], bytes]] = []
        if node.part in ("length", "count", "code") or isinstance(node.type, _NUMBERS):
            ways.append(self._number)
        if isinstance(node.type, Text | Bytes | Data):
            ways.append(self._text)
        if is_item(node):
            ways += [self._dropped, self._doubled, self._swapped]
        if isinstance(node.type, CompressedBody):
            ways += [self._recompressed, self._nested]
        if spot.above:
            ways += [self._spliced, self._cut_short]
        return ways

    def _replaced(self, spot: NodeSpot, octets: bytes, n_items: int = 0) -> bytes:
        return replaced(spot, octets, is_mended=self._random.random() < 0.75, n_items=n_items)

    def _number(self, spot: NodeSpot) -> bytes:
        node, random = spot.node, self._random
        if isinstance(node.type, Varint | CodingReference):
            return self._replaced(spot, _varint(random.choice(_VARINTS), random.choice((0, 0, 0, 1, 9))))
        type_ = self._base(node)
        if not isinstance(type_, Integer) or node.size != type_.size:
            return self._replaced(spot, random.randbytes(node.size))
        bits = 8 * type_.size
        value = node.value if isinstance(node.value, int) else 0
        edges = (0, 1, -1, value + 1, value - 1, (1 << bits) - 1, (1 << bits - 1) - 1, 1 << bits - 1)
        choices = [*edges, *self._known(node)]
        return self._replaced(spot, number_bytes(random.choice(choices), type_))

    def _base(self, node: Node) -> Element:
        if isinstance(node.type, EnumReference):
            return self._schema.enums[node.type.name].type
        return Integer(1, False, "big") if isinstance(node.type, Boolean) else node.type

    def _known(self, node: Node) -> Sequence[int]:
        if isinstance(node.type, EnumReference):
            return [member.value for member in self._schema.enums[node.type.name].members]
        return self._codes if node.part == "code" or ", derived" in node.note else ()

    def _text(self, spot: NodeSpot) -> bytes:
        random = self._random
        octets = bytearray(spot.octets)
        start = 0 if isinstance(spot.node.type, Data) else _prefix(spot.node)
        at = random.randrange(start, len(octets) + 1)
        piece = random.choice(_TEXTS)
        if random.random() < 0.5:
            del octets[at : at + len(piece)]
        octets[at:at] = piece * random.choice((1, 1, 1, 40, 130))
        return self._replaced_text(spot, bytes(octets))

    def _replaced_text(self, spot: NodeSpot, octets: bytes) -> bytes:
        """Replace a text and adjust its own prefix, which is a sibling of the node of the data alone."""
        data = _data(spot.node)
        if data is None:
            return self._replaced(spot, octets)
        inner = NodeSpot(data, (*spot.above, spot.node), spot.data, spot.shell)
        return self._replaced(inner, octets[_prefix(spot.node) :])

    def _dropped(self, spot: NodeSpot) -> bytes:
        return self._replaced(spot, b"", -1)

    def _doubled(self, spot: NodeSpot) -> bytes:
        n_more = self._random.choice((1, 1, 2, 300))
        return self._replaced(spot, spot.octets * (1 + n_more), n_more)

    def _swapped(self, spot: NodeSpot) -> bytes:
        siblings = [child for child in spot.above[-1].children if is_item(child)]
        other = self._random.choice(siblings)
        first, last = sorted((spot.node, other), key=lambda node: node.start)
        if first is last:
            return self._doubled(spot)
        data = spot.data
        both = data[last.start : last.end] + data[first.end : last.start] + data[first.start : first.end]
        whole = Node("", "", Data(), first.start, last.end)
        return self._replaced(NodeSpot(whole, spot.above, data, spot.shell), both)

    def _recompressed(self, spot: NodeSpot) -> bytes:
        inflated = inflated_of(spot) or b""
        body = compressed(spot, self._of_bytes(inflated, inflated), self._random.choice((0, -1, 9)))
        return self._replaced(spot, body + self._random.choice((b"", b"", b"\0")))

    def _nested(self, spot: NodeSpot) -> bytes:
        """Put all the bytes into the body, so that it contains itself."""
        body = compressed(spot, spot.data)
        for _ in range(self._random.randrange(3)):
            body = compressed(spot, replaced(_outermost(spot), body, is_mended=True))
        return self._replaced(spot, body)

    def _spliced(self, spot: NodeSpot) -> bytes:
        kind = type(spot.node.type)
        alike = [octets for other, octets in self._pool if other is kind]
        return self._replaced(spot, self._random.choice(alike) if alike else b"")

    def _cut_short(self, spot: NodeSpot) -> bytes:
        octets = spot.octets
        return self._replaced(spot, octets[: self._random.randrange(len(octets) + 1)])

    def _learn(self, parts: Sequence[NodeSpot]) -> None:
        for spot in parts:
            if 0 < spot.node.size <= 256:
                learnt = (type(spot.node.type), spot.octets)
                if len(self._pool) < _MOST_POOL:
                    self._pool.append(learnt)
                else:
                    self._pool[self._random.randrange(_MOST_POOL)] = learnt

    # ---- bytes

    def _of_bytes(self, data: bytes, other: bytes) -> bytes:
        random = self._random
        buffer = bytearray(data)
        at = random.randrange(len(buffer) + 1)
        match random.randrange(8):
            case 0 if at < len(buffer):
                buffer[at] ^= 1 << random.randrange(8)
            case 1 if at < len(buffer):
                buffer[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
            case 2:
                del buffer[at : at + random.randrange(1, 9)]
            case 3:
                del buffer[at:]
            case 4:
                buffer[at : at + 4] = random.choice(
                    (b"\xff" * 4, b"\x80\0\0\0", b"\x7f\xff\xff\xff", b"\0\0\0\1")
                )
            case 5:
                buffer += other
            case 6:
                buffer[at:at] = buffer[at : at + random.randrange(1, 33)]
            case _:
                buffer[at:at] = random.randbytes(random.randrange(1, 9))
        return bytes(buffer)


def _outermost(spot: NodeSpot) -> NodeSpot:
    return spot if spot.shell is None else _outermost(spot.shell)


def _data(node: Node) -> Node | None:
    return next((child for child in node.children if isinstance(child.type, Data)), None)


def _prefix(node: Node) -> int:
    """Return the number of bytes before the data of a text."""
    data = _data(node)
    return 0 if data is None else data.start - node.start


def _varint(value: int, n_spare: int) -> bytes:
    """Return a number in groups of seven bits, least significant first, with more groups than it needs."""
    octets = bytearray()
    while value > 127:
        octets.append(value & 127 | 128)
        value >>= 7
    octets.append(value)
    for _ in range(n_spare):
        octets[-1] |= 128
        octets.append(0)
    return bytes(octets)


def _codes(schema: Schema) -> tuple[int, ...]:
    """Return the codes of messages and of the alternatives of unions."""
    codes = {message.code for message in schema.messages.values() if message.code is not None}
    for union in schema.unions.values():
        codes |= {span.low for variety in union.varieties for span in variety.spans}
    return tuple(sorted(codes))
