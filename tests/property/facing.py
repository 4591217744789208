"""A state machine of two connections that face each other, to be given something to say."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

__all__ = ["SETTINGS", "Facing"]

SETTINGS = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


SECONDS = st.sampled_from([0.0, 0.5, 20.0, 45.0, 601.0, 90_000.0])


def told(event: Any) -> tuple[Any, ...]:
    """Return the content of a timer's event."""
    names = ("name", "role", "session", "key", "state", "next_state", "time", "lenient")
    return (type(event).__name__, *(getattr(event, name, None) for name in names))


class Facing(RuleBasedStateMachine):
    """Two sides and the bytes in transit between them; `said` are the sent messages, `heard` the arrived
    ones, `now` the time.
    """

    package: Any
    roles: tuple[str, str]
    pieces: tuple[type, ...] = ()
    """Messages that arrive as part of something whole."""
    options: ClassVar[dict[str, Any]] = {}
    """The options of both sides: `strict`, and the options of the protocol."""

    def __init__(self) -> None:
        super().__init__()
        self.restart()

    def restart(self) -> None:
        self.now: float = getattr(self, "now", 0.0)
        self.sides = {
            role: self.package.Connection(role, now=self.now, **self.options) for role in self.roles
        }
        self.wires = dict.fromkeys(self.roles, b"")
        self.said: dict[str, list[Any]] = {role: [] for role in self.roles}
        self.heard: dict[str, list[Any]] = {role: [] for role in self.roles}

    def other(self, role: str) -> str:
        return self.roles[self.roles.index(role) - 1]

    def say(self, role: str, message: Any, *, for_good: bool = False) -> bool:
        """Say something; where it may not be said, see that the peer would refuse it, and say whether it was said."""
        side, peer = self.sides[role], self.sides[self.other(role)]
        before = self.shown(side)
        try:
            data = side.send(message, self.now)
        except self.package.SessionError as error:
            assert error.local
            assert self.shown(side) == before
            if not any(self.wires.values()):
                self.refuse(role, peer, message, error.violation, for_good=for_good)
            return False
        self.wires[role] += data
        if not isinstance(message, self.pieces):
            self.said[role].append(side._package.framed(role, message, {}))
        return True

    def refuse(self, role: str, peer: Any, message: Any, name: str, *, for_good: bool) -> None:
        if not for_good:
            frame = peer._package.framed(role, message, {})
            refusal = peer._engine.decide(role, frame, self.now).refusal
            assert refusal is None or refusal.name == name
            assert refusal is not None or peer._engine.has_inner(role, frame)
            return
        events = peer.receive(self.encoded(role, message), self.now)
        assert (events[-1].name, events[-1].role) == (name, role)
        assert peer.failure is events[-1]
        self.restart()

    def encoded(self, role: str, message: Any) -> bytes:
        data: bytes = self.package.encode(message)
        return data

    def deliver(self, role: str, size: int) -> None:
        data, self.wires[role] = self.wires[role][:size], self.wires[role][size:]
        for event in self.sides[self.other(role)].receive(data, self.now):
            if getattr(event, "lenient", False):
                continue
            assert type(event).__name__ == "Received"
            if not isinstance(getattr(event.frame, "message", None), self.pieces):
                self.heard[role].append(event.frame)

    def deliver_all(self, role: str, sizes: list[int]) -> None:
        for size in sizes:
            self.deliver(role, size)
        self.deliver(role, len(self.wires[role]))

    def shown(self, side: Any) -> Any:
        raise NotImplementedError

    @precondition(lambda self: not any(self.wires.values()))
    @rule(seconds=SECONDS)
    def wait(self, seconds: float) -> None:
        """Let time pass; the same timers run out on both sides, in the same order, and both fail or neither."""
        first, second = self.sides.values()
        due = first.next_timeout()
        assert due == second.next_timeout()
        self.now += seconds
        events = [list(map(told, side.tick(self.now))) for side in self.sides.values()]
        assert events[0] == events[1]
        assert bool(events[0]) == (due is not None and due <= self.now)
        assert first.is_closed is second.is_closed
        if first.is_closed:
            self.restart()

    @invariant()
    def what_was_heard_was_said(self) -> None:
        for role in self.roles:
            assert self.heard[role] == self.said[role][: len(self.heard[role])]

    @invariant()
    def both_agree_when_nothing_is_under_way(self) -> None:
        if not any(self.wires.values()):
            first, second = self.sides.values()
            assert self.shown(first) == self.shown(second)
