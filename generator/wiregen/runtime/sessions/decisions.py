"""What a message would do to the sessions, and how violations of theirs are told."""

from __future__ import annotations

from ..codec.errors import SessionError
from .events import Violation
from .instances import Instance, Instances
from .transitions import Change, Row

__all__ = ["Decision", "Move", "crowded", "forgotten", "refuse", "violation_of"]

Move = tuple[Instance, Row, list[Change]]


class Decision:
    """What a message would do: what it violates, and what changes if it is let pass."""

    __slots__ = ("moves", "violations")

    def __init__(self) -> None:
        self.moves: list[Move] = []
        self.violations: list[Violation] = []

    @property
    def refusal(self) -> Violation | None:
        """Return the first violation that nobody tolerates."""
        return next((each for each in self.violations if not each.lenient), None)


def refuse(decision: Decision, despite: str | None = None) -> None:
    """Let a decision stand.

    Raises:
        SessionError: It violates what nobody tolerates; `despite` is tolerated.
    """
    for violation in decision.violations:
        if not violation.lenient and violation.name != despite:
            raise SessionError(violation.name, local=True, detail=violation.detail)


def violation_of(
    name: str, instance: Instance, *, lenient: bool = False, rule: str | None = None
) -> Violation:
    table = instance.table
    state = table.states[instance.state]
    return Violation(
        name, rule=rule, session=table.name, key=instance.shown_key, state=state, lenient=lenient
    )


def crowded(kept: Instances, instance: Instance) -> Violation:
    """Return the violation that there is no room for one more instance."""
    rule = f"{_limit_text(kept)}: no more than {kept.limit} at a time; Limits(open=...) allows more"
    return violation_of("limit_exceeded", instance, rule=rule)


def forgotten(kept: Instances) -> Violation:
    """Return the note that an instance that had ended has given way; it is then reported."""
    instance, kept.forgotten = kept.forgotten, None
    assert instance is not None
    rule = f"{_limit_text(kept)}: the oldest of {kept.limit} is forgotten; Limits(open=...) keeps more"
    return violation_of("limit_exceeded", instance, lenient=True, rule=rule)


def _limit_text(kept: Instances) -> str:
    table = kept.table
    return f"limits.open bounds {table.name} per {', '.join(table.keys or table.roles or ('sender',))}"
