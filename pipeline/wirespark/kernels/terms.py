"""Expressions of a plan as operations on registers, and what is known about the fields that they name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from wirespark.kernels import ops
from wirespark.kernels.writing import ProgramWriter, Unsupported

__all__ = ["Known", "Scope", "Terms", "names_asked"]

_OPERATIONS = {
    "+": ops.ADD, "-": ops.SUB, "*": ops.MUL, "/": ops.DIV, "%": ops.MOD, "==": ops.EQ, "!=": ops.NE, "<": ops.LT,
    "<=": ops.LE, ">": ops.GT, ">=": ops.GE, "and": ops.AND, "or": ops.OR,
}  # fmt: skip
_MOST = 1 << 62


@dataclass(slots=True, kw_only=True)
class Known:
    """The registers of a field; None: nothing tells.

    Attributes:
        present: Whether it is there; None: always.
    """

    value: int | None = None
    count: int | None = None
    size: int | None = None
    present: int | None = None


@dataclass(slots=True, kw_only=True)
class Scope:
    """What the names in a record mean; `late` are checks that look ahead."""

    frame: Scope | None = None
    fields: dict[str, Known] = field(default_factory=dict)
    late: list[tuple[Any, ...]] = field(default_factory=list)


class Terms:
    """Writes expressions."""

    def __init__(self, writer: ProgramWriter, limits: dict[str, int | None]) -> None:
        self._writer = writer
        self._limits = limits

    def value(self, term: Any, scope: Scope) -> int:
        """Return the register that has the value of an expression, which is a number or a Boolean.

        Raises:
            KeyError: It names a field that is not read yet.
            Unsupported: It is beyond the kernels.
        """
        match term:
            case ("number" | "truth", value):
                return self._constant(int(value))
            case ("limit", name):
                limit = self._limits.get(name)
                if limit is None:
                    raise Unsupported(f"the limit {name}")
                return self._constant(limit)
            case ("field", path, where):
                return self._field(path, where, scope)
            case ("operation", "in" | "not in" as symbol, left, right):
                return self._inside(self.value(left, scope), right, scope, is_not=symbol != "in")
            case ("operation", symbol, left, right) if symbol in _OPERATIONS:
                return self.math(_OPERATIONS[symbol], self.value(left, scope), self.value(right, scope))
            case ("negation", symbol, operand):
                return self.math(ops.NOT if symbol == "not" else ops.NEG, self.value(operand, scope), 0)
            case ("call", function, arguments):
                return self._call(function, arguments, scope)
        raise Unsupported(str(term[0]))

    def math(self, operation: int, left: int, right: int) -> int:
        found = self._writer.register()
        self._writer.row(ops.MATH, found, operation, left, right)
        return found

    def _constant(self, value: int) -> int:
        if abs(value) > _MOST:
            raise Unsupported("a number beyond 62 bits")
        found = self._writer.register()
        self._writer.row(ops.SET, found, value)
        return found

    def _known(self, path: tuple[str, ...], where: str, scope: Scope) -> Known:
        owner = scope if where == "own" else scope.frame if where == "frame" else None
        if owner is None or len(path) != 1:
            raise Unsupported("a field of something else")
        return owner.fields[path[0]]

    def _field(self, path: tuple[str, ...], where: str, scope: Scope) -> int:
        known = self._known(path, where, scope)
        if known.value is None or known.present is not None:
            raise Unsupported(f"the value of {path[0]}")
        return known.value

    def _inside(self, value: int, items: Any, scope: Scope, *, is_not: bool) -> int:
        if items[0] not in ("range", "list"):
            raise Unsupported("a list that is read")
        found = self._constant(0)
        for item in (items,) if items[0] == "range" else items[1]:
            if item[0] == "range":
                low = self.math(ops.GE, value, self.value(item[1], scope))
                high = self.math(ops.LE, value, self.value(item[2], scope))
                is_there = self.math(ops.AND, low, high)
            else:
                is_there = self.math(ops.EQ, value, self.value(item, scope))
            found = self.math(ops.OR, found, is_there)
        return self.math(ops.NOT, found, 0) if is_not else found

    def _call(self, function: str, arguments: Any, scope: Scope) -> int:
        if function in ("min", "max"):
            values = [self.value(each, scope) for each in arguments]
            for value in values[1:]:
                values[0] = self.math(ops.MIN if function == "min" else ops.MAX, values[0], value)
            return values[0]
        if function not in ("size", "count", "present") or arguments[0][0] != "field":
            raise Unsupported(function)
        known = self._known(arguments[0][1], arguments[0][2], scope)
        if function == "present":
            return self._constant(1) if known.present is None else known.present
        found = known.size if function == "size" else known.count
        if found is None or known.present is not None:
            raise Unsupported(f"the {function} of {arguments[0][1][0]}")
        return found


def names_asked(term: Any, function: str | None = None) -> Iterator[str]:
    """Yield the fields that expressions name anywhere below; of `function` only its arguments."""
    if isinstance(term, tuple):
        if function is None and term[:1] == ("field",) and len(term) == 3:
            yield from term[1]
        elif function is not None and term[:2] == ("call", function):
            yield from names_asked(term[2])
        for part in term:
            yield from names_asked(part, function)
    elif isinstance(term, dict):
        for part in term.values():
            yield from names_asked(part, function)
