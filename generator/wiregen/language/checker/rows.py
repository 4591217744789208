"""The rows and timers of sessions: each can be taken, each has an effect, and each condition makes a difference."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.language.checker.conditions import CheckBudget, are_there, never, read_by
from wiregen.language.checker.inspection import Inspection, numbers_text
from wiregen.language.checker.intervals import Numbers, holds
from wiregen.language.checker.states import States
from wiregen.language.checker.subjects import RowSubjects, SessionSubjects
from wiregen.language.checker.updates import does_nothing, line_updates
from wiregen.language.checker.value_ranges import numbers_of
from wiregen.language.diagnostics import Label
from wiregen.schema.model import (
    Expression,
    FieldReference,
    Go,
    Operation,
    Row,
    Session,
    Timer,
    VariableReference,
    Violates,
)
from wiregen.schema.walk import nested_expressions

__all__ = ["RULES"]

_MAX_CONJUNCTS = 12
_MAX_SPANS = 4
_MAX_TIMERS = 200
_MAX_ROWS = 1000
_MAX_LOOKS = 2000
"""The most pairs of rows that are compared; larger sessions are not checked for rules about pairs."""


def _row_never_taken(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        states = States(session, inspection.targets, inspection.protocol.roles)
        for row, earlier in states.shadowed(inspection.subjects(session)):
            inspection.error(
                "WG4011",
                "this transition is never taken",
                inspection.place(row.path),
                "never taken",
                *_takers(inspection, row, earlier),
                help_="transitions are tried from top to bottom: write the one with the narrower condition first",
            )


def _takers(inspection: Inspection, row: Row, earlier: tuple[Row, ...]) -> Iterator[Label | None]:
    for each in earlier:
        is_same = each.when is not None and each.when == row.when
        text = "taken first, under the same condition" if is_same else "taken first"
        yield inspection.also(each.path, text if len(earlier) == 1 else "taken first in some cases")


def _condition_never_holds(inspection: Inspection) -> None:
    for row, when, subjects in _conditions(inspection):
        if never([(when, True)], subjects):
            inspection.error(
                "WG4012",
                "this condition is never true, so the transition is never taken",
                inspection.place(row.path, "when"),
                _why_never(when, subjects),
                help_="compare with possible values, or remove the transition",
            )


def _condition_always_holds(inspection: Inspection) -> None:
    for row, when, subjects in _conditions(inspection):
        if never([(when, False)], subjects) and are_there((when,), subjects, frozenset()):
            inspection.note(
                "WG4025",
                "this condition is always true",
                inspection.place(row.path, "when"),
                _bounds(when, subjects) or "always true",
                help_="remove the condition",
            )


def _conditions(inspection: Inspection) -> Iterator[tuple[Row, Expression, RowSubjects]]:
    for session in inspection.protocol.sessions:
        for row in session.rows:
            if row.when is not None:
                yield row, row.when, inspection.subjects(session).of(row)


def _why_never(when: Expression, subjects: RowSubjects) -> str:
    """Return why a condition never holds: one comparison is out of its type's range, or two exclude each other."""
    parts = _conjuncts(when)[:_MAX_CONJUNCTS]
    for part in parts:
        if never([(part, True)], subjects):
            return _bounds(part, subjects) or "always false"
    for position, part in enumerate(parts):
        for other in parts[:position]:
            if never([(other, True), (part, True)], subjects):
                name = next((_name(each) for each in read_by(part) if _name(each)), None)
                return f"no value of `{name}` fulfils both" if name else "the conditions exclude each other"
    return "always false"


def _conjuncts(when: Expression) -> list[Expression]:
    match when:
        case Operation(operator="and", left=left, right=right):
            return [*_conjuncts(left), *_conjuncts(right)]
        case _:
            return [when]


def _bounds(condition: Expression, subjects: RowSubjects) -> str | None:
    """Return the numbers that the names in a condition can have, as text."""
    texts: dict[str, None] = {}
    for each in nested_expressions(condition):
        name, numbers = _name(each), numbers_of(each, subjects)
        if name and numbers:
            is_truth = subjects.is_truth(each)
            texts[f"`{name}` is {_truth_text(numbers) if is_truth else _numbers_text(numbers)}"] = None
    return ", ".join(list(texts)[:2]) or None


def _truth_text(numbers: Numbers) -> str:
    return " or ".join(text for value, text in ((0, "false"), (1, "true")) if holds(numbers, value))


def _numbers_text(numbers: Numbers) -> str:
    shown = " or ".join(numbers_text(span) for span in numbers[:_MAX_SPANS])
    return f"{shown} or others" if len(numbers) > _MAX_SPANS else shown


def _name(expression: Expression) -> str | None:
    match expression:
        case FieldReference(path=path):
            return ".".join(path) or None
        case VariableReference(name=name):
            return name
        case _:
            return None


def _update_does_nothing(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        for line, update in line_updates(session):
            if does_nothing(update, inspection.subjects(session).of(line)):
                inspection.error(
                    "WG4024",
                    f"this update does not change `{update.variable}`",
                    inspection.place(f"{line.path}.{update.variable}"),
                    f"`{update.variable}` keeps its value",
                    help_="remove the update, or assign another value",
                )


def _timer_never_fires(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        names = tuple(state.name for state in session.states)
        for timer in session.timers if len(session.timers) <= _MAX_TIMERS else ():
            before = [_before(inspection, session, timer, state) for state in timer.states or names]
            winner = before[0] if before else None
            if winner is None or None in before:
                continue
            text = "ends first, and restarts all timers"
            inspection.error(
                "WG4026",
                "this timer never has an effect: another timer of its state always ends first",
                inspection.place(timer.path),
                "ends later",
                inspection.also(
                    winner.path,
                    text if isinstance(winner.effect, Go) else "has the same effect at the same time",
                ),
                help_="give it a shorter time, or remove one of the timers",
            )


def _before(inspection: Inspection, session: Session, timer: Timer, state: str) -> Timer | None:
    """Return a timer of a state that always runs out before another one of it, or None."""
    subjects = inspection.subjects(session)
    is_above = True
    for other in session.timers:
        if other is timer:
            is_above = False
        elif _is_in(other, state) and _beats(other, timer, subjects, is_above=is_above):
            return other
    return None


def _is_in(line: Row | Timer, state: str) -> bool:
    return line.states is None or state in line.states


def _beats(first: Timer, second: Timer, subjects: SessionSubjects, *, is_above: bool) -> bool:
    """Return whether one timer always runs out before another; one that `violates` lets the next one run on."""
    if first.after == second.after:
        return is_above and (isinstance(first.effect, Go) or first.effect == second.effect)
    one, other = (numbers_of(each.after, subjects.of(each)) for each in (first, second))
    if not isinstance(first.effect, Go) or not one or not other:
        return False
    return one[-1].high < other[0].low + is_above


def _lenient_without_rest(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        patience = CheckBudget(_MAX_LOOKS)
        for position, row in enumerate(session.rows if len(session.rows) <= _MAX_ROWS else ()):
            if not (isinstance(row.effect, Violates) and row.effect.is_lenient):
                continue
            below = session.rows[position + 1 :]
            lost = next(_lost(inspection, session, row, below, patience), None)
            if lost is not None:
                name, state = lost
                what = "the message" if name == "any" else f"`{name}`"
                inspection.error(
                    "WG4027",
                    f"`lenient` lets {what} pass, but no later transition accepts it{f' in `{state}`' if state else ''}",
                    inspection.place(row.path),
                    "still an unexpected_message",
                    help_="add a later transition that accepts the message, or remove `lenient`",
                )


def _lost(
    inspection: Inspection, session: Session, row: Row, below: tuple[Row, ...], patience: CheckBudget
) -> Iterator[tuple[str, str]]:
    """Yield the messages that a lenient row passes on without effect, with one of its states where that is so.

    For a row of `any` state, one such state is enough.
    """
    for name in row.targets or ("any",):
        about = [each for each in below if name == "any" or inspection.targets.is_about(session, each, name)]
        about.sort(key=lambda each: each.when is not None)
        for state in row.states or ("",):
            here = (each for each in about if not state or _is_in(each, state))
            if not any(_may_follow(inspection, session, row, each, patience) for each in here):
                yield name, state


def _may_follow(
    inspection: Inspection, session: Session, row: Row, other: Row, patience: CheckBudget
) -> bool:
    """Return whether another row can take a message that a row passes on, judged by role and conditions."""
    if None not in (row.role, other.role) and row.role != other.role:
        return False
    conditions = [(when, True) for when in (row.when, other.when) if when is not None]
    if other.when is None or not patience.lasts():
        return True
    return not never(conditions, inspection.subjects(session).of(row))


RULES = (
    _row_never_taken,
    _condition_never_holds,
    _condition_always_holds,
    _update_does_nothing,
    _timer_never_fires,
    _lenient_without_rest,
)
