"""The pages of a protocol as a reader goes through them: the groups of the sidebar, and their order.

Invariant: each page of the protocol's folder is in one group, but comparisons with others, which are linked from the overview, and
vectors, which are linked from the page of their coverage.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wiregen.schema import model as m
from wiregen.site.pages.numbers import forms_text
from wiregen.site.pages.page_paths import (
    Linked,
    Places,
    context_page_name,
    join_page_name,
    session_page_name,
)
from wiregen.site.pages.scripts import script_of

__all__ = ["PageGroup", "PageItem", "groups_of", "navigation_script", "reading_order"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageItem:
    """A page in a group. `code`: of a message, as pages show it; else ""."""

    page: Linked
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageGroup:
    """Pages below a title; a group without items is the page that `url` names, others have a heading there."""

    title: str
    url: str
    items: tuple[PageItem, ...] = ()


def groups_of(
    protocol: m.Protocol, places: Places, remembering: str, *, has_vectors: bool
) -> tuple[PageGroup, ...]:
    """Return the groups of a protocol's pages in their order; groups without pages are left out.

    `remembering`: the title of its contexts and joins.
    """
    groups = (
        *_of_messages(protocol, places),
        _named("Frames", "frames", places, (*protocol.frames, *protocol.preambles)),
        _named(
            "Types",
            "types",
            places,
            (*protocol.structs, *protocol.unions, *protocol.enums, *protocol.codings),
        ),
        PageGroup(title=remembering, url="index.html#remembered", items=tuple(_remembered(protocol))),
        PageGroup(title="Sessions", url="index.html#sessions", items=tuple(_sessions(protocol))),
    )
    single = (
        ("Rules", "rules.html", bool(protocol.rules)),
        ("Ledger", "ledger.html", bool(protocol.ledgers)),
        ("Vectors", "coverage.html", has_vectors),
    )
    return (
        PageGroup(title="Overview", url="index.html"),
        *(group for group in groups if group.items),
        *(PageGroup(title=title, url=url) for title, url, is_there in single if is_there),
    )


def reading_order(groups: tuple[PageGroup, ...]) -> tuple[Linked, ...]:
    """Return the pages one after the other."""
    return tuple(
        page
        for group in groups
        for page in ([each.page for each in group.items] or [Linked(text=group.title, url=group.url)])
    )


def navigation_script(groups: tuple[PageGroup, ...]) -> str:
    """Return the script that every page of the protocol loads: it sets one variable, with lists in place of records."""
    entries = [
        [group.title, group.url, [[each.page.text, each.page.url, each.code] for each in group.items]]
        for group in groups
    ]
    return script_of("wiregenNav", entries)


def _of_messages(protocol: m.Protocol, places: Places) -> Iterator[PageGroup]:
    """Yield the messages by sender: those of one role first, then those of both."""
    for role in (*protocol.roles, None):
        title = f"From the {role}" if role else "From either" if protocol.roles else "Messages"
        items = (
            PageItem(
                page=Linked(text=each.name, url=places.url(each.name)),
                code="" if each.code is None else forms_text(each.code, is_character=each.is_character),
            )
            for each in protocol.messages
            if each.role == role
        )
        yield PageGroup(title=title, url="index.html#messages", items=tuple(items))


def _named(
    title: str,
    place: str,
    places: Places,
    declarations: tuple[m.Frame | m.Preamble | m.Struct | m.Union | m.Enum | m.Coding, ...],
) -> PageGroup:
    items = (PageItem(page=Linked(text=each.name, url=places.url(each.name))) for each in declarations)
    return PageGroup(title=title, url=f"index.html#{place}", items=tuple(items))


def _remembered(protocol: m.Protocol) -> Iterator[PageItem]:
    named = [(each.name, context_page_name(each.name)) for each in protocol.contexts]
    named += [(each.name, join_page_name(each.name)) for each in protocol.joins]
    for name, page in named:
        yield PageItem(page=Linked(text=name, url=f"{page}.html"))


def _sessions(protocol: m.Protocol) -> Iterator[PageItem]:
    for each in protocol.sessions:
        yield PageItem(page=Linked(text=each.name, url=f"{session_page_name(each.name)}.html"))
