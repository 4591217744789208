"""Imports: declarations of another file, copied to where the import stands, with the types they need.

Nothing is resolved in the other file: what is copied means here what it would mean if it were written here.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wiregen import syntax
from wiregen.diagnostics import Report, Span
from wiregen.parser import parse
from wiregen.resolver.names import Named, kind_of, report_unknown
from wiregen.resolver.tree import children, mentioned
from wiregen.source import Sources, load, report_cycle, require_import

MAX_IMPORTS: Final = 32
"""Files on the longest chain of imports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imports:
    """The files that one run has read; each is read once, so that what two imports need is one and the same node."""

    sources: Sources
    roots: tuple[Path, ...]
    report: Report
    _expanded: dict[str, tuple[syntax.Declaration, ...]] = field(default_factory=dict)

    def expand(self, file: syntax.File) -> tuple[syntax.Declaration, ...]:
        """Return the declarations of a file, each import replaced by what it copies."""
        return self._expand(file, ((file.protocol.name.text, file.protocol.name.span),))

    def _expand(self, file: syntax.File, way: tuple[tuple[str, Span], ...]) -> tuple[syntax.Declaration, ...]:
        declarations: dict[int, syntax.Declaration] = {}
        own = frozenset(node.name.text for node in file.declarations if isinstance(node, syntax.Rule))
        for node in file.declarations:
            copied = self._copied(node, way) if isinstance(node, syntax.Import) else (node,)
            declarations.update((id(each), each) for each in copied if not _is_replaced(each, node, own))
        return tuple(declarations.values())

    def _copied(
        self, node: syntax.Import, way: tuple[tuple[str, Span], ...]
    ) -> tuple[syntax.Declaration, ...]:
        protocol = node.protocol
        on_the_way = [name for name, _ in way]
        if protocol.text in on_the_way:
            cycle = (*way[on_the_way.index(protocol.text) + 1 :], (protocol.text, protocol.span))
            report_cycle(cycle, self.report)
            return ()
        if len(way) > MAX_IMPORTS:
            message = f"a chain of imports is longer than {MAX_IMPORTS} files"
            self.report.error("WG2010", message, protocol.span, help="import from the file that declares it")
            return ()
        there = self._declarations_of(protocol, way)
        return () if there is None else self._chosen(node, there)

    def _declarations_of(
        self, protocol: syntax.Name, way: tuple[tuple[str, Span], ...]
    ) -> tuple[syntax.Declaration, ...] | None:
        known = self._expanded.get(protocol.text)
        if known is not None:
            return known
        importer = self.sources.get(protocol.span.source)
        if importer is None:
            return None
        path = require_import(protocol.text, protocol.span, importer, self.roots, self.report)
        source = path and load(path, self.sources, self.report, roots=self.roots, imported_at=protocol.span)
        file = parse(source, self.report) if source else None
        if file is None:
            return None
        expanded = self._expand(file, (*way, (protocol.text, protocol.span)))
        self._expanded[protocol.text] = expanded
        return expanded

    def _chosen(
        self, node: syntax.Import, there: Iterable[syntax.Declaration]
    ) -> tuple[syntax.Declaration, ...]:
        names: dict[str, Named] = {}
        for each in there:
            if isinstance(each, Named):
                names.setdefault(each.name.text, each)
        for name in node.names:
            if name.text not in names:
                report_unknown(name, "declaration", names, self.report, inside=node.protocol.text)
        wanted = _needed((name.text for name in node.names if name.text in names), names)
        chosen = tuple(each for name, each in names.items() if name in wanted)
        named = frozenset(word for each in chosen for word in _rules_named(each))
        rules = (each for each in there if isinstance(each, syntax.Rule) and each.name.text in named)
        return (*chosen, *rules)


def _is_replaced(copied: syntax.Declaration, by: syntax.Declaration, own: frozenset[str]) -> bool:
    """Tell whether a rule that comes along has a text of its own in the file that imports."""
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


def _needed(wanted: Iterable[str], names: Mapping[str, Named]) -> frozenset[str]:
    """Return the names and all that their declarations need, theirs too."""
    waiting = list(wanted)
    needed: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting.extend(meant(names[name], names))
    return frozenset(needed)


def meant(node: syntax.Declaration, names: Mapping[str, Named]) -> Iterator[str]:
    """Yield the names of declarations that a declaration needs."""
    for slot, word in mentioned(node):
        other = names.get(word.text)
        if other is not None and _is_meant(slot, other):
            yield word.text


def _is_meant(slot: str, other: Named) -> bool:
    """Tell whether a word at that place can mean the declaration: `only` also holds members and varieties, for example."""
    kind = kind_of(other)
    if kind == "context":
        return slot == "entry"
    return slot != "only" or kind in {"message", "frame"}
