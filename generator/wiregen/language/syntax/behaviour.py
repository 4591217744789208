"""Contexts, joins and sessions."""

from dataclasses import dataclass

from wiregen.language.diagnostics import Span

from .expressions import Annotation, Expression, Name, Ref, Wildcard


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """`Message.field`; `owner` may be a frame or a preamble."""

    owner: Name
    field: Name
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Set:
    docs: str
    path: Path
    when: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Clear:
    docs: str
    names: tuple[Name, ...]
    when: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    docs: str
    path: Path
    when: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    docs: str
    path: Path
    when: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    docs: str
    name: Name
    type: Ref
    keys: tuple[Name, ...]
    role: Name | None
    lines: tuple[Set | Clear, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    docs: str
    name: Name
    type: Ref
    keys: tuple[Name, ...]
    lines: tuple[Part | Last | Clear, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRoles:
    docs: str
    names: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Var:
    docs: str
    name: Name
    type: Ref
    value: Expression
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A setting of the connection where peers differ."""

    docs: str
    name: Name
    type: Ref
    value: Expression
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    name: Name
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Go:
    """`=> state { updates }`."""

    state: Name
    updates: tuple[Update, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """`=> { updates }`."""

    updates: tuple[Update, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Violates:
    """`violates name [lenient]`; `lenient` is the place of that word, which never appears in an example."""

    name: Name
    lenient: Span | None
    span: Span


Effect = Go | Stay | Violates


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    docs: str
    role: Name | Wildcard
    messages: tuple[Name, ...] | Wildcard
    when: Expression | None
    effect: Effect
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """`after duration effect`."""

    docs: str
    duration: Expression
    effect: Effect
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    docs: str
    names: tuple[Name, ...] | Wildcard
    rows: tuple[Row | Timer, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """`keys` may hold the Name `sender`; it is empty for one instance per connection."""

    docs: str
    name: Name
    keys: tuple[Name, ...]
    lines: tuple[SessionRoles | Var | Option | State, ...]
    annotations: tuple[Annotation, ...]
    span: Span
