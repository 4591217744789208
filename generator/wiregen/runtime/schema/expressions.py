"""Expressions of a schema; every name in them is resolved."""

from __future__ import annotations

from .node import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from .literals import ChecksumAlgorithm, FieldScope, Function, Operator, PositionName

__all__ = [
    "Call", "Checksum", "ContextReference", "Expression", "FieldReference", "Item", "JoinReference", "LimitReference", "ListOf", "LiteralExpression", "Name", "Negation", "Null",
    "Number", "Octets", "Operation", "Position", "Range", "RoleReference", "String", "Truth", "VariableReference",
]  # fmt: skip


class Number(Node):
    """An integer within ±2**127; constants and enum members are numbers here."""

    value: int


class Truth(Node):
    """`true` or `false`."""

    value: bool


class String(Node):
    """Text."""

    value: str


class Octets(Node):
    """Bytes or a uuid, as lowercase hexadecimal text."""

    hex: str


class Null(Node):
    """No value."""


class FieldReference(Node):
    """A field by its names, dotted into structs.

    `scope`: `own` a field of the same declaration (in a transition: of the message), `frame` of the frame that carries the
    message, `item` of the last item read. An empty path with scope `item` is the item itself.
    """

    path: tuple[str, ...]
    scope: FieldScope = "own"


class LimitReference(Node):
    """A declared limit: bytes, items, or milliseconds."""

    name: str


class ContextReference(Node):
    """The value of a context under these keys."""

    context: str
    keys: tuple[Expression, ...]


class VariableReference(Node):
    """A variable of the session, or an option of its connection."""

    name: str


class JoinReference(Node):
    """A join, as the argument of `size` only: its bytes so far, this fragment included."""

    name: str


class RoleReference(Node):
    """`sender` in a session, or a role by its name."""

    name: str


class Position(Node):
    """`remaining`: bytes left in the region. `offset`: bytes since the frame began."""

    what: PositionName


class Negation(Node):
    """`-x` of an integer, `not x` of a Boolean."""

    operator: Literal["-", "not"]
    operand: Expression


class Operation(Node):
    """Two operands; `/` and `%` are floor division and its remainder, the right side of `in` is a Range or a list."""

    operator: Operator
    left: Expression
    right: Expression


class Range(Node):
    """From `low` to `high`, both included."""

    low: Expression
    high: Expression


class ListOf(Node):
    """A list written out; an item may be a Range."""

    items: tuple[Expression, ...]


class Call(Node):
    """A function of the language."""

    function: Function
    arguments: tuple[Expression, ...]


class Checksum(Node):
    """A checksum over the bytes of the fields from `first` to `last`, both included, of the same declaration."""

    algorithm: ChecksumAlgorithm
    first: str
    last: str


class Item(Node):
    """`list[index]`, from 0; of bytes the number that the byte is."""

    list: Expression
    index: Expression


Name: TypeAlias = (
    FieldReference | LimitReference | ContextReference | VariableReference | JoinReference | RoleReference | Position | Checksum
)  # fmt: skip
LiteralExpression: TypeAlias = Number | Truth | String | Octets | Null
Expression: TypeAlias = LiteralExpression | Negation | Operation | Range | ListOf | Call | Item | Name
