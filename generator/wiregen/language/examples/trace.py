"""What a trace is: steps of a conversation, and what the last of them does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Goal", "GoalKind", "Missing", "Move", "Step", "Trace", "Traces"]

GoalKind: TypeAlias = Literal["row", "timer", "unexpected", "wrong_role", "too_many", "join", "cut"]

Move: TypeAlias = tuple[str, str, str]
"""A session that goes from one state to another: its name and both."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Goal:
    """One thing that a trace is to show.

    `kind`: a row or a timer of a session is taken; a message meets no row (`unexpected`); it is never sent by the role
    (`wrong_role`); a key more than `limits.open` (`too_many`); something is joined (`join`), or cut off in the middle
    (`cut`). `session`: or the join. `number`: of the row or the timer, in text order. `violation`: None where it is legal.
    `role` is the session's own word for who speaks.
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
    """Something happens: a frame (or preamble) comes, time passes, or a side sends nothing more.

    `value`: as the careful codec reads `data`. `at`: in seconds since the connection began. `violations`: all that sessions
    say of it, with the names of notes. `moves`: what goes to another state, in order.
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

    All steps but the last are legal. `violation`: what the last one violates, by its name, or the code of a fault where
    it is cut off (`is_fault`); None: it is legal too. `by`: who broke the rule; None: nobody, for a time ran out.
    `others`: what other sessions say of the same step, behind the violation. `notes`: what is tolerated in the last step.
    `is_strict`: the last step does that where nothing is tolerated; `is_lenient`: where lenient rows are. `options` and
    `limits` are those of both sides where they differ from the defaults. `title`: of one that the file tells, "" of one that was searched.
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
    """A goal that the search did not reach, and its line in the .wire file; None: not known."""

    goal: Goal
    line: int | None

    def __str__(self) -> str:
        return f"line {self.line}: {self.goal}" if self.line is not None else str(self.goal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """All traces of one protocol with sessions, in the order of the text, and what there was to show."""

    protocol: str
    traces: tuple[Trace, ...]
    goals: tuple[Goal, ...]
    missing: tuple[Missing, ...]

    @property
    def covered(self) -> tuple[Goal, ...]:
        left = {each.goal for each in self.missing}
        return tuple(goal for goal in self.goals if goal not in left)

    def shares(self) -> dict[str, tuple[int, int]]:
        """Return how many are covered of how many: `transitions` (and those timers that are legal) and `violations`."""
        found = {}
        for name, is_legal in (("transitions", True), ("violations", False)):
            goals = [goal for goal in self.goals if (goal.violation is None) is is_legal]
            left = sum((each.goal.violation is None) is is_legal for each in self.missing)
            found[name] = (len(goals) - left, len(goals))
        return found
