"""The state of one run over one file: names, settings, constants, and the places of all nodes.

It is the only mutable value of the resolver: origins and caches are added, never removed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeVar

from wiregen.language import syntax
from wiregen.language.diagnostics import Label, Report, Span
from wiregen.language.resolver.names import Named, Names
from wiregen.language.resolver.sorts import Sort
from wiregen.language.source import Sources
from wiregen.schema import model

MAX_UNFOLDED: Final = 100_000
"""The most aliases expanded inside other aliases, in all uses of a file: their number may double at every step."""
MAX_ALIAS_CHAIN: Final = 20
_COMMENT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolSettings:
    """The settings of the `protocol` declaration; `endian` is optional."""

    sources: tuple[str, ...]
    endian: model.Endian | None
    bits: Literal["msb", "lsb"]
    roles: tuple[str, ...]
    ports: tuple[model.Port, ...]
    on_error: model.ErrorAction
    role_places: Mapping[str, Span] = field(default_factory=dict)
    """The place of each role's declaration."""


_Kind = TypeVar("_Kind", bound=Named)


class Spanned(Protocol):
    """A syntax node with a place."""

    @property
    def span(self) -> Span: ...


def span_of(node: Spanned | None) -> Span | None:
    return None if node is None else node.span


@dataclass(slots=True, kw_only=True)
class Workspace:
    report: Report
    sources: Sources
    path: str
    settings: ProtocolSettings
    reserved: tuple[syntax.Reserved, ...]
    names: Names
    limits: Mapping[str, syntax.Limit]
    rules: Mapping[str, syntax.Rule]
    declarations: tuple[syntax.Declaration, ...]
    origins: dict[str, Span] = field(default_factory=dict)
    about: dict[str, model.About] = field(default_factory=dict)
    """Documentation and annotations of fields, by path."""
    constants: dict[str, int | None] = field(default_factory=dict)
    sorts: dict[str, Sort] = field(default_factory=dict)
    parts: dict[Sort, dict[str, object]] = field(default_factory=dict)
    """The fields of the values of a sort, by name."""
    kinds: dict[type, tuple[Named, ...]] = field(default_factory=dict)
    seen: dict[str, object] = field(default_factory=dict)
    members: dict[str, Mapping[str, syntax.Member]] = field(default_factory=dict)
    layouts: dict[Span | None, object] = field(default_factory=dict)
    """The layout of each list of fields, by the place of the first; None: no fields."""
    targets: tuple[Named, ...] | None = None
    """Every declaration of something that is sent, computed when first needed."""
    sent_fields: frozenset[str] | None = None
    """Every field name of anything that is sent, computed when first needed."""
    n_unfolded: int = 0
    uses: dict[Span, tuple[Span, ...]] = field(default_factory=dict)
    """The declarations that a name in the text refers to, as the places of their names, by the place of the use.

    A name has several if any of them may be meant: fields of one name in different messages or arms.
    """
    is_order_missed: bool = False
    """The missing `endian` is reported, once for the file."""

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        label: str = "",
        others: Iterable[Label] = (),
        help_: str | None = None,
    ) -> None:
        self.report.error(code, message, span, label=label, others=others, help=help_)

    def refer(self, use: syntax.Name, *declared: Span | None) -> None:
        """Record the declarations that a name refers to; None stands for one that has no place in a file."""
        self.refer_to_any(use, tuple(filter(None, declared)))

    def refer_to_any(self, use: syntax.Name, places: tuple[Span, ...]) -> None:
        """Record that a name refers to any of these places. The tuple is kept: many uses may share a long one."""
        known = self.uses.get(use.span)
        if known is None and places:
            self.uses[use.span] = places
        elif known is not None and known is not places:
            self.uses[use.span] = tuple(dict.fromkeys((*known, *places)))

    def place_of_rule(self, name: str) -> Span | None:
        """Return the place of a rule's declaration; sessions also have rules that are not declared."""
        rule = self.rules.get(name)
        return None if rule is None else rule.name.span

    def place(self, path: str, span: Span, **parts: Span | None) -> str:
        """Record the places of a node and its parts, and return the node's path."""
        self.origins.setdefault(path, span)
        for part, place in parts.items():
            if place is not None:
                self.origins.setdefault(f"{path}#{part.rstrip('_')}", place)
        return path

    def named(self, name: str, *kinds: type[Named]) -> Named | None:
        """Return the declaration of that name, or None if it does not exist or is of another kind."""
        node = self.names.get(name)
        return node if isinstance(node, kinds) else None

    def of_kind(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """Return the declarations of one kind in text order."""
        if kind not in self.kinds:
            self.kinds[kind] = tuple(node for node in self.names.values() if isinstance(node, kind))
        return tuple(node for node in self.kinds[kind] if isinstance(node, kind))

    def words_of(self, *kinds: type[Named]) -> Iterator[str]:
        return (name for name, node in self.names.items() if isinstance(node, kinds))

    def text_of(self, span: Span) -> str:
        """Return the file's text at a place on one line, without comments."""
        source = self.sources.get(span.source)
        text = "" if source is None else source.text[span.start : span.end]
        return " ".join(
            _COMMENT.sub(lambda found: "" if found[0].startswith("//") else found[0], text).split()
        )

    def may_unfold(self, alias: syntax.Alias, aliases: tuple[str, ...], span: Span) -> bool:
        """Count an alias expanded in a shape; report one that contains itself, and a file with too many expansions."""
        self.n_unfolded += bool(aliases)
        if alias.name.text in aliases:
            message = f"type `{alias.name.text}` contains itself"
            help_ = "declare a struct or a union, which may contain itself"
            self.error("WG2009", message, alias.name.span, label="refers to itself", help_=help_)
            return False
        if len(aliases) >= MAX_ALIAS_CHAIN or self.n_unfolded > MAX_UNFOLDED:
            message = f"type `{alias.name.text}` becomes too large when it is written out"
            help_ = "declare one of the types that it uses as a struct"
            self.error("WG2009", message, span, label="too large", help_=help_)
            return False
        return True
