"""Views of a session's page: the transitions of each state, and their effects."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from wiregen.site.diagrams.sequence_drawings import Ladder
from wiregen.site.diagrams.state_drawings import Chart
from wiregen.site.pages.highlighting import highlighted
from wiregen.site.pages.overview_views import ConversationView, SessionSummaryView
from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.views import ConversationLineView, NotesView, Shell

__all__ = ["SessionPageView", "SessionVariableView", "TransitionView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionView:
    """A transition or a timer. `targets`: the messages; of a timer, its delay.

    `comes_to` and `violation`: the effect.
    """

    states: str
    role: str
    targets: tuple[Linked, ...]
    guard: str
    updates: tuple[str, ...]
    comes_to: str
    violation: Linked | None
    doc: Prose

    @property
    def said(self) -> str:
        return "".join(part.text for part in self.targets)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionVariableView:
    name: str
    type: str
    initial: str
    doc: Prose

    @property
    def type_text(self) -> str:
        return self.type


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPageView:
    """The page of a session.

    `conversations`: those of the file in which it takes part; `told`: one found by search, as text.
    """

    shell: Shell
    session: SessionSummaryView
    notes: NotesView
    chart: Chart
    states: tuple[tuple[str, Prose], ...]
    variables: tuple[SessionVariableView, ...]
    transitions: tuple[TransitionView, ...]
    conversations: tuple[ConversationView, ...]
    ladder: Ladder | None
    told: tuple[ConversationLineView, ...]
    hint: str
    """How to make a conversation, where there is none."""
    wire: str

    @property
    def wire_html(self) -> Markup:
        """Return the text of the file with its marks."""
        return highlighted(self.wire, "wire")
