"""Expressions of a schema as operations on registers, and the known facts about their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wirespark.kernels import ops
from wirespark.kernels.writing import ProgramWriter, Unsupported
from wirespark.nodes import Nodes

if TYPE_CHECKING:
    from wireproto._runtime.schema.expressions import Expression

__all__ = ["Known", "Scope", "Terms", "names_asked"]

_OPERATIONS = {
    "+": ops.ADD, "-": ops.SUB, "*": ops.MUL, "/": ops.DIV, "%": ops.MOD, "==": ops.EQ, "!=": ops.NE, "<": ops.LT,
    "<=": ops.LE, ">": ops.GT, ">=": ops.GE, "and": ops.AND, "or": ops.OR,
}  # fmt: skip
_MOST = 1 << 62


@dataclass(slots=True, kw_only=True)
class Known:
    """The registers of a field, None for unknown facts.

    Attributes:
        present: Whether it is there; None if it always is.
    """

    value: int | None = None
    count: int | None = None
    size: int | None = None
    present: int | None = None


@dataclass(slots=True, kw_only=True)
class Scope:
    """The meaning of names in a record; `late` are checks that need later fields."""

    frame: Scope | None = None
    fields: dict[str, Known] = field(default_factory=dict)
    late: list[tuple[Callable[[bool], None], bool]] = field(default_factory=list)


class Terms:
    """Writes the code for expressions."""

    def __init__(self, writer: ProgramWriter, limits: dict[str, int | None], nodes: Nodes) -> None:
        self._writer = writer
        self._limits = limits
        self._nodes = nodes

    def value(self, term: Expression, scope: Scope) -> int:
        """Return the register that has the value of an expression, which is a number or a Boolean.

        Raises:
            KeyError: It uses a field that is not read yet.
            Unsupported: The kernels do not support it.
        """
        n = self._nodes
        match term:
            case n.Number(value) | n.Truth(value):
                return self._constant(int(value))
            case n.LimitReference(name):
                limit = self._limits.get(name)
                if limit is None:
                    raise Unsupported(f"the limit {name}")
                return self._constant(limit)
            case n.FieldReference(path, where):
                return self._field(path, where, scope)
            case n.Operation("in" | "not in" as symbol, left, right):
                return self._inside(self.value(left, scope), right, scope, is_not=symbol != "in")
            case n.Operation(symbol, left, right) if symbol in _OPERATIONS:
                return self.math(_OPERATIONS[symbol], self.value(left, scope), self.value(right, scope))
            case n.Negation(symbol, operand):
                return self.math(ops.NOT if symbol == "not" else ops.NEG, self.value(operand, scope), 0)
            case n.Call(function, arguments):
                return self._call(function, arguments, scope)
        raise Unsupported(type(term).__name__)

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

    def _inside(self, value: int, items: Expression, scope: Scope, *, is_not: bool) -> int:
        n = self._nodes
        if not isinstance(items, n.Range | n.ListOf):
            raise Unsupported("a list that is read")
        found = self._constant(0)
        for item in items.items if isinstance(items, n.ListOf) else (items,):
            if isinstance(item, n.Range):
                low = self.math(ops.GE, value, self.value(item.low, scope))
                high = self.math(ops.LE, value, self.value(item.high, scope))
                is_there = self.math(ops.AND, low, high)
            else:
                is_there = self.math(ops.EQ, value, self.value(item, scope))
            found = self.math(ops.OR, found, is_there)
        return self.math(ops.NOT, found, 0) if is_not else found

    def _call(self, function: str, arguments: tuple[Expression, ...], scope: Scope) -> int:
        if function in ("min", "max"):
            values = [self.value(each, scope) for each in arguments]
            for value in values[1:]:
                values[0] = self.math(ops.MIN if function == "min" else ops.MAX, values[0], value)
            return values[0]
        field = arguments[0] if arguments else None
        if function not in ("size", "count", "present") or not isinstance(field, self._nodes.FieldReference):
            raise Unsupported(function)
        known = self._known(field.path, field.scope, scope)
        if function == "present":
            return self._constant(1) if known.present is None else known.present
        found = known.size if function == "size" else known.count
        if found is None or known.present is not None:
            raise Unsupported(f"the {function} of {field.path[0]}")
        return found


def names_asked(nodes: Nodes, part: object, function: str | None = None) -> Iterator[str]:
    """Yield the fields that expressions below a node name; with `function` only its arguments."""
    for node in nodes.nodes_in(part):
        match node:
            case nodes.FieldReference(path) if function is None:
                yield from path
            case nodes.Call(called, arguments) if called == function:
                yield from names_asked(nodes, arguments)
