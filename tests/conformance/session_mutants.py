"""Sessions that are wrong in one row each, made from valid ones: the traces of a file must distinguish them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from wiregen.conformance.judge.checks import setting_of
from wiregen.conformance.judge.implementation import Step
from wiregen.conformance.judge.reference_sessions import traced
from wiregen.conformance.vectors.format import Trace, octets
from wiregen.runtime.schema.expressions import Negation
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.sessions import Go, Transition, Violates
from wiregen.runtime.sessions.table import Program
from wiregen.schema.copies import replace

__all__ = ["Mutant", "also_strict", "holds", "is_killed", "mutants_of"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """The error in a row, and the row; `states`: of that row."""

    session: str
    what: str
    number: int
    states: tuple[str, ...] | None
    schema: Schema

    def __str__(self) -> str:
        return f"{self.session} row {self.number} {self.what}"


def mutants_of(schema: Schema) -> Iterator[Mutant]:
    """Yield all mutants, row by row."""
    for session, table in schema.sessions.items():
        for number, row in enumerate(table.rows):
            for what, rows in _mutated(row, table.states):
                lines = (*table.rows[:number], *rows, *table.rows[number + 1 :])
                changed = {**schema.sessions, session: replace(table, rows=lines)}
                yield Mutant(
                    session=session,
                    what=what,
                    number=number,
                    states=row.states,
                    schema=replace(schema, sessions=changed),
                )


def _mutated(row: Transition, states: Sequence[str]) -> Iterator[tuple[str, tuple[Transition, ...]]]:
    effect = row.effect
    yield "removed", ()
    if row.when is not None:
        yield "with its condition negated", (replace(row, when=Negation("not", row.when)),)
        yield "without its condition", (replace(row, when=None),)
    if isinstance(effect, Violates):
        yield "tolerated", (replace(row, effect=Go(None, ())),)
        return
    for other in states:
        if other != effect.state and not (effect.state is None and row.states == (other,)):
            yield f"leading to {other}", (replace(row, effect=replace(effect, state=other)),)
    if effect.state is not None and row.states != (effect.state,):
        yield "leading nowhere", (replace(row, effect=replace(effect, state=None)),)
    for place, update in enumerate(effect.updates):
        left = (*effect.updates[:place], *effect.updates[place + 1 :])
        yield f"leaving {update.variable}", (replace(row, effect=replace(effect, updates=left)),)


def is_killed(mutant: Mutant, vectors: Sequence[Trace]) -> bool:
    """Return whether some trace has another result."""
    program = Program(mutant.schema)
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


def also_strict(schema: Schema, vectors: Sequence[Trace]) -> list[Trace]:
    """Return traces, and after them strict copies of those that also hold strictly: a strict session
    refuses instead of noting.
    """
    program = Program(schema)
    strict = [dataclasses.replace(vector, strict=True) for vector in vectors if not vector.strict]
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
