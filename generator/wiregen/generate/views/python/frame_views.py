"""Frames, messages, preambles and tables of a protocol, as the templates print them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wiregen.generate.views.python.classes import (
    ClassView,
    FieldView,
)
from wiregen.generate.views.python.function_views import CodecView, ReadFunction, WriteFunction
from wiregen.generate.views.python.reading.step_views import ReadStep

__all__ = [
    "ChoiceView",
    "FrameView",
    "LayoutView",
    "MessageView",
    "PieceView",
    "PreambleCodec",
    "PreambleView",
    "TableView",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """A dict of functions: `kind` is bodies, readers, writers and so on; each entry a key and a function."""

    name: str
    annotation: str
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceView:
    """The functions of a union: by its code, and by the class of the value."""

    reader: str
    writer: str
    alias: str
    code: str
    size: str
    table: str
    writers: str
    entries: tuple[tuple[str, str], ...]
    classes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """A message: its class, and how it is written in a frame; `writer` is "" where the frame's function does it.

    `encode`: the body of its method, where it needs no function of its own.
    """

    data: ClassView
    frame: FrameView
    writer: str
    encode: WriteFunction | None
    has_compression: bool
    role: str | None
    """Who sends it, where the other role has another message of this code in the same frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameView:
    """A frame: its class, and how its header is read; `table` is "" where one function reads all of it."""

    name: str
    wire_name: str
    doc: str
    role: str | None
    header: tuple[FieldView, ...]
    extras: tuple[tuple[str, str, str, str], ...]
    reader: str
    writer: str
    table: str
    writers: str
    encoders: str
    """The table of messages that their own `encode` writes, where there are any."""
    code: str
    first_code: str
    """The same at the buffer's first byte."""
    has_own_encode: bool = False
    """Every message in it is written by its own method, beside the frame's function."""
    bare: ReadFunction | None = None
    """What reads the message alone, where no table chooses it."""
    unknown: str
    """The function for codes that no message has, where that is tolerated."""
    foreign: str
    """The test whether the role that is told does not send it; empty where that cannot be, or none is told."""
    reads: tuple[ReadStep, ...]
    values: tuple[tuple[str, str], ...]
    slots: tuple[str, ...]
    arguments: tuple[str, ...]
    secrets: tuple[str, ...]
    layout: str
    message_annotation: str

    @property
    def may_lack_message(self) -> bool:
        """Whether the frame may carry no message."""
        return self.message_annotation != "_Message"

    @property
    def find_reader(self) -> str:
        """Return the expression of the function that reads the frame at `offset`."""
        return self._reader_of(self.code)

    @property
    def find_first_reader(self) -> str:
        """Return the same for the frame at the buffer's first byte."""
        return self._reader_of(self.first_code)

    def _reader_of(self, code: str) -> str:
        return f"{self.table}.get({code}, {self.unknown})" if self.unknown else f"{self.table}[{code}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceView:
    """The class of the pieces of a block, which the frame carries in place of a message."""

    name: str
    wire_name: str
    frame: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutView:
    """All functions of one layout of the protocol: its own, or a variant's."""

    frames: tuple[FrameView, ...]
    unions: tuple[ChoiceView, ...]
    codecs: Mapping[str, CodecView]
    """The functions of each declaration, by its name."""
    methods: Mapping[str, WriteFunction]
    """What writes a message as its own method."""
    others: CodecView
    """The functions that belong to no one declaration."""
    tables: tuple[TableView, ...]

    @property
    def writes(self) -> tuple[WriteFunction, ...]:
        return tuple(write for codec in self.codecs.values() for write in codec.writes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreambleCodec:
    """The functions that read and write a preamble as one layout has it; `variant` is None for the protocol's own."""

    variant: str | None
    reader: str
    writer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreambleView:
    """What a role sends before its first frame."""

    data: ClassView
    role: str
    codecs: tuple[PreambleCodec, ...]

    @property
    def writer(self) -> str:
        """The function of the protocol's own layout."""
        return self.codecs[0].writer
