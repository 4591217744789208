"""The state that the functions of one generated module share: declarations by name, struct constants, helpers."""

from __future__ import annotations

from wiregen.generate.steps.step import OptionalField, Slot
from wiregen.generate.views.python.names import (
    PackedNumber,
    StructTable,
    enum_table,
    format_of,
    number_type,
    reader,
    writer,
)
from wiregen.generate.views.python.text import class_name
from wiregen.schema import model as m
from wiregen.schema.circles import circular
from wiregen.schema.lowering import limits_of
from wiregen.schema.naming import Stems, snake_case
from wiregen.schema.walk import declared_types, nested_types, tail_keepers

__all__ = ["Shared", "tailed", "variety_class"]

_TAKEN = frozenset(("_read_varint", "_read_unknown"))
"""Names that every module has."""


def variety_class(union: str, variety: str) -> str:
    """Return the name of an alternative's class, from the top of the module."""
    return f"{class_name(union)}.{class_name(variety)}"


class Shared:
    """One protocol in one layout; `suffix` is the end of the names of a variant's functions."""

    def __init__(self, protocol: m.Protocol, suffix: str = "", parent: Shared | None = None) -> None:
        self.protocol = protocol
        self.suffix = suffix
        self.parent = parent
        self.is_deep = parent is None or not (
            protocol.structs == parent.protocol.structs
            and protocol.messages == parent.protocol.messages
            and protocol.preambles == parent.protocol.preambles
            and not _inner_frames(protocol) & {*protocol.frames}.difference(parent.protocol.frames)
            and circular(protocol) == circular(parent.protocol)
        )
        """Whether the content of frames is laid out differently, too."""
        self.inner_suffix = suffix if self.is_deep else ""
        self._has_bodies = False
        self.enums = {enum.name: enum for enum in protocol.enums}
        self.unions = {union.name: union for union in protocol.unions}
        self.codings = {coding.name: coding for coding in protocol.codings}
        self.messages = {message.name: message for message in protocol.messages}
        self.contexts = {context.name: context for context in protocol.contexts}
        self.structs: StructTable = StructTable() if parent is None else parent.structs
        self.uses: set[str] = set() if parent is None else parent.uses
        self._onlys: dict[tuple[str, ...], str] = {} if parent is None else parent._onlys
        self.fields_of_structs = {struct.name: struct.fields for struct in protocol.structs}
        self.limits = limits_of(protocol)
        counts = [self.limits["messages"], self.limits["count"]]
        self.count_limit = str(min(count for count in counts if count is not None))
        self.frame_limit = self.limits["frame"] or 0

        self._stems: Stems = Stems(_TAKEN) if parent is None else parent._stems
        self.chunks: dict[str, m.Chunks] = {}
        self.header_lists: dict[str, OptionalField] = {}
        """The optional lists of headers that have a function of their own, by its name."""
        self.refused: list[str] = []
        """The declarations without a straight-line form for reading; `refused_writes`: for writing.

        The reference codec reads and writes them.
        """
        self.refused_writes: list[str] = []
        self.tailed = tailed(protocol)
        if parent is None:
            self._keep_raw_names()
        self.is_apart = len(protocol.frames) > 1
        """Whether each role has frames of its own, which carry only its own messages."""
        self.has_shared_codes = any(self._ranked(role) != self._ranked(None) for role in protocol.roles)

    @property
    def has_bodies(self) -> bool:
        """Whether functions that read and write messages by themselves are made, here or in an equal layout."""
        return self._owner_of_bodies._has_bodies

    def note_bodies(self) -> None:
        """Record that these functions are made."""
        self._owner_of_bodies._has_bodies = True

    @property
    def _owner_of_bodies(self) -> Shared:
        return self if self.is_deep or self.parent is None else self.parent

    def _keep_raw_names(self) -> None:
        """Assign the names that other modules import first, so that they depend on the protocol alone."""
        for union in self.protocol.unions:
            if union.is_raw:
                self.inner_reader(union.name)
                self.union_table(union.name, "writers")

    def readers_of(self, sender: str) -> str:
        """Return the table of the functions that read the body of a message, by its code."""
        return self._table_of("_BODIES" + self.inner_suffix.upper(), sender)

    def frame_readers_of(self, sender: str) -> str:
        """Return the table of the functions that read a whole frame, by its message's code."""
        return self._table_of("_READERS" + self.suffix.upper(), sender)

    def _table_of(self, name: str, sender: str) -> str:
        if not self.has_tables_by_role:
            return name
        if sender == "None":
            self.uses.add("role")
        role = f"{sender} if state is None or state.role is None else state.role"
        return f"{name}[{role if sender == 'None' else sender}]"

    def reader(self, name: str) -> str:
        """Return the name of the function that reads a frame, or a message in its frame."""
        return self.own(reader(name) + self.suffix, name)

    def writer(self, name: str) -> str:
        return self.own(writer(name) + self.suffix, name)

    def inner_reader(self, name: str) -> str:
        """Return the name of the function that reads a struct, a union or a coding, which are inside frames."""
        return self.own(reader(name) + ("" if name in self.codings else self.inner_suffix), name)

    def inner_writer(self, name: str) -> str:
        return self.own(writer(name) + ("" if name in self.codings else self.inner_suffix), name)

    def variety_reader(self, union: str, variety: str) -> str:
        """Return the name of the function that reads the bytes after the code of a union."""
        return self.own(f"{self.inner_reader(union)}_{snake_case(variety)}", union, variety)

    def variety_writer(self, union: str, variety: str) -> str:
        return self.own(f"{self.inner_writer(union)}_{snake_case(variety)}", union, variety)

    def enum_table(self, name: str) -> str:
        """Return the name of the table from numbers to members of an enum."""
        return self.own(enum_table(name), name)

    def own(self, wanted: str, *key: str) -> str:
        """Return a name of the module that is used only for this key."""
        return self._stems.own(wanted, *key)

    def is_byte_union(self, name: str) -> bool:
        """Return whether a union's code is one unsigned byte."""
        type_ = self.unions[name].type
        return isinstance(type_, m.Integer) and (type_.bits, type_.is_signed) == (8, False)

    def union_table(self, name: str, kind: str = "readers") -> str:
        """Return the name of the table of functions of a union.

        They read alternatives by code, or write them by class (`writers`).
        """
        return self.own(f"_{snake_case(name)}_{kind}{self.inner_suffix}".upper(), name)

    def body_reader(self, name: str) -> str:
        return self.own(f"{reader(name)}_body{self.inner_suffix}", name, "body")

    def body_writer(self, name: str) -> str:
        return self.own(f"{writer(name)}_body{self.inner_suffix}", name, "body")

    def header_list_writer(self, frame: str, step: OptionalField) -> str:
        """Return the name of the function that writes an optional list of a header, which is made once it is called."""
        field = step.field.name
        name = self.own(f"{writer(frame)}_{snake_case(field)}{self.suffix}", frame, field)
        self.header_lists[name] = step
        return name

    def codes_table(self, frame: m.Frame) -> str:
        """Return the name of the table of the codes of the messages that a frame can carry."""
        return self.own(f"_codes_{snake_case(frame.name)}{self.suffix}".upper(), frame.name)

    def format(self, slot: Slot) -> str:
        return format_of(slot, self.enums)

    def odd_number(self, slot: Slot) -> PackedNumber | None:
        """Return the number of a slot if `struct` lacks a letter for it, or None for other slots."""
        type_ = number_type(slot, self.enums)
        if not isinstance(type_, m.Integer | m.Float) or type_.letter:
            return None
        if isinstance(type_, m.Float):
            self.uses.add("FLOATS")
        return PackedNumber(type=type_)

    def only(self, classes: tuple[str, ...]) -> str:
        """Return the name of a constant set of classes."""
        return self._onlys.setdefault(classes, f"_ONLY_{len(self._onlys) + 1}")

    def onlys(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((name, classes) for classes, name in self._onlys.items())

    def frame_of(self, role: str | None) -> m.Frame:
        """Return the frame that a role sends, as the reference codec chooses it."""
        for frame in self.protocol.frames:
            if frame.role is None or role is None or frame.role == role:
                return frame
        return self.protocol.frames[0]

    def frame_of_message(self, message: m.Message) -> m.Frame:
        """Return the frame that carries a message; for one without role and code, the first that names it in an arm."""
        if message.role is None and message.code is None:
            for frame in self.protocol.frames:
                named = nested_types(*(field.type for field in frame.fields))
                if any(isinstance(each, m.MessageReference) and each.name == message.name for each in named):
                    return frame
        return self.frame_of(message.role)

    def codes_of_named(self, frame: m.Frame) -> tuple[tuple[str, int], ...]:
        """Return class and code of the messages that arms of a frame name and that its table lacks.

        The role of the frame does not send messages of such codes.
        """
        known = self.codes(frame.role)
        named = {
            each.name
            for each in nested_types(*(field.type for field in frame.fields))
            if isinstance(each, m.MessageReference)
        }
        return tuple(
            (class_name(message.name), message.code)
            for message in self.protocol.messages
            if message.name in named and message.code is not None and known.get(message.code) is not message
        )

    @property
    def has_tables_by_role(self) -> bool:
        """Whether codes are looked up by role, too."""
        return self.has_shared_codes or self.is_apart

    def codes(self, role: str | None) -> dict[int, m.Message]:
        """Return the messages by code as they are looked up for a role.

        Its own come first, then those of any role, unless the role has frames of its own.
        """
        found = self._ranked(role)
        if not self.is_apart or role is None:
            return found
        return {code: message for code, message in found.items() if message.role in (None, role)}

    def foreign_codes(self, role: str | None) -> tuple[int, ...]:
        """Return the codes of messages that only the other role sends, in frames of its own."""
        own = self.codes(role)
        return tuple(code for code in self._ranked(role) if code not in own)

    def foreign_messages(self, role: str) -> tuple[m.Message, ...]:
        """Return the messages whose codes a role's reader attributes to other roles."""
        known = self._ranked(role)
        coded = (message for message in self.protocol.messages if message.code is not None)
        return tuple(message for message in coded if known[message.code or 0] is not message)

    def foreign_test(self, frame: m.Frame) -> str:
        """Return the test that a frame is not one that the given `from_role` sends; "" if a role is never given."""
        if not self.protocol.contexts:
            return ""
        if self.is_apart and frame.role is not None:
            return f"from_role != {frame.role!r}"
        return "type(self.message) in _FOREIGN[from_role]" if self.has_shared_codes else ""

    def _ranked(self, role: str | None) -> dict[int, m.Message]:
        found: dict[int, m.Message] = {}
        with_code = [message for message in self.protocol.messages if message.code is not None]
        roles = [role, *(each for each in self.protocol.roles if each != role)]
        for each in roles:
            for message in with_code:
                if message.role is None or message.role == each:
                    assert message.code is not None
                    found.setdefault(message.code, message)
        return found


def tailed(protocol: m.Protocol) -> frozenset[str]:
    """Return the classes of structs, messages, frames and alternatives that keep trailing bytes of a lenient region."""
    found: set[str] = set()
    owners: list[m.Struct | m.Message | m.Frame | m.Preamble] = [*protocol.structs, *protocol.messages]
    owners += [*protocol.frames, *protocol.preambles]
    with_fields = [(class_name(owner.name), owner.fields) for owner in owners]
    with_fields += [
        (variety_class(union.name, variety.name), variety.fields)
        for union in protocol.unions
        for variety in union.varieties
    ]
    for class_, fields in with_fields:
        for type_ in nested_types(*(field.type for field in fields)):
            if isinstance(type_, m.Region) and type_.lenient:
                keepers = tail_keepers(type_.content, "", protocol)  # "": the declaration itself
                found |= {class_name(keeper) if keeper else class_ for keeper in keepers}
    return frozenset(found)


def _inner_frames(protocol: m.Protocol) -> set[m.Frame]:
    """Return the frames that are inside other declarations."""
    names = {type_.name for type_ in declared_types(protocol) if isinstance(type_, m.FrameReference)}
    return {frame for frame in protocol.frames if frame.name in names}
