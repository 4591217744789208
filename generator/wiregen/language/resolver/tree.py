"""Walks over any syntax tree, without recursion: a hostile file may be nested to any depth."""

from collections.abc import Iterator
from typing import Final

from wiregen.language import syntax
from wiregen.language.diagnostics import Span

MAX_NESTING: Final = 100
"""The most nodes on the longest path down a declaration; later stages follow it by recursion."""


_OWN: Final = frozenset({"name", "role", "field", "patterns", "annotations"})


def children(node: object) -> Iterator[tuple[str, object]]:
    """Yield the direct child nodes in order, each with the name of the attribute that holds it."""
    for slot in getattr(type(node), "__slots__", ()):
        value = getattr(node, slot)
        for item in value if isinstance(value, tuple) else (value,):
            if hasattr(type(item), "__slots__") and not isinstance(item, Span):
                yield slot, item


def deepest(declaration: syntax.Declaration) -> Span | None:
    """Return the place of a node that is nested too deeply, or None if all are within the bound."""
    waiting: list[tuple[object, int]] = [(declaration, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_NESTING:
            span = getattr(node, "span", None)
            return span if isinstance(span, Span) else declaration.span
        waiting.extend((child, depth + 1) for _, child in children(node))
    return None


def mentioned(declaration: syntax.Declaration) -> Iterator[tuple[str, syntax.Name]]:
    """Yield the words by which a declaration may refer to another one, each with the attribute that holds it.

    Words that refer to parts are left out: a field's own name, the role, a match arm's pattern.
    """
    waiting: list[tuple[str, object]] = [("", declaration)]
    while waiting:
        slot, node = waiting.pop()
        if isinstance(node, syntax.Name):
            yield slot, node
        is_looked_up = isinstance(node, syntax.Sized)
        for below, child in children(node):
            if below not in _OWN:
                waiting.append(("entry" if is_looked_up and below == "base" else below, child))
