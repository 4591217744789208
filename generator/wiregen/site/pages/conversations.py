"""Conversations on pages: those of the `.wire` file, then one for each session and each rule from the file of vectors.

A connection with default options accepts the conversations of the file. Of several that break a rule, one
with default options is preferred to shorter ones.

Invariant: each conversation was decoded by the reference codec while the page was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from wiregen.conformance.traces import Goal, Step, Trace, Traces
from wiregen.conformance.vectors.format import Trace as Kept
from wiregen.conformance.vectors.format import VectorFile, octets
from wiregen.language.diagnostics import error_codes
from wiregen.language.examples.conversations import TracedConversation
from wiregen.language.spelling import expression_text
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wiregen.site.diagrams import SentMessage, SequenceDiagram, conversations, sequence_diagram

__all__ = ["Conversations", "ExampleConversation", "conversations_in"]


_MOST_TURNS: Final = 4
_MOST_NAMES: Final = 3
"""The most turns, and message names in one turn, of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleConversation:
    """A conversation of the file, numbered from 1.

    `doc`: the file's, else a summary. `options`: the options that it sets. `sessions`: the sessions and joins
    of which it takes a transition.
    """

    number: int
    title: str
    doc: str
    options: tuple[tuple[str, str], ...]
    diagram: SequenceDiagram
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """`examples`: of the file. `legal`: by session or join.

    `breaking`: by the rule that the last line breaks. The latter two are found by search in the traces; an
    example that breaks a rule replaces the one found for that rule.
    """

    examples: tuple[ExampleConversation, ...] = ()
    legal: Mapping[str, SequenceDiagram] = field(default_factory=dict)
    breaking: Mapping[str, SequenceDiagram] = field(default_factory=dict)

    def of(self, session: str) -> tuple[ExampleConversation, ...]:
        """Return the examples in which a session, or a join, takes part."""
        return tuple(each for each in self.examples if session in each.sessions)


def conversations_in(
    traced: Iterable[TracedConversation], schema: Schema, file: VectorFile | None
) -> Conversations:
    """Return the conversations of a protocol: those of its file and those of its traces."""
    examples = tuple(_example(schema, number, each) for number, each in enumerate(traced, 1))
    breaking = {each.diagram.violation: each.diagram for each in reversed(examples) if each.diagram.violation}
    searched = _searched(schema, file)
    return Conversations(examples=examples, legal=searched.legal, breaking={**searched.breaking, **breaking})


def _example(schema: Schema, number: int, traced: TracedConversation) -> ExampleConversation:
    conversation, diagram = traced.conversation, sequence_diagram(schema, traced.trace)
    return ExampleConversation(
        number=number,
        title=conversation.name,
        doc=conversation.doc or _summary(diagram),
        options=tuple((each.name, expression_text(each.value)) for each in conversation.options),
        diagram=diagram,
        sessions=frozenset(goal.session for goal in traced.trace.covers if goal.session),
    )


def _summary(diagram: SequenceDiagram) -> str:
    """Return who sends which messages, in a sentence; "" where it would be too long and the list of steps is clearer."""
    said = [line for line in diagram.lines if isinstance(line, SentMessage)]
    turns = [
        (sender, [(name, len(list(same))) for name, same in groupby(lines, lambda line: line.message)])
        for sender, lines in groupby(said, lambda line: line.sender)
    ]
    if not turns or len(turns) > _MOST_TURNS or any(len(names) > _MOST_NAMES for _, names in turns):
        return ""
    clauses = (f"the {sender} sends {_listed(names)}" for sender, names in turns)
    text = ", then ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


def _listed(names: list[tuple[str, int]]) -> str:
    *first, last = (f"`{name}`" if count == 1 else f"{count} × `{name}`" for name, count in names)
    return f"{', '.join(first)} and {last}" if first else last


def _searched(schema: Schema, file: VectorFile | None) -> Conversations:
    traces_ = [each for each in file.vectors if isinstance(each, Kept)] if file is not None else []
    kept = [each for each in traces_ if each.source != "example"]
    faults = set(error_codes())
    legal = [trace for each in kept if _is_clean(each) and (trace := _read(schema, each)) is not None]
    traces = Traces(protocol=schema.name, traces=tuple(legal), goals=(), missing=())
    breaking: dict[str, SequenceDiagram] = {}
    for each in sorted(kept, key=lambda one: (bool(one.options), len(one.steps))):
        if each.violation is None or each.violation in faults or each.violation in breaking:
            continue
        trace = _read(schema, each)
        if trace is not None:
            breaking[each.violation] = sequence_diagram(schema, trace)
    return Conversations(legal=conversations(schema, traces), breaking=breaking)


def _is_clean(kept: Kept) -> bool:
    """Return whether a conversation breaks no rule, not even a tolerated one."""
    return kept.violation is None and not any(step.violations for step in kept.steps)


def _read(schema: Schema, kept: Kept) -> Trace | None:
    """Return a trace with its frames decoded; None where one is not whole, or the file is from another state of the protocol."""
    try:
        steps = tuple(_steps(schema, kept))
    except (DecodeError, KeyError):
        return None
    if len(steps) != len(kept.steps):
        return None
    return Trace(
        id=kept.id,
        protocol=schema.name,
        steps=steps,
        covers=tuple(Goal(kind="row", session=_session_of(each)) for each in kept.covers),
        violation=kept.violation,
        by=kept.steps[-1].from_role if kept.steps else None,
        options=kept.options,
        limits=kept.limits,
    )


def _steps(schema: Schema, kept: Kept) -> Iterator[Step]:
    context = Context(schema, limits=kept.limits)
    decoders = {
        role: reference_decoder(
            schema, Options(role, context=context, limits=kept.limits, variant=kept.variant), context=context
        )
        for role in schema.roles
    }
    for step in kept.steps:
        data = octets(step.bytes)
        if not data:
            yield Step(kind="eof" if step.eof else "tick", role=step.from_role, at=step.at)
        for node in decoders[step.from_role or ""].feed(data) if data else ():
            yield Step(kind="message", role=step.from_role, at=step.at, data=data, value=node.value)


def _session_of(goal: str) -> str:
    """Return the session, or join, that the text of a goal names: `Transfer in waiting: …`."""
    return goal.partition(":")[0].partition(" in ")[0]
