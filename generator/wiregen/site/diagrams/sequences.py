"""Sequence diagrams as data: one conversation, made from a trace.

Each line has a sender, a receiver and a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from wiregen.conformance.traces import Step, Trace, Traces
from wiregen.runtime.records.frames import frame_record
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.sessions import Go, Session

__all__ = ["Happening", "SentMessage", "SequenceDiagram", "conversations", "sequence_diagram"]

_MOST_FIELDS: Final = 3
_LONGEST_VALUE: Final = 24
_HAPPENINGS: Final = {"tick": "time passes", "eof": "sends nothing more", "close": "closes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message from one side to the other.

    `fields`: names and values of the first few scalar fields, as in a decoded line. `violations`: the rules
    that it breaks, also tolerated ones, where the trace lists them.
    """

    at: float
    sender: str
    receiver: str
    message: str
    fields: tuple[tuple[str, str], ...]
    violations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """A line without a message. `role`: the role that causes it, if any."""

    at: float
    role: str | None
    text: str
    violations: tuple[str, ...] = ()


Line: TypeAlias = SentMessage | Happening


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceDiagram:
    """One conversation from its first byte.

    `violation`: the rule that its last line breaks; `by`: the role that breaks it; `id`: of the trace.
    """

    id: str
    participants: tuple[str, ...]
    lines: tuple[Line, ...]
    violation: str | None
    by: str | None


def conversations(schema: Schema, traces: Traces) -> dict[str, SequenceDiagram]:
    """Return one conversation for each session and join that is legal with the default values of all options.

    A candidate contains messages of the session. After preambles it begins with a message of the protocol's
    first role, which by custom connects. The candidate with most messages of the session is chosen; among
    equals, one in which both sides send.
    """
    best: dict[str, tuple[tuple[int, ...], SequenceDiagram]] = {}
    own = {name: _said_in(session) for name, session in schema.sessions.items()}
    for trace in traces.traces:
        if trace.violation is not None or trace.options:
            continue
        diagram = sequence_diagram(schema, trace)
        said = [line for line in diagram.lines if isinstance(line, SentMessage)]
        names = {line.message for line in said}
        speakers = {line.sender for line in said}
        first = next((line.sender for line in said if line.message not in schema.preambles), None)
        covered = {goal.session for goal in trace.covers if goal.session}
        for session in sorted(covered | {name for name, messages in own.items() if names & messages}):
            n_own = len(names & own.get(session, names))
            worth = (
                n_own > 0,
                first == schema.roles[0],
                n_own,
                len(speakers),
                session in covered,
                len(names),
                -len(diagram.lines),
            )
            if session not in best or worth > best[session][0]:
                best[session] = (worth, diagram)
    return {session: diagram for session, (_, diagram) in best.items()}


def _said_in(session: Session) -> frozenset[str]:
    """Return the messages that the allowed transitions of a session name."""
    allowed = (row.targets for row in session.rows if row.targets and isinstance(row.effect, Go))
    return frozenset(name for targets in allowed for name in targets)


def sequence_diagram(schema: Schema, trace: Trace) -> SequenceDiagram:
    """Return the diagram of a trace."""
    return SequenceDiagram(
        id=trace.id,
        participants=tuple(schema.roles),
        lines=tuple(_line(schema, step) for step in trace.steps),
        violation=trace.violation,
        by=trace.by,
    )


def _line(schema: Schema, step: Step) -> Line:
    if step.kind != "message":
        return Happening(at=step.at, role=step.role, text=_HAPPENINGS[step.kind], violations=step.violations)
    assert step.role is not None
    record = frame_record(schema, step.value)
    return SentMessage(
        at=step.at,
        sender=step.role,
        receiver=next((role for role in schema.roles if role != step.role), step.role),
        message=record["message"],
        fields=tuple(_plain_fields(record.get("fields", {})))[:_MOST_FIELDS],
        violations=step.violations,
    )


def _plain_fields(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        text = (
            str(value).lower()
            if isinstance(value, bool)
            else str(value) if isinstance(value, int | str) else ""
        )
        if text:
            yield name, text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
