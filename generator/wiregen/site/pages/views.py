"""What the templates of the site print: facts decided, texts chosen, nothing left to compute."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.generate.emitter import in_cell, markdown
from wiregen.site.diagrams.layout_drawings import Diagram
from wiregen.site.pages.annotated_bytes import Anatomy
from wiregen.site.pages.page_paths import Linked, linked_md
from wiregen.site.pages.prose import Prose

__all__ = [
    "CarriedView",
    "DeclarationView",
    "FaultView",
    "InsideMemberView",
    "InsideView",
    "InsideViews",
    "LayoutView",
    "LedgerPageView",
    "LedgerView",
    "ListingView",
    "MemberView",
    "MessageView",
    "NotesView",
    "RowView",
    "RuleView",
    "RulesPageView",
    "SaidView",
    "SampleView",
    "Shell",
    "SnippetView",
    "ToldView",
    "TypeView",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """What every page has: `root` leads to the site's folder, `here` is the page's own name without its suffix."""

    title: str
    root: str
    here: str
    crumbs: tuple[Linked, ...]
    sections: tuple[Linked, ...]

    @property
    def url(self) -> str:
        """The page's own name, as a section of its folder links to it."""
        return f"{self.here}.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesView:
    """The annotations of a declaration or field."""

    sources: tuple[str, ...]
    assumed: Prose
    errata: Prose
    deprecated: Prose
    since: str
    is_secret: bool

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """What there is of them as Markdown in one line each, with its name."""
        named = (
            *(("Source", in_cell(markdown(source))) for source in self.sources),
            ("Since", in_cell(markdown(self.since))),
            ("Deprecated", self.deprecated.cell),
            ("Assumed", self.assumed.cell),
            # A dash, not a colon: what the file says may have one of its own.
            ("Erratum", f"the document says otherwise — {self.errata.cell}" if self.errata else ""),
            ("Secret", "never shown" if self.is_secret else ""),
        )
        return tuple((name, text) for name, text in named if text)

    @property
    def cell(self) -> str:
        """The same as sentences in a cell of a table."""
        return " ".join(f"{name}: {text.rstrip('.')}." for name, text in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowView:
    """A line of a field table; `part`: 0 to 5, the hue of its bytes in the example."""

    key: str
    anchor: str
    offset: str
    size: str
    name: str
    owner: str
    type: tuple[Linked, ...]
    constraint: str
    default: str
    doc: Prose
    notes: NotesView
    is_header: bool
    rules: tuple[Linked, ...]

    @property
    def type_text(self) -> str:
        return "".join(part.text for part in self.type)

    @property
    def type_md(self) -> str:
        return linked_md(self.type)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutView:
    """The same layout five times. `uid` keeps the tabs of a page apart."""

    uid: str
    diagram: Diagram
    notation: str
    ascii: str
    rows: tuple[RowView, ...]
    size: str
    byte_order: str
    legend: tuple[Prose, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InsideMemberView:
    """A number of an enum, union, coding or frame, what it stands for, and the fields that follow it."""

    number: str
    name: Linked
    holds: tuple[Linked, ...]
    doc: Prose

    @property
    def holds_md(self) -> str:
        return linked_md(self.holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsideView:
    """A named type that a message holds: the rows of a struct, or the members of what a number chooses."""

    title: Linked
    kind: str
    base: str
    is_open: bool
    doc: Prose
    rows: tuple[RowView, ...]
    members: tuple[InsideMemberView, ...]
    legend: tuple[Prose, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InsideViews:
    """The types that a message holds; `others` are too large for its page."""

    shown: tuple[InsideView, ...]
    others: tuple[Linked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedView:
    """The bytes of a sample in another serialization."""

    name: str
    size: int
    hex: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SnippetView:
    title: str
    text: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleView:
    origin: str
    role: str
    size: int
    before: tuple[tuple[str, str], ...]
    anatomy: Anatomy
    hex: str
    play: str
    """What the playground's link holds behind `#`."""
    carried: tuple[CarriedView, ...]
    snippets: tuple[SnippetView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultView:
    code: Linked
    place: Linked
    when: str
    rule: Linked | None
    is_strict: bool
    vectors: tuple[str, ...]
    n_more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidView:
    session: Linked
    states: str
    role: str
    when: str
    comes_to: str
    violation: Linked | None
    note: Prose


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclarationView:
    """What all declarations have."""

    name: str
    kind: str
    doc: Prose
    notes: NotesView
    wire: str
    uses: tuple[Linked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """The page of a message, or of anything else that is fields in a row."""

    shell: Shell
    declaration: DeclarationView
    direction: str
    code: str
    frame: Linked | None
    layout: LayoutView
    inside: InsideViews
    sample: SampleView | None
    no_sample: str
    """Why there is none, where one would be looked for."""
    faults: tuple[FaultView, ...]
    also: tuple[Linked, ...]
    rules: tuple[RuleView, ...]
    said: tuple[SaidView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """A member of an enum, a width of a coding, or a variety of a union with its layout."""

    name: str
    anchor: str
    number: str
    doc: Prose
    notes: NotesView
    layout: LayoutView | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeView:
    """The page of an enum, a union or a coding."""

    shell: Shell
    declaration: DeclarationView
    base: str
    is_open: bool
    members: tuple[MemberView, ...]
    reserved: tuple[tuple[str, Prose], ...]
    rule: Linked | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldView:
    """A line of a conversation as text."""

    who: str
    text: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleView:
    number: int
    name: str
    url: str
    text: Prose
    notes: NotesView
    receiver: tuple[str, ...]
    vectors: tuple[str, ...]
    n_more: int
    by_code: str
    """The codes that the vectors are refused with, where none says by name that it breaks the rule."""
    told: tuple[ToldView, ...] = ()
    """A conversation whose last line breaks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesPageView:
    shell: Shell
    rules: tuple[RuleView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerView:
    id: str
    anchor: str
    title: str
    document: Prose
    peers: Prose
    decision: Prose
    reason: Prose
    about: tuple[Linked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerPageView:
    shell: Shell
    entries: tuple[LedgerView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingView:
    """A line of an index of declarations."""

    name: str
    url: str
    kind: str
    code: str
    direction: str
    size: str
    doc: Prose
    is_deprecated: bool = False

    @property
    def twin(self) -> str:
        """The way to its page in Markdown."""
        return self.url.removesuffix(".html") + ".md"
