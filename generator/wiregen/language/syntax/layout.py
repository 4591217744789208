"""Fields and the shapes that define the layout of their bytes."""

from dataclasses import dataclass
from typing import TypeAlias

from wiregen.language.diagnostics import Span

from .expressions import Annotation, Boolean, CodeRange, Expression, Name, Ref

Pattern: TypeAlias = Name | Boolean | CodeRange


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """`patterns => shape`; a pattern is a member's name, `_`, a Boolean, or codes."""

    patterns: tuple[Pattern, ...]
    shape: "Shape"
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """`match subject`; without arms (None) the message with that code."""

    subject: Ref
    arms: tuple[Arm, ...] | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    fields: tuple["Field", ...]
    span: Span


Core = Ref | Match | Block


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`core [only names] [in carrier] [lenient]`; `lenient` is the place of that word."""

    core: Core
    only: tuple[Name, ...]
    carrier: Expression | None
    lenient: Span | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """`as type [only names]`."""

    type: Ref
    only: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultOf:
    """`NAME, … => expression`: the value of a frame's field for these messages."""

    messages: tuple[Name, ...]
    expression: Expression
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """`= expression [{ NAME, … => expression … }]`."""

    expression: Expression
    others: tuple[DefaultOf, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """`:= expression`."""

    expression: Expression
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """`== expression`."""

    expression: Expression
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Trailing:
    """`?= expression`."""

    expression: Expression
    span: Span


Value = Default | Derived | Constant | Trailing


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A `where` of a field; `rules`: the `@rule` after it, unless it is the first one, whose rule is the field's."""

    expression: Expression
    rules: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    docs: str
    name: Name
    shape: Shape
    view: View | None
    value: Value | None
    condition: Expression | None
    requirements: tuple[Requirement, ...]
    annotations: tuple[Annotation, ...]
    span: Span
