"""The outline of a file and its folding ranges."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol.types import DocumentSymbol, FoldingRange

from wiregen.language.diagnostics import Span
from wiregen.tools.editor.analysis import Analysis
from wiregen.tools.editor.declared_names import DeclaredName
from wiregen.tools.editor.kinds import KINDS
from wiregen.tools.editor.positions import range_of

__all__ = ["folding_ranges", "symbols"]


def symbols(analysis: Analysis) -> list[DocumentSymbol]:
    """Return the declarations of the text, each with those inside it."""
    inside: dict[Span | None, list[DeclaredName]] = {}
    for declared in _own(analysis):
        owner = None if declared.owner is None else declared.owner.name.span
        inside.setdefault(owner, []).append(declared)
    return [_symbol(analysis, each, inside) for each in inside.get(None, ())]


def _own(analysis: Analysis) -> Iterator[DeclaredName]:
    found = (
        each for each in analysis.names.declared.values() if each.name.span.source == analysis.source.name
    )
    return iter(sorted(found, key=lambda each: each.name.span.start))


def _symbol(
    analysis: Analysis, declared: DeclaredName, inside: dict[Span | None, list[DeclaredName]]
) -> DocumentSymbol:
    kind = KINDS[type(declared.node)]
    return DocumentSymbol(
        name=declared.name.text,
        detail=kind.word,
        kind=kind.symbol,
        range=range_of(analysis.source, declared.node.span),
        selection_range=range_of(analysis.source, declared.name.span),
        children=[_symbol(analysis, each, inside) for each in inside.get(declared.name.span, ())],
    )


def folding_ranges(analysis: Analysis) -> list[FoldingRange]:
    """Return the declarations that take several lines, from the line of their name to their last one."""
    ranges: dict[int, int] = {}
    for declared in _own(analysis):
        first, _ = analysis.source.line_and_column(declared.name.span.start)
        last, _ = analysis.source.line_and_column(max(declared.node.span.end - 1, 0))
        if last > first:
            ranges[first] = max(last, ranges.get(first, 0))
    return [FoldingRange(start_line=first - 1, end_line=last - 1) for first, last in sorted(ranges.items())]
