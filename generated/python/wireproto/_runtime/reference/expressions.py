"""The evaluation of the schema's expressions.

Integers are exact, and the work is bounded for any bytes: a result that would grow too large is
`Incalculable`.
"""

from __future__ import annotations

import binascii
import operator
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Never, NoReturn, Protocol, TypeAlias
from uuid import UUID

from ..schema.expressions import (
    Call,
    Checksum,
    ContextReference,
    Expression,
    FieldReference,
    Item,
    JoinReference,
    LimitReference,
    ListOf,
    Name,
    Negation,
    Null,
    Number,
    Octets,
    Operation,
    Position,
    Range,
    RoleReference,
    String,
    Truth,
    VariableReference,
)
from ..schema.literals import Function
from .functions import function_of

__all__ = [
    "Circular", "Incalculable", "Scope", "Undefined", "about", "checksum", "count_of", "equal", "evaluate", "integer", "plain", "power",
]  # fmt: skip

# The value of a name: the values of the tree, and results of expressions.
Value: TypeAlias = Any

# Constants lie within 2**127, so this bound allows every sum and product that a protocol has a reason for.
_MOST_BITS = 4096


class Undefined(Exception):
    """A name in an expression has no value.

    Attributes:
        what: `field`, `context`, `limit`, `variable`, `code`, `item`, `size`, `remaining`, `offset`,
            `number`.
        name: Which of them.
    """

    def __init__(self, what: str, name: str = "") -> None:
        self.what = what
        self.name = name
        super().__init__(f"{what} {name} is not there" if name else f"{what} is not there")


class Circular(Undefined):
    """A written value depends on itself, as a length that decides whether the element it measures is present."""


class Incalculable(Undefined):
    """The number does not exist: a division by zero, a power too large, an operand of another kind."""

    def __init__(self, why: str) -> None:
        super().__init__("number", why)


class Scope(Protocol):
    """The values of the names in an expression; each method raises Undefined for a missing value.

    `size` is also asked for a join, as a path of its name alone; `variable` also for `sender`.
    """

    def field(self, path: tuple[str, ...], scope: str) -> Value: ...

    def limit(self, name: str) -> int: ...

    def context(self, name: str, keys: tuple[Value, ...]) -> Value: ...

    def variable(self, name: str) -> Value: ...

    def remaining(self) -> int: ...

    def offset(self) -> int: ...

    def size(self, path: tuple[str, ...]) -> int: ...

    def count(self, path: tuple[str, ...]) -> int | None: ...

    def present(self, path: tuple[str, ...]) -> bool: ...

    def code(self, path: tuple[str, ...]) -> int: ...

    def checksum(self, algorithm: str, first: str, last: str) -> int: ...


def evaluate(expression: Expression, scope: Scope) -> Value:
    """Return the value of an expression.

    Raises:
        Undefined: A name has no value, or (Incalculable) the number does not exist.
    """
    match expression:
        case Number(value) | Truth(value) | String(value):
            return value
        case Octets(digits):
            return bytes.fromhex(digits)
        case Null():
            return None
        case Operation(operator_, left, right):
            return _operation(operator_, left, right, scope)
        case Negation("not", operand):
            return not _truth(evaluate(operand, scope))
        case Negation(_, operand):
            return -integer(evaluate(operand, scope))
        case Range(low, high):
            return range(integer(evaluate(low, scope)), integer(evaluate(high, scope)) + 1)
        case ListOf(items):
            return tuple(evaluate(item, scope) for item in items)
        case Item(list_, index):
            return _item(_sequence(evaluate(list_, scope)), integer(evaluate(index, scope)))
        case Call(function, arguments):
            return _call(function, arguments, scope)
        case _:
            return _name(expression, scope)


def _name(expression: Name, scope: Scope) -> Value:
    match expression:
        case FieldReference(path, where):
            return scope.field(path, where)
        case LimitReference(name):
            return scope.limit(name)
        case ContextReference(name, keys):
            return scope.context(name, tuple(evaluate(key, scope) for key in keys))
        case VariableReference(name) | RoleReference("sender" as name):
            return scope.variable(name)
        case RoleReference(name):
            return name
        case Position("remaining"):
            return scope.remaining()
        case Position(_):
            return scope.offset()
        case Checksum(algorithm, first, last):
            return scope.checksum(algorithm, first, last)
        case JoinReference(_):
            raise TypeError("a join is an argument of `size` only")
    _never(expression)


def _never(expression: Never) -> NoReturn:
    raise TypeError(f"{expression!r} is not an expression")


def checksum(algorithm: str, data: bytes) -> int:
    """Return the checksum by the name of its algorithm. `crc16` is CRC-16/XMODEM: 0x1021, from 0, not reflected."""
    match algorithm:
        case "crc32":
            return zlib.crc32(data)
        case "adler32":
            return zlib.adler32(data)
        case _:
            return binascii.crc_hqx(data, 0)


# ---- operations ----


def _operation(symbol: str, left: Expression, right: Expression, scope: Scope) -> Value:
    if symbol == "and":
        return _truth(evaluate(left, scope)) and _truth(evaluate(right, scope))
    if symbol == "or":
        return _truth(evaluate(left, scope)) or _truth(evaluate(right, scope))
    first, second = evaluate(left, scope), evaluate(right, scope)
    match symbol:
        case "==":
            return equal(first, second)
        case "!=":
            return not equal(first, second)
        case "in":
            return _holds(second, first)
        case "not in":
            return not _holds(second, first)
        case "<" | "<=" | ">" | ">=":
            return _ORDERS[symbol](_ordered(first), _ordered(second))
        case _:
            return _arithmetic(symbol, integer(first), integer(second))


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _arithmetic(symbol: str, left: int, right: int) -> int:
    if symbol in ("/", "%") and right == 0:
        raise Incalculable("division by zero")
    match symbol:
        case "+":
            return _bounded(left + right)
        case "-":
            return _bounded(left - right)
        case "*":
            return _bounded(left * right)
        case "/":
            return left // right
        case "%":
            return left % right
        case _:
            return power(left, right)


def power(base: int, exponent: int) -> int:
    """Return a power.

    Raises:
        Incalculable: The power is not an integer, or too large.
    """
    if exponent < 0:
        raise Incalculable("negative exponent")
    if base in (0, 1, -1):
        return int(base ** (2 - exponent % 2 if exponent else 0))
    if exponent * base.bit_length() > _MOST_BITS:
        raise Incalculable("exponent too large")
    return int(base**exponent)


def _bounded(number: int) -> int:
    if number.bit_length() > _MOST_BITS:
        raise Incalculable("number too large")
    return number


def integer(value: Value) -> int:
    """Return an integer.

    Raises:
        Incalculable: The value is of another kind.
    """
    if not isinstance(value, int):
        raise Incalculable("not an integer")
    return int(value)


def _truth(value: Value) -> bool:
    if not isinstance(value, int):
        raise Incalculable("not a Boolean")
    return bool(value)


def _ordered(value: Value) -> Value:
    if not isinstance(value, int | float):
        raise Incalculable("without an order")
    return value


def _sequence(value: Value) -> Sequence[Value]:
    if not isinstance(value, Sequence):
        raise Incalculable("not a list")
    return value


def plain(value: Value) -> Value:
    """Return a value with the bytes of each UUID in its place, as straight-line code compares it."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value.bytes if isinstance(value, UUID) else value


def equal(left: Value, right: Value) -> bool:
    """Return whether two values are equal; a UUID is its bytes."""
    if isinstance(left, UUID) or isinstance(right, UUID):
        left, right = plain(left), plain(right)
    if isinstance(left, list | tuple | deque) and isinstance(right, list | tuple | deque):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


def _holds(container: Value, value: Value) -> bool:
    if isinstance(container, range):
        return isinstance(value, int) and int(value) in container
    return any(
        _holds(item, value) if isinstance(item, range) else equal(item, value)
        for item in _sequence(container)
    )


# ---- functions ----


def _call(function: Function, arguments: tuple[Expression, ...], scope: Scope) -> Value:
    match function, arguments[0]:
        case "size" | "present" | "count" | "code", FieldReference(path, "item"):
            asked: Any = scope  # the condition of `until` is only evaluated if there are items
            return asked.about_item(function, path)
        case "size" | "present" | "code", FieldReference(path) | JoinReference(path):
            return about(function, (path,) if isinstance(path, str) else path, scope)
        case "count", FieldReference(path):
            return scope.count(path)
    values = [evaluate(argument, scope) for argument in arguments]
    try:
        return function_of(function)(*values)
    except Exception:  # noqa: BLE001 - values of a choice may be of any class, and raise anything
        raise Incalculable(f"no {function} of such values") from None


def about(function: str, path: tuple[str, ...], scope: Scope) -> int | None:
    """Return the result of a function of a field."""
    match function:
        case "size":
            return scope.size(path)
        case "count":
            return scope.count(path)
        case "present":
            return scope.present(path)
        case _:
            return scope.code(path)


def _item(items: Sequence[Value], index: int) -> Value:
    if not 0 <= index < len(items):
        raise Undefined("item", str(index) if abs(index) < 2**64 else "far away")
    return items[index]


def count_of(value: Value) -> int | None:
    """Return the length of bytes or of a list, or None for a null."""
    return None if value is None else len(value)
