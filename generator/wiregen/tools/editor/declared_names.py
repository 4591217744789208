"""The names of a syntax tree: the declaration and the container of each, and the name at an offset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from wiregen.language import syntax
from wiregen.language.diagnostics import Span
from wiregen.language.resolver.tree import children

__all__ = ["DeclaredName", "Declaring", "NameIndex", "NameOccurrence"]

Declaring: TypeAlias = (
    syntax.Alias
    | syntax.Coding
    | syntax.Const
    | syntax.Context
    | syntax.Enum
    | syntax.Field
    | syntax.Frame
    | syntax.Join
    | syntax.Limit
    | syntax.Member
    | syntax.Message
    | syntax.Option
    | syntax.Preamble
    | syntax.Protocol
    | syntax.RolesSetting
    | syntax.Rule
    | syntax.Session
    | syntax.SessionRoles
    | syntax.State
    | syntax.Struct
    | syntax.Union
    | syntax.Var
    | syntax.Variant
    | syntax.Variety
)
"""The nodes that declare a name, or several."""
_PADDING: Final = "_"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredName:
    """A name where it is declared. `owner`: the innermost declaration around it."""

    name: syntax.Name
    node: Declaring
    owner: DeclaredName | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NameOccurrence:
    """A name anywhere. `holder`: the node that holds it, in the attribute `slot`; `owner`: the innermost declaration around it."""

    name: syntax.Name
    holder: object
    slot: str
    owner: DeclaredName | None


class NameIndex:
    """The names of some nodes and of everything in them."""

    def __init__(self, nodes: Iterable[object]) -> None:
        self._nodes = tuple(nodes)

    @cached_property
    def declared(self) -> dict[Span, DeclaredName]:
        """The declarations by the place of their names; where a state has several blocks, its first mention."""
        return {
            each.name.span: each for each in reversed(tuple(self._walk)) if isinstance(each, DeclaredName)
        }

    @cached_property
    def placed(self) -> tuple[NameOccurrence, ...]:
        """All names by their places."""
        return tuple(each for each in self._walk if isinstance(each, NameOccurrence))

    def at(self, source: str, offset: int) -> NameOccurrence | None:
        """Return the name that an offset lies in, or at the end of."""
        for each in self.placed:
            span = each.name.span
            if span.source == source and span.start <= offset <= span.end:
                return each
        return None

    @cached_property
    def _walk(self) -> tuple[DeclaredName | NameOccurrence, ...]:
        return tuple(found for node in self._nodes for found in _below(node, "", None, None))


def _below(
    node: object, slot: str, holder: object, owner: DeclaredName | None
) -> Iterator[DeclaredName | NameOccurrence]:
    if isinstance(node, syntax.Name):
        yield NameOccurrence(name=node, holder=holder, slot=slot, owner=owner)
        return
    inner = owner
    if isinstance(node, Declaring):
        for name in _declared_by(node):
            inner = DeclaredName(name=name, node=node, owner=owner)
            yield inner
    for below, child in children(node):
        yield from _below(child, below, node, inner)


def _declared_by(node: Declaring) -> tuple[syntax.Name, ...]:
    match node:
        case syntax.RolesSetting(names=names) | syntax.SessionRoles(names=names):
            return names
        case syntax.State(names=names):
            return () if isinstance(names, syntax.Wildcard) else names
        case _:
            return () if node.name.text == _PADDING else (node.name,)
