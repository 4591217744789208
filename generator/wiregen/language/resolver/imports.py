"""Imports: declarations of another file, copied to the place of the import, with the types that they need.

Names are not resolved in the other file: copied text has the meaning that it would have if it were written
here.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wiregen.language import syntax
from wiregen.language.diagnostics import Report, Span
from wiregen.language.parser import parse
from wiregen.language.resolver.names import Named, kind_of
from wiregen.language.resolver.tree import children, mentioned
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.language.source import Sources, load, report_cycle, require_import

MAX_IMPORTS: Final = 32
"""The most files on the longest chain of imports."""
MOST_SUGGESTED: Final = 20
"""The most failed imports for which the nearest name is searched, because the search lists folders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exports:
    """The declarations that a file offers for import, computed once for all imports of it."""

    protocol: syntax.Name
    names: Mapping[str, Named]
    rules: Mapping[str, tuple[syntax.Rule, ...]]
    positions: Mapping[Span, int]
    """The position of each declaration among those of the file and its imports, by its span."""

    def in_order(self, chosen: Iterable[syntax.Declaration]) -> list[syntax.Declaration]:
        return sorted(chosen, key=lambda each: self.positions[each.span])


def _exports(protocol: syntax.Name, declarations: tuple[syntax.Declaration, ...]) -> _Exports:
    names: dict[str, Named] = {}
    rules: dict[str, tuple[syntax.Rule, ...]] = {}
    for each in declarations:
        if isinstance(each, Named):
            names.setdefault(each.name.text, each)
        if isinstance(each, syntax.Rule):
            rules[each.name.text] = (*rules.get(each.name.text, ()), each)
    positions = {each.span: position for position, each in enumerate(declarations)}
    return _Exports(protocol=protocol, names=names, rules=rules, positions=positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imports:
    """The files that one run has read; each is read once, so that two imports of a declaration share one node."""

    sources: Sources
    roots: tuple[Path, ...]
    report: Report
    uses: dict[Span, tuple[Span, ...]] = field(default_factory=dict)
    """The names in imports, with the places of the names that they refer to."""
    _expanded: dict[str, _Exports] = field(default_factory=dict)
    _missing: list[str] = field(default_factory=list)

    def expand(self, file: syntax.File) -> tuple[syntax.Declaration, ...]:
        """Return the declarations of a file, with each import replaced by the declarations that it copies."""
        return self._expand(file, ((file.protocol.name.text, file.protocol.name.span),))

    def _expand(self, file: syntax.File, way: tuple[tuple[str, Span], ...]) -> tuple[syntax.Declaration, ...]:
        declarations: dict[Span, syntax.Declaration] = {}
        own = frozenset(node.name.text for node in file.declarations if isinstance(node, syntax.Rule))
        # The names that imports above have copied, by protocol; otherwise each import would follow its whole chain.
        taken: dict[str, set[str]] = {}
        for node in file.declarations:
            copied = self._copied(node, way, taken) if isinstance(node, syntax.Import) else (node,)
            declarations.update((each.span, each) for each in copied if not _is_replaced(each, node, own))
        return tuple(declarations.values())

    def _copied(
        self, node: syntax.Import, way: tuple[tuple[str, Span], ...], taken: dict[str, set[str]]
    ) -> tuple[syntax.Declaration, ...]:
        protocol = node.protocol
        on_the_way = [name for name, _ in way]
        if protocol.text in on_the_way:
            cycle = (*way[on_the_way.index(protocol.text) + 1 :], (protocol.text, protocol.span))
            report_cycle(cycle, self.report)
            return ()
        if len(way) > MAX_IMPORTS:
            message = f"a chain of imports is longer than {MAX_IMPORTS} files"
            self.report.error(
                "WG2010", message, protocol.span, help="import the name from the file that declares it"
            )
            return ()
        there = self._exports_of(protocol, way)
        return () if there is None else self._chosen(node, there, taken.setdefault(protocol.text, set()))

    def _exports_of(self, protocol: syntax.Name, way: tuple[tuple[str, Span], ...]) -> _Exports | None:
        known = self._expanded.get(protocol.text)
        if known is not None:
            return known
        importer = self.sources.get(protocol.span.source)
        if importer is None:
            return None
        path = require_import(
            protocol.text,
            protocol.span,
            importer,
            self.roots,
            self.report,
            unsaved=self.sources.unsaved,
            suggests=len(self._missing) < MOST_SUGGESTED,
        )
        if path is None:
            self._missing.append(protocol.text)
        source = path and load(path, self.sources, self.report, roots=self.roots, imported_at=protocol.span)
        file = parse(source, self.report) if source else None
        if file is None:
            return None
        declarations = self._expand(file, (*way, (protocol.text, protocol.span)))
        expanded = _exports(file.protocol.name, declarations)
        self._expanded[protocol.text] = expanded
        return expanded

    def _chosen(
        self, node: syntax.Import, there: _Exports, taken: set[str]
    ) -> tuple[syntax.Declaration, ...]:
        """Return the declarations that an import names and those they need, without those in `taken`.

        They are in text order; their rules follow.
        """
        self.uses[node.protocol.span] = (there.protocol.span,)
        for name in node.names:
            if name.text in there.names:
                self.uses[name.span] = (there.names[name.text].name.span,)
            else:
                report_unknown(name, "declaration", there.names, self.report, inside=node.protocol.text)
        wanted = _needed((name.text for name in node.names if name.text in there.names), there.names, taken)
        chosen = there.in_order(there.names[name] for name in wanted)
        named = frozenset(word for each in chosen for word in _rules_named(each))
        rules = there.in_order(rule for name in named for rule in there.rules.get(name, ()))
        return (*chosen, *rules)


def _is_replaced(copied: syntax.Declaration, by: syntax.Declaration, own: frozenset[str]) -> bool:
    """Return whether the importing file has its own text for a rule that is copied along."""
    return isinstance(copied, syntax.Rule) and copied is not by and copied.name.text in own


def _rules_named(node: syntax.Declaration) -> Iterator[str]:
    """Yield the rules that a declaration, its fields and its parts name with `@rule`."""
    waiting: list[tuple[object, bool]] = [(node, False)]
    while waiting:
        each, is_argument = waiting.pop()
        if is_argument and isinstance(each, syntax.Name):
            yield each.text
        is_rule = isinstance(each, syntax.Annotation) and each.name.text == "rule"
        waiting += (
            (child, is_argument or (is_rule and slot == "arguments")) for slot, child in children(each)
        )


def _needed(wanted: Iterable[str], names: Mapping[str, Named], taken: set[str]) -> list[str]:
    """Return the names and all names that their declarations need, without those in `taken`; add them to it."""
    waiting = list(wanted)
    needed: list[str] = []
    while waiting:
        name = waiting.pop()
        if name not in taken:
            taken.add(name)
            needed.append(name)
            waiting.extend(meant(names[name], names))
    return needed


def meant(node: syntax.Declaration, names: Mapping[str, Named]) -> Iterator[str]:
    """Yield the names of declarations that a declaration needs."""
    for slot, word in mentioned(node):
        other = names.get(word.text)
        if other is not None and _is_meant(slot, other):
            yield word.text


def _is_meant(slot: str, other: Named) -> bool:
    """Return whether a word in this attribute can mean the declaration: `only`, for example, also holds members."""
    kind = kind_of(other)
    if kind == "context":
        return slot == "entry"
    return slot != "only" or kind in {"message", "frame"}
