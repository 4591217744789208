"""The differences of two protocols of which one names the other: messages, fields, numbers, limits.

Invariant: declarations are compared by name alone; those with the same text on both sides are not listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from wiregen.generate.escaping import harmless
from wiregen.language.spelling import type_text
from wiregen.schema import model as m
from wiregen.schema.walk import every_field
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.general_views import DifferencesView, DifferenceView
from wiregen.site.pages.layouts import constraint_text
from wiregen.site.pages.numbers import number_text
from wiregen.site.pages.page_paths import Linked, differences_page_name

__all__ = ["differences_page", "named_in"]

Fields: TypeAlias = m.Message | m.Struct | m.Frame | m.Preamble


def named_in(book: Book, books: Iterable[Book]) -> tuple[Book, ...]:
    """Return the protocols that a protocol's doc names as code: `other`."""
    named = set(re.findall(r"`([A-Za-z_][A-Za-z0-9_]*)`", book.protocol.doc)) - {book.protocol.name}
    return tuple(each for each in books if each.protocol.name in named)


def differences_page(book: Book, other: Book) -> DifferencesView:
    """Return the page of differences of `book` from `other`."""
    ours, theirs = _declared(book.protocol), _declared(other.protocol)
    shared = [name for name in ours if name in theirs]
    found = {name: tuple(_between(ours[name], theirs[name])) for name in shared}
    name = other.protocol.name
    return DifferencesView(
        shell=book.shell(
            f"Differences from {name}", differences_page_name(name), Linked(text=f"Differences from {name}")
        ),
        here=book.protocol.name,
        there=Linked(text=name, url=f"../{name}/index.html"),
        whole=tuple(_whole(book.protocol, other.protocol)),
        declarations=tuple(
            (_link(book, each), differences) for each, differences in found.items() if differences
        ),
        same=tuple(_link(book, each) for each, differences in found.items() if not differences),
        only_here=tuple(_link(book, each) for each in ours if each not in theirs),
        only_there=tuple(
            Linked(text=each, url=f"../{name}/{other.places.url(each)}")
            for each in theirs
            if each not in ours
        ),
    )


def _link(book: Book, name: str) -> Linked:
    return Linked(text=name, url=book.places.url(name))


def _declared(protocol: m.Protocol) -> dict[str, Fields | m.Enum]:
    declared: tuple[Fields | m.Enum, ...] = (
        *protocol.messages, *protocol.frames, *protocol.preambles, *protocol.structs, *protocol.enums,
    )  # fmt: skip
    return {each.name: each for each in declared}


def _whole(one: m.Protocol, other: m.Protocol) -> Iterator[DifferenceView]:
    yield from _compared("Byte order", one.endian, other.endian)
    yield from _compared("Roles", ", ".join(one.roles), ", ".join(other.roles))
    yield from _compared("After an error", one.on_error, other.on_error)
    ours, theirs = _limits(one), _limits(other)
    for name in dict.fromkeys((*ours, *theirs)):
        yield from _compared(f"limits.{name}", ours.get(name, ""), theirs.get(name, ""))


def _limits(protocol: m.Protocol) -> dict[str, str]:
    return {limit.name: number_text(limit.value) for limit in protocol.limits}


def _compared(what: str, here: str, there: str) -> Iterator[DifferenceView]:
    if here != there:
        yield DifferenceView(what=what, here=harmless(here), there=harmless(there))


def _between(one: Fields | m.Enum, other: Fields | m.Enum) -> Iterator[DifferenceView]:
    yield from _compared("kind", type(one).__name__.lower(), type(other).__name__.lower())
    if isinstance(one, m.Message) and isinstance(other, m.Message):
        yield from _compared("code", _text(one.code), _text(other.code))
        yield from _compared("sent by", one.role or "either", other.role or "either")
    ours, theirs = _parts(one), _parts(other)
    for name in dict.fromkeys((*ours, *theirs)):
        yield from _compared(name, ours.get(name, ""), theirs.get(name, ""))
    both = [name for name in ours if name in theirs]
    if both != [name for name in theirs if name in ours]:
        yield DifferenceView(what="order", here=", ".join(ours), there=", ".join(theirs))


def _text(code: int | None) -> str:
    return "" if code is None else str(code)


def _parts(declaration: Fields | m.Enum) -> dict[str, str]:
    """Return fields by name with their layouts, or members with their values."""
    if isinstance(declaration, m.Enum):
        return {member.name: str(member.value) for member in declaration.members}
    return {
        field.name: f"{type_text(field.type)} {constraint_text(field)}".strip()
        for field in every_field(declaration.fields)
    }
