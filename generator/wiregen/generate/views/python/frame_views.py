"""Frames, messages, preambles and tables of a protocol, as the templates print them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wiregen.generate.views.python.class_views import (
    ClassView,
    FieldView,
)
from wiregen.generate.views.python.function_views import CodecView, ReadFunction, WriteFunction
from wiregen.generate.views.python.reading.step_views import ReadStep

__all__ = [
    "ChoiceView",
    "FrameView",
    "FunctionTableView",
    "LayoutFunctionsView",
    "MessageWriterView",
    "PieceView",
    "PreambleCodec",
    "PreambleView",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTableView:
    """A dict of functions: `kind` is bodies, readers, writers and so on; each entry is a key and a function."""

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
class MessageWriterView:
    """A message: its class, and its writer in a frame; `writer` is "" if the frame's function writes it.

    `encode`: the body of its method, if it does not need a function of its own.
    """

    data: ClassView
    frame: FrameView
    writer: str
    encode: WriteFunction | None
    has_compression: bool
    role: str | None
    """The sender, if the other role has another message of this code in the same frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameView:
    """A frame: its class, and the readers of its header; `table` is "" if one function reads all of it."""

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
    """The table of messages that their own `encode` writes, if there are any."""
    code: str
    first_code: str
    """The same code, read at the buffer's first byte."""
    has_own_encode: bool = False
    """Whether every message in it has a method that writes it, in addition to the frame's function."""
    bare: ReadFunction | None = None
    """The function that reads the message alone, if it is not chosen by a table."""
    unknown: str
    """The function for codes without a message, if those are tolerated."""
    foreign: str
    """The test that the given role does not send the frame; "" if that is impossible, or a role is never given."""
    reads: tuple[ReadStep, ...]
    values: tuple[tuple[str, str], ...]
    slots: tuple[str, ...]
    arguments: tuple[str, ...]
    secrets: tuple[str, ...]
    layout: str
    message_annotation: str

    @property
    def may_lack_message(self) -> bool:
        """Whether the frame may come without a message."""
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
    """The class of the fragments of a block, which the frame carries instead of a message."""

    name: str
    wire_name: str
    frame: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutFunctionsView:
    """All functions of one layout of the protocol: its own, or a variant's."""

    frames: tuple[FrameView, ...]
    unions: tuple[ChoiceView, ...]
    codecs: Mapping[str, CodecView]
    """The functions of each declaration, by its name."""
    methods: Mapping[str, WriteFunction]
    """The functions that write a message as its own method."""
    others: CodecView
    """The functions that do not belong to a single declaration."""
    tables: tuple[FunctionTableView, ...]

    @property
    def writes(self) -> tuple[WriteFunction, ...]:
        return tuple(write for codec in self.codecs.values() for write in codec.writes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreambleCodec:
    """The functions that read and write a preamble in one layout; `variant`: its name, or None."""

    variant: str | None
    reader: str
    writer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreambleView:
    """The bytes that a role sends before its first frame."""

    data: ClassView
    role: str
    codecs: tuple[PreambleCodec, ...]
