"""A protocol as the templates of a Python package print it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from wiregen import model as m
from wiregen.naming import Scope, python_name
from wiregen.plan import KNOWN_LIMITS, frame_layout, layout_of
from wiregen.plan.steps import Envelope, Layout, Repeat, Run, Step, UnsupportedError
from wiregen.views.python_names import (
    Locals,
    StructTable,
    attribute,
    enum_table,
    format_of,
    local_name,
    reader,
    writer,
)
from wiregen.views.python_read import ReadBuilder
from wiregen.views.python_steps import ReadStep, WriteStep
from wiregen.views.python_text import annotation, class_name, declaration_doc, default_text, summary
from wiregen.views.python_write import WriteBuilder


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberView:
    """A constant, limit or enum member: its name, number and what the file says of it."""

    name: str
    wire_name: str
    value: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumView:
    name: str
    doc: str
    table: str
    members: tuple[NumberView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldView:
    """A field of a class; `signature` is its parameter, `keyword` the same where it can only be given by name."""

    name: str
    annotation: str
    signature: str
    keyword: str
    is_required: bool
    is_required_late: bool
    doc: str
    is_secret: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyView:
    """A property that reads a field once more."""

    name: str
    field: str
    form: str
    annotation: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassView:
    name: str
    wire_name: str
    doc: str
    slots: tuple[str, ...]
    """The attributes, sorted; `arguments` are the same in the order of the file."""
    arguments: tuple[str, ...]
    fields: tuple[FieldView, ...]
    views: tuple[LazyView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """A message: its class, and its functions over whole frames."""

    data: ClassView
    code: str
    reader: str
    writer: str
    reads: tuple[ReadStep, ...]
    values: tuple[tuple[str, str], ...]
    end: str
    fixed_size: int | None
    is_envelope: bool
    writes: tuple[WriteStep, ...]
    pieces: tuple[str, ...] | None
    """All pieces in wire order where none is repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameView:
    """A frame: its class, and how its header and its message's code are read."""

    name: str
    wire_name: str
    doc: str
    header: tuple[FieldView, ...]
    reader: str
    readers: str
    writers: str
    code: str
    first_code: str
    """The same at the buffer's first byte."""
    reads: tuple[ReadStep, ...]
    values: tuple[tuple[str, str], ...]
    messages: tuple[MessageView, ...]
    slots: tuple[str, ...]
    arguments: tuple[str, ...]
    parameters: str
    annotation: str
    has_envelopes: bool
    has_required: bool
    """Some header field has no default."""


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
    frame: FrameView
    struct_constants: tuple[tuple[str, str, str], ...]
    uses: frozenset[str]
    """What the module needs besides what every one needs: names of the runtime and of the standard library."""
    frame_limit: int
    exports: tuple[str, ...]
    roles: tuple[str, ...]
    plan: object


class ModuleBuilder:
    """Builds the view of one protocol's package.

    `unsupported` gathers what straight-line code is not printed for; the view is only whole when it is empty.
    """

    def __init__(self, protocol: m.Protocol, plan: Mapping[str, object], source: str) -> None:
        self._protocol = protocol
        self._plan = plan
        self._source = source
        self._enums = {enum.name: enum for enum in protocol.enums}
        self._structs = StructTable()
        limits = KNOWN_LIMITS | {limit.name: limit.value for limit in protocol.limits}
        counts = [limits["messages"], limits["count"]]
        self._count_limit = str(min(count for count in counts if count is not None))
        self._frame_limit = limits["frame"] or 0
        self._limits = limits

    def build(self) -> ModuleView:
        """Return the view.

        Raises:
            UnsupportedError: A construct of the protocol has no straight-line form.
        """
        protocol = self._protocol
        _refuse(protocol)
        frame = self._frame(protocol.frames[0])
        structs = tuple(self._class(struct, struct.fields) for struct in protocol.structs)
        classes = (*structs, *(message.data for message in frame.messages))
        enums = tuple(self._enum(enum) for enum in protocol.enums)
        constants = tuple(_number(const.name, const.value, const.doc) for const in protocol.constants)
        return ModuleView(
            name=python_name(protocol.name, Scope.PACKAGE),
            wire_name=protocol.name,
            source=self._source,
            doc=declaration_doc(protocol.doc, protocol.notes, protocol.sources),
            constants=constants,
            limits=self._limit_views(),
            limit_slots=tuple(sorted(attribute(name) for name in self._limits)),
            enums=enums,
            structs=structs,
            frame=frame,
            struct_constants=self._structs.constants(),
            uses=self._uses(frame, classes),
            frame_limit=self._frame_limit,
            exports=tuple(
                sorted(
                    {frame.name, "Limits", *(view.name for view in classes)}
                    | {view.name for view in enums}
                    | {view.name for view in constants}
                    | {"decode", "decode_message", "encode", "Decoder"}
                    | {"DecodeError", "EncodeError", "NeedMoreData"}
                )
            ),
            roles=protocol.roles,
            plan=self._plan,
        )

    def _uses(self, frame: FrameView, classes: tuple[ClassView, ...]) -> frozenset[str]:
        reads = tuple(_nested(tuple(step for message in frame.messages for step in message.reads)))
        writes = tuple(_nested(tuple(step for message in frame.messages for step in message.writes)))
        fields = (*frame.header, *(field for view in classes for field in view.fields))
        pieces = [piece for step in writes if step.kind == "pieces" for piece in step.pieces]
        numbers = any(step.kind == "numbers" for step in reads)
        found = {
            "LENGTHS": any("_LENGTHS[" in piece for piece in pieces),
            "REQUIRED": any(field.is_required_late for field in fields),
            "Struct": bool(self._structs.constants()) or numbers,
            "UUID": any("UUID" in field.annotation for field in fields),
            "decode_text": any(step.kind == "chunk" and step.is_text for step in reads),
            "dict": any(lazy.form == "dict" for view in classes for lazy in view.views),
            "encode_text": any(step.kind == "prepare" and step.is_text for step in writes),
            "json": any(lazy.form == "json" for view in classes for lazy in view.views),
            "show": any(not field.is_secret for field in fields),
        }
        return frozenset(name for name, is_used in found.items() if is_used)

    # ---- declarations

    def _limit_views(self) -> tuple[NumberView, ...]:
        docs = {limit.name: limit.doc for limit in self._protocol.limits}
        return tuple(
            NumberView(
                name=attribute(name), wire_name=name, value=repr(value), doc=summary(docs.get(name, ""))
            )
            for name, value in self._limits.items()
        )

    def _enum(self, enum: m.Enum) -> EnumView:
        members = tuple(
            NumberView(
                name=python_name(member.name, Scope.ENUM_MEMBER),
                wire_name=member.name,
                value=repr(member.value),
                doc=declaration_doc(member.doc, member.notes),
            )
            for member in enum.members
        )
        return EnumView(
            name=class_name(enum.name),
            doc=declaration_doc(enum.doc, enum.notes),
            table=enum_table(enum.name),
            members=members,
        )

    def _class(self, declaration: m.Struct | m.Message, fields: tuple[m.Field, ...]) -> ClassView:
        shown = tuple(field for field in _flat(fields) if _is_shown(field))
        extra = _origin(declaration) if isinstance(declaration, m.Message) else ""
        return ClassView(
            name=class_name(declaration.name),
            wire_name=declaration.name,
            doc=declaration_doc(declaration.doc, declaration.notes, extra=extra),
            slots=tuple(sorted(attribute(field.name) for field in shown)),
            arguments=tuple(attribute(field.name) for field in shown),
            fields=tuple(self._fields(shown)),
            views=tuple(_lazy(declaration.name, field) for field in shown if field.view is not None),
        )

    def _fields(self, fields: tuple[m.Field, ...], *, is_header: bool = False) -> list[FieldView]:
        views, has_default = [], False
        for field in fields:
            default = default_text(field, self._enums)
            late = default is None and has_default
            has_default = has_default or default is not None
            name = local_name(field.name) if is_header else attribute(field.name)
            views.append(self._field(field, name, default, is_late=late))
        return views

    def _field(self, field: m.Field, name: str, default: str | None, *, is_late: bool) -> FieldView:
        type_ = annotation(field.type, self._enums)
        plain = f"{name}: {type_}"
        return FieldView(
            name=name,
            annotation=type_,
            signature=(
                f"{plain} = _REQUIRED" if is_late else plain if default is None else f"{plain} = {default}"
            ),
            keyword=plain if default is None else f"{plain} = {default}",
            is_required=default is None,
            is_required_late=is_late,
            doc=declaration_doc(field.doc, field.notes),
            is_secret=field.notes.secret,
        )

    # ---- frames

    def _frame(self, frame: m.Frame) -> FrameView:
        header_fields = tuple(
            field for field in _flat(frame.fields) if _is_shown(field) and field.name != frame.message
        )
        header = tuple(self._fields(header_fields, is_header=True))
        before = tuple(field for field in frame.fields if field.name != frame.message)
        layout = layout_of(self._protocol, before)
        if not all(isinstance(step, Run) for step in layout.steps):
            raise UnsupportedError(frame.path, "a field of a frame that is no plain number")
        builder = ReadBuilder("", self._enums, self._structs, self._count_limit)
        reads = builder.steps(layout.steps)
        names = [field.name for field in header]
        taken = Locals()
        headers = {field.name: taken.name(field.name) for field in header_fields}
        messages = tuple(
            self._message(frame, message, headers)
            for message in self._protocol.messages
            if message.code is not None
        )
        return FrameView(
            name=class_name(frame.name),
            wire_name=frame.name,
            doc=declaration_doc(frame.doc, frame.notes),
            header=header,
            reader=reader(frame.name),
            readers="_READERS",
            writers="_WRITERS",
            code=self._code(frame, layout, "offset"),
            first_code=self._code(frame, layout, ""),
            reads=reads,
            values=tuple((local_name(field.name), builder.value(field.name)) for field in header_fields),
            messages=messages,
            parameters="".join(
                f"{headers[field.name]}: {annotation(field.type, self._enums)}, " for field in header_fields
            ),
            slots=tuple(sorted(("message", *names))),
            arguments=("message", *names),
            annotation=" | ".join(message.data.name for message in messages),
            has_envelopes=any(message.is_envelope for message in messages),
            has_required=any(field.is_required for field in header),
        )

    def _code(self, frame: m.Frame, layout: Layout, base: str) -> str:
        """Return the expression of the message's code, read at its fixed place in the frame that begins at `base`."""
        before = 0
        first = layout.steps[0] if layout.steps else None
        for slot in first.slots if isinstance(first, Run) else ():
            if slot.part == "code":
                format_ = format_of(slot, self._enums)
                at = " + ".join(part for part in (base, str(before or "")) if part) or "0"
                if format_ == "B":
                    return f"buffer[{at}]"
                endian = "<" if getattr(slot.type, "endian", "big") == "little" else ">"
                return f"{self._structs.unpack(endian + format_)}(buffer, {at})[0]"
            before += slot.size
        raise UnsupportedError(frame.path, "a message's code that has no fixed place in its frame")

    def _message(self, frame: m.Frame, message: m.Message, headers: Mapping[str, str]) -> MessageView:
        layout = frame_layout(self._protocol, frame, message)
        # Only a list that is alone has its limit written out; several share the budget of a state.
        count_limit = self._count_limit if _n_lists(layout.steps) < 2 else None
        reading = ReadBuilder(message.name, self._enums, self._structs, count_limit)
        reads = reading.steps(layout.steps)
        shown = tuple(field for field in _flat(message.fields) if _is_shown(field))
        writing = WriteBuilder(message.name, self._enums, self._structs, count_limit, headers)
        writes = writing.steps(layout.steps)
        return MessageView(
            data=self._class(message, message.fields),
            code=repr(message.code),
            reader=reader(message.name),
            writer=writer(message.name),
            reads=reads,
            values=reading.attributes(shown, ""),
            end=reading.at,
            fixed_size=layout.fixed_size,
            is_envelope=any(step.kind == "envelope" for step in reads),
            writes=writes,
            pieces=_pieces(writes),
        )


_S = TypeVar("_S", ReadStep, WriteStep)


def _nested(steps: tuple[_S, ...]) -> Iterator[_S]:
    """Return steps and the steps inside them."""
    for step in steps:
        yield step
        if step.kind == "repeat":
            yield from _nested(step.steps)


def _n_lists(steps: tuple[Step, ...]) -> int:
    items = (
        step.item if isinstance(step, Repeat) else () for step in steps if isinstance(step, Repeat | Envelope)
    )
    return sum(1 + _n_lists(item) for item in items)


def _pieces(writes: tuple[WriteStep, ...]) -> tuple[str, ...] | None:
    if any(step.kind == "repeat" for step in writes):
        return None
    return tuple(piece for step in writes if step.kind == "pieces" for piece in step.pieces)


def _refuse(protocol: m.Protocol) -> None:
    """Refuse what has no straight-line form as a whole."""
    refused: tuple[
        tuple[str, tuple[m.Preamble | m.Union | m.Coding | m.Variant | m.Context | m.Join, ...]], ...
    ] = (
        ("a preamble", protocol.preambles),
        ("a union", protocol.unions),
        ("a coding", protocol.codings),
        ("a variant", protocol.variants),
        ("a context", protocol.contexts),
        ("a join", protocol.joins),
    )
    for construct, declarations in refused:
        for declaration in declarations:
            raise UnsupportedError(declaration.path, construct)
    if len(protocol.frames) != 1 or protocol.frames[0].role is not None:
        raise UnsupportedError(protocol.path, "a frame for each direction")
    codes = [message.code for message in protocol.messages]
    for message in protocol.messages:
        if message.code is None:
            raise UnsupportedError(message.path, "a message without a code")
        if codes.count(message.code) > 1:
            raise UnsupportedError(message.path, "one code for two messages, by role")


def _flat(fields: tuple[m.Field, ...]) -> tuple[m.Field, ...]:
    """Return the fields with those of blocks in their place."""
    return tuple(
        inner
        for field in fields
        for inner in (_flat(field.type.fields) if isinstance(field.type, m.Block) else (field,))
    )


def _is_shown(field: m.Field) -> bool:
    return field.name != "_" and not isinstance(field.value, m.Derived | m.Constant)


def _number(name: str, value: int, doc: str) -> NumberView:
    number = repr(value)
    return NumberView(name=python_name(name, Scope.MODULE), wire_name=name, value=number, doc=summary(doc))


def _origin(message: m.Message) -> str:
    code = repr(chr(message.code)) if message.code is not None and 32 < message.code < 127 else message.code
    return f"Code {code}, from {message.role or 'both sides'}."


def _lazy(owner: str, field: m.Field) -> LazyView:
    assert field.view is not None
    if field.view.form == "type":
        raise UnsupportedError(field.path, "a view of another type (`as TYPE`)")
    return LazyView(
        name=f"{attribute(field.name)}_{field.view.form}",
        field=attribute(field.name),
        form=field.view.form,
        annotation="dict[str, Any]" if field.view.form == "dict" else "Any",
        path=f"{owner}.{field.name}",
    )
