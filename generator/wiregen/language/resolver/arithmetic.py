"""Constant arithmetic: only integers within ±2**127; division rounds down, as in Python."""

from typing import Final, cast

from wiregen.language.diagnostics import Span
from wiregen.language.resolver.state import Workspace
from wiregen.runtime.reference.expressions import Scope as Names
from wiregen.runtime.reference.expressions import Undefined, Value, evaluate
from wiregen.runtime.schema.node import nodes_in
from wiregen.schema import model
from wiregen.schema.copies import replace

_COMPUTED: Final = (model.Negation, model.Operation, model.Call, model.Item)
_NAMES: Final = (
    model.FieldReference,
    model.LimitReference,
    model.ContextReference,
    model.VariableReference,
    model.JoinReference,
    model.RoleReference,
    model.Position,
    model.Checksum,
)
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


def literal_of(expression: model.Expression) -> model.Expression | None:
    """Return the literal with the value that an expression always has, or None if it has no value without bytes or limits."""
    if isinstance(expression, model.ListOf):
        items = tuple(map(literal_of, expression.items))
        known = tuple(each for each in items if each is not None)
        return replace(expression, items=known) if len(known) == len(items) else None
    if any(isinstance(each, _NAMES) for each in nodes_in(expression)):
        return None
    if not isinstance(expression, _COMPUTED):
        return expression
    try:
        return _written(evaluate(expression, cast("Names", None)))  # which no name is left to ask
    except Undefined:
        return None


def _written(value: Value) -> model.Expression | None:
    match value:
        case bool():
            return model.Truth(value=value)
        case int():
            return model.Number(value=value)
        case tuple():
            items = tuple(each for each in map(_written, value) if each is not None)
            return model.ListOf(items=items) if len(items) == len(value) else None
        case _:
            return None
