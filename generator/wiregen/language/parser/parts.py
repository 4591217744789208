"""The children of a rule of the grammar, for the functions that build nodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from lark import Token

from wiregen.language import syntax
from wiregen.language.diagnostics import Report, Span

Node = TypeVar("Node")


@dataclass(frozen=True, slots=True, kw_only=True)
class Docs:
    """The `///` lines before a node, without their slashes; not part of its span."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause that holds one expression: `if`, `where`, `when`, `in`."""

    word: str
    expression: syntax.Expression
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """A list of names, with the word before it if it has one: `only`, `per`, `from`."""

    word: str
    names: tuple[syntax.Name, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Nodes between brackets or commas that have no node of their own."""

    items: tuple[object, ...]
    span: Span


class Parts:
    """The children of a rule in text order: tokens for words and signs, nodes for everything else."""

    __slots__ = ("children", "report", "source")

    def __init__(self, children: Sequence[object], source: str, report: Report) -> None:
        self.children = children
        self.source = source
        self.report = report

    @property
    def span(self) -> Span:
        """The span from the first child that is not docs to the last one; an empty span for a rule without children."""
        children = self.children
        first = isinstance(children[0], Docs) if children else 0
        if first == len(children):
            return Span(source=self.source, start=0, end=0)
        return Span(source=self.source, start=_start(children[first]), end=_end(children[-1]))

    @property
    def docs(self) -> str:
        first = self.children[0]
        return first.text if isinstance(first, Docs) else ""

    def all(self, kind: type[Node]) -> tuple[Node, ...]:
        return tuple(child for child in self.children if isinstance(child, kind))

    def maybe(self, kind: type[Node]) -> Node | None:
        for child in self.children:  # a generator doubles the cost, for each of some thousand nodes
            if isinstance(child, kind):
                return child
        return None

    def one(self, kind: type[Node]) -> Node:
        found = self.maybe(kind)
        assert found is not None, f"the grammar promises a {kind.__name__}"
        return found

    def token(self, *types: str) -> Token | None:
        """Return the first token of one of these types."""
        return next((t for t in self.children if isinstance(t, Token) and t.type in types), None)

    def place(self, token_type: str) -> Span | None:
        """Return the place of a word, or None if the rule does not have it."""
        token = self.token(token_type)
        return None if token is None else self.span_of(token)

    def expression(self, word: str) -> syntax.Expression | None:
        """Return the expression of the clause that begins with this word."""
        return next((clause.expression for clause in self.all(Clause) if clause.word == word), None)

    def names(self, word: str = "") -> tuple[syntax.Name, ...]:
        """Return the names of the list after this word, or of the list without a word."""
        return next((clause.names for clause in self.all(Names) if clause.word == word), ())

    def span_of(self, child: object) -> Span:
        return Span(source=self.source, start=_start(child), end=_end(child))


def _start(child: object) -> int:
    if isinstance(child, Token):
        assert child.start_pos is not None
        return child.start_pos
    span: Span = getattr(child, "span")  # noqa: B009 (every child but tokens and docs has one)
    return span.start


def _end(child: object) -> int:
    if isinstance(child, Token):
        assert child.end_pos is not None
        return child.end_pos
    span: Span = getattr(child, "span")  # noqa: B009
    return span.end
