"""Colours of names by what they refer to, which a grammar of regular expressions cannot know."""

from __future__ import annotations

from typing import Final

from lsprotocol.types import SemanticTokenModifiers, SemanticTokens, SemanticTokensLegend, SemanticTokenTypes

from wiregen.language import syntax
from wiregen.tools.editor.analysis import Analysis
from wiregen.tools.editor.declared_names import NameOccurrence
from wiregen.tools.editor.kinds import KINDS
from wiregen.tools.editor.positions import position_of

__all__ = ["LEGEND", "semantic_tokens"]

_WORDS: Final[dict[tuple[type[object], str], SemanticTokenTypes]] = {
    (syntax.Annotation, "name"): SemanticTokenTypes.Decorator,
    (syntax.Call, "function"): SemanticTokenTypes.Function,
}
"""The names of the language itself, by the node and the attribute that hold them. All others without a declaration are types."""
_TYPES: Final = tuple(
    dict.fromkeys((*(kind.token for kind in KINDS.values()), *_WORDS.values(), SemanticTokenTypes.Type))
)
_DECLARATION, _LIBRARY = 1, 2
LEGEND: Final = SemanticTokensLegend(
    token_types=[each.value for each in _TYPES],
    token_modifiers=[SemanticTokenModifiers.Declaration.value, SemanticTokenModifiers.DefaultLibrary.value],
)


def semantic_tokens(analysis: Analysis) -> SemanticTokens:
    """Return the names of the text in the form of the protocol: five numbers each, places relative to the name before."""
    data: list[int] = []
    line = column = 0
    for placed in sorted(analysis.names.placed, key=lambda each: each.name.span.start):
        span = placed.name.span
        if span.source != analysis.source.name:
            continue
        start, end = position_of(analysis.source, span.start), position_of(analysis.source, span.end)
        token, modifiers = _token(analysis, placed)
        ahead = start.character - column if start.line == line else start.character
        data += (start.line - line, ahead, end.character - start.character, _TYPES.index(token), modifiers)
        line, column = start.line, start.character
    return SemanticTokens(data=data)


def _token(analysis: Analysis, placed: NameOccurrence) -> tuple[SemanticTokenTypes, int]:
    for place in analysis.declared_at(placed):
        declared = analysis.names.declared.get(place)
        if declared is not None:
            token = KINDS[type(declared.node)].token
            return token, _DECLARATION if place == placed.name.span else 0
    return _WORDS.get((type(placed.holder), placed.slot), SemanticTokenTypes.Type), _LIBRARY
