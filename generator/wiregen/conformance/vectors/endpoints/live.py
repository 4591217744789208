"""One live conversation: both directions as the reference codec and the sessions see them, without a socket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from wiregen.conformance.traces import ConnectionState, MessageDraft, Outcome, Step, written_by
from wiregen.conformance.vectors.endpoints.script import (
    ScriptStep,
    Side,
    State,
    StepEffect,
    effect_of,
    states_of,
)
from wiregen.runtime.codec.errors import DecodeError

__all__ = ["Heard", "Live"]

_MOST_DRAFTS = 400
_MOST_REPLAYED = 64 << 10
"""Bytes that are decoded again in the search for a message that replaces one of the trace: the whole
conversation for each candidate.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The effect of bytes of the peer. `messages`: names of the whole ones. `broken`: the first violation
    or error in words.
    """

    messages: tuple[str, ...]
    effect: StepEffect
    broken: str | None


@dataclass(slots=True, kw_only=True)
class Live:
    """A conversation under way.

    Attributes:
        heard: Names of the peer's messages so far.
        n_bytes: Bytes that the peer has sent.
    """

    side: Side
    world: ConnectionState = field(init=False)
    heard: list[str] = field(default_factory=list)
    n_bytes: int = 0
    n_sent: int = 0
    _steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world = ConnectionState(self.side.setup)

    @property
    def states(self) -> tuple[State, ...]:
        return states_of(self.world)

    def hear(self, data: bytes, now: float) -> Heard:
        """Process bytes of the peer; `now`: the time in seconds since the start of the conversation."""
        outcome = self._take(Step(kind="message", role=self.side.peer, at=now, data=data))
        start, self.n_bytes = self.n_bytes, self.n_bytes + len(data)
        names = tuple(_name_of(value) for value in outcome.values)
        self.heard += names
        broken = None
        if outcome.fault is None:
            outcome.fault = self._lost()
        if outcome.fault is not None:
            broken = f"{outcome.fault} in the peer's bytes from {start} on"
        elif outcome.broken:
            broken = f"{outcome.broken[0].name} ({', '.join(names) or 'a fragment of a message'})"
        return Heard(messages=names, effect=effect_of(outcome), broken=broken)

    def _lost(self) -> str | None:
        """Return the code of an error after which the stream cannot be decoded: it becomes an item only at
        the end of the stream.
        """
        decoder = self.world.decoders[self.side.peer]
        if not decoder.pending or decoder.needed:
            return None
        items = [item for _, _, item in decoder.finish_items()]
        return next((item.code for item in items if isinstance(item, DecodeError)), None)

    def say(self, data: bytes, now: float) -> StepEffect:
        """Process bytes that the runner sends."""
        self.n_sent += 1
        return effect_of(self._take(Step(kind="message", role=self.side.own, at=now, data=data)))

    def end(self, now: float) -> StepEffect:
        """Process the end of the runner's direction."""
        self.n_sent += 1
        return effect_of(self._take(Step(kind="eof", role=self.side.own, at=now)))

    def wait(self, now: float) -> StepEffect:
        """Let time pass; return its effect."""
        return effect_of(self._take(Step(kind="tick", role=None, at=now)))

    def _take(self, step: Step) -> Outcome:
        self._steps.append(step)
        return self.world.take(step)

    def may_end(self) -> bool:
        """Return whether the runner's role may not send anything further, so that the peer may close."""
        foreseen = [
            self.world.engine.foresee(sender, item)[0].violations
            for sender, item in self.side.drafts.frames()
            if sender == self.side.own
        ]
        return bool(foreseen) and all(any(not each.lenient for each in found) for found in foreseen)

    def apt(self, step: ScriptStep) -> bytes | None:
        """Return bytes that have the effect of a step now, or None if none are found.

        The bytes of the step itself are preferred, then samples, then messages with values that the sessions know.
        """
        n_bytes = sum(len(each.data) for each in self._steps)
        n_left = _MOST_REPLAYED
        tried: set[bytes] = set()
        for data in self._candidates(step):
            if data in tried:
                continue
            tried.add(data)
            n_left -= n_bytes
            if n_left < 0:
                return None
            if self._has_effect(data, step.effect):
                return data
        return None

    def _candidates(self, step: ScriptStep) -> Iterator[bytes]:
        without = self.side.without
        if step.message not in without:
            yield step.data
        yield from (data for name, data in self.side.samples if name not in without and name == step.message)
        yield from (data for name, data in self.side.samples if name not in without and name != step.message)
        yield from islice(self._drafted(step), _MOST_DRAFTS)

    def _drafted(self, step: ScriptStep) -> Iterator[bytes]:
        """Yield messages with the values that make a difference now, those of the step's kind first."""
        drafts: list[MessageDraft] = []
        for each in self.side.drafts.anew().now(self.world):
            if each.sender == self.side.own and not isinstance(each, MessageDraft):
                drafts += [each.draft(choice) for choice in each.choices()]
            elif isinstance(each, MessageDraft) and each.sender == self.side.own:
                drafts.append(each)
        names = [(draft, draft.name.partition(" ")[2]) for draft in drafts]
        for draft, name in sorted(names, key=lambda pair: pair[1] != step.message):
            data = None if name in self.side.without else written_by(draft.written, draft.writer, self.world)
            if data is not None:
                yield data

    def _has_effect(self, data: bytes, effect: StepEffect) -> bool:
        world = ConnectionState.after(self.side.setup, self._steps)
        step = Step(kind="message", role=self.side.own, at=self.world.now, data=data)
        return effect_of(world.take(step)) == effect


def _name_of(value: object) -> str:
    message = getattr(value, "message", value)
    return str(getattr(message, "name", "?"))
