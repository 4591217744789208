"""Changes that repair a finding: the nearest known name, and what `wiregen lint --fix` removes."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol.types import CodeAction, CodeActionKind, TextEdit, WorkspaceEdit

from wiregen.language.diagnostics import Span, suggest
from wiregen.language.linter import FIXABLE, fixed
from wiregen.tools.editor.analysis import Analysis
from wiregen.tools.editor.navigation import uri_of
from wiregen.tools.editor.positions import range_of, whole

__all__ = ["code_actions"]


def code_actions(analysis: Analysis, start: int, end: int) -> list[CodeAction]:
    """Return the changes that repair findings between two offsets of the text."""
    return [*_names(analysis, start, end), *_removals(analysis, start, end)]


def _names(analysis: Analysis, start: int, end: int) -> Iterator[CodeAction]:
    for span, words in analysis.offered.items():
        nearest = (
            suggest(analysis.source.text[span.start : span.end], words) if _meets(span, start, end) else None
        )
        if nearest is not None and span.source == analysis.source.name:
            edit = TextEdit(range=range_of(analysis.source, span), new_text=nearest)
            yield _action(analysis, f"Replace by `{nearest}`", edit)


def _removals(analysis: Analysis, start: int, end: int) -> Iterator[CodeAction]:
    for each in analysis.findings:
        if each.code in FIXABLE and each.span is not None and _meets(each.span, start, end):
            text = fixed(analysis.source, (each,))
            if text is not None:
                title = "Remove what is not used, and format the file"
                yield _action(analysis, title, TextEdit(range=whole(analysis.source), new_text=text))


def _meets(span: Span, start: int, end: int) -> bool:
    return span.start <= end and start <= span.end


def _action(analysis: Analysis, title: str, edit: TextEdit) -> CodeAction:
    changes = WorkspaceEdit(changes={uri_of(analysis.source): [edit]})
    return CodeAction(title=title, kind=CodeActionKind.QuickFix, edit=changes)
