"""From the nodes of the reference codec to the displayed branches."""

from collections.abc import Iterator
from typing import Final

from wiregen.formats.inspect.tree_lines import Branch
from wiregen.formats.inspect.values import HIDDEN, bytes_text, json_text, plural, scalar_text
from wiregen.language.terminal_text import visible
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.reference.tree import FrameValue, Node, Unknown, Variety
from wiregen.runtime.schema.elements import CompressedBody, PreambleReference, TrailingBytes
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import (
    Block,
    EnumReference,
    FrameReference,
    List,
    MessageReference,
    Region,
    StructReference,
    UnionReference,
)

__all__ = ["tree_of_fault", "tree_of_frame"]

MAX_ITEMS: Final = 64
"""The most items of a list that a tree shows."""

_PIECES = frozenset({"length", "count", "delimiter"})
_RECORDS = (StructReference, MessageReference, FrameReference, PreambleReference, Block, UnionReference)
_NAMED = (StructReference, MessageReference, FrameReference, PreambleReference, UnionReference)
_MORE = "--format jsonl has them all"


class _Trees:
    """Makes branches from nodes, with the display settings of the schema."""

    def __init__(self, schema: Schema, secrets: frozenset[str]) -> None:
        self._views = schema.views
        self._secrets = secrets

    def record(self, node: Node) -> tuple[Branch, ...]:
        """Return the branches of the fields of a record."""
        return tuple(self._listed(_fields(node), _declaration(node)))

    def _below(self, node: Node, owner: str) -> tuple[Branch, ...]:
        """Return the branches below a field of `owner`."""
        if isinstance(node.type, List):
            return tuple(self._listed(_fields(node), owner))
        return self.record(node) if isinstance(node.type, _RECORDS) else ()

    def _listed(self, nodes: tuple[Node, ...], owner: str) -> Iterator[Branch]:
        n_items = 0
        for node in nodes:
            n_items += node.name.startswith("[")
            if n_items <= MAX_ITEMS or not node.name.startswith("["):
                yield self.branch(node, owner)
        if n_items > MAX_ITEMS:
            yield Branch(label="…", note=f"{n_items - MAX_ITEMS:,} more; {_MORE}")

    def branch(self, node: Node, owner: str) -> Branch:
        """Return the branch of a field or an item of `owner`."""
        if node.name in self._secrets:
            return Branch(label=node.name, text=HIDDEN, note="secret")
        carrier, inside = _unwrapped(node)
        note = ", ".join(part for part in (visible(node.note), carrier) if part)
        if inside is not node and inside.note:
            note = ", ".join(part for part in (note, visible(inside.note)) if part)
        children = (*self._below(inside, owner), *_tails(node))
        if isinstance(inside.type, MessageReference):
            is_item = node.name.startswith("[")
            label, text = (node.name, _declaration(inside)) if is_item else (_declaration(inside), "")
            return Branch(label=label, text=text, note=note, children=children)
        if isinstance(inside.type, _RECORDS):
            return Branch(label=node.name, text=_record_text(inside), note=note, children=children)
        if isinstance(inside.type, List) and isinstance(inside.value, list):
            count = plural(len(inside.value), "item")
            return Branch(label=node.name, text=count, note=note, children=children)
        return self._leaf(node.name, inside, owner, note)

    def _leaf(self, name: str, node: Node, owner: str, note: str) -> Branch:
        value = node.value
        if isinstance(value, Unknown):
            code = "no code" if value.code is None else f"code {value.code}"
            return Branch(label="Unknown", text=f"{code}, {bytes_text(value.data)}", note=note)
        if node.note == "absent" and value is None:
            return Branch(label=name, note=note)
        if isinstance(value, bytes) and self._views.get(owner, {}).get(name) == "json":
            return Branch(label=name, text=json_text(value), style="green", note=note)
        style = "green" if isinstance(value, str | bytes) else "yellow"
        if isinstance(node.type, EnumReference):
            member, _, note = note.partition(", ")
            return Branch(label=name, text=f"{member} ({scalar_text(value)})", style=style, note=note)
        return Branch(label=name, text=scalar_text(value), style=style, note=note)


def tree_of_frame(node: Node, head: Branch, schema: Schema, secrets: frozenset[str] = frozenset()) -> Branch:
    """Return the branch of a whole frame or preamble; `head` gives its first line."""
    children = _Trees(schema, secrets).record(node)
    return Branch(label=head.label, text=head.text, note=head.note, style=head.style, children=children)


def tree_of_fault(error: DecodeError, head: Branch, secrets: frozenset[str] = frozenset()) -> Branch:
    """Return the branch of undecodable bytes: the error, then the part of the message that was read."""
    fault = Branch(label="error", text=_fault_text(error), style="bold red", note=error.rule or "")
    partial = tuple(_partial(error.partial, secrets)) if error.partial else ()
    read = (Branch(label="read so far", children=partial),) if partial else ()
    return Branch(label=head.label, text=head.text, note=head.note, style=head.style, children=(fault, *read))


def _fault_text(error: DecodeError) -> str:
    """Return the code, the place, and the expected and found bytes or values of an error."""
    at = f"at {error.at}" if error.inner_at is None else f"at {error.at}, inner {error.inner_at}"
    where = f"{error.code} in {error.path}" if error.path else error.code
    parts = (
        f"expected {error.expected}" if error.expected else "",
        f"found {error.found}" if error.found else "",
    )
    detail = ", ".join(part for part in parts if part)
    return visible(f"{where} {at}{': ' if detail else ''}{detail}")


# ---- nodes ----


def _unwrapped(node: Node) -> tuple[str, Node]:
    """Return the carrier of a region in a few words, and its content; "" and the node itself for other nodes."""
    if not isinstance(node.type, Region):
        return "", node
    body = next((child for child in node.children if child.name == "body"), None)
    content = next(
        (child for child in (*node.children, *(body.children if body else ())) if child.name == "content"),
        None,
    )
    if content is None:
        return "", node
    deeper, inside = _unwrapped(content)
    carrier = _carrier(body, content) if body is not None else ""
    return ", ".join(part for part in (carrier, deeper) if part), inside


def _carrier(body: Node, content: Node) -> str:
    if isinstance(body.type, CompressedBody):
        return f"{body.type.algorithm}, {plural(body.size, 'byte')} of {content.end:,}"
    return f"joined, {plural(content.end, 'byte')}"


def _fields(node: Node) -> tuple[Node, ...]:
    """Return the nodes that are a record's fields or a list's items; a block is replaced by its fields."""
    found: list[Node] = []
    for child in node.children:
        _, inside = _unwrapped(child)
        if child.part in _PIECES:
            continue
        if isinstance(node.type, UnionReference) and child is node.children[0]:
            continue
        found += _fields(inside) if isinstance(inside.type, Block) else [child]
    return tuple(found)


def _declaration(node: Node) -> str:
    value = node.value
    if isinstance(value, Variety):
        return value.name
    return node.type.name if isinstance(node.type, _NAMED) else ""


def _tails(node: Node) -> tuple[Branch, ...]:
    """Return the branch of the trailing bytes of a region, if there are any."""
    below = (
        *node.children,
        *(part for child in node.children if child.name == "body" for part in child.children),
    )
    tails = (child for child in below if isinstance(child.type, TrailingBytes))
    return tuple(Branch(label="tail", text=scalar_text(tail.value), note=tail.note) for tail in tails)


def _record_text(node: Node) -> str:
    value = node.value
    if isinstance(value, FrameValue):
        return getattr(value.message, "name", "") or (
            "Unknown" if isinstance(value.message, Unknown) else value.name
        )
    if isinstance(value, Variety):
        return f"{value.name} ({value.code})"
    return _declaration(node)


# ---- partial messages ----


def _partial(partial: dict[str, object], secrets: frozenset[str]) -> Iterator[Branch]:
    header, fields = partial.get("header"), partial.get("fields")
    if isinstance(header, dict):
        yield from _items(header, secrets)
    if isinstance(fields, dict):
        name = visible(str(partial.get("message") or "fields"))
        yield Branch(label=name, children=tuple(_items(fields, secrets)))


def _items(values: dict[str, object], secrets: frozenset[str]) -> Iterator[Branch]:
    for name, value in values.items():
        yield _plain(str(name), value, secrets)


def _plain(name: str, value: object, secrets: frozenset[str]) -> Branch:
    """Return the branch of a value of a decoded line."""
    label = visible(name)
    if name in secrets:
        return Branch(label=label, text=HIDDEN, note="secret")
    if isinstance(value, dict):
        return Branch(label=label, children=tuple(_items(value, secrets)))
    if isinstance(value, list):
        shown = tuple(_plain(f"[{index}]", item, secrets) for index, item in enumerate(value[:MAX_ITEMS]))
        more = (
            (Branch(label="…", note=f"{len(value) - MAX_ITEMS:,} more; {_MORE}"),)
            if value[MAX_ITEMS:]
            else ()
        )
        return Branch(label=label, text=plural(len(value), "item"), children=(*shown, *more))
    return Branch(label=label, text=scalar_text(value), style="green" if isinstance(value, str) else "yellow")
