"""Walks over any syntax tree, without recursion: a hostile file may nest as deep as it likes."""

from collections.abc import Iterator
from typing import Final

from wiregen.language import syntax
from wiregen.language.diagnostics import Span

MAX_NESTING: Final = 100
"""Nodes on the longest way down a declaration; the stages behind follow it by recursion."""


_OWN: Final = frozenset({"name", "role", "field", "patterns", "annotations"})


def children(node: object) -> Iterator[tuple[str, object]]:
    """Yield the syntax nodes right below, in order, each with the name of the attribute that holds it."""
    for slot in getattr(type(node), "__slots__", ()):
        value = getattr(node, slot)
        for item in value if isinstance(value, tuple) else (value,):
            if hasattr(type(item), "__slots__") and not isinstance(item, Span):
                yield slot, item


def deepest(declaration: syntax.Declaration) -> Span | None:
    """Return the place of a node that is nested too deeply, None if there is none."""
    waiting: list[tuple[object, int]] = [(declaration, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_NESTING:
            span = getattr(node, "span", None)
            return span if isinstance(span, Span) else declaration.span
        waiting.extend((child, depth + 1) for _, child in children(node))
    return None


def mentioned(declaration: syntax.Declaration) -> Iterator[tuple[str, syntax.Name]]:
    """Yield the words by which a declaration may mean another one, each with the attribute that holds it.

    Words that name what they belong to are left out: a field's own name, the role, a match arm's pattern.
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
