"""Conversation traces: the steps of a conversation, and the effects of the last step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Goal", "GoalKind", "Missing", "Move", "Step", "Trace", "Traces"]

GoalKind: TypeAlias = Literal["row", "timer", "unexpected", "wrong_role", "too_many", "join", "cut"]

Move: TypeAlias = tuple[str, str, str]
"""A transition of a session: its name, the old state and the new one."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Goal:
    """One behaviour that a trace demonstrates.

    `kind` is one of these: a row or a timer of a session is taken; a message matches no row (`unexpected`) or
    is never sent by the role (`wrong_role`); there is a key more than `limits.open` (`too_many`); a message
    is reassembled (`join`), or the stream ends inside one (`cut`).

    `session`: the session, or the join. `number`: that of the row or the timer, in text order. `violation`:
    None if it is legal. `role`: the sender, by the session's own name.
    """

    kind: GoalKind
    session: str = ""
    state: str = ""
    role: str = ""
    number: int = -1
    message: str = ""
    violation: str | None = None

    def __str__(self) -> str:
        subject = {"row": f"row {self.number}", "timer": f"timer {self.number}"}.get(self.kind, self.kind)
        place = f"{self.session} in {self.state}" if self.state else self.session
        words = (place, self.role, self.message, subject, self.violation and f"violates {self.violation}")
        return ": ".join(filter(None, words))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One event: a frame or a preamble arrives, time passes, or a side closes its direction.

    `value`: the value of `data`, as the reference codec reads it. `at`: in seconds since the connection
    began. `violations`: the names of all violations, tolerated ones included. `moves`: the sessions that
    change their state, in order.
    """

    kind: Literal["message", "tick", "eof"]
    role: str | None
    at: float
    data: bytes = b""
    value: Any = None
    violations: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A conversation from the first byte on.

    All steps but the last are legal. `violation`: the rule that the last one violates, by its name, or the
    code of an error if the stream is cut off (`is_fault`), or None if it is legal too. `by`: who broke the
    rule, or None for a timeout.

    `others`: the violations that other sessions report in the same step, after the first. `notes`: the
    violations that are tolerated in the last step. `is_strict`: the trace is valid in a strict connection;
    `is_lenient`: in a lenient one.

    `options` and `limits` are those of both sides where they differ from the defaults. `title`: that of a
    conversation of the file, or "" for a trace that was searched.
    """

    id: str
    protocol: str
    steps: tuple[Step, ...]
    covers: tuple[Goal, ...]
    violation: str | None = None
    is_fault: bool = False
    by: str | None = None
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_strict: bool = True
    is_lenient: bool = True
    options: Mapping[str, Any]
    limits: Mapping[str, int]
    title: str = ""
    variant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A goal that the search did not reach, and its line in the .wire file, or None if that is unknown."""

    goal: Goal
    line: int | None

    def __str__(self) -> str:
        return f"line {self.line}: {self.goal}" if self.line is not None else str(self.goal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """All traces of one protocol with sessions, in the order of the text, and all goals."""

    protocol: str
    traces: tuple[Trace, ...]
    goals: tuple[Goal, ...]
    missing: tuple[Missing, ...]

    @property
    def covered(self) -> tuple[Goal, ...]:
        left = {each.goal for each in self.missing}
        return tuple(goal for goal in self.goals if goal not in left)

    def shares(self) -> dict[str, tuple[int, int]]:
        """Return covered and total counts of `transitions` (legal timers included) and `violations`."""
        found = {}
        for name, is_legal in (("transitions", True), ("violations", False)):
            goals = [goal for goal in self.goals if (goal.violation is None) is is_legal]
            left = sum((each.goal.violation is None) is is_legal for each in self.missing)
            found[name] = (len(goals) - left, len(goals))
        return found
