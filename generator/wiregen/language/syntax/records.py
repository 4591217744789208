"""Documentation and evidence of a protocol: rules, the ledger, examples."""

from dataclasses import dataclass
from typing import Literal

from wiregen.language.diagnostics import Span

from .behaviour import Violates
from .expressions import Annotation, Expression, Integer, Name, Quantity, Ref, String


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationOption:
    """`with option value`: how a conversation sets an option of the sessions."""

    name: Name
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationStep:
    """`role value`, or `role value violates RULE`: a step of a conversation."""

    role: Name
    value: Expression
    violation: Violates | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPause:
    """`after 30 s`: time passes in a conversation."""

    duration: Quantity
    violation: Violates | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """An example of several steps."""

    docs: str
    name: String
    lines: tuple[ConversationOption | ConversationStep | ConversationPause, ...]
    annotations: tuple[Annotation, ...]
    span: Span
