"""The page of a context: its value, the messages that set it, the layouts that depend on it, an example of both."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.generate.escaping import harmless
from wiregen.language.spelling import type_text
from wiregen.runtime.codec.errors import DecodeError
from wiregen.schema import model as m
from wiregen.schema.walk import every_field
from wiregen.site.pages.behaviour_views import LackView, RememberedPageView
from wiregen.site.pages.chapter import Book, notes_of
from wiregen.site.pages.context_texts import (
    clearings_of,
    lack,
    limit_text,
    readers_of,
    remembered_views,
    scope_text,
    settings_of,
)
from wiregen.site.pages.exchanges import DecodedFrame, Exchange, decoded_frames, example_frame_views
from wiregen.site.pages.layout_cells import frame_around
from wiregen.site.pages.numbers import limit_phrase
from wiregen.site.pages.page_paths import Linked, context_page_name
from wiregen.site.pages.usage import contexts_asked

__all__ = ["context_page"]


def context_page(book: Book, context: m.Context) -> RememberedPageView:
    """Return the page of a context."""
    name = context.name
    origin, frames = _example(book, context)
    doings = (
        *settings_of(book, "sets it", context.settings),
        *clearings_of(book, "drops it", context.clearings),
    )
    return RememberedPageView(
        shell=book.shell(name, context_page_name(name), Linked(text=name)),
        remembered=next(each for each in remembered_views(book.protocol) if each.name == name),
        notes=notes_of(context.notes),
        facts=tuple(_facts(book, context)),
        doings=doings,
        readers=readers_of(book, context),
        lacks=tuple(_lacks(book, context)),
        wire=book.wire(context.path),
        origin=harmless(origin),
        heard=example_frame_views(book, frames),
    )


def _facts(book: Book, context: m.Context) -> Iterator[tuple[str, tuple[Linked, ...]]]:
    yield "Remembers", book.places.linked(harmless(type_text(context.type)))
    yield "Kept", (Linked(text=scope_text(context)),)
    roles = (
        "each direction sets values of its own, and only these apply to it"
        if context.role is None
        else f"the {context.role}; the values apply to both directions"
    )
    yield "Set by", (Linked(text=roles),)
    yield "At most", limit_text(book, "open", "of them")


def _lacks(book: Book, context: m.Context) -> Iterator[LackView]:
    for reader in readers_of(book, context):
        path = reader.place.text
        rules = {f"{owner}.{field.name}": field.rule for owner, field in _fields(book)}
        when = f"earlier frames did not give the layout of {path}, whose end is unknown without it"
        yield lack(book, "missing_context", when, path=path, rule=rules.get(path))
    most = limit_phrase("open", book.named.bounds)
    yield lack(book, "limit_exceeded", f"more is to be kept than {most}", path=context.name)


def _fields(book: Book) -> Iterator[tuple[str, m.Field]]:
    for owner, fields in book.usage.owners:
        for field in every_field(fields):
            yield owner, field


def _example(book: Book, context: m.Context) -> tuple[str, list[tuple[DecodedFrame, str]]]:
    """Return the first example of a message that reads the context: the frames that set it, and the message."""
    for message in book.protocol.messages:
        sample = book.samples.of(message) if _is_asked_by(book, message, context) else None
        if sample is None:
            continue
        said = (*sample.scene.before, (sample.scene.role, sample.data))
        try:
            frames = decoded_frames(book.schema, Exchange(origin="", said=said, variant=sample.scene.variant))
        except DecodeError:
            continue
        found = [(each, about) for each in frames[:-1] for about in _about(context, each)]
        if found:
            return sample.origin, [*found, (frames[-1], f"read by {context.name}")]
    return "", []


def _is_asked_by(book: Book, message: m.Message, context: m.Context) -> bool:
    frame = frame_around(book.protocol, message)
    return frame is not None and context.name in contexts_asked((*frame.fields, *message.fields))


def _about(context: m.Context, one: DecodedFrame) -> Iterator[str]:
    for setting in context.settings:
        if setting.target in one.names:
            yield f"sets {context.name}"
            return
