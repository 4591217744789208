"""The conversations of a file, run through its sessions by the reference codec: a wrong one stops a build.

Invariant: a trace that is made here is correct where lenient violations are tolerated; there all its steps
but the last are legal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wiregen.language.diagnostics import Report, Span
from wiregen.language.examples.connection_state import ConnectionState, Outcome, Setup
from wiregen.language.examples.construction import Constructs
from wiregen.language.examples.replaying import culprit, done, replayed
from wiregen.language.examples.trace import Step, Trace
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.sessions.events import Violation
from wiregen.runtime.sessions.table import Program
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.lowering import lower

__all__ = ["TracedConversation", "check_conversations", "told_conversations"]

Line = m.ConversationStep | m.ConversationPause


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedConversation:
    """A conversation of a file, with its conversation trace."""

    conversation: m.Conversation
    trace: Trace


def check_conversations(protocol: m.Protocol, origins: Mapping[str, Span], report: Report) -> None:
    """Report every conversation that contradicts its sessions."""
    player = _Player(protocol) if protocol.conversations else None
    for conversation in protocol.conversations:
        assert player is not None
        fault = player.fault(conversation)
        if fault is not None:
            message = f"the conversation is wrong: {fault.message}"
            report.error("WG5007", message, origins.get(fault.path), label=fault.label, help=fault.help)


def told_conversations(protocol: m.Protocol) -> tuple[TracedConversation, ...]:
    """Return the conversations of a checked file as traces, in the order of the text."""
    if not protocol.conversations:
        return ()
    player = _Player(protocol)
    return tuple(
        TracedConversation(conversation=each, trace=player.trace(each)) for each in protocol.conversations
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fault:
    """A wrong statement of a conversation, and its place."""

    path: str
    message: str
    label: str = ""
    help: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Played:
    line: Line
    step: Step
    outcome: Outcome


class _Player:
    """Runs the conversations of one protocol."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._protocol = protocol
        self._schema = lower(protocol)
        self._program = Program(self._schema)
        self._constructs = Constructs(protocol)

    def fault(self, conversation: m.Conversation) -> _Fault | None:
        """Return the first wrong statement, or None if the conversation is correct."""
        last = conversation.steps[-1]
        for played in self._play(conversation):
            fault = played if isinstance(played, _Fault) else _untrue(played, is_last=played.line is last)
            if fault is not None:
                return fault
        return None

    def trace(self, conversation: m.Conversation) -> Trace:
        """Return the trace of a correct conversation."""
        played = [each for each in self._play(conversation) if isinstance(each, _Played)]
        outcomes, last = [each.outcome for each in played], played[-1]
        steps = tuple(done(each.step, each.outcome) for each in played)
        setup = self._setup(conversation)
        _, strict = replayed(replace(setup, is_strict=True), steps)
        names = _names(last.outcome.broken)
        violation = last.line.violation if last.line.violation in names else next(iter(names), None)
        return Trace(
            id="",
            protocol=self._protocol.name,
            steps=steps,
            covers=tuple(dict.fromkeys(goal for each in outcomes for goal in each.met)),
            violation=violation,
            by=None if violation is None else culprit(violation, last.outcome, last.step),
            others=tuple(each for each in names if each != violation),
            notes=tuple(each.name for each in last.outcome.violations if each.lenient),
            is_strict=all(map(_is_same, outcomes, strict)),
            is_lenient=True,
            options=setup.options,
            limits={},
            title=conversation.name,
            variant=conversation.variant,
        )

    def _play(self, conversation: m.Conversation) -> Iterator[_Played | _Fault]:
        """Yield the steps with their effects, up to one that cannot be written."""
        world = ConnectionState(self._setup(conversation))
        for line in conversation.steps:
            try:
                step = self._step(line, world)
            except EncodeError as error:
                yield _Fault(path=line.path, message=f"the value cannot be written: {error}")
                return
            yield _Played(line=line, step=step, outcome=world.take(step))

    def _setup(self, conversation: m.Conversation) -> Setup:
        return Setup(
            schema=self._schema,
            program=self._program,
            is_strict=False,
            options={each.name: each.value.value for each in conversation.options},
            limits={},
            variant=conversation.variant,
        )

    def _step(self, line: Line, world: ConnectionState) -> Step:
        if isinstance(line, m.ConversationPause):
            return Step(kind="tick", role=None, at=world.now + line.duration / 1000)
        # A message that only the other role sends is written in that role's layout.
        writer = self._constructs.owner(line.value) or line.role
        options = Options(writer, context=world.context, variant=world.setup.variant)
        value = self._constructs.frame(line.value, line.role)
        data = write_frame(self._schema, value, options, compression=0)
        return Step(kind="message", role=line.role, at=world.now, data=data)


def _untrue(played: _Played, *, is_last: bool) -> _Fault | None:
    """Return the effect of a step that the conversation does not state, or None if it states all of them."""
    path, said, outcome = played.line.path, played.line.violation, played.outcome
    if outcome.fault is not None:
        return _Fault(path=path, message=f"a decoder refuses these bytes with `{outcome.fault}`")
    if said is None and outcome.violations:
        return _unsaid(path, outcome.violations[0])
    names = _names(outcome.violations)
    if said is not None and said not in names:
        found = f"it violates {' and '.join(f'`{each}`' for each in names)}" if names else "it is accepted"
        return _Fault(path=path, message=f"this step does not violate `{said}`", label=found)
    if outcome.broken and not is_last:
        help_ = "make this step the last one"
        return _Fault(
            path=path, message="the conversation continues after a step that is refused", help=help_
        )
    return None


def _unsaid(path: str, violation: Violation) -> _Fault:
    where = f"`{violation.session}` is in state `{violation.state}`" if violation.session else ""
    help_ = f"if this is intended, add it to the step: `violates {violation.name}`"
    return _Fault(path=path, message=f"this step violates `{violation.name}`", label=where, help=help_)


def _names(violations: list[Violation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in violations))


def _is_same(one: Outcome, other: Outcome) -> bool:
    return _names(one.broken) == _names(other.broken) and one.fault == other.fault
