"""A whole file: the protocol, its settings, its declarations."""

from dataclasses import dataclass

from wiregen.language.diagnostics import Span

from .behaviour import Context, Join, Session
from .declarations import (
    Alias,
    Coding,
    Const,
    Enum,
    Frame,
    Import,
    Limits,
    Message,
    Preamble,
    Reserved,
    Struct,
    Union,
)
from .expressions import Annotation, Integer, Name, String
from .records import Conversation, Example, Ledger, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSetting:
    text: String
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class EndianSetting:
    order: Name
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class BitsSetting:
    order: Name
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class RolesSetting:
    names: tuple[Name, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class PortSetting:
    transport: Name
    number: Integer
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSetting:
    """`on error`: the reaction of a connection to an error from which the codec can recover."""

    action: Name
    span: Span


Setting = SourceSetting | EndianSetting | BitsSetting | RolesSetting | PortSetting | ErrorSetting | Reserved


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    docs: str
    name: Name
    annotations: tuple[Annotation, ...]
    settings: tuple[Setting, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    docs: str
    name: Name
    declarations: tuple["Declaration", ...]
    annotations: tuple[Annotation, ...]
    span: Span


Declaration = (
    Import
    | Const
    | Limits
    | Alias
    | Enum
    | Struct
    | Frame
    | Message
    | Preamble
    | Union
    | Coding
    | Variant
    | Context
    | Join
    | Session
    | Rule
    | Ledger
    | Example
    | Conversation
)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A whole file; `version` is that of the language, or None if the file does not say."""

    version: Integer | None
    protocol: Protocol
    declarations: tuple[Declaration, ...]
    span: Span
