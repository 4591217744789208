"""Steps gone through once more: what was read of each, and what each did."""

from __future__ import annotations

from dataclasses import replace

from wiregen.language.examples.connection_state import ConnectionState, Outcome, Setup
from wiregen.language.examples.trace import Step

__all__ = ["culprit", "done", "replayed"]


def replayed(setup: Setup, steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], list[Outcome]]:
    """Return the steps with what was read of each, and what each did."""
    world = ConnectionState(setup)
    outcomes = [world.take(step) for step in steps]
    return tuple(map(done, steps, outcomes)), outcomes


def done(step: Step, outcome: Outcome) -> Step:
    """Return a step with what was read of it, and what it did."""
    return replace(
        step,
        value=outcome.values[0] if outcome.values else None,
        violations=tuple(violation.name for violation in outcome.violations),
        moves=outcome.moves,
    )


def culprit(violation: str, outcome: Outcome, last: Step) -> str | None:
    """Return the role that broke a rule; None: nobody, for a time ran out."""
    return next((each.role for each in outcome.broken if each.name == violation), last.role)
