"""Views of state that spans several frames: joins and contexts."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from wiregen.site.diagrams.sequence_drawings import Ladder
from wiregen.site.pages.annotated_bytes import Anatomy
from wiregen.site.pages.highlighting import highlighted
from wiregen.site.pages.overview_views import ConversationView
from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.views import ConversationLineView, ListingView, NotesView, Shell

__all__ = ["DoingView", "ExampleFrameView", "LackView", "ReaderView", "RememberedPageView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoingView:
    """One effect of a message on a join or context, as the file has it.

    `field`: the source of the value, "" where it clears.
    """

    what: str
    target: Linked
    field: str
    when: str
    doc: Prose


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderView:
    """A reader of a join or context: a field whose layout depends on it, or a transition whose guard asks it."""

    place: Linked
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LackView:
    """An error that a join or context can cause."""

    code: Linked
    when: str
    rule: Linked | None
    vectors: tuple[Linked, ...]
    n_more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleFrameView:
    """A frame of an example with its annotated bytes."""

    title: Linked
    role: str
    size: int
    about: str
    anatomy: Anatomy


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedPageView:
    """The page of a join or context, `remembered`. `together`: the reassembled bytes in hexadecimal."""

    shell: Shell
    remembered: ListingView
    notes: NotesView
    facts: tuple[tuple[str, tuple[Linked, ...]], ...]
    doings: tuple[DoingView, ...]
    readers: tuple[ReaderView, ...]
    lacks: tuple[LackView, ...]
    wire: str
    origin: str = ""
    heard: tuple[ExampleFrameView, ...] = ()
    together: str = ""
    python: str = ""
    conversations: tuple[ConversationView, ...] = ()
    ladder: Ladder | None = None
    told: tuple[ConversationLineView, ...] = ()

    @property
    def wire_html(self) -> Markup:
        """Return the text of the file with its marks."""
        return highlighted(self.wire, "wire")
