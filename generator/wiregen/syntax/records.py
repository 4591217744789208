"""What documents a protocol and proves it: rules, the ledger, examples."""

from dataclasses import dataclass
from typing import Literal

from wiregen.diagnostics import Span

from .behaviour import Violates
from .expressions import Annotation, Expression, Integer, Name, Ref, String


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    docs: str
    name: Name
    text: String
    sources: tuple[String, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One text of a ledger's entry."""

    kind: Literal["document", "peers", "decision", "reason"]
    text: String
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """The declarations and fields that an entry concerns, as names or `Message.field`."""

    subjects: tuple[Ref, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    docs: str
    id: Integer | Name
    title: String
    entries: tuple[Remark | About, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """`given = outcome`, or `given violates CODE`."""

    docs: str
    name: String
    given: Expression
    outcome: Expression | Violates
    annotations: tuple[Annotation, ...]
    span: Span
