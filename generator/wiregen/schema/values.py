"""The values of expressions before any byte is read, and the numbers that a type can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from wiregen.schema.model import (
    Coding,
    Expression,
    Negation,
    Number,
    Operation,
    Span,
    Truth,
    WholeNumber,
)

__all__ = ["MAX_NUMBER", "coding_span", "number_of", "span_of", "truth_of"]

MAX_NUMBER = 2**127
_MAX_EXPONENT = 128

_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "+": lambda left, right: left + right,
        "-": lambda left, right: left - right,
        "*": lambda left, right: left * right,
        "/": lambda left, right: left // right,
        "%": lambda left, right: left % right,
        "**": lambda left, right: left**right,
    }
)
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = MappingProxyType(
    {
        "==": lambda left, right: left == right,
        "!=": lambda left, right: left != right,
        "<": lambda left, right: left < right,
        "<=": lambda left, right: left <= right,
        ">": lambda left, right: left > right,
        ">=": lambda left, right: left >= right,
    }
)


def number_of(expression: Expression) -> int | None:
    """Return the number that an expression always has.

    Return None if it depends on bytes, limits or state, is not a number, or would exceed ±2**127.
    """
    match expression:
        case Number(value=value):
            return value
        case Negation(operator="-", operand=operand):
            value_ = number_of(operand)
            return None if value_ is None else -value_
        case Operation(operator=operator, left=left, right=right) if operator in _ARITHMETIC:
            return _computed(operator, number_of(left), number_of(right))
        case _:
            return None


def truth_of(expression: Expression) -> bool | None:
    """Return the truth value that a condition always has, or None if it depends on anything."""
    match expression:
        case Truth(value=value):
            return value
        case Negation(operator="not", operand=operand):
            inner = truth_of(operand)
            return None if inner is None else not inner
        case Operation(operator="and" | "or" as operator, left=left, right=right):
            return _joined(truth_of(left), truth_of(right), decisive=operator == "or")
        case Operation(operator=operator, left=left, right=right) if operator in _COMPARISONS:
            numbers = (number_of(left), number_of(right))
            return None if None in numbers else _COMPARISONS[operator](*numbers)  # type: ignore[arg-type]
        case _:
            return None


def span_of(type_: WholeNumber) -> Span:
    """Return the numbers that a type can hold."""
    low, high = type_.bounds
    return Span(low=low, high=high)


def coding_span(coding: Coding) -> Span:
    """Return the numbers from the least to the greatest that a coding can hold, null excluded."""
    spans = [
        span_of(width.wide) if width.wide is not None else Span(low=width.low, high=width.high)
        for width in coding.widths
        if not width.is_null
    ]
    low = min((span.low for span in spans), default=0)
    return Span(low=low, high=max((span.high for span in spans), default=0))


def _computed(operator: str, left: int | None, right: int | None) -> int | None:
    if left is None or right is None or (operator in "/%" and right == 0):
        return None
    if operator == "**" and not 0 <= right <= _MAX_EXPONENT:
        return None
    result = _ARITHMETIC[operator](left, right)
    return result if abs(result) <= MAX_NUMBER else None


def _joined(left: bool | None, right: bool | None, *, decisive: bool) -> bool | None:
    if decisive in (left, right):
        return decisive
    return None if None in (left, right) else not decisive
