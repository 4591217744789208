"""Constant arithmetic: only integers within ±2**127; division rounds down, as in Python."""

from typing import Final

from wiregen.language.diagnostics import Span
from wiregen.language.resolver.state import Workspace
from wiregen.schema import model

BOUND: Final = 2**127
MAX_EXPONENT: Final = 64


def checked(work: Workspace, value: int, span: Span) -> model.Number:
    """Return the number; one out of bounds is reported and replaced by 0."""
    if -BOUND <= value <= BOUND:
        return model.Number(value=value)
    work.error("WG2206", "this number is beyond ±2**127", span, label="too large")
    return model.Number(value=0)


def fold(expression: model.Expression) -> int | None:
    """Return the number that an expression always has, or None if it is not a number or depends on the bytes read."""
    match expression:
        case model.Number(value=value):
            return value
        case model.Negation(operator="-", operand=operand):
            inner = fold(operand)
            return None if inner is None else -inner
        case model.Operation(operator=operator, left=left, right=right):
            return _operate(operator, fold(left), fold(right))
        case _:
            return None


def _operate(operator: model.Operator, left: int | None, right: int | None) -> int | None:
    if left is None or right is None or abs(left) > BOUND or abs(right) > BOUND:
        return None
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" | "%" if right != 0:
            return left // right if operator == "/" else left % right
        case "**" if 0 <= right <= MAX_EXPONENT:
            return int(left**right)
        case _:
            return None
