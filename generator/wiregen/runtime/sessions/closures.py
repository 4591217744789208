"""Expressions of transitions as closures: compiled once, so that a step does not interpret the schema.

A closure takes the message, its frame, the values of the instance's variables and the moment (limits,
contexts, sender). It has the meaning of `evaluate`; a missing value makes it raise one of `NOTHING`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from ..reference.expressions import Undefined, Value, equal, power
from ..reference.functions import function_of
from ..reference.lists import index as index_of
from ..schema.expressions import (
    Call,
    ContextReference,
    Expression,
    FieldReference,
    Item,
    JoinReference,
    LimitReference,
    ListOf,
    Negation,
    Null,
    Number,
    Octets,
    Operation,
    Range,
    RoleReference,
    String,
    Truth,
    VariableReference,
)

__all__ = ["NOTHING", "Moment", "Term", "Words", "compile_term"]

Term: TypeAlias = Callable[[Value, Value, list[Value], Value], Value]

NOTHING = (Undefined, LookupError, TypeError, ArithmeticError, AttributeError)
"""The exceptions of a closure for a missing value: a field, an entry, an item, a number."""


class Moment(Protocol):
    """The values that a transition uses in addition to the message and the variables."""

    limits: Mapping[str, int | None]
    sender: str | None
    side: str | None
    """The sender as the session's own roles name it."""

    def context(self, name: str, keys: tuple[object, ...]) -> Value: ...


class Words(Protocol):
    """The meaning of names in expressions, for the kind of message that a term is compiled for."""

    slots: Mapping[str, int]
    """The place of each variable."""

    def field(self, path: tuple[str, ...], scope: str) -> Term: ...

    def is_number(self, path: tuple[str, ...]) -> bool:
        """Return whether a field is certainly a number."""

    def frame_number(self, path: tuple[str, ...]) -> Callable[[object], object] | None:
        """Return a function that reads a number, which is always present, from a frame."""

    def about(self, function: str, path: tuple[str, ...]) -> Term:
        """Return `size`, `count`, `present` or `code` of a field."""

    def joined(self, name: str) -> Term:
        """Return the number of bytes in a reassembly, this fragment included."""


_ORDERS: dict[str, Callable[[Value, Value], Value]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    # A sign refuses a text or a list that the program sends for a number: Python would multiply it, or fill it in.
    "*": lambda left, right: +left * +right,
    "/": operator.floordiv,
    "%": lambda left, right: +left % +right,
    "**": power,
}


def compile_term(expression: Expression, words: Words) -> Term:
    """Return the closure of an expression."""
    match expression:
        case Number(value) | Truth(value) | String(value):
            return _constant(value)
        case Octets(digits):
            return _constant(bytes.fromhex(digits))
        case Null():
            return _constant(None)
        case Operation(symbol, left, right):
            return _operation(symbol, left, right, words)
        case Negation("not", operand):
            inner = compile_term(operand, words)
            return lambda m, f, v, x: not inner(m, f, v, x)
        case Negation(_, operand):
            inner = compile_term(operand, words)
            return lambda m, f, v, x: -inner(m, f, v, x)
        case Range(low, high):
            first, last = compile_term(low, words), compile_term(high, words)
            return lambda m, f, v, x: range(first(m, f, v, x), last(m, f, v, x) + 1)
        case ListOf(items):
            terms = [compile_term(item, words) for item in items]
            return lambda m, f, v, x: [term(m, f, v, x) for term in terms]
        case Item(list_, index):
            return _item(compile_term(list_, words), compile_term(index, words))
        case Call(function, arguments):
            return _call(function, arguments, words)
        case _:
            return _name(expression, words)


def _constant(value: object) -> Term:
    return lambda m, f, v, x: value


def _name(expression: Expression, words: Words) -> Term:
    match expression:
        case FieldReference(path, scope):
            return words.field(path, scope)
        case VariableReference(name):
            slot = words.slots[name]
            return lambda m, f, v, x: v[slot]
        case LimitReference(name):
            return lambda m, f, v, x: x.limits[name]
        case RoleReference("sender"):
            return lambda m, f, v, x: x.side
        case RoleReference(name):
            return _constant(name)
        case ContextReference(name, keys):
            terms = [compile_term(key, words) for key in keys]
            return lambda m, f, v, x: x.context(name, tuple([term(m, f, v, x) for term in terms]))
        case _:
            raise TypeError(f"{type(expression).__name__} is in the wrong place of a schema")


# ---- operations ----


def _operation(symbol: str, left: Expression, right: Expression, words: Words) -> Term:
    if symbol in ("in", "not in"):
        return _membership(compile_term(left, words), right, words, is_in=symbol == "in")
    first, second = compile_term(left, words), compile_term(right, words)
    if isinstance(left, VariableReference) and isinstance(right, Number):
        return _on_variable(symbol, words.slots[left.name], right.value)
    match symbol:
        case "and":
            return lambda m, f, v, x: first(m, f, v, x) and second(m, f, v, x)
        case "or":
            return lambda m, f, v, x: first(m, f, v, x) or second(m, f, v, x)
        case "==" | "!=":
            if isinstance(left, FieldReference) and isinstance(right, VariableReference):
                get = words.frame_number(left.path)
                if get is not None:
                    return _is_what_frame_has(get, words.slots[right.name], is_equal=symbol == "==")
            is_number = _is_number(left, words) or _is_number(right, words)
            return _equality(first, second, is_equal=symbol == "==", is_number=is_number)
    operate = _ORDERS[symbol]
    if isinstance(right, Number):
        number = right.value
        return lambda m, f, v, x: operate(first(m, f, v, x), number)
    return lambda m, f, v, x: operate(first(m, f, v, x), second(m, f, v, x))


def _on_variable(symbol: str, slot: int, number: int) -> Term:
    """Return one closure in place of three for the most frequent operations of transitions."""
    match symbol:
        case "==":
            return lambda m, f, v, x: v[slot] == number
        case "!=":
            return lambda m, f, v, x: v[slot] != number
        case ">":
            return lambda m, f, v, x: v[slot] > number
        case "+":
            return lambda m, f, v, x: v[slot] + number
        case "-":
            return lambda m, f, v, x: v[slot] - number
        case "and":
            return lambda m, f, v, x: v[slot] and number
        case "or":
            return lambda m, f, v, x: v[slot] or number
        case _:
            operate = _ORDERS[symbol]
            return lambda m, f, v, x: operate(v[slot], number)


def _is_what_frame_has(get: Callable[[object], object], slot: int, *, is_equal: bool) -> Term:
    """Return whether a number in a frame is the value of a variable: one closure in place of four."""
    if is_equal:
        return lambda m, f, v, x: get(f) == v[slot]
    return lambda m, f, v, x: get(f) != v[slot]


def _equality(first: Term, second: Term, *, is_equal: bool, is_number: bool) -> Term:
    """`is_number`: one of the two is known to be a number, so that only an equal number is equal to it."""
    if not is_number:
        return lambda m, f, v, x: equal(first(m, f, v, x), second(m, f, v, x)) is is_equal
    if is_equal:
        return lambda m, f, v, x: first(m, f, v, x) == second(m, f, v, x)
    return lambda m, f, v, x: first(m, f, v, x) != second(m, f, v, x)


def _is_number(expression: Expression, words: Words) -> bool:
    match expression:
        case Number() | Truth() | LimitReference():
            return True
        case FieldReference(path):
            return words.is_number(path)
        case _:
            return False


def _membership(value: Term, container: Expression, words: Words, *, is_in: bool) -> Term:
    match container:
        case ListOf(items):
            matches = [_match(item, words) for item in items]

            def is_listed(m: object, f: object, v: list[object], x: object) -> bool:
                found = value(m, f, v, x)
                return (True in [match(found, m, f, v, x) for match in matches]) is is_in

            return is_listed
        case Range():
            lies = _match(container, words)
            return lambda m, f, v, x: lies(value(m, f, v, x), m, f, v, x) is is_in
        case _:
            queue = compile_term(container, words)
            return lambda m, f, v, x: _holds(value(m, f, v, x), queue(m, f, v, x)) is is_in


_Match: TypeAlias = Callable[[Value, Value, Value, list[Value], Value], bool]


def _match(item: Expression, words: Words) -> _Match:
    """Return a function that checks whether a value is equal to an item of a written list, or within a range in it."""
    if not isinstance(item, Range):
        other = compile_term(item, words)
        return lambda value, m, f, v, x: equal(value, other(m, f, v, x))
    low, high = compile_term(item.low, words), compile_term(item.high, words)

    def lies(value: object, m: object, f: object, v: list[object], x: object) -> bool:
        first, last = low(m, f, v, x), high(m, f, v, x)
        return bool(first <= value <= last)

    return lies


def _holds(value: object, items: Sequence[object]) -> bool:
    return index_of(items, value) < len(items)


def _item(items: Term, index: Term) -> Term:
    def item(m: object, f: object, v: list[object], x: object) -> Value:
        number = index(m, f, v, x)
        if number < 0:
            raise Undefined("item")
        return items(m, f, v, x)[number]

    return item


# ---- functions ----


def _call(function: str, arguments: tuple[Expression, ...], words: Words) -> Term:
    match function, arguments[0]:
        case "size", JoinReference(name):
            return words.joined(name)
        case "size" | "present" | "code" | "count", FieldReference(path):
            return words.about(function, path)
    apply = function_of(function)
    terms = [compile_term(argument, words) for argument in arguments]
    first, *others = terms
    if not others:
        return lambda m, f, v, x: apply(first(m, f, v, x))
    if len(others) == 1:
        second = others[0]
        return lambda m, f, v, x: apply(first(m, f, v, x), second(m, f, v, x))
    return lambda m, f, v, x: apply(*[term(m, f, v, x) for term in terms])
