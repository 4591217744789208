"""The named types inside a message, shown on its own page: it is sufficient to write a codec.

Only small types are shown; of a type with many members the page has a link.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from wiregen.generate.escaping import harmless
from wiregen.language.spelling import span_text, type_text
from wiregen.schema import model as m
from wiregen.schema.declared import index_of
from wiregen.schema.walk import every_field, matched_messages, references
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.layouts import constraint_text, default_text, rows_of
from wiregen.site.pages.legends import legend_of
from wiregen.site.pages.numbers import forms_text, spans_text
from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.views import InsideMemberView, InsideView, InsideViews, LayoutView, RowView

__all__ = ["holds_of", "inside_of", "width_text"]

_MOST_MEMBERS: Final = 24
"""The most members of an enum that is shown."""
_MOST_FIELDS: Final = 12
"""The most fields of a struct, and the most alternatives with fields, that are shown."""
_MOST_LINES: Final = 48
"""The most lines of all types on one page."""

Inner: TypeAlias = m.Struct | m.Frame | m.Enum | m.Union | m.Coding


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A type inside a message. `messages`: of a frame, the messages that it may contain."""

    type: Inner
    messages: tuple[m.Message, ...] = ()

    @property
    def owners(self) -> Iterator[tuple[m.Field, ...]]:
        """Yield the lists of fields that belong to the type."""
        match self.type:
            case m.Struct():
                yield self.type.fields
            case m.Frame():
                yield from (message.fields for message in self.messages)
            case m.Union():
                yield from (variety.fields for variety in self.type.varieties)
            case m.Enum() | m.Coding():
                return


def inside_of(book: Book, declaration: m.Message, frame: m.Frame | None, layout: LayoutView) -> InsideViews:
    """Return the types of a message's fields and of its frame's, and the types inside those.

    A type that the table of the message expands already is left out.
    """
    spelt = {row.owner for row in layout.rows}
    shown: list[InsideView] = []
    others: list[Linked] = []
    waiting = list(_named(declaration.fields, *(() if frame is None else (frame.fields,))))
    seen: set[str] = set()
    for reference in waiting:
        held = None if reference.name in seen else _held(book.protocol, reference, declaration.role)
        seen.add(reference.name)
        if held is None:
            continue
        if isinstance(held.type, m.Struct) and held.type.name in spelt:
            waiting += _named(*held.owners)
            continue
        shown_legend = {
            each.text for legend in (layout.legend, *(view.legend for view in shown)) for each in legend
        }
        view = _view(book, held, shown_legend)
        n_lines = sum(len(each.rows) + len(each.members) for each in (*shown, view))
        if not _is_small(view) or n_lines > _MOST_LINES:
            others.append(view.title)
            continue
        spelt |= {row.owner for row in view.rows}
        shown.append(view)
        waiting += _named(*held.owners, *((held.type.fields,) if isinstance(held.type, m.Frame) else ()))
    return InsideViews(shown=tuple(shown), others=tuple(others))


def _named(*owners: Iterable[m.Field]) -> Iterator[m.Reference]:
    """Yield the types that fields refer to, except messages: a frame lists its own by their codes."""
    for fields in owners:
        found = references(*(field.type for field in every_field(fields)))
        yield from (each for each in found if not isinstance(each, m.MessageReference))


def _held(protocol: m.Protocol, reference: m.Reference, role: str | None) -> _Held | None:
    match reference:
        case m.MessageReference():
            return None
        case m.FrameReference():
            frame = next(each for each in protocol.frames if each.name == reference.name)
            messages = tuple(matched_messages(protocol.messages, reference, role))
            return _Held(type=frame, messages=messages)
        case _:
            return _Held(type=index_of(protocol).declared(reference))


def _is_small(view: InsideView) -> bool:
    most = _MOST_MEMBERS if view.kind == "enum" else _MOST_FIELDS
    return len(view.rows) + len(view.members) <= most


def _view(book: Book, held: _Held, shown_legend: Collection[str]) -> InsideView:
    """Return a type; `shown_legend`: the legend that the page shows above already."""
    type_ = held.type
    cells = tuple(
        cell
        for fields in held.owners
        for cell in book.cells.of(type_.name, fields)
        if isinstance(type_, m.Struct) or cell.owner == type_.name
    )
    return InsideView(
        title=Linked(text=type_.name, url=book.places.url(type_.name)),
        kind=type(type_).__name__.lower(),
        base=type_text(type_.type) if isinstance(type_, m.Enum | m.Union | m.Coding) else "",
        is_open=isinstance(type_, m.Enum) and type_.is_open,
        doc=Prose(text=type_.doc),
        rows=_rows(book, type_),
        members=tuple(_members(book, held)),
        legend=tuple(
            Prose(text=each) for each in legend_of(cells, book.protocol) if each not in shown_legend
        ),
    )


def _rows(book: Book, type_: Inner) -> tuple[RowView, ...]:
    """Return the table of a struct. That of a frame is on the page of every message in it."""
    return (
        tuple(rows_of(book, book.cells.of(type_.name, type_.fields))) if isinstance(type_, m.Struct) else ()
    )


def _members(book: Book, held: _Held) -> Iterator[InsideMemberView]:
    match held.type:
        case m.Enum(members=members):
            for each in members:
                number = forms_text(each.value, is_character=each.is_character)
                yield _member(number, Linked(text=each.name), (), each.doc)
        case m.Union(varieties=varieties):
            for variety in varieties:
                number = spans_text(variety.spans, is_character=variety.is_character)
                yield _member(number, Linked(text=variety.name), holds_of(book, variety.fields), variety.doc)
        case m.Coding(widths=widths):
            for width in widths:
                span = m.Span(low=width.low, high=width.high)
                yield _member(span_text(span), Linked(text=width_text(width)), (), "")
        case m.Frame():
            for message in held.messages:
                assert message.code is not None
                number = forms_text(message.code, is_character=message.is_character)
                name = Linked(text=message.name, url=book.places.url(message.name))
                yield _member(number, name, holds_of(book, message.fields), message.doc)
        case m.Struct():
            return


def _member(number: str, name: Linked, holds: tuple[Linked, ...], doc: str) -> InsideMemberView:
    return InsideMemberView(number=number, name=name, holds=holds, doc=Prose(text=doc))


def width_text(width: m.Width) -> str:
    """Return how a variable-width integer continues after a first number of one span."""
    if width.is_null:
        return "null"
    return "the value itself" if width.wide is None else f"then {type_text(width.wide)}"


def holds_of(book: Book, fields: tuple[m.Field, ...]) -> tuple[Linked, ...]:
    """Return fields in the syntax of the file, in one line."""
    return book.places.linked(harmless(", ".join(_declared(field) for field in fields)))


def _declared(field: m.Field) -> str:
    default = default_text(field)
    text = type_text(field.type)
    if isinstance(field.type, m.Block):
        text = f"{{ {', '.join(map(_declared, field.type.fields))} }}"
    parts = (f"{field.name} : {text}", constraint_text(field), default and f"= {default}")
    return " ".join(" ".join(part for part in parts if part).split())
