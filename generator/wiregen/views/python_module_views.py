"""A protocol's module, its frames, messages and tables, as the templates print them."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.views.python_classes import (
    ClassView,
    EnumView,
    FieldView,
    NumberView,
    UnionView,
)
from wiregen.views.python_codings import CodingView
from wiregen.views.python_function_views import ReadFunction, WriteFunction
from wiregen.views.python_steps import ReadStep

LOADED_LATE = (
    "Connection", "Ended", "Fault", "Received", "Session", "SessionError", "TimedOut", "Violation",
)  # fmt: skip
"""What a package offers of its connections."""

__all__ = ["ChoiceView", "FrameView", "LayoutView", "MessageView", "ModuleView", "PieceView", "TableView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """A dict of functions: `kind` is bodies, readers, writers and so on; each entry a key and a function."""

    name: str
    annotation: str
    entries: tuple[tuple[str, str], ...]

    @property
    def is_reading(self) -> bool:
        return "_ReadState" in self.annotation


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
    """A message: its class, and how it is written in a frame; `writer` is "" where the frame's function does it."""

    data: ClassView
    frame: FrameView
    writer: str
    has_compression: bool


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
    code: str
    first_code: str
    """The same at the buffer's first byte."""
    unknown: str
    """The function for codes that no message has, where that is tolerated."""
    reads: tuple[ReadStep, ...]
    values: tuple[tuple[str, str], ...]
    slots: tuple[str, ...]
    arguments: tuple[str, ...]
    has_message: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceView:
    """The class of the pieces of a block, which the frame carries in place of a message."""

    name: str
    frame: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutView:
    """All functions of one layout of the protocol: its own, or a variant's."""

    frames: tuple[FrameView, ...]
    unions: tuple[ChoiceView, ...]
    reads: tuple[ReadFunction, ...]
    writes: tuple[WriteFunction, ...]
    tables: tuple[TableView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleView:
    """Everything that a protocol's package says; `source` is the name of its file."""

    name: str
    wire_name: str
    source: str
    doc: str
    constants: tuple[NumberView, ...]
    limits: tuple[NumberView, ...]
    limit_slots: tuple[str, ...]
    enums: tuple[EnumView, ...]
    structs: tuple[ClassView, ...]
    unions: tuple[UnionView, ...]
    codings: tuple[CodingView, ...]
    preambles: tuple[tuple[ClassView, str, str, str], ...]
    """Class, role, reader and writer."""
    messages: tuple[MessageView, ...]
    layouts: tuple[LayoutView, ...]
    frames: tuple[FrameView, ...]
    onlys: tuple[tuple[str, tuple[str, ...]], ...]
    message_annotation: str
    struct_constants: tuple[tuple[str, str, str], ...]
    uses: frozenset[str]
    """What the module needs besides what every one needs: names of the runtime and of the standard library."""
    exports: tuple[str, ...]
    imports: tuple[str, ...]
    """The same, as sorted imports have them."""
    roles: tuple[str, ...]
    frame_readers: tuple[tuple[str, str], ...]
    """By (variant, role), where there is more than one."""
    frame_writers: tuple[tuple[str, str], ...]
    frame_classes: tuple[tuple[str, str], ...]
    """The frame of each message, where there is more than one."""
    openings: tuple[tuple[str, str], ...]
    variants: tuple[str, ...]
    joins: tuple[PieceView, ...]
    """Those of blocks."""
    has_joins: bool
    has_context: bool
    has_role: bool
    """What is read depends on who sends."""
    is_partly_careful: bool
    is_plain: bool
    """One frame for both directions, and nothing around it."""
    plan: object

    @property
    def loaded_late(self) -> tuple[str, ...]:
        """The names of the package that its sessions' module has."""
        return LOADED_LATE

    @property
    def package_exports(self) -> tuple[str, ...]:
        """Every name that the package offers."""
        return tuple(sorted((*self.exports, *LOADED_LATE), key=rank))

    @property
    def is_remembered(self) -> bool:
        """Whether what was read says something about what comes: contexts, open joins."""
        return self.has_context or self.has_joins

    @property
    def has_items(self) -> bool:
        """Whether a Decoder gives more than frames of one class."""
        return len(self.frames) > 1 or bool(self.preambles) or self.is_remembered

    @property
    def has_library_imports(self) -> bool:
        """Whether anything of the standard library is imported, in a block of its own."""
        return bool(self.enums) or bool(self.uses & {"Struct", "UUID", "crc32", "adler32"})

    @property
    def header(self) -> tuple[FieldView, ...]:
        """The header fields of all frames, each once, for `encode`."""
        merged: dict[str, FieldView] = {}
        for frame in self.frames:
            for field in frame.header:
                merged.setdefault(field.name, field)
        return tuple(merged.values())

    @property
    def has_compression(self) -> bool:
        return any(write.has_compression for layout in self.layouts for write in layout.writes)

    @property
    def has_bare(self) -> bool:
        """A message can be read without its frame."""
        is_alone = len(self.frames) == 1 and bool(self.frames[0].table)
        return is_alone and not self.has_role and not self.variants

    @property
    def has_required(self) -> bool:
        """Some header field has no default."""
        return any(field.is_required for field in self.header)

    @property
    def has_frame_alias(self) -> bool:
        return self.is_partly_careful or len(self.frames) > 1 or bool(self.variants)


def rank(name: str) -> tuple[int, str]:
    """Return what sorts names as `__all__` does: constants, classes, functions."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)
