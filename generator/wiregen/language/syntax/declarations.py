"""Declarations of constants, limits, types and messages."""

from dataclasses import dataclass

from wiregen.language.diagnostics import Span

from .expressions import Annotation, Code, CodeRange, Expression, Integer, Name, Null, Quantity, Ref, String
from .layout import Block, Field, Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """Reserved codes of a protocol or an enum."""

    docs: str
    ranges: tuple[CodeRange, ...]
    reason: String | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    docs: str
    protocol: Name
    names: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Const:
    docs: str
    name: Name
    value: Expression
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    docs: str
    name: Name
    value: Integer | Quantity
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    docs: str
    limits: tuple[Limit, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    docs: str
    name: Name
    shape: Shape
    where: Expression | None
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    docs: str
    name: Name
    code: Code
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Enum:
    """`open` is the place of that word, None for a closed enum."""

    docs: str
    open: Span | None
    name: Name
    type: Name
    members: tuple[Member | Reserved, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Struct:
    docs: str
    name: Name
    fields: tuple[Field, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Without `role`, both sides send it."""

    docs: str
    name: Name
    role: Name | None
    fields: tuple[Field, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Without `code`, only arms name it; without `role`, both sides send it."""

    docs: str
    name: Name
    code: Code | None
    role: Name | None
    fields: tuple[Field, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Preamble:
    docs: str
    name: Name
    role: Name
    fields: tuple[Field, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Variety:
    """An alternative of a union: fields in a Block, a single Shape, or only its code."""

    docs: str
    name: Name
    codes: tuple[CodeRange, ...]
    body: Shape | Block | None
    where: Expression | None
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Union:
    docs: str
    name: Name
    type: Name
    varieties: tuple[Variety, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Width:
    """Codes that are the number themselves (`target` None), announce a wider one, or mean null."""

    codes: CodeRange
    target: Ref | Null | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    docs: str
    name: Name
    type: Name
    widths: tuple[Width, ...]
    annotations: tuple[Annotation, ...]
    span: Span
