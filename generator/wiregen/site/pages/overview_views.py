"""Views for the templates of overviews: a protocol's page, its limits, constants and conversations, and the home page."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.site.diagrams.sequence_drawings import Ladder
from wiregen.site.pages.page_paths import Linked, linked_md
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.views import ConversationLineView, ListingView, NotesView, SampleView, Shell

__all__ = [
    "AliasView",
    "ConstView",
    "ConversationView",
    "FeaturedView",
    "HomeView",
    "LimitView",
    "ProtocolView",
    "SessionSummaryView",
    "VectorsView",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasView:
    """A `type` of the file: another name of a type."""

    name: str
    type: tuple[Linked, ...]
    doc: Prose
    notes: NotesView
    rule: Linked | None

    @property
    def type_text(self) -> str:
        return "".join(part.text for part in self.type)

    @property
    def type_md(self) -> str:
        return linked_md(self.type)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitView:
    name: str
    value: str
    doc: Prose
    notes: NotesView
    rule: Linked | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstView:
    name: str
    value: str
    doc: Prose
    notes: NotesView


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummaryView:
    """A session in words, with a link to its page."""

    name: str
    url: str
    doc: Prose
    scope: str
    states: tuple[str, ...]

    @property
    def twin(self) -> str:
        return self.url.removesuffix(".html") + ".md"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationView:
    """An example of several steps.

    `options`: the options that it sets; `breaks`: the rule that its last line breaks.
    """

    title: str
    anchor: str
    doc: Prose
    options: tuple[str, ...]
    told: tuple[ConversationLineView, ...]
    breaks: Linked | None
    ladder: Ladder


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorsView:
    url: str
    counts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolView:
    shell: Shell
    name: str
    doc: Prose
    notes: NotesView
    sources: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    roles: tuple[tuple[str, tuple[ListingView, ...]], ...]
    by_code: tuple[ListingView, ...]
    is_long: bool
    """Whether there are so many messages that each has one line only, by code."""
    frames: tuple[ListingView, ...]
    types: tuple[ListingView, ...]
    aliases: tuple[AliasView, ...]
    limits: tuple[LimitView, ...]
    constants: tuple[ConstView, ...]
    reserved: tuple[tuple[str, Prose], ...]
    sessions: tuple[SessionSummaryView, ...]
    n_rules: int
    n_ledger: int
    vectors: VectorsView | None
    hint: str
    """How to make vectors, where there are none."""
    differences: tuple[Linked, ...]
    remembering: str = ""
    remembered: tuple[ListingView, ...] = ()
    """Contexts and joins, below the heading."""
    conversations: tuple[ConversationView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturedView:
    """The frame on the first page; `message`: the page of its message."""

    message: Linked
    protocol: str
    sample: SampleView


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeView:
    """The first page; `read`, `write`: the entrances for readers of a protocol and authors of one.

    The `pages` list every page of each protocol, for programs that follow links.
    """

    shell: Shell
    read: Linked | None
    write: Linked | None
    featured: FeaturedView | None
    protocols: tuple[ListingView, ...]
    pages: tuple[tuple[str, tuple[ListingView, ...]], ...]
    guide: tuple[Linked, ...] = ()
