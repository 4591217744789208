"""The effect of a message on the sessions, and the texts of violations."""

from __future__ import annotations

from .compiled_rows import Change, Row
from .events import Violation
from .instances import Instance, Instances
from .session_error import SessionError

__all__ = ["Decision", "Move", "crowded", "forgotten", "refuse", "violation_of"]

Move = tuple[Instance, Row, list[Change]]


class Decision:
    """The effect of a message: its violations, and the changes if it is accepted."""

    __slots__ = ("moves", "violations")

    def __init__(self) -> None:
        self.moves: list[Move] = []
        self.violations: list[Violation] = []

    @property
    def refusal(self) -> Violation | None:
        """Return the first violation that is not lenient."""
        return next((each for each in self.violations if not each.lenient), None)


def refuse(decision: Decision, despite: str | None = None) -> None:
    """Refuse a message if the decision about it forbids it.

    Raises:
        SessionError: The decision has a violation that is neither lenient nor `despite`.
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
    """Return the violation that the maximum number of instances is reached."""
    rule = f"{_limit_text(kept)}: no more than {kept.limit} at a time; Limits(open=...) allows more"
    return violation_of("limit_exceeded", instance, rule=rule)


def forgotten(kept: Instances) -> Violation:
    """Return the note that an ended instance was evicted; it is then reported."""
    instance, kept.forgotten = kept.forgotten, None
    assert instance is not None
    rule = f"{_limit_text(kept)}: the oldest of {kept.limit} is forgotten; Limits(open=...) keeps more"
    return violation_of("limit_exceeded", instance, lenient=True, rule=rule)


def _limit_text(kept: Instances) -> str:
    table = kept.table
    return f"limits.open bounds {table.name} per {', '.join(table.keys or table.roles or ('sender',))}"
