"""The text that an editor shows for a name: its declaration, its place and size on the wire, and its documentation."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.generate.escaping import markdown
from wiregen.language import syntax
from wiregen.language.resolver.builtin_types import fixed_type
from wiregen.schema import model
from wiregen.schema.sizes import fixed_size
from wiregen.tools.editor.analysis import Analysis
from wiregen.tools.editor.declared_names import DeclaredName, NameOccurrence
from wiregen.tools.editor.kinds import KINDS
from wiregen.tools.editor.wire_layout import WireLayout

__all__ = ["hover"]

_MOST_SHOWN = 3
"""The most declarations that are shown for one name: fields of one name may be in many messages."""


def hover(analysis: Analysis, placed: NameOccurrence) -> str | None:
    """Return Markdown about a name, or None if nothing is known about it.

    Documentation is Markdown as on the pages of the site: HTML in it is text, and only links to the web are links.
    """
    found = [analysis.names.declared.get(place) for place in analysis.declared_at(placed)]
    shown = [_declaration(analysis, each) for each in found if each is not None]
    if not shown:
        return _word(analysis, placed)
    more = len(shown) - _MOST_SHOWN
    return "\n\n---\n\n".join((*shown[:_MOST_SHOWN], *([f"and {more} more"] if more > 0 else ())))


def _declaration(analysis: Analysis, declared: DeclaredName) -> str:
    source = analysis.sources[declared.name.span.source]
    lines = [f"{KINDS[type(declared.node)].word} of `{declared.owner.name.text}`"] if declared.owner else []
    docs = "" if isinstance(declared.node, syntax.RolesSetting) else declared.node.docs
    return "\n\n".join(
        (
            _code(_heading(source.text, declared)),
            *lines,
            *_on_the_wire(analysis, declared),
            *([markdown(docs)] if docs else ()),
        )
    )


def _heading(text: str, declared: DeclaredName) -> str:
    """Return the first line of a declaration, without the documentation before it."""
    end = text.find("\n", declared.name.span.start)
    start = text.rfind("\n", 0, declared.name.span.start) + 1
    return text[start : len(text) if end < 0 else end].strip()


def _code(text: str) -> str:
    """Return text as a block of code, whose fence is longer than any in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in _runs_of_backticks(text)), default=0))
    return f"{fence}wire\n{text}\n{fence}"


def _runs_of_backticks(text: str) -> Iterator[str]:
    return (run for run in "".join(each if each == "`" else " " for each in text).split())


def _on_the_wire(analysis: Analysis, declared: DeclaredName) -> Iterator[str]:
    """Yield the offset and the size of a field, or the size of a declaration."""
    path = analysis.paths.get(declared.name.span)
    layout = None if analysis.resolved is None else WireLayout(analysis.resolved.protocol)
    if path is None or layout is None:
        return
    offset, size = layout.offsets.get(path), layout.size(path)
    parts = (f"offset {offset}" if offset is not None else "", size or "")
    if any(parts):
        yield ", ".join(filter(None, parts))


def _word(analysis: Analysis, placed: NameOccurrence) -> str | None:
    """Return the size of a type of the language."""
    if analysis.resolved is None or (
        isinstance(placed.holder, syntax.Annotation | syntax.Call) and placed.slot != "arguments"
    ):
        return None
    protocol = analysis.resolved.protocol
    type_ = fixed_type(placed.name.text, protocol.endian, protocol.bits)
    size = None if type_ is None else fixed_size(type_, protocol)
    if size is None:
        return None
    order = f", {type_.endian} endian" if isinstance(type_, model.Integer | model.Float) and size > 1 else ""
    return f"{_code(placed.name.text)}\n\n{size} {'byte' if size == 1 else 'bytes'}{order}"
