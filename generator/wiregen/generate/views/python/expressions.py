"""Expressions of the model as Python source text, for the straight-line code of reading and writing functions.

A `Lookup` gives the meaning of names. Operands of a wrong kind make Python raise TypeError, which is handled
like any other error.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Protocol, assert_never

from wiregen.generate.steps.step import UnsupportedError
from wiregen.runtime.lazy import Lazy
from wiregen.runtime.reference.functions import FUNCTIONS
from wiregen.schema import model as m

__all__ = ["Lookup", "python_expression", "python_failure", "span_test"]


class Lookup(Protocol):
    """The Python text of the names in an expression, for one function."""

    def field(self, reference: m.FieldReference) -> str: ...

    def size(self, reference: m.FieldReference) -> str: ...

    def count(self, reference: m.FieldReference) -> str: ...

    def present(self, reference: m.FieldReference) -> str: ...

    def code(self, reference: m.FieldReference) -> str: ...

    def limit(self, name: str) -> str: ...

    def context(self, name: str, keys: tuple[str, ...]) -> str: ...

    def position(self, what: str) -> str: ...

    def checksum(self, algorithm: str, first: str, last: str) -> str: ...

    def number(self, text: str) -> str:
        """Return the text of an operand that Python would also multiply or fill in if it were a text or a list."""

    def use(self, helper: str) -> str:
        """Return the local name of a function of the runtime, which the module then imports."""


_OPERATORS = {"/": "//"}
_ORDERS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_NUMBER = re.compile(r"-?\d+")


def python_expression(expression: m.Expression, names: Lookup) -> str:
    """Return the text of an expression; an operation is in parentheses.

    Raises:
        UnsupportedError: It does not have a straight-line form.
    """
    match expression:
        case m.Number(value=value):
            return repr(value)
        case m.Truth(value=truth):
            return repr(truth)
        case m.String(value=text):
            return ascii(text)
        case m.Octets(hex=digits):
            return repr(bytes.fromhex(digits))
        case m.Null():
            return "None"
        case m.FieldReference():
            return names.field(expression)
        case m.LimitReference(name=name):
            return names.limit(name)
        case m.ContextReference(context=context, keys=keys):
            return names.context(context, tuple(python_expression(key, names) for key in keys))
        case m.Position(what=what):
            return names.position(what)
        case m.Negation(operator=operator, operand=operand):
            return _negated(operator, python_expression(operand, names))
        case m.Operation():
            return _operation(expression, names)
        case m.ListOf(items=items):
            return _tuple([python_expression(item, names) for item in items])
        case m.Call():
            return _call(expression, names)
        case m.Checksum(algorithm=algorithm, first=first, last=last):
            return names.checksum(algorithm, first, last)
        case m.Range() | m.Item() | m.VariableReference() | m.RoleReference() | m.JoinReference():
            raise UnsupportedError("", f"an expression of the kind {type(expression).__name__}")
        case _:
            assert_never(expression)


def python_failure(expression: m.Expression, names: Lookup) -> str:
    """Return the text of a condition that is true if an expression is false.

    Raises:
        UnsupportedError: It does not have a straight-line form, or is false for each value.
    """
    match expression:
        case m.Negation(operator="not", operand=operand):
            is_negated, text = True, python_expression(operand, names)
        case _:
            is_negated, text = False, python_expression(expression, names)
    if text == repr(is_negated):  # mypy would not read the code after it, nor find the types of lists there
        raise UnsupportedError("", "a condition that never holds")
    return text if is_negated else f"not {text}"


def _negated(operator: str, operand: str) -> str:
    """Return the negation of a value; for a Boolean that is held as a byte, the test that the byte is 0."""
    flag = re.fullmatch(r"\(?(\w+) != 0\)?", operand)
    if operator == "not" and flag is not None:
        return f"{flag[1]} == 0"
    return f"({'not ' if operator == 'not' else '-'}{operand})"


def _operation(operation: m.Operation, names: Lookup) -> str:
    sign, left = operation.operator, python_expression(operation.left, names)
    if sign in ("in", "not in"):
        test = _held(left, operation.right, names)
        return test if sign == "in" else f"(not {test})"
    right = python_expression(operation.right, names)
    if sign in ("==", "!=") and isinstance(operation.right, m.ListOf):
        raise UnsupportedError("", "a list that is compared with a constant")
    if sign in _ORDERS and _NUMBER.fullmatch(left) and _NUMBER.fullmatch(right):
        return repr(_ORDERS[sign](int(left), int(right)))  # the code of the message that a function is for
    if sign in ("==", "!=") and "None" in (left, right):
        return f"({left} is{' not' if sign == '!=' else ''} {right})"
    if sign == "**":
        return f"{names.use('power')}({left}, {right})"
    if sign in ("*", "%"):
        left, right = _factor(operation.left, left, names), _factor(operation.right, right, names)
    return f"({left} {_OPERATORS.get(sign, sign)} {right})"


def _factor(operand: m.Expression, text: str, names: Lookup) -> str:
    return text if isinstance(operand, m.Number) else names.number(text)


def _held(value: str, container: m.Expression, names: Lookup) -> str:
    match container:
        case m.Range(low=m.Number(value=low), high=m.Number(value=high)) if value.isdigit():
            return repr(low <= int(value) <= high)
        case m.Range(low=low, high=high):
            return f"({python_expression(low, names)} <= {value} <= {python_expression(high, names)})"
        case m.ListOf(items=items) if any(isinstance(item, m.Range) for item in items):
            parts = [
                _held(value, item if isinstance(item, m.Range) else m.ListOf(items=(item,)), names)
                for item in items
            ]
            return f"({' or '.join(parts)})"
        case _:
            return f"({value} in {python_expression(container, names)})"


def _call(call: m.Call, names: Lookup) -> str:
    about: dict[str, Callable[[m.FieldReference], str]] = {
        "size": names.size,
        "present": names.present,
        "code": names.code,
        "count": names.count,
    }
    first = call.arguments[0]
    if call.function in about and isinstance(first, m.FieldReference):
        return about[call.function](first)
    arguments = [python_expression(argument, names) for argument in call.arguments]
    match call.function:
        case "count":
            return f"len({arguments[0]})"
        case "distinct":
            return f"{names.use('distinct')}({arguments[0]})"
        case "min" | "max":
            return f"{call.function}({', '.join(arguments)})" if len(arguments) > 1 else arguments[0]
        case name if not isinstance(FUNCTIONS[name], Lazy):
            return f'{names.use("function_of")}("{name}")({", ".join(arguments)})'
        case _:
            raise UnsupportedError("", f"`{call.function}` outside a session")


def span_test(value: str, spans: tuple[m.Span, ...]) -> str:
    """Return the test that a value is in one of the spans."""
    single = [span.low for span in spans if span.low == span.high]
    tests = [f"{span.low} <= {value} <= {span.high}" for span in spans if span.low != span.high]
    if len(single) == 1:
        tests.insert(0, f"{value} == {single[0]}")
    elif single:
        tests.insert(0, f"{value} in {_tuple([repr(number) for number in single])}")
    return " or ".join(tests)


def _tuple(items: list[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
