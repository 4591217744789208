"""Conversations: examples of several steps, each a message from a role or a time that passes."""

from collections.abc import Iterable, Iterator
from typing import Final

from wiregen.language import syntax
from wiregen.language.resolver.annotations import resolve_notes
from wiregen.language.resolver.constructors import SentType, Shelf, build
from wiregen.language.resolver.examples import violations_of
from wiregen.language.resolver.names import PlacedName, refuse_duplicates
from wiregen.language.resolver.settings import measured
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model

_OWN_VIOLATIONS: Final = ("unexpected_message", "wrong_role", "wrong_kind", "limit_exceeded")
"""The violations that sessions report in every protocol; a file adds its own names."""


def resolve_conversations(
    work: Workspace,
    nodes: Iterable[tuple[syntax.Conversation, str | None]],
    shelves: dict[str | None, Shelf],
    sessions: tuple[model.Session, ...],
) -> tuple[model.Conversation, ...]:
    """Return the conversations, each with the variant that contains it."""
    return tuple(
        _conversation(shelves[variant], node, variant, f"{work.path}.conversations[{index}]", sessions)
        for index, (node, variant) in enumerate(nodes)
    )


def _conversation(
    shelf: Shelf,
    node: syntax.Conversation,
    variant: str | None,
    path: str,
    sessions: tuple[model.Session, ...],
) -> model.Conversation:
    work = shelf.work
    work.place(path, node.span, name=node.name.span)
    resolve_notes(work, node.annotations)
    steps = tuple(_steps(shelf, node, path))
    _demand_content(work, node, sessions)
    return model.Conversation(
        path=path,
        name=node.name.value,
        doc=node.docs,
        variant=variant,
        options=tuple(_options(shelf, node, path, sessions)),
        steps=steps,
    )


def _demand_content(work: Workspace, node: syntax.Conversation, sessions: tuple[model.Session, ...]) -> None:
    if not sessions:
        message = "a conversation needs a session, and this file has none"
        help_ = 'declare a `session`, or write an example with bytes: `example "…" VALUE = x"…"`'
        work.error("WG2408", message, node.name.span, label="a conversation", help_=help_)
    elif not any(isinstance(line, syntax.ConversationStep) for line in node.lines):
        help_ = "write a role and its message in each line: `client Hello(1)`"
        work.error("WG2408", "this conversation has no steps", node.name.span, help_=help_)


# ---- options


def _options(
    shelf: Shelf, node: syntax.Conversation, path: str, sessions: tuple[model.Session, ...]
) -> Iterator[model.ConversationOption]:
    work = shelf.work
    known = {each.name: each for session in sessions for each in session.variables if each.is_option}
    lines = [line for line in node.lines if isinstance(line, syntax.ConversationOption)]
    refuse_duplicates((PlacedName(name=line.name, what="option") for line in lines), work.report)
    for line in lines:
        option = known.get(line.name.text)
        if option is None:
            report_unknown(line.name, "option", known, work.report, help_="no session has an `option`")
            continue
        work.refer(line.name, work.origins.get(f"{option.path}#name"))
        if option.is_list or isinstance(option.type, model.Bytes | model.Uuid):
            message = f"a conversation cannot set `{option.name}`"
            help_ = "set options that are numbers, Booleans, members of an enum or texts"
            work.error("WG2408", message, line.name.span, label="option of another type", help_=help_)
            continue
        value = build(shelf, line.value, option.type)
        if isinstance(value, model.Number | model.Truth | model.String):
            work.place(f"{path}.{option.name}", line.span, value=line.value.span)
            yield model.ConversationOption(name=option.name, value=value)


# ---- steps


def _steps(
    shelf: Shelf, node: syntax.Conversation, path: str
) -> Iterator[model.ConversationStep | model.ConversationPause]:
    lines = [line for line in node.lines if not isinstance(line, syntax.ConversationOption)]
    for index, line in enumerate(lines):
        place = f"{path}.steps[{index}]"
        shelf.work.place(place, line.span)
        if line.violation is not None:
            _check_violation(shelf.work, line.violation.name)
        if isinstance(line, syntax.ConversationPause):
            yield _pause(shelf.work, line, place)
            continue
        step = _step(shelf, line, place)
        if step is not None:
            yield step


def _check_violation(work: Workspace, name: syntax.Name) -> None:
    known = {*_OWN_VIOLATIONS, *work.rules, *violations_of(work)}
    if name.text not in known:
        report_unknown(name, "rule of a session", sorted(known), work.report)
    work.refer(name, work.place_of_rule(name.text))


def _pause(work: Workspace, node: syntax.ConversationPause, path: str) -> model.ConversationPause:
    duration, unit = measured(node.duration)
    if unit != "ms":
        message = "the argument of `after` is not a time"
        work.error("WG2408", message, node.duration.span, label="not a time", help_="write `after 30 s`")
    violation = None if node.violation is None else node.violation.name.text
    return model.ConversationPause(path=path, duration=duration, violation=violation)


def _step(shelf: Shelf, node: syntax.ConversationStep, path: str) -> model.ConversationStep | None:
    roles = shelf.work.settings.roles
    if node.role.text not in roles:
        report_unknown(node.role, "role", roles, shelf.work.report)
    shelf.work.refer(node.role, shelf.work.settings.role_places.get(node.role.text))
    value = build(shelf, node.value, SentType())
    if not isinstance(value, model.Construct):
        return None
    if node.violation is None and node.role.text in roles:
        _check_sender(shelf, node, value)
    violation = None if node.violation is None else node.violation.name.text
    return model.ConversationStep(path=path, role=node.role.text, value=value, violation=violation)


def _check_sender(shelf: Shelf, node: syntax.ConversationStep, value: model.Construct) -> None:
    """Report a step whose role never sends its message."""
    for name, role in _senders(shelf, value):
        if role not in (None, node.role.text):
            message = f"`{name}` is sent by the {role}, not by the {node.role.text}"
            help_ = f"write `{role}` before it, or add the rule that it breaks: `violates RULE`"
            shelf.work.error("WG2408", message, node.role.span, label="wrong role", help_=help_)
            return


def _senders(shelf: Shelf, value: model.Construct) -> Iterator[tuple[str, str | None]]:
    """Yield the frame and its message, each with the role that sends it, or None if both roles do."""
    record = shelf.records[value.name]
    if isinstance(record, model.Message | model.Preamble | model.Frame):
        yield record.name, record.role
    if isinstance(record, model.Frame):
        inner = next((each.value for each in value.fields if each.name == record.message), None)
        if isinstance(inner, model.Construct):
            yield from _senders(shelf, inner)
