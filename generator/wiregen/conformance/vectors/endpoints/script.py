"""A trace as one side plays it: its steps, and the effect that each has on the sessions.

Invariant: a script shows what its trace shows, also under the peer's settings; a trace that does not is skipped with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from wiregen.conformance.traces import ConnectionState, Drafts, Outcome, Setup
from wiregen.conformance.traces import Step as WorldStep
from wiregen.conformance.vectors.format import AnyVector, Step, Trace, Valid, octets
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.sessions.table import Program

__all__ = [
    "Script",
    "ScriptStep",
    "Side",
    "State",
    "StepEffect",
    "Unfit",
    "effect_of",
    "script_of",
    "states_of",
]

State: TypeAlias = tuple[str, str, str | None]
"""A session, the state of one of its instances, and the role that the instance is about."""
_MOST_SAMPLES = 200


class Unfit(Exception):
    """A trace cannot be held with this peer; the text is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEffect:
    """The transitions that a step takes, the violations that it causes, and the sessions that change their state."""

    goals: frozenset[object]
    violations: tuple[str, ...]
    moves: tuple[tuple[str, str, str], ...]
    is_legal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStep:
    """A step of a trace and its effect. `states`: of all sessions after it. `seconds`: that pass before it."""

    role: str | None
    data: bytes
    message: str
    is_end: bool
    seconds: float
    effect: StepEffect
    states: tuple[State, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The steps of one trace; `violation` as the trace has it."""

    id: str
    steps: tuple[ScriptStep, ...]
    violation: str | None


@dataclass(frozen=True, kw_only=True)
class Side:
    """The runner's side of all conversations.

    Attributes:
        own: The runner's role.
        peer: The peer's role.
        is_strict: Whether the peer refuses violations that the protocol calls lenient.
        options: Options of the sessions, as configured in the peer.
        limits: Limits of the peer that differ from the protocol's.
        without: Names of messages that the peer does not know; others with the same effect are sent instead.
        refusals: Names of messages by which the peer refuses, in addition to closing.
        samples: Frames of the runner's side that may replace others, from the same file of vectors.
        is_called: Whether the peer connects, and may begin to send at once.
        can_half_close: Whether the transport can end one direction alone; TLS cannot.
    """

    schema: Schema
    own: str
    peer: str
    is_strict: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    refusals: frozenset[str] = frozenset()
    samples: tuple[tuple[str, bytes], ...] = ()
    can_half_close: bool = True
    is_called: bool = False

    @cached_property
    def setup(self) -> Setup:
        return Setup(
            schema=self.schema,
            program=Program(self.schema),
            is_strict=self.is_strict,
            options=self.options,
            limits=self.limits,
        )

    @cached_property
    def drafts(self) -> Drafts:
        """Messages that the roles could send, with the values that make a difference to the sessions."""
        return Drafts(self.setup)

    @staticmethod
    def samples_of(vectors: Iterable[AnyVector], own: str) -> tuple[tuple[str, bytes], ...]:
        """Return the name and bytes of single frames that a role may send as they are, examples of the `.wire` file first."""
        found = [
            (str(vector.frames[0].get("message")), octets(vector.bytes), vector.source != "example")
            for vector in vectors
            if isinstance(vector, Valid) and len(vector.frames) == 1 and vector.from_role in (None, own)
            if not (vector.before or vector.limits or vector.variant or vector.strict)
        ]
        found.sort(key=lambda sample: (sample[2], len(sample[1])))
        return tuple((name, data) for name, data, _ in found[:_MOST_SAMPLES])


def script_of(trace: Trace, side: Side) -> Script:
    """Return the script of a trace.

    Raises:
        Unfit: The trace needs other settings, or its point is not the runner's to make.
    """
    for name, amount in trace.limits.items():
        if {**side.schema.limits, **side.limits}.get(name) != amount:
            raise Unfit(f"it needs a peer with the limit {name}={amount} (--limit)")
    if trace.variant is not None:
        raise Unfit(f"it is of the variant {trace.variant}")
    script = Script(id=trace.id, steps=tuple(_steps(trace, side)), violation=trace.violation)
    if any(step.role == side.peer and step.is_end for step in script.steps):
        raise Unfit(f"{side.peer} itself chooses when it ends its direction")
    if any(step.is_end for step in script.steps) and not side.can_half_close:
        raise Unfit("one direction ends, which TLS cannot say")
    last = script.steps[-1]
    if trace.violation is not None and last.role == side.peer:
        raise Unfit(f"{side.peer} breaks the rule in it, which is the peer's own choice")
    return script


def _steps(trace: Trace, side: Side) -> Iterator[ScriptStep]:
    world, now = ConnectionState(side.setup), 0.0
    for number, step in enumerate(trace.steps, 1):
        outcome = world.take(_world_step(step))
        effect = effect_of(outcome)
        is_last = number == len(trace.steps)
        violation = next(iter(_broken(outcome)), None)
        if effect.moves != step.moves or (trace.violation if is_last else None) != violation:
            raise Unfit(_misfit(trace, side))
        yield ScriptStep(
            role=step.from_role,
            data=octets(step.bytes),
            message=step.message,
            is_end=step.eof,
            seconds=step.at - now,
            effect=effect,
            states=states_of(world),
        )
        now = step.at


def _misfit(trace: Trace, side: Side) -> str:
    """Return which setting of the peer a trace does not fit."""
    if dict(trace.options) != dict(side.options):
        told = ", ".join(f"{name}={value}" for name, value in {**trace.options}.items())
        return (
            f"it is about sessions with {told} (--option)"
            if told
            else "it is about sessions without --option"
        )
    if trace.strict != side.is_strict:
        return (
            "it is about strict peers (--strict)" if trace.strict else "it is about peers that are not strict"
        )
    return "it is about other settings than the peer's"


def _broken(outcome: Outcome) -> list[str]:
    return [*([] if outcome.fault is None else [outcome.fault]), *(each.name for each in outcome.broken)]


def effect_of(outcome: Outcome) -> StepEffect:
    """Return the effect of a step."""
    return StepEffect(
        goals=frozenset(outcome.met),
        violations=tuple(_broken(outcome)),
        moves=outcome.moves,
        is_legal=outcome.is_legal,
    )


def states_of(world: ConnectionState) -> tuple[State, ...]:
    """Return the states of all instances except new ones, in a fixed order, without keys and variables."""
    found = [
        (name, instance.table.states[instance.state], instance.sender)
        for name, instances in world.engine.instances.items()
        for instance in instances.all()
        if instance.state != 0
    ]
    return tuple(sorted(found, key=str))


def _world_step(step: Step) -> WorldStep:
    if step.eof:
        return WorldStep(kind="eof", role=step.from_role, at=step.at)
    kind = "tick" if step.from_role is None else "message"
    return WorldStep(kind=kind, role=step.from_role, at=step.at, data=octets(step.bytes))  # type: ignore[arg-type]
