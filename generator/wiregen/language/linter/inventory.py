"""The input of every lint rule: all nodes of a file, each with the node that contains it, and the report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from wiregen.language.diagnostics import Report, SourceTexts, Span
from wiregen.language.formatter import FormattedText, content_of
from wiregen.language.linter.allowances import Allowance, Allowances
from wiregen.runtime.schema.shapes import fields_below
from wiregen.schema.model import (
    About,
    Field,
    Frame,
    Message,
    Notes,
    Preamble,
    Protocol,
    Session,
    Struct,
    Variant,
)

_IMPORT: Final = re.compile(r"^\s*import\b", re.MULTILINE)
Abouts: TypeAlias = Mapping[str, About]
What: TypeAlias = Literal[
    "protocol",
    "limit",
    "constant",
    "type",
    "enum",
    "member",
    "struct",
    "message",
    "frame",
    "preamble",
    "union",
    "variety",
    "coding",
    "variant",
    "context",
    "join",
    "session",
    "row",
    "timer",
    "rule",
    "field",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedNode:
    """A node that may be annotated; `above` is the node that contains it."""

    what: What
    path: str
    doc: str
    notes: Notes
    above: AnnotatedNode | None = None
    sources: tuple[str, ...] = ()
    """Sources that are not annotations: those of the protocol's settings, or of a rule."""

    @property
    def shown(self) -> str:
        """The kind of the node and its name, in the notation of a file."""
        name = self.path.partition(".")[2] or self.path
        if self.what in ("row", "timer"):
            return f"a {'transition' if self.what == 'row' else 'timer'} of `{name.partition('.')[0]}`"
        kind = "alternative" if self.what == "variety" else self.what
        return f"{kind} `{name.removeprefix(f'{self.what}s.')}`"

    @property
    def is_in_variant(self) -> bool:
        """Whether the node is in another layout of the protocol."""
        return self.above is not None and (self.above.what == "variant" or self.above.is_in_variant)

    @property
    def is_sourced(self) -> bool:
        """Whether the node, or one that contains it, names a source or is said to be assumed."""
        if self.notes.places or self.sources or self.notes.assumed is not None:
            return True
        return self.above is not None and self.above.what != "protocol" and self.above.is_sourced


@dataclass(frozen=True, kw_only=True)
class Survey:
    """One run of the linter over one protocol."""

    protocol: Protocol
    origins: Mapping[str, Span]
    mentioned: frozenset[str]
    sources: SourceTexts
    allowances: Allowances
    used: frozenset[Allowance] = frozenset()
    """The allowances that suppressed a finding of the rules before."""
    report: Report

    @cached_property
    def all_nodes(self) -> tuple[AnnotatedNode, ...]:
        """All nodes that may be annotated, imported ones too, each after the node that contains it."""
        return tuple(_nodes(self.protocol))

    @cached_property
    def nodes(self) -> tuple[AnnotatedNode, ...]:
        """The nodes that the file itself declares."""
        return tuple(node for node in self.all_nodes if self._is_own(node))

    @property
    def imports(self) -> Iterator[tuple[str, Span]]:
        """Yield the names in the imports of the file, each with its place."""
        file = self.origins.get(self.protocol.path)
        source = None if file is None else self.sources.get(file.source)
        if file is None or source is None or not _IMPORT.search(source.text):
            return
        content = content_of(FormattedText(name=file.source, text=source.text), Report())
        for piece in () if content is None else content.pieces:
            if piece.rule == "names" and piece.entry.rule == "import_" and piece.kind != "COMMA":
                end = piece.start + len(piece.text)
                yield piece.text.strip("`"), Span(source=file.source, start=piece.start, end=end)

    def note(self, code: str, message: str, node: AnnotatedNode, *, help_: str | None = None) -> None:
        self.report.note(code, message, self._place(node), help=help_)

    def warning(self, code: str, message: str, node: AnnotatedNode, *, help_: str) -> None:
        self.report.warning(code, message, self._place(node), help=help_)

    def _place(self, node: AnnotatedNode) -> Span | None:
        return self.origins.get(f"{node.path}#name") or self.origins.get(node.path)

    def _is_own(self, node: AnnotatedNode) -> bool:
        file, place = self.origins.get(self.protocol.path), self._place(node)
        return file is None or place is None or place.source == file.source


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRule:
    """`name`: selects the rule and its explanation; `is_listing`: the rule informs, and asks for no change."""

    name: str
    code: str
    is_listing: bool
    apply: Callable[[Survey], None]


def _nodes(protocol: Protocol) -> Iterator[AnnotatedNode]:
    top = AnnotatedNode(
        what="protocol",
        path=protocol.path,
        doc=protocol.doc,
        notes=protocol.notes,
        sources=protocol.sources,
    )
    yield top
    yield from _plain(protocol, top)
    yield from _laid(protocol, top, protocol.about)
    yield from _choices(protocol, top)
    for variant in protocol.variants:
        yield from _variant(variant, top, protocol.about)
    for session in protocol.sessions:
        yield from _session(session, top)
    for rule in protocol.rules:
        yield AnnotatedNode(
            what="rule", path=rule.path, doc="", notes=rule.notes, above=top, sources=rule.sources
        )


def _plain(protocol: Protocol, top: AnnotatedNode) -> Iterator[AnnotatedNode]:
    """Yield the declarations that contain no further nodes."""
    for limit in protocol.limits:
        yield AnnotatedNode(what="limit", path=limit.path, doc=limit.doc, notes=limit.notes, above=top)
    for const in protocol.constants:
        yield AnnotatedNode(what="constant", path=const.path, doc=const.doc, notes=const.notes, above=top)
    for alias in protocol.aliases:
        yield AnnotatedNode(what="type", path=alias.path, doc=alias.doc, notes=alias.notes, above=top)
    for coding in protocol.codings:
        yield AnnotatedNode(what="coding", path=coding.path, doc=coding.doc, notes=coding.notes, above=top)
    for context in protocol.contexts:
        yield AnnotatedNode(
            what="context", path=context.path, doc=context.doc, notes=context.notes, above=top
        )
    for join in protocol.joins:
        yield AnnotatedNode(what="join", path=join.path, doc=join.doc, notes=join.notes, above=top)


def _choices(protocol: Protocol, top: AnnotatedNode) -> Iterator[AnnotatedNode]:
    for enum in protocol.enums:
        whole = AnnotatedNode(what="enum", path=enum.path, doc=enum.doc, notes=enum.notes, above=top)
        yield whole
        for member in enum.members:
            yield AnnotatedNode(
                what="member", path=member.path, doc=member.doc, notes=member.notes, above=whole
            )
    for union in protocol.unions:
        whole = AnnotatedNode(what="union", path=union.path, doc=union.doc, notes=union.notes, above=top)
        yield whole
        for variety in union.varieties:
            kind = AnnotatedNode(
                what="variety", path=variety.path, doc=variety.doc, notes=variety.notes, above=whole
            )
            yield kind
            yield from () if variety.is_lone else _fields(variety.fields, kind, protocol.about)


def _variant(variant: Variant, top: AnnotatedNode, abouts: Abouts) -> Iterator[AnnotatedNode]:
    whole = AnnotatedNode(what="variant", path=variant.path, doc=variant.doc, notes=variant.notes, above=top)
    yield whole
    yield from _laid(variant, whole, abouts)


def _laid(source: Protocol | Variant, above: AnnotatedNode, abouts: Abouts) -> Iterator[AnnotatedNode]:
    """Yield the declarations with fields, which both a protocol and its variants have."""
    for struct in source.structs:
        yield from _row("struct", struct, above, abouts)
    for message in source.messages:
        yield from _row("message", message, above, abouts)
    for frame in source.frames:
        yield from _row("frame", frame, above, abouts)
    for preamble in source.preambles:
        yield from _row("preamble", preamble, above, abouts)


def _row(
    what: What, declaration: Struct | Message | Frame | Preamble, above: AnnotatedNode, abouts: Abouts
) -> Iterator[AnnotatedNode]:
    node = AnnotatedNode(
        what=what, path=declaration.path, doc=declaration.doc, notes=declaration.notes, above=above
    )
    yield node
    yield from _fields(declaration.fields, node, abouts)


def _fields(fields: tuple[Field, ...], above: AnnotatedNode, abouts: Abouts) -> Iterator[AnnotatedNode]:
    def node_of(field: Field, above: AnnotatedNode) -> AnnotatedNode:
        about = abouts[field.path]
        return AnnotatedNode(what="field", path=field.path, doc=about.doc, notes=about.notes, above=above)

    return (node_of(field, holder) for field, holder in fields_below(fields, above, node_of))


def _session(session: Session, top: AnnotatedNode) -> Iterator[AnnotatedNode]:
    whole = AnnotatedNode(what="session", path=session.path, doc=session.doc, notes=session.notes, above=top)
    yield whole
    for row in session.rows:
        yield AnnotatedNode(what="row", path=row.path, doc=row.doc, notes=row.notes, above=whole)
    for timer in session.timers:
        yield AnnotatedNode(what="timer", path=timer.path, doc=timer.doc, notes=timer.notes, above=whole)
