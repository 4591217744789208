"""The page of a session: its states as a picture, every transition in the order of the text, a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wiregen.generate.escaping import harmless
from wiregen.language.spelling import expression_text, type_text
from wiregen.schema import model as m
from wiregen.site.diagrams import SentMessage, SequenceDiagram, state_diagrams
from wiregen.site.diagrams.sequence_drawings import ladder_of, lines_of
from wiregen.site.diagrams.state_drawings import chart_of
from wiregen.site.pages.chapter import Book, notes_of
from wiregen.site.pages.conversations import ExampleConversation
from wiregen.site.pages.overview_views import ConversationView, SessionSummaryView
from wiregen.site.pages.page_paths import Linked, session_page_name
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.session_views import SessionPageView, SessionVariableView, TransitionView
from wiregen.site.pages.views import ConversationLineView

__all__ = ["conversation_lines", "conversation_views", "session_page", "session_view"]


def session_page(book: Book, session: m.Session) -> SessionPageView:
    """Return the page of a session."""
    diagram = next(each for each in state_diagrams(book.protocol) if each.session == session.name)
    legal = book.conversations.legal.get(session.name)
    examples = conversation_views(book, book.conversations.of(session.name))
    return SessionPageView(
        shell=book.shell(session.name, session_page_name(session.name), Linked(text=session.name)),
        session=session_view(session),
        notes=notes_of(session.notes),
        chart=chart_of(diagram),
        states=tuple((state.name, Prose(text=state.doc)) for state in session.states),
        variables=tuple(_variable(each) for each in session.variables),
        transitions=tuple(_transitions(book, session)),
        conversations=examples,
        ladder=None if legal is None else ladder_of(f"A conversation of {session.name}", legal),
        told=() if legal is None else conversation_lines(legal),
        hint=f"There is no conversation. {book.hint}" if book.hint and legal is None and not examples else "",
        wire=book.wire(session.path),
    )


def session_view(session: m.Session) -> SessionSummaryView:
    """Return a session in words."""
    scope = f"one for each {', '.join(session.keys)}" if session.keys else "one for a connection"
    return SessionSummaryView(
        name=session.name,
        url=f"{session_page_name(session.name)}.html",
        doc=Prose(text=session.doc),
        scope="one for each direction" if session.per_sender and not session.keys else scope,
        states=tuple(state.name for state in session.states),
    )


def conversation_views(
    book: Book, conversations: Iterable[ExampleConversation]
) -> tuple[ConversationView, ...]:
    """Return conversations of the file as pages have them."""
    return tuple(_conversation(book, each) for each in conversations)


def _conversation(book: Book, conversation: ExampleConversation) -> ConversationView:
    title, diagram = harmless(conversation.title), conversation.diagram
    return ConversationView(
        title=title,
        anchor=f"example-{conversation.number}",
        doc=Prose(text=conversation.doc),
        options=tuple(harmless(f"{name} = {value}") for name, value in conversation.options),
        told=conversation_lines(diagram),
        breaks=book.rule_link(diagram.violation),
        ladder=ladder_of(title, diagram),
    )


def conversation_lines(diagram: SequenceDiagram) -> tuple[ConversationLineView, ...]:
    """Return a conversation as text."""
    return tuple(
        ConversationLineView(
            who=line.sender if isinstance(line, SentMessage) else "",
            text=harmless(text),
            detail=harmless(detail),
        )
        for line, (text, detail) in zip(diagram.lines, lines_of(diagram), strict=True)
    )


def _variable(variable: m.Variable) -> SessionVariableView:
    kind = harmless(type_text(variable.type))
    return SessionVariableView(
        name=variable.name,
        type=f"{kind}{'[]' if variable.is_list else ''}{', an option' if variable.is_option else ''}",
        initial=harmless(expression_text(variable.initial)),
        doc=Prose(text=variable.doc),
    )


def _transitions(book: Book, session: m.Session) -> Iterator[TransitionView]:
    for row in session.rows:
        targets = book.places.linked(", ".join(row.targets)) if row.targets is not None else _any()
        guard = "" if row.when is None else harmless(expression_text(row.when))
        yield _transition(book, row, targets=targets, role=row.role or "any", guard=guard)
    for timer in session.timers:
        after = (Linked(text=harmless(f"after {expression_text(timer.after)}")),)
        yield _transition(book, timer, targets=after, role="", guard="")


def _any() -> tuple[Linked, ...]:
    return (Linked(text="any message"),)


def _transition(
    book: Book, what: m.Row | m.Timer, *, targets: tuple[Linked, ...], role: str, guard: str
) -> TransitionView:
    effect = what.effect
    match effect:
        case m.Go(state=state, updates=updates):
            comes_to, violation = state or "stays", None
            texts = tuple(harmless(f"{each.variable} = {expression_text(each.value)}") for each in updates)
        case m.Violates(name=name, is_lenient=lenient):
            comes_to, texts = ("a note; strict: refused" if lenient else "refused"), ()
            violation = book.rule_link(name)
    return TransitionView(
        states="any" if what.states is None else ", ".join(what.states),
        role=role,
        targets=targets,
        guard=guard,
        updates=texts,
        comes_to=comes_to,
        violation=violation,
        doc=Prose(text=what.doc),
    )
