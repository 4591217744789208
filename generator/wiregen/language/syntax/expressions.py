"""Names, literals, references and expressions."""

from dataclasses import dataclass
from typing import Literal

from wiregen.language.diagnostics import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A word; the span of one in backticks holds the backticks, `text` does not."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Wildcard:
    """`any`: every state, role or message."""

    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer:
    value: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Character:
    """A character in quotes, which represents its code."""

    value: int
    text: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number with its unit, in `limits` only."""

    number: int
    unit: Literal["KiB", "MiB", "GiB", "ms", "s", "min"]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class String:
    """A text with its escapes resolved; lone surrogates are possible."""

    value: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    value: bytes
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean:
    value: bool
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Null:
    span: Span


Code = Integer | Character


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRange:
    """`4` or `4 .. 7`, both included; a single code is its own `high`."""

    low: Code
    high: Code
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """`base.name`."""

    base: "Ref"
    name: Name
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """`base[length]`: a type with a length, an element of a list, an entry of a context."""

    base: "Ref"
    length: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ToTheEnd:
    """`base[]`."""

    base: "Ref"
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminated:
    """`base[until e]`: a delimiter if `until` is Bytes, else a condition on the last item."""

    base: "Ref"
    until: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An argument of a call or an annotation; without `name` it is positional."""

    name: Name | None
    value: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`function(arguments)`: a function, or the constructor of an example's value."""

    function: "Ref"
    arguments: tuple[Argument, ...]
    span: Span


Ref = Name | Attribute | Sized | ToTheEnd | Terminated | Call


UnaryOperator = Literal["not", "-"]
BinaryOperator = Literal[
    "or", "and", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "+", "-", "*", "/", "%", "**"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary:
    operator: UnaryOperator
    operand: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    operator: BinaryOperator
    operator_span: Span
    left: "Expression"
    right: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """`low .. high`, both included: after `in`, in lists, between the arguments of a call."""

    low: "Expression"
    high: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    items: tuple["Expression", ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """An expression in parentheses, which belong to the span."""

    expression: "Expression"
    span: Span


Literals = Integer | Character | String | Bytes | Boolean | Null
Expression = Ref | Literals | Unary | Binary | Range | Listing | Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """`@name(arguments)`; the span of `name` begins after the `@`."""

    name: Name
    arguments: tuple[Argument, ...]
    span: Span
