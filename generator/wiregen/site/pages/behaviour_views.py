"""Views of what frames say together: joins and contexts."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.site.diagrams.sequence_drawings import Ladder
from wiregen.site.pages.annotated_bytes import Anatomy
from wiregen.site.pages.overview_views import ConversationView
from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.views import ListingView, NotesView, Shell, ToldView

__all__ = ["DoingView", "HeardView", "LackView", "ReaderView", "RememberedPageView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoingView:
    """What a message does to it: a line of its text in the file. `field`: what it gives, "" where it takes something away."""

    what: str
    target: Linked
    field: str
    when: str
    doc: Prose


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderView:
    """Who asks it: a field by what it is laid as, or a row of a session by its condition."""

    place: Linked
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LackView:
    """An error that is its own."""

    code: Linked
    when: str
    rule: Linked | None
    vectors: tuple[str, ...]
    n_more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardView:
    """A frame of an example, its bytes taken apart."""

    title: Linked
    role: str
    size: int
    about: str
    anatomy: Anatomy


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedPageView:
    """The page of a join or context, which `remembered` names. `together`: in hexadecimal, what pieces are when they are joined."""

    shell: Shell
    remembered: ListingView
    notes: NotesView
    facts: tuple[tuple[str, tuple[Linked, ...]], ...]
    doings: tuple[DoingView, ...]
    readers: tuple[ReaderView, ...]
    lacks: tuple[LackView, ...]
    wire: str
    origin: str = ""
    heard: tuple[HeardView, ...] = ()
    together: str = ""
    python: str = ""
    conversations: tuple[ConversationView, ...] = ()
    ladder: Ladder | None = None
    told: tuple[ToldView, ...] = ()
