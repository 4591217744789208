"""The effects of a session's updates on its variables: no change, growing a list, shrinking it, resetting a first value."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.language.checker.conditions import is_same_number
from wiregen.language.checker.intervals import intersected
from wiregen.language.checker.value_ranges import Subjects, numbers_of
from wiregen.schema.model import (
    Call,
    Expression,
    FieldReference,
    Go,
    Negation,
    Operation,
    Row,
    Session,
    Timer,
    Update,
    Variable,
    VariableReference,
)
from wiregen.schema.values import number_of
from wiregen.schema.walk import nested_expressions

__all__ = ["brings_back", "does_nothing", "grows", "line_updates", "lines", "shrinks"]

_LISTS = ("push", "drop", "remove")
_FALLING = ("-", "%", "/")
_COMPARING = ("==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in")
_FEW = 256
"""The most possible numbers for which a field is assumed to take each of them."""


def lines(session: Session) -> tuple[Row | Timer, ...]:
    return (*session.rows, *session.timers)


def line_updates(session: Session) -> Iterator[tuple[Row | Timer, Update]]:
    for line in lines(session):
        if isinstance(line.effect, Go):
            for update in line.effect.updates:
                yield line, update


def does_nothing(update: Update, subjects: Subjects) -> bool:
    """Return whether the variable keeps its value, for all values that it can have."""
    value = update.value
    while isinstance(value, Call) and value.function == "drop" and _drops_none(value, subjects):
        value = value.arguments[0]
    itself = VariableReference(name=update.variable)
    return value == itself or is_same_number(value, itself)


def grows(update: Update) -> bool:
    """Return whether something is pushed to the old list, or to another list of the session."""
    base, functions = _unfolded(update.value)
    return "push" in functions and isinstance(base, VariableReference)


def shrinks(update: Update, subjects: Subjects) -> bool:
    """Return whether a list may become shorter: items are removed, or it is replaced by a list of no variable."""
    base, functions = _unfolded(update.value)
    if not isinstance(base, VariableReference) or "remove" in functions:
        return True
    drops = (each for each in nested_expressions(update.value) if isinstance(each, Call))
    return any(each.function == "drop" and not _drops_none(each, subjects) for each in drops)


def brings_back(update: Update, variable: Variable, subjects: Subjects) -> bool:
    """Return whether a variable may have its first value again: it is set to it, counts back, or has few values."""
    value = update.value
    if value == variable.initial:
        return True
    if variable.is_list:
        base, _ = _unfolded(value)
        return isinstance(base, VariableReference) and shrinks(update, subjects)
    first, possible = numbers_of(variable.initial, subjects), numbers_of(value, subjects)
    if first is not None and possible is not None and not intersected(first, possible):
        return False
    if isinstance(value, FieldReference):
        return possible is not None and sum(span.high - span.low + 1 for span in possible) <= _FEW
    return number_of(value) is None and any(_counts_back(each) for each in nested_expressions(value))


def _counts_back(expression: Expression) -> bool:
    match expression:
        case Negation() | Call(function="count"):
            return True
        case Operation(operator=operator):
            return operator in _FALLING or operator in _COMPARING
        case _:
            return False


def _unfolded(value: Expression) -> tuple[Expression, set[str]]:
    """Return the list with which an update begins, and the functions that are applied to it."""
    functions: set[str] = set()
    while isinstance(value, Call) and value.function in _LISTS:
        functions.add(value.function)
        value = value.arguments[0]
    return value, functions


def _drops_none(call: Call, subjects: Subjects) -> bool:
    numbers = numbers_of(call.arguments[1], subjects)
    return numbers is not None and numbers[-1].high <= 0
