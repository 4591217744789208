"""Byte offsets in front of fields: `@0`, `@4`, `@10+m`."""

from __future__ import annotations

from lsprotocol.types import InlayHint

from wiregen.language import syntax
from wiregen.tools.editor.analysis import Analysis
from wiregen.tools.editor.positions import position_of
from wiregen.tools.editor.wire_layout import WireLayout

__all__ = ["inlay_hints"]


def inlay_hints(analysis: Analysis, start: int, end: int) -> list[InlayHint]:
    """Return the hints of the fields whose names are between two offsets of the text."""
    if analysis.resolved is None:
        return []
    offsets = WireLayout(analysis.resolved.protocol).offsets
    hints: list[InlayHint] = []
    for span, declared in analysis.names.declared.items():
        is_shown = isinstance(declared.node, syntax.Field) and span.source == analysis.source.name
        offset = (
            offsets.get(analysis.paths.get(span, "")) if is_shown and start <= span.start <= end else None
        )
        if offset is not None:
            place = position_of(analysis.source, span.start)
            hints.append(InlayHint(position=place, label=f"@{offset}", padding_right=True))
    return sorted(hints, key=lambda each: (each.position.line, each.position.character))
