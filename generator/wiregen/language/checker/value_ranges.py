"""The possible values of an expression, computed from the possible values of the names in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from wiregen.language.checker.intervals import TRUTHS, Numbers, computed, negated
from wiregen.schema.model import Call, Expression, Negation, Number, Operation, Span, Truth

__all__ = ["Subjects", "numbers_of"]

_ARITHMETIC: Final = ("+", "-", "*", "/", "%", "**")
_COUNTS: Final[Numbers] = (Span(low=0, high=2**64),)


class Subjects(Protocol):
    """The possible values of names, and whether they are always present."""

    def numbers(self, subject: Expression) -> Numbers | None:
        """Return the possible values of a field, its count or size, a variable, context or role, or None if they are unknown."""

    def is_there(self, subject: Expression) -> bool:
        """Return whether reading the subject always gives a value."""


def numbers_of(expression: Expression, subjects: Subjects) -> Numbers | None:
    """Return the possible values of an integer or Boolean expression; None if they are unknown, or for other types."""
    match expression:
        case Number(value=value):
            return (Span(low=value, high=value),)
        case Truth(value=truth):
            return (Span(low=int(truth), high=int(truth)),)
        case Negation(operator="-", operand=operand):
            numbers = numbers_of(operand, subjects)
            return None if numbers is None else negated(numbers)
        case Operation(operator=operator, left=left, right=right) if operator in _ARITHMETIC:
            return _total(operator, (left, right), subjects)
        case Call(function="min" | "max" as function, arguments=arguments):
            return _total(function, arguments, subjects)
        case Call(function="count" | "size"):
            return subjects.numbers(expression) or _COUNTS
        case Call(function="index" | "rank"):
            return _COUNTS
        case Operation() | Negation() | Call(function="present" | "distinct"):
            return TRUTHS
        case _:
            return subjects.numbers(expression)


def _total(operator: str, operands: Sequence[Expression], subjects: Subjects) -> Numbers | None:
    total: Numbers | None = None
    for position, operand in enumerate(operands):
        numbers = numbers_of(operand, subjects)
        if numbers is None or (position and total is None):
            return None
        total = numbers if total is None else computed(operator, total, numbers)
    return total
