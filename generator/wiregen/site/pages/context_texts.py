"""The parts that pages of joins and contexts share: their texts, the messages that set them, their readers, their errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from wiregen.generate.escaping import harmless
from wiregen.language.spelling import expression_text, type_text
from wiregen.schema import model as m
from wiregen.schema.walk import direct_expressions, every_field, field_expressions, nested_expressions, shapes
from wiregen.site.pages.behaviour_views import DoingView, LackView, ReaderView
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.numbers import number_text
from wiregen.site.pages.page_paths import Linked, anchor, context_page_name, join_page_name, session_page_name
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.views import ListingView

__all__ = [
    "clearings_of",
    "lack",
    "limit_text",
    "readers_of",
    "remembered_views",
    "scope_text",
    "settings_of",
]

Kept: TypeAlias = m.Join | m.Context


def remembered_views(protocol: m.Protocol) -> tuple[ListingView, ...]:
    """Return the contexts and joins of a protocol, in the order of the text."""
    contexts = (_view(each, "context", context_page_name(each.name)) for each in protocol.contexts)
    joins = (_view(each, "join", join_page_name(each.name)) for each in protocol.joins)
    return (*contexts, *joins)


def _view(kept: Kept, kind: str, page: str) -> ListingView:
    return ListingView(
        name=kept.name,
        url=f"{page}.html",
        kind=kind,
        code="",
        direction=scope_text(kept),
        size="",
        doc=Prose(text=kept.doc),
    )


def scope_text(kept: Kept) -> str:
    """Return how many instances there may be at a time, in words."""
    keys = f"one for each {', '.join(kept.keys)}" if kept.keys else "one"
    is_shared = isinstance(kept, m.Context) and kept.role is not None
    return keys if is_shared else f"{keys} in each direction"


def limit_text(book: Book, name: str, unit: str) -> tuple[Linked, ...]:
    """Return a limit with its value, as a link where the file names it."""
    is_named = any(limit.name == name for limit in book.protocol.limits)
    value = book.limits.get(name)
    number = f"{number_text(value)} {unit} " if value is not None else ""
    url = "index.html#limits" if is_named else ""
    return (Linked(text=f"{number}("), Linked(text=f"limits.{name}", url=url), Linked(text=")"))


# ---- who changes it


def settings_of(book: Book, what: str, settings: Iterable[m.Setting]) -> Iterator[DoingView]:
    """Yield the messages that set it, or add to it."""
    for setting in settings:
        yield DoingView(
            what=what,
            target=_declared(book, setting.target),
            field=setting.field,
            when=_condition(setting.when),
            doc=Prose(text=setting.doc),
        )


def clearings_of(book: Book, what: str, clearings: Iterable[m.Clearing]) -> Iterator[DoingView]:
    """Yield the messages that clear it."""
    for clearing in clearings:
        for target in clearing.targets:
            yield DoingView(
                what=what,
                target=_declared(book, target),
                field="",
                when=_condition(clearing.when),
                doc=Prose(text=clearing.doc),
            )


def _declared(book: Book, name: str) -> Linked:
    return Linked(text=name, url=book.places.url(name))


def _condition(when: m.Expression | None) -> str:
    return "" if when is None else harmless(expression_text(when))


# ---- who reads it


def readers_of(book: Book, kept: Kept) -> tuple[ReaderView, ...]:
    """Return the fields whose layout depends on it, and the transitions whose guards read it."""
    return (*_fields_that_ask(book, kept), *_rows_that_ask(book, kept))


def _fields_that_ask(book: Book, kept: Kept) -> Iterator[ReaderView]:
    for owner, fields in book.usage.owners:
        keys = {cell.key for cell in book.cells.of(owner, fields)}
        for field in every_field(fields):
            types = [part for type_ in shapes(field.type) for part in direct_expressions(type_)]
            if not any(_asks(each, kept) for each in nested_expressions(*field_expressions(field), *types)):
                continue
            key = f"{owner}.{field.name}"
            place = f"#{anchor(key)}" if key in keys else ""
            url = book.places.url(owner)
            yield ReaderView(
                place=Linked(text=key, url=url and f"{url}{place}"), text=harmless(type_text(field.type))
            )


def _rows_that_ask(book: Book, kept: Kept) -> Iterator[ReaderView]:
    for session in book.protocol.sessions:
        for row in session.rows:
            if row.when is not None and any(_asks(each, kept) for each in nested_expressions(row.when)):
                url = f"{session_page_name(session.name)}.html#transitions"
                text = harmless(expression_text(row.when))
                yield ReaderView(place=Linked(text=f"session {session.name}", url=url), text=text)


def _asks(expression: m.Expression, kept: Kept) -> bool:
    match expression:
        case m.ContextReference(context=name):
            return isinstance(kept, m.Context) and kept.name == name
        case m.JoinReference(name=name):
            return isinstance(kept, m.Join) and kept.name == name
        case _:
            return False


# ---- errors


def lack(book: Book, code: str, when: str, *, path: str, rule: str | None = None) -> LackView:
    """Return an error with the vectors that show it."""
    vectors, n_more = book.vectors_of_fault(path, code, rule or "")
    return LackView(
        code=book.code_link(code), when=when, rule=book.rule_link(rule), vectors=vectors, n_more=n_more
    )
