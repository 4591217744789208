"""The spans of the parts of a frame, the place of each in the .wire file, and the lengths that cover it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wiregen.runtime.reference.tree import FrameValue, Node, Record, Variety
from wiregen.runtime.schema.elements import PreambleReference
from wiregen.runtime.schema.expressions import Expression, FieldReference
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.types import (
    Block,
    Bytes,
    Computed,
    FrameReference,
    InSize,
    MessageReference,
    Region,
    StructReference,
    Text,
    UnionReference,
)

__all__ = ["FramePart", "owner_of", "parts_of", "row_of", "spans_of"]

_INDEX: Final = re.compile(r"\[\d+\]")
_MOST_SPANS: Final = 24
"""Items of a list whose spans are listed one by one."""
_RECORDS: Final = (StructReference, MessageReference, FrameReference, UnionReference, PreambleReference)


@dataclass(frozen=True, slots=True, kw_only=True)
class FramePart:
    """A node and its surroundings.

    Attributes:
        site: Its place in the .wire file: the declaration, the field, the part of the field.
        around: The enclosing declaration of that declaration.
        own: The nodes of numbers that count its content.
        lengths: The nodes of enclosing lengths that count its bytes too, innermost first.
    """

    node: Node
    site: str
    around: str
    parent: Node | None
    own: tuple[Node, ...]
    lengths: tuple[Node, ...]


def parts_of(tree: Node) -> tuple[FramePart, ...]:
    """Return all parts of a frame as received; decompressed and reassembled data have no place there."""
    return tuple(_below(tree, None, ("", ""), (), {}))


def _below(
    node: Node, parent: Node | None, owners: tuple[str, str], lengths: tuple[Node, ...], row: dict[str, Node]
) -> Iterator[FramePart]:
    if node.inner:
        return
    measures = _measures(node, row)
    around, owner = owners
    site = _site(node, owner) + _which(node, parent)
    yield FramePart(node=node, site=site, around=around, parent=parent, own=measures, lengths=lengths)
    own = owner_of(node)
    if own is not None:
        owners, row = (owner, own), row_of(node)
    for child in node.children:
        inside = tuple(each for each in measures if each is not child)
        yield from _below(child, node, owners, (*inside, *lengths), row)


def _site(node: Node, owner: str) -> str:
    # The path of a part of a field is the field's: its name identifies the part.
    field = _INDEX.sub("[]", node.path).rpartition(".")[2] if node.path else ""
    name = _INDEX.sub("[]", node.name)
    kind = "" if not name or name == "[]" or name == field or name == "content" else f" {name}"
    return f"{owner}.{field}{kind}" if owner else field


def _which(node: Node, parent: Node | None) -> str:
    """Return the suffix that distinguishes fields without a name, any number of which may be called `_`."""
    if node.name != "_" or parent is None:
        return ""
    number = next(
        index
        for index, each in enumerate((one for one in parent.children if one.name == "_"), 1)
        if each is node
    )
    return " reserved" if number == 1 else f" reserved {number}"


def owner_of(node: Node) -> str | None:
    """Return the declaration of a node, if it holds fields."""
    value = node.value
    if not isinstance(node.type, _RECORDS):
        return None
    match value:
        case Variety():
            return f"{value.union}.{value.name}"
        case Record() | FrameValue():
            return value.name
        case _:
            return None


def row_of(node: Node) -> dict[str, Node]:
    """Return the fields of a record by name, those of its blocks too."""
    found: dict[str, Node] = {}
    for child in node.children:
        found.setdefault(child.name, child)
        if isinstance(child.type, Block | Region) and owner_of(child) is None:
            found = {**row_of(child), **found}
    return found


def _measures(node: Node, row: dict[str, Node]) -> tuple[Node, ...]:
    """Return the numbers that give the size of a node in bytes."""
    prefix = next((child for child in node.children if child.part == "length" and not child.inner), None)
    if prefix is not None and isinstance(node.type, Text | Bytes | Region):
        return (prefix,)
    match node.type:
        case Region(_, InSize(expression)) | Bytes(Computed(expression)) | Text(length=Computed(expression)):
            names = list(_names(expression))
            return (row[names[0]],) if len(names) == 1 and names[0] in row else ()
        case _:
            return ()


def _names(expression: Expression) -> Iterator[str]:
    for node in nodes_in(expression):
        match node:
            case FieldReference((name,), "own"):
                yield name


def spans_of(tree: Node) -> tuple[tuple[str, int, int], ...]:
    """Return name, start and end of each part that is not empty; a long list has one span.

    Names are the paths of errors, but a field of the frame itself has its own name. An element with a
    length has two parts of one name: the length, and the content that it counts.
    """
    return tuple((_named(node, tree), node.start - tree.start, node.end - tree.start) for node in _told(tree))


def _told(node: Node) -> Iterator[Node]:
    below = [child for child in node.children if not child.inner and child.size]
    if not below or len(below) > _MOST_SPANS:
        if node.size:
            yield node
        return
    for child in below:
        yield from _told(child)


def _named(node: Node, tree: Node) -> str:
    return node.name if node.path == f"{tree.path}.{node.name}" else node.path
