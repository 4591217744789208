"""Steps that are replayed: the value that was read in each, and the effects of each."""

from __future__ import annotations

from dataclasses import replace

from wiregen.language.examples.connection_state import ConnectionState, Outcome, Setup
from wiregen.language.examples.trace import Step

__all__ = ["culprit", "done", "replayed"]


def replayed(setup: Setup, steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], list[Outcome]]:
    """Return the steps with the values that were read, and the effects of each."""
    world = ConnectionState(setup)
    outcomes = [world.take(step) for step in steps]
    return tuple(map(done, steps, outcomes)), outcomes


def done(step: Step, outcome: Outcome) -> Step:
    """Return a step with the value that was read and its effects."""
    return replace(
        step,
        value=outcome.values[0] if outcome.values else None,
        violations=tuple(violation.name for violation in outcome.violations),
        moves=outcome.moves,
    )


def culprit(violation: str, outcome: Outcome, last: Step) -> str | None:
    """Return the role that broke a rule, or None for a timeout."""
    return next((each.role for each in outcome.broken if each.name == violation), last.role)
