"""The first page of a protocol, and the home page of the site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from wiregen.generate.escaping import harmless
from wiregen.language.spelling import expression_text, type_text
from wiregen.schema import model as m
from wiregen.site.pages.chapter import Book, notes_of
from wiregen.site.pages.context_texts import remembered_views
from wiregen.site.pages.declarations import Named, code_of, direction_text, kind_of, reserved_of
from wiregen.site.pages.layout_cells import frame_around
from wiregen.site.pages.numbers import forms_text, number_text
from wiregen.site.pages.overview_views import (
    AliasView,
    ConstView,
    LimitView,
    ProtocolView,
    VectorsView,
)
from wiregen.site.pages.page_paths import Linked, differences_page_name
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.session_pages import conversation_views, session_view
from wiregen.site.pages.views import ListingView, MessageView

__all__ = ["listed", "protocol_page", "types_of"]

_MOST_IN_TABLES: Final = 120
"""The most messages with a row each in the overview: the page stays below 60 KB."""
_UNITS = {"ms": "ms", "bytes": "bytes", "none": ""}


def protocol_page(book: Book, pages: Iterable[MessageView], others: tuple[Book, ...] = ()) -> ProtocolView:
    """Return the overview.

    `pages`: of its messages and the like, for their sizes; `others`: the protocols that it is compared with.
    """
    protocol = book.protocol
    pages = tuple(pages)
    sizes = {page.declaration.name: page.layout.size for page in pages}
    messages = tuple(_message(book, message, sizes) for message in protocol.messages)
    is_long = len(messages) > _MOST_IN_TABLES
    return ProtocolView(
        shell=book.shell(protocol.name, "index"),
        name=protocol.name,
        doc=Prose(text=protocol.doc),
        notes=notes_of(protocol.notes),
        sources=tuple(harmless(" ".join(source.split())) for source in protocol.sources),
        facts=_facts(protocol, has_order=_has_order(protocol, pages)),
        roles=_by_role(protocol, tuple(sorted(messages, key=_code_of)) if is_long else messages),
        by_code=() if is_long else tuple(sorted((each for each in messages if each.code), key=_code_of)),
        is_long=is_long,
        frames=tuple(listed(book, each, sizes) for each in _outermost(protocol)),
        types=tuple(listed(book, each, sizes) for each in types_of(protocol)),
        aliases=tuple(_alias(book, alias) for alias in protocol.aliases),
        limits=tuple(_limit(book, limit) for limit in protocol.limits),
        constants=tuple(_const(const) for const in protocol.constants),
        reserved=reserved_of(protocol.reserved),
        sessions=tuple(session_view(session) for session in protocol.sessions),
        n_rules=len(protocol.rules),
        n_ledger=len(protocol.ledgers),
        vectors=_vectors(book),
        hint=book.hint,
        differences=tuple(_differences(other) for other in others),
        remembering=book.remembering,
        remembered=remembered_views(protocol),
        conversations=conversation_views(book, book.conversations.examples),
    )


def _code_of(listing: ListingView) -> int:
    """Return the code as a sort key; a message without a code is last."""
    return int(listing.code.partition(" ")[0]) if listing.code else 1 << 64


def types_of(protocol: m.Protocol) -> tuple[Named, ...]:
    """Return the named types that are part of messages."""
    return (*protocol.structs, *protocol.unions, *protocol.enums, *protocol.codings)


def _outermost(protocol: m.Protocol) -> tuple[Named, ...]:
    return (*protocol.frames, *protocol.preambles)


_AFTER_ERROR: Final[dict[m.ErrorAction, str]] = {
    "close": "the connection closes",
    "continue": "the connection goes on with the next frame, if its place is known",
}


def _has_order(protocol: m.Protocol, pages: tuple[MessageView, ...]) -> bool:
    """Return whether the protocol may have numbers of several bytes, which have a byte order."""
    return bool(protocol.unions or protocol.codings) or any(page.layout.byte_order for page in pages)


def _facts(protocol: m.Protocol, *, has_order: bool) -> tuple[tuple[str, str], ...]:
    opener = f" ({protocol.roles[0]} opens the connection)" if protocol.roles else ""
    facts = (
        ("Byte order", f"{protocol.endian}-endian" if has_order else ""),
        ("Roles", ", ".join(protocol.roles) + opener),
        ("Port", ", ".join(f"{port.transport} {port.number}" for port in protocol.ports)),
        ("After an error", _AFTER_ERROR[protocol.on_error] if protocol.sessions else ""),
        ("Variants", ", ".join(variant.name for variant in protocol.variants)),
    )
    return tuple((name, text) for name, text in facts if text)


def _by_role(
    protocol: m.Protocol, messages: tuple[ListingView, ...]
) -> tuple[tuple[str, tuple[ListingView, ...]], ...]:
    """Return the messages by sender: those of one role first, then those of both."""
    roles = {message.name: message.role for message in protocol.messages}
    groups = [
        (f"Sent by the {role}", tuple(each for each in messages if roles[each.name] == role))
        for role in protocol.roles
    ]
    groups.append(
        (
            "Sent by either" if protocol.roles else "Messages",
            tuple(each for each in messages if roles[each.name] is None),
        )
    )
    return tuple((title, some) for title, some in groups if some)


def _message(book: Book, message: m.Message, sizes: dict[str, str]) -> ListingView:
    is_inner = frame_around(book.protocol, message) is None
    return ListingView(
        name=message.name,
        url=book.places.url(message.name),
        kind="message",
        code=code_of(message),
        direction="inside others" if is_inner else direction_text(book.protocol, message),
        size=sizes.get(message.name, ""),
        doc=Prose(text=message.doc),
        is_deprecated=message.notes.deprecated is not None,
    )


def listed(book: Book, declaration: Named, sizes: dict[str, str]) -> ListingView:
    """Return the line of a declaration; `sizes`: by name, where they are known."""
    has_direction = isinstance(declaration, m.Frame | m.Preamble)
    return ListingView(
        name=declaration.name,
        url=book.places.url(declaration.name),
        kind=kind_of(declaration),
        code="",
        direction=direction_text(book.protocol, declaration) if has_direction else "",  # type: ignore[arg-type]
        size=sizes.get(declaration.name, ""),
        doc=Prose(text=declaration.doc),
        is_deprecated=declaration.notes.deprecated is not None,
    )


def _alias(book: Book, alias: m.Alias) -> AliasView:
    where = "" if alias.where is None else f" where {expression_text(alias.where)}"
    return AliasView(
        name=alias.name,
        type=book.places.linked(harmless(f"{type_text(alias.type)}{where}")),
        doc=Prose(text=alias.doc),
        notes=notes_of(alias.notes),
        rule=book.rule_link(alias.notes.rule),
    )


def _limit(book: Book, limit: m.Limit) -> LimitView:
    return LimitView(
        name=limit.name,
        value=f"{number_text(limit.value)} {_UNITS[limit.unit]}".strip(),
        doc=Prose(text=limit.doc),
        notes=notes_of(limit.notes),
        rule=book.rule_link(limit.notes.rule),
    )


def _const(const: m.Const) -> ConstView:
    return ConstView(
        name=const.name, value=forms_text(const.value), doc=Prose(text=const.doc), notes=notes_of(const.notes)
    )


def _differences(other: Book) -> Linked:
    name = other.protocol.name
    return Linked(text=name, url=f"{differences_page_name(name)}.html")


def _vectors(book: Book) -> VectorsView | None:
    file = book.chapter.vectors
    if file is None:
        return None
    counts = Counter(vector.kind for vector in file.vectors)
    text = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), reverse=True))
    return VectorsView(url="vectors.json", counts=text)
