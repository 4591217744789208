"""Whether the layout of a frame may depend on a context."""

from __future__ import annotations

from ..reference.layout import Layout
from ..schema.expressions import ContextReference
from ..schema.node import Node, nodes_in
from ..schema.types import FrameReference, MessageMatch, MessageReference, StructReference, UnionReference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    Part: TypeAlias = Node | tuple[Node, ...]

__all__ = ["asks_context"]


def asks_context(layout: Layout, frame: str, message: str) -> bool:
    """Return whether a frame with such a message, or a part of them, may depend on a context.

    A context that only selects the message does not count: an existing message is known.
    """
    waiting: list[tuple[Part, bool]] = []
    if frame in layout.frames:
        waiting.append((layout.frames[frame].fields, True))
    if message in layout.messages:
        waiting.append((layout.messages[message], False))
    seen: set[str] = set()
    while waiting:
        part, is_outermost = waiting.pop()
        nodes = list(nodes_in(part))
        n_subjects = sum(
            isinstance(each, MessageMatch) and isinstance(each.subject, ContextReference) for each in nodes
        )
        if sum(isinstance(each, ContextReference) for each in nodes) > n_subjects:
            return True
        for node in nodes:
            if is_outermost and isinstance(node, MessageMatch):
                continue  # its message is known
            for name, inner in _named(layout, node):
                if name not in seen:
                    seen.add(name)
                    waiting.append((inner, False))
    return False


def _named(layout: Layout, node: Node) -> Iterator[tuple[str, Part]]:
    """Yield the declarations that a type refers to."""
    match node:
        case StructReference(name):
            yield f"struct {name}", layout.structs[name]
        case UnionReference(name):
            yield f"union {name}", layout.schema.unions[name]
        case MessageReference(name):
            yield f"message {name}", layout.messages[name]
        case FrameReference(name):
            yield f"frame {name}", layout.frames[name].fields
        case MessageMatch():
            for name, message in layout.messages.items():
                yield f"message {name}", message
