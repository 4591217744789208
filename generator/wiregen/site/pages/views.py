"""The data that the templates of the site print; a template computes no facts and chooses no texts."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from wiregen.generate.escaping import in_cell, markdown
from wiregen.site.diagrams.layout_drawings import Diagram
from wiregen.site.pages.annotated_bytes import Anatomy
from wiregen.site.pages.highlighting import highlighted
from wiregen.site.pages.page_paths import PLAYGROUND, Linked, linked_md
from wiregen.site.pages.prose import Prose

__all__ = [
    "CarriedView",
    "ConversationLineView",
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
    "TypeView",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """The parts of every page. `root`: the path to the site's folder.

    `here`: the page's name without its suffix; `has_tree`: whether the folder has a script of navigation and styles of print;
    `before`, `after`: the neighbours in the order of reading; `has_twins`: whether it exists in Markdown and JSON too;
    `has_playground`: whether the playground opens links to bytes.
    """

    title: str
    root: str
    here: str
    crumbs: tuple[Linked, ...]
    sections: tuple[Linked, ...]
    has_tree: bool = False
    before: Linked | None = None
    after: Linked | None = None
    has_twins: bool = True
    has_playground: bool = False

    @property
    def playground(self) -> str:
        """Return the path of the playground's page."""
        return f"{self.root}{PLAYGROUND}/index.html"

    @property
    def playground_twin(self) -> str:
        """Return the path of the same page in Markdown."""
        return f"{self.root}{PLAYGROUND}/index.md"

    @property
    def url(self) -> str:
        """Return the page's own file name, for links inside its folder."""
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
        """Return each annotation that is present: its name, and its text as one line of Markdown."""
        named = (
            *(("Source", in_cell(markdown(source))) for source in self.sources),
            ("Since", in_cell(markdown(self.since))),
            ("Deprecated", self.deprecated.cell),
            ("Assumed", self.assumed.cell),
            # A dash, not a colon: the text of the file may contain a colon.
            ("Erratum", f"the document says otherwise — {self.errata.cell}" if self.errata else ""),
            ("Secret", "never shown" if self.is_secret else ""),
        )
        return tuple((name, text) for name, text in named if text)

    @property
    def cell(self) -> str:
        """Return the annotations as sentences for a cell of a table."""
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
    """One layout in five forms. `uid`: a prefix that keeps the ids of several layouts on a page different."""

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
    """A number of an enum, union, coding or frame, its meaning, and the fields that follow it."""

    number: str
    name: Linked
    holds: tuple[Linked, ...]
    doc: Prose

    @property
    def holds_md(self) -> str:
        return linked_md(self.holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsideView:
    """A named type inside a message: the rows of a struct, or the members that a number selects."""

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
    """The types inside a message; `others`: types that are too large for its page."""

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

    @property
    def html(self) -> Markup:
        return highlighted(self.text, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleView:
    origin: str
    role: str
    size: int
    before: tuple[tuple[str, str], ...]
    anatomy: Anatomy
    hex: str
    play: str
    """The fragment of the playground's link, after `#`."""
    carried: tuple[CarriedView, ...]
    snippets: tuple[SnippetView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultView:
    code: Linked
    place: Linked
    when: str
    rule: Linked | None
    is_strict: bool
    vectors: tuple[Linked, ...]
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
    """The parts that all declarations have."""

    name: str
    kind: str
    doc: Prose
    notes: NotesView
    wire: str
    uses: tuple[Linked, ...]

    @property
    def wire_html(self) -> Markup:
        """Return the text of the file with its marks."""
        return highlighted(self.wire, "wire")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCodesView:
    """The treatment of a message whose code is unknown; `refusal`: the error of a receiver that refuses it."""

    are_kept: bool
    refusal: Linked


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """The page of a message, or of another declaration of fields."""

    shell: Shell
    declaration: DeclarationView
    direction: str
    code: str
    unknown: UnknownCodesView | None
    frame: Linked | None
    layout: LayoutView
    inside: InsideViews
    sample: SampleView | None
    no_sample: str
    """Why there is no sample, where a reader may expect one."""
    faults: tuple[FaultView, ...]
    also: tuple[Linked, ...]
    rules: tuple[RuleView, ...]
    said: tuple[SaidView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """A member of an enum, a width of a coding, or an alternative of a union with its fields and their size."""

    name: str
    anchor: str
    number: str
    doc: Prose
    notes: NotesView
    layout: LayoutView | None = None
    size: str = ""
    holds: tuple[Linked, ...] = ()
    text: str = ""

    @property
    def holds_md(self) -> str:
        return linked_md(self.holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeView:
    """The page of an enum, a union or a coding. `refusal`: the code with which a receiver refuses unknown numbers."""

    shell: Shell
    declaration: DeclarationView
    base: str
    is_open: bool
    refusal: Linked | None
    members: tuple[MemberView, ...]
    reserved: tuple[tuple[str, Prose], ...]
    rule: Linked | None

    @property
    def is_union(self) -> bool:
        return self.declaration.kind == "union"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationLineView:
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
    vectors: tuple[Linked, ...]
    n_more: int
    by_code: str
    """The codes of the refused vectors, where no vector names the rule."""
    told: tuple[ConversationLineView, ...] = ()
    """A conversation whose last line breaks it."""

    @property
    def n_vectors(self) -> int:
        return len(self.vectors) + self.n_more


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
        """Return the path of its page in Markdown."""
        return self.url.removesuffix(".html") + ".md"
