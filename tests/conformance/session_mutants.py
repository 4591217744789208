"""Sessions that are wrong in one row each, made from right ones: what the traces of a file are for is to tell them apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wiregen.runtime.session_table import Program
from wiregen.vectors.format import Trace, octets
from wiregen.vectors.verifying.careful_sessions import traced
from wiregen.vectors.verifying.doors import Step
from wiregen.vectors.verifying.judge import setting_of

__all__ = ["Mutant", "also_strict", "holds", "is_killed", "mutants_of"]

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """What is wrong with which row; `states`: of that row."""

    session: str
    what: str
    number: int
    states: tuple[str, ...] | None
    plan: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.session} row {self.number} {self.what}"


def mutants_of(plan: dict[str, Any]) -> Iterator[Mutant]:
    """Yield all mutants, row by row."""
    for session, table in plan["sessions"].items():
        for number, row in enumerate(table["rows"]):
            for what, rows in _mutated(row, table["states"]):
                lines = (*table["rows"][:number], *rows, *table["rows"][number + 1 :])
                changed = {**plan["sessions"], session: {**table, "rows": lines}}
                yield Mutant(
                    session=session,
                    what=what,
                    number=number,
                    states=row[0],
                    plan={**plan, "sessions": changed},
                )


def _mutated(row: Row, states: Sequence[str]) -> Iterator[tuple[str, tuple[Row, ...]]]:
    *head, when, effect = row
    yield "removed", ()
    if when is not None:
        yield "with its condition negated", ((*head, ("negation", "not", when), effect),)
        yield "without its condition", ((*head, None, effect),)
    if effect[0] == "violates":
        yield "tolerated", ((*head, when, ("go", None, ())),)
        return
    _, state, updates = effect
    for other in states:
        if other != state and not (state is None and row[0] == (other,)):
            yield f"leading to {other}", ((*head, when, ("go", other, updates)),)
    if state is not None and row[0] != (state,):
        yield "leading nowhere", ((*head, when, ("go", None, updates)),)
    for place, (name, _) in enumerate(updates):
        yield f"leaving {name}", ((*head, when, ("go", state, (*updates[:place], *updates[place + 1 :]))),)


def is_killed(mutant: Mutant, vectors: Sequence[Trace]) -> bool:
    """Tell whether some trace goes otherwise."""
    program = Program(mutant.plan)
    return any(not holds(program, vector) for vector in _likely(mutant, vectors))


def _likely(mutant: Mutant, vectors: Sequence[Trace]) -> list[Trace]:
    """Return traces with those first that show the row."""
    named = f": row {mutant.number}"
    return sorted(
        vectors,
        key=lambda vector: not any(
            cover.startswith(mutant.session) and named in cover for cover in vector.covers
        ),
    )


def also_strict(plan: dict[str, Any], vectors: Sequence[Trace]) -> list[Trace]:
    """Return traces, and behind them those once more, as strict ones, that hold so too: a strict session notes nothing, it refuses."""
    program = Program(plan)
    strict = [replace(vector, strict=True) for vector in vectors if not vector.strict]
    return [*vectors, *(vector for vector in strict if holds(program, vector))]


def holds(program: Program, vector: Trace) -> bool:
    steps = [
        Step(role=each.from_role, data=octets(each.bytes), at=each.at, is_end=each.eof)
        for each in vector.steps
    ]
    try:
        found = traced(program, setting_of(vector), steps, vector.options)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return False  # what a wrong row computes need not make sense
    moves = tuple(each.moves for each in vector.steps)
    return found.violation == vector.violation and found.moves == moves
