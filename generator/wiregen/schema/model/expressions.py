"""Expressions of the model: what is computed, compared or looked up; every name in them is resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """An integer, within ±2**127; constants are folded into it when their name does not matter."""

    value: int
    kind: Literal["number"] = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    value: bool
    kind: Literal["truth"] = "truth"


@dataclass(frozen=True, slots=True, kw_only=True)
class String:
    value: str
    kind: Literal["string"] = "string"


@dataclass(frozen=True, slots=True, kw_only=True)
class Octets:
    """Bytes, as lowercase hexadecimal text. Also what a uuid is written as."""

    hex: str
    kind: Literal["octets"] = "octets"


@dataclass(frozen=True, slots=True, kw_only=True)
class Null:
    kind: Literal["null"] = "null"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantReference:
    """A `const` of the file; `value` is what it says."""

    name: str
    value: int
    kind: Literal["constant"] = "constant"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberReference:
    """A member of an enum, and its number."""

    enum: str
    member: str
    value: int
    kind: Literal["member"] = "member"


FieldScope: TypeAlias = Literal["own", "frame", "item"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReference:
    """A field by its names, dotted into structs.

    `scope`: `own` a field of the same declaration (in a session row: of the message); `frame` a field of the frame that
    carries the message (rows, contexts, joins); `item` a field of the last item read (`until`). An empty path with scope
    `item` is the item itself.
    """

    path: tuple[str, ...]
    scope: FieldScope = "own"
    kind: Literal["field"] = "field"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReference:
    """A declared limit: an integer in bytes or pieces, a time in milliseconds."""

    name: str
    kind: Literal["limit"] = "limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReference:
    """What the context holds under these keys."""

    context: str
    keys: tuple[Expression, ...]
    kind: Literal["context"] = "context"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableReference:
    """A variable of the session, or a setting of its connection (`option`)."""

    name: str
    kind: Literal["variable"] = "variable"


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinReference:
    """A join; only as the argument of `size`: the bytes so far, this piece included."""

    name: str
    kind: Literal["join"] = "join"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleReference:
    """`sender` in a session, or a role by its name."""

    name: str
    kind: Literal["role"] = "role"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """`remaining`: bytes left in the region. `offset`: bytes since the frame began."""

    what: Literal["remaining", "offset"]
    kind: Literal["position"] = "position"


@dataclass(frozen=True, slots=True, kw_only=True)
class Negation:
    """`-x` of an integer, `not x` of a Boolean."""

    operator: Literal["-", "not"]
    operand: Expression
    kind: Literal["negation"] = "negation"


Operator: TypeAlias = Literal[
    "+", "-", "*", "/", "%", "**", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Two operands; `/` and `%` are floor division and its rest, a right side of `in` is a Range or a list."""

    operator: Operator
    left: Expression
    right: Expression
    kind: Literal["operation"] = "operation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """`low .. high`, both included."""

    low: Expression
    high: Expression
    kind: Literal["range"] = "range"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    """A list written out; an item may be a Range."""

    items: tuple[Expression, ...]
    kind: Literal["list"] = "list"


Function: TypeAlias = Literal[
    "size", "count", "present", "code", "distinct", "min", "max", "push", "drop", "remove", "index", "rank"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A function of the language. `size present code` take one FieldReference (`size` also a JoinReference)."""

    function: Function
    arguments: tuple[Expression, ...]
    kind: Literal["call"] = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checksum:
    """A checksum over the wire bytes of the fields from `first` to `last`, both included, of the same declaration."""

    algorithm: Literal["crc32", "adler32", "crc16"]
    first: str
    last: str
    kind: Literal["checksum"] = "checksum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """`list[index]`, from 0; of bytes the number that the byte is."""

    list: Expression
    index: Expression
    kind: Literal["item"] = "item"


Expression: TypeAlias = (
    Number
    | Truth
    | String
    | Octets
    | Null
    | ConstantReference
    | MemberReference
    | FieldReference
    | LimitReference
    | ContextReference
    | VariableReference
    | JoinReference
    | RoleReference
    | Position
    | Negation
    | Operation
    | Range
    | ListOf
    | Call
    | Checksum
    | Item
)
