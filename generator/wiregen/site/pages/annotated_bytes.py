"""The annotated bytes of a sample: its leaves with their values, and the lines of a hexdump in their colours."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from wiregen.runtime.reference.tree import Node, Unknown
from wiregen.runtime.schema.elements import Data

__all__ = ["Anatomy", "HexLine", "HexRun", "Leaf", "anatomy_of"]

_INDEX: Final = re.compile(r"\[\d+\]")
_WIDTH: Final = 16
_MOST_LINES: Final = 16
_MOST_PIECES: Final = 48
_N_HUES: Final = 6
_MOST_TEXT: Final = 48
_NUMBERS: Final = ("length", "count", "code", "delimiter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A leaf of a frame. `key`: of the cell that contains it; `hue`: 0 to 5, different from its neighbours.

    `offset` counts in the inflated bytes where `is_inner`.
    """

    number: int
    offset: int
    size: int
    path: str
    value: str
    note: str
    key: str
    hue: int
    is_inner: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HexRun:
    """The bytes of one line that belong to one leaf."""

    number: int
    key: str
    hue: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HexLine:
    offset: str
    runs: tuple[HexRun, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Anatomy:
    """`n_hidden`: how many bytes are not shown; `n_left`: how many leaves are not."""

    pieces: tuple[Leaf, ...]
    lines: tuple[HexLine, ...]
    n_hidden: int
    n_left: int


def anatomy_of(data: bytes, tree: Node, keys: Collection[str], *, first: int = 0) -> Anatomy:
    """Return the leaves and lines of a frame.

    `keys`: of its cells; `first`: the number of its first leaf in the page.
    """
    pieces = tuple(_pieces(tree, frozenset(keys), first))
    shown = data[: _WIDTH * _MOST_LINES]
    return Anatomy(
        pieces=pieces[:_MOST_PIECES],
        lines=tuple(_lines(shown, [piece for piece in pieces if not piece.is_inner])),
        n_hidden=len(data) - len(shown),
        n_left=max(len(pieces) - _MOST_PIECES, 0),
    )


def _pieces(tree: Node, keys: frozenset[str], first: int) -> Iterator[Leaf]:
    hue = -1
    for number, (node, value) in enumerate(_leaves(tree, tree), first):
        hue += not node.inner
        yield Leaf(
            number=number,
            offset=node.start if node.inner else node.start - tree.start,
            size=node.size,
            path=_shown_path(node),
            value=_value_text(value),
            note=node.note,
            key=_key_of(node, keys),
            hue=hue % _N_HUES,
            is_inner=node.inner,
        )


def _leaves(node: Node, parent: Node) -> Iterator[tuple[Node, object]]:
    """Yield the leaves that have bytes, with their values; after a transformed one, the leaves of its content."""
    below = [child for child in node.children if child.inner == node.inner]
    if below:
        for child in below:
            yield from _leaves(child, node)
        return
    if node.size:
        yield node, parent.value if isinstance(node.type, Data) else node.value
    for child in node.children:
        yield from _leaves(child, node)


def _key_of(node: Node, keys: frozenset[str]) -> str:
    """Return the key of the innermost cell that contains a leaf; "" if there is no such cell."""
    path = _INDEX.sub("[]", node.path)
    numbered = f"{path}#{node.name}"
    if node.part in _NUMBERS and numbered in keys:
        return numbered
    while path:
        if path in keys:
            return path
        cut = max(path.rfind("."), path.rfind("["))
        path = path[:cut] if cut > 0 else ""
    return ""


def _shown_path(node: Node) -> str:
    is_number = node.part in _NUMBERS
    return f"{node.path} {node.name}" if is_number else node.path


def _value_text(value: object) -> str:
    match value:
        case None | list():
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float() | UUID():
            return str(value)
        case str():
            return json.dumps(value) if len(value) <= _MOST_TEXT else f"{json.dumps(value[:_MOST_TEXT])}…"
        case bytes():
            digits = value[: _MOST_TEXT // 2].hex()
            return f'x"{digits}"' if len(value) <= _MOST_TEXT // 2 else f'x"{digits}…"'
        case Unknown():
            return "unknown"
        case _:
            return ""


def _lines(data: bytes, pieces: list[Leaf]) -> Iterator[HexLine]:
    ends = iter(pieces)
    piece = next(ends, None)
    for start in range(0, len(data), _WIDTH):
        row = data[start : start + _WIDTH]
        runs: list[HexRun] = []
        at = start
        while at < start + len(row) and piece is not None:
            end = min(piece.offset + piece.size, start + len(row))
            text = data[at:end].hex(" ")
            runs.append(HexRun(number=piece.number, key=piece.key, hue=piece.hue, text=text))
            at = end
            if at == piece.offset + piece.size:
                piece = next(ends, None)
        yield HexLine(offset=f"{start:04x}", runs=tuple(runs), text=_readable(row))


def _readable(row: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in row)
