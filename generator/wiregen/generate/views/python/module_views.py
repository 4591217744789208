"""A protocol's module, its frames, messages and tables, as the templates print them."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from wiregen.generate.views.python.class_views import (
    ClassView,
    EnumView,
    FieldView,
    NumberView,
    UnionView,
)
from wiregen.generate.views.python.codings import CodingView
from wiregen.generate.views.python.frame_views import (
    FrameView,
    LayoutFunctionsView,
    MessageWriterView,
    PieceView,
    PreambleView,
)
from wiregen.runtime.codec.transforms import TRANSFORMS
from wiregen.runtime.schema.version import SCHEMA_VERSION

__all__ = ["ModuleView", "UnionAliasView", "rank"]

LOADED_LATE = (
    "Connection", "Ended", "Fault", "Received", "Session", "SessionError", "TimedOut", "Violation",
)  # fmt: skip
"""The names of connections that a package exports."""

_ERRORS = "DecodeError, EncodeError, NeedMoreData"
_RUNTIME = frozenset(
    {
        ("codec.classes", "MessageRecord", "_MessageRecord"),
        ("codec.classes", "Record", "_Record"),
        ("codec.compiled", "LENGTHS", "_LENGTHS"),
        ("codec.compiled", "READ_FAULTS", "_READ_FAULTS"),
        ("codec.compiled", "Bad", "_Bad"),
        ("codec.compiled", "ReadState", "_ReadState"),
        ("codec.compiled", "WriteState", "_WriteState"),
        ("codec.compiled", "as_bytes", "_as_bytes"),
        ("codec.compiled", "foreign", "_foreign"),
        ("codec.compiled", "hand_over", "_hand_over"),
        ("codec.compiled", "lenient_text", "_lenient_text"),
        ("codec.compiled", "release", "_release"),
        ("codec.uuids", "uuid", "_uuid"),
        ("codec.uuids", "uuid_bytes", "_uuid_bytes"),
        ("schema.scalars", "FLOATS", "_FLOATS"),
        ("stream.decoder", "Decoder", "_Decoder"),
        ("codec.errors", _ERRORS, _ERRORS),
        ("codec.numbers", "count", "_count"),
        ("codec.numbers", "crc16", "_crc16"),
        ("codec.numbers", "power", "_power"),
        ("codec.numbers", "read_varint", "_read_varint"),
        ("codec.numbers", "varint", "_varint"),
        ("codec.text", "decode_text", "_decode_text"),
        ("codec.text", "encode_text", "_encode_text"),
        ("codec.unknown", "Unknown", "Unknown"),
        ("codec.values", "bounds_of", "_bounds_of"),
        ("codec.values", "check_limits", "_check_limits"),
        ("codec.views", "dict_view", "_dict_view"),
        ("codec.items", "distinct", "_distinct"),
        ("reference.functions", "function_of", "_function_of"),
        ("codec.views", "json_view", "_json_view"),
        ("codec.values", "is_a", "_is_a"),
        ("codec.values", "show", "_show"),
        *(
            ("codec.compression", name, f"_{name}")
            for transform in TRANSFORMS.values()
            for name in (transform.reader, transform.writer)
        ),
    }
)
"""The names that generated modules import from the runtime: module, name, and local name."""
_ALWAYS = frozenset(
    "Bad Decoder MessageRecord READ_FAULTS ReadState WriteState as_bytes bounds_of check_limits hand_over is_a release show".split()
) | {_ERRORS}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionAliasView:
    """A name for a union of classes; its text is in rows that fit a line."""

    name: str
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleView:
    """The data of a protocol's package; `source` is the name of its file."""

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
    preambles: tuple[PreambleView, ...]
    messages: tuple[MessageWriterView, ...]
    layouts: tuple[LayoutFunctionsView, ...]
    frames: tuple[FrameView, ...]
    onlys: tuple[tuple[str, tuple[str, ...]], ...]
    message_annotation: str
    struct_constants: tuple[tuple[str, str, str], ...]
    uses: frozenset[str]
    """Names of the runtime and of the standard library that this module needs, apart from those of every module."""
    exports: tuple[str, ...]
    imports: tuple[str, ...]
    """The same names, in the order of sorted imports."""
    roles: tuple[str, ...]
    frame_readers: tuple[tuple[str, str], ...]
    """The readers by (variant, role), if there are several."""
    frame_writers: tuple[tuple[str, str], ...]
    frame_classes: tuple[tuple[str, str], ...]
    """The frame of each frame and message, if there are several frames."""
    variants: tuple[str, ...]
    joins: tuple[PieceView, ...]
    """The joins of blocks."""
    has_joins: bool
    has_context: bool
    has_shared_codes: bool
    """Whether some code means a different message for each role."""
    has_role: bool
    """Whether reading depends on the sender."""
    speaking: tuple[str, ...]
    """The declarations that rules of contexts and joins refer to, by name."""
    no_state: str
    has_compression: bool
    """Whether `encode` has a parameter for the compression level."""
    compiles_whole_frames: bool
    uses_reference: bool
    is_plain: bool
    """Whether there is one frame for both directions, without anything around it."""
    schema: tuple[str, ...]
    """The schema as lines of JSON."""
    has_connections: bool = True
    """Whether the package has a module of connections and sessions."""

    @property
    def loaded_late(self) -> tuple[str, ...]:
        """The names of the package that are loaded from its sessions' module."""
        return LOADED_LATE if self.has_connections else ()

    @property
    def package_exports(self) -> tuple[str, ...]:
        """Every name that the package exports."""
        return tuple(sorted((*self.exports, *self.loaded_late), key=rank))

    @property
    def is_remembered(self) -> bool:
        """Whether earlier frames determine how later ones are read: by contexts or open joins."""
        return self.has_context or self.has_joins

    @property
    def schema_version(self) -> int:
        """The version of the runtime's schema that the package is built for."""
        return SCHEMA_VERSION

    @property
    def runtime_imports(self) -> tuple[tuple[str, str, str], ...]:
        """Return module, name and local name of the imports from the copied runtime, sorted as imports are."""
        found = {each for each in _RUNTIME if each[1] in self.uses or each[1] in _ALWAYS}
        found |= (
            {("stream.context", "Context", "_Context"), ("codec.values", "check_context", "_check_context")}
            if self.is_remembered
            else set()
        )
        envelope = (
            ("codec.fragmented_frame", "Divisible", "_Divisible")
            if self.has_joins
            else ("codec.classes", "Envelope", "_Envelope")
        )
        found |= {envelope}
        found |= self._framing
        found |= {("codec.values", "check_role", "_check_role")} if self.roles else set()
        found |= {("codec.values", "show", "_show")} if self.variants else set()
        return tuple(
            sorted(found, key=lambda each: (each[0], not each[1].isupper(), each[1].islower(), each[1]))
        )

    @property
    def _framing(self) -> set[tuple[str, str, str]]:
        """The imports of the functions that put what `encode` is given into a frame."""
        found = {("codec.given_header", "in_its_frame", "_in_its_frame")} if self.frame_classes else set()
        if self.is_header_checked and (self.preambles or not self.frame_classes):
            found.add(("codec.given_header", "in_frame", "_in_frame"))
        return found or {("codec.classes", "in_class", "_in_class")}

    @property
    def frame_reader(self) -> str:
        """Return the expression of the function that reads any frame."""
        if self.frame_readers:
            return f"_FRAME_READERS[{'variant' if self.variants else 'None'}, from_role]"
        return self.frames[0].reader

    @property
    def has_own_encode(self) -> bool:
        """Whether every message is written without its frame object."""
        return not self.has_context and not self.variants and all(message.writer for message in self.messages)

    @property
    def has_items(self) -> bool:
        """Whether a Decoder yields more than frames of one class."""
        return len(self.frames) > 1 or bool(self.preambles) or self.is_remembered

    @property
    def has_library_imports(self) -> bool:
        """Whether there are imports from the standard library, in a block of their own."""
        return bool(self.enums) or bool(self.uses & {"Struct", "UUID now", "crc32", "adler32"})

    @property
    def bare_annotation(self) -> str:
        """The annotation of the message of any frame."""
        return next((each.message_annotation for each in self.frames if each.may_lack_message), "_Message")

    @property
    def header(self) -> tuple[FieldView, ...]:
        """The header fields of all frames, each once, for `encode`."""
        merged: dict[str, FieldView] = {}
        for frame in self.frames:
            for field in frame.header:
                merged.setdefault(field.name, field)
        return tuple(merged.values())

    @property
    def role_given(self) -> str:
        """The arguments of a reading state: sender and context, if reading depends on them."""
        if not self.has_role:
            return ""
        return ", from_role, context" if self.is_remembered else ", from_role"

    @property
    def has_bare(self) -> bool:
        """Whether a message can be read without its frame."""
        is_alone = len(self.frames) == 1 and bool(self.frames[0].table)
        return is_alone and not self.has_role and not self.variants

    @property
    def has_bare_functions(self) -> bool:
        """Whether a message can be read without its frame, by a function that is not chosen by a table."""
        return all(frame.bare is not None for frame in self.frames)

    @property
    def bare_readers(self) -> tuple[tuple[str | None, str], ...]:
        """Return the function of each role if there are several frames; a single one is used directly."""
        if not self.has_bare_functions or len(self.frames) == 1:
            return ()
        roles = (None, *self.roles)
        found = {
            role: next((each for each in self.frames if each.role in (None, role)), self.frames[0])
            for role in roles
        }
        return tuple((role, frame.bare.name) for role, frame in found.items() if frame.bare is not None)

    @property
    def speaks_of_frames(self) -> bool:
        """Whether rules of contexts and joins refer to whole frames with any message."""
        return bool(self.joins) or bool({frame.wire_name for frame in self.frames} & set(self.speaking))

    @property
    def has_required(self) -> bool:
        """Whether some header field has no default."""
        return any(field.is_required for field in self.header)

    @property
    def is_header_checked(self) -> bool:
        """Whether `encode` may be given too few fields for the header of a message, or those of another frame or of none."""
        return bool(self.header) and bool(self.frame_classes or self.has_required or self.preambles)

    @property
    def aliases(self) -> tuple[UnionAliasView, ...]:
        """The unions that annotations name."""
        frames = tuple(frame.name for frame in self.frames)
        preambles = tuple(preamble.data.name for preamble in self.preambles)
        named = (
            ("_Message", (self.message_annotation,), True),
            ("_Frame", frames, self._has_frame_alias),
            ("_Item", (*frames, *preambles), self.has_items),
            *((union.alias, tuple(arm.qualified for arm in union.varieties), True) for union in self.unions),
        )
        return tuple(
            UnionAliasView(name=name, rows=_rows(" | ".join(names) or "None"))
            for name, names, is_used in named
            if is_used
        )

    @property
    def _has_frame_alias(self) -> bool:
        return self.uses_reference or len(self.frames) > 1 or bool(self.variants)


def rank(name: str) -> tuple[int, str]:
    """Return the key that sorts names in `__all__`: constants, classes, functions."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)


_ROW_SIZE = 99
"""The length of a line, 110, without two levels of indentation and the quotes."""


def _rows(text: str) -> tuple[str, ...]:
    """Return the parts of a text, to be joined again: formatters differ about a string wider than a line."""
    *rows, last = textwrap.wrap(text, _ROW_SIZE, break_long_words=False, break_on_hyphens=False) or [""]
    return (*(f"{row} " for row in rows), last)
