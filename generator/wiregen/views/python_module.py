"""A protocol as the templates of a Python package print it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from wiregen import model as m
from wiregen.naming import Scope, python_name, snake_case
from wiregen.plan import frame_layout
from wiregen.plan.flatten import recursive_structs
from wiregen.plan.steps import FRAME, Dispatch, Run, Slot, UnsupportedError
from wiregen.views.python_classes import (
    ClassBuilder,
    ClassView,
    EnumView,
    FieldView,
    NumberView,
    UnionView,
    shown_fields,
)
from wiregen.views.python_codings import CodingView, coding_view
from wiregen.views.python_functions import FunctionBuilder, ReadFunction, WriteFunction
from wiregen.views.python_names import Locals, attribute, local_name
from wiregen.views.python_read import ReadBuilder
from wiregen.views.python_read_names import ReadNames
from wiregen.views.python_shared import Shared, variety_class
from wiregen.views.python_steps import ReadStep
from wiregen.views.python_text import annotation, class_name, declaration_doc, flat

__all__ = ["ModuleBuilder", "ModuleView"]


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
    roles: tuple[str, ...]
    header: tuple[FieldView, ...]
    """The header fields of all frames, each once, for `encode`."""
    frame_readers: tuple[tuple[str, str], ...]
    """By (variant, role), where there is more than one."""
    frame_writers: tuple[tuple[str, str], ...]
    frame_classes: tuple[tuple[str, str], ...]
    """The frame of each message, where there is more than one."""
    openings: tuple[tuple[str, str], ...]
    variants: tuple[str, ...]
    has_compression: bool
    has_context: bool
    has_role: bool
    """What is read depends on who sends."""
    is_partly_careful: bool
    has_bare: bool
    """A message can be read without its frame."""
    has_required: bool
    """Some header field has no default."""
    has_frame_alias: bool
    is_plain: bool
    """One frame for both directions, and nothing around it."""
    plan: object


class ModuleBuilder:
    """Builds the view of one protocol's package."""

    def __init__(self, protocol: m.Protocol, plan: Mapping[str, object], source: str) -> None:
        self._protocol = protocol
        self._plan = plan
        self._source = source
        self._shared = Shared(protocol)
        self._classes = ClassBuilder(self._shared)
        self._all_shared = [self._shared]

    def build(self) -> ModuleView:
        """Return the view.

        Raises:
            UnsupportedError: A declaration has no Python form.
        """
        protocol = self._protocol
        layouts = (
            self._layout(self._shared),
            *(self._layout(self._variant(variant)) for variant in protocol.variants),
        )
        frames = layouts[0].frames
        structs = tuple(self._classes.data(struct) for struct in protocol.structs)
        unions = tuple(self._classes.union(union) for union in protocol.unions)
        messages = tuple(self._message(message, layouts[0]) for message in protocol.messages)
        preambles = tuple(self._preamble(preamble) for preamble in protocol.preambles)
        enums = tuple(self._classes.enum(enum) for enum in protocol.enums)
        constants = self._classes.constants()
        codings = tuple(coding_view(coding, self._shared) for coding in protocol.codings)
        classes = (*structs, *(message.data for message in messages), *(each[0] for each in preambles))
        classes += tuple(variety for union in unions for variety in union.varieties)
        has_role = self._shared.has_shared_codes or bool(protocol.contexts)
        names = [view.name for view in structs] + [view.name for view in frames]
        names += [view.name for view in unions]
        names += [view.name for view in enums] + [view.name for view in constants]
        names += [message.data.name for message in messages] + [each[0].name for each in preambles]
        refused = [text for shared in self._all_shared for text in shared.refused]
        return ModuleView(
            name=python_name(protocol.name, Scope.PACKAGE),
            wire_name=protocol.name,
            source=self._source,
            doc=declaration_doc(protocol.doc, protocol.notes, protocol.sources),
            constants=constants,
            limits=self._classes.limits(),
            limit_slots=tuple(sorted(attribute(name) for name in self._shared.limits)),
            enums=enums,
            structs=structs,
            unions=unions,
            codings=codings,
            preambles=preambles,
            messages=messages,
            layouts=layouts,
            frames=frames,
            onlys=self._shared.onlys(),
            message_annotation=" | ".join(self._message_names(messages)),
            struct_constants=self._shared.structs.constants(),
            uses=self._uses(layouts, classes, frames, refused),
            exports=tuple(sorted({*names, *self._offered()}, key=_rank)),
            roles=protocol.roles,
            header=_merged_header(frames),
            frame_readers=self._by_role(layouts, "reader"),
            frame_writers=self._by_role(layouts, "writer"),
            frame_classes=self._frame_classes(messages),
            openings=tuple((each[1], each[2]) for each in preambles),
            variants=tuple(variant.name for variant in protocol.variants),
            has_compression=any(write.state == "always" for layout in layouts for write in layout.writes),
            has_context=bool(protocol.contexts),
            has_role=has_role,
            is_partly_careful=bool(refused),
            has_bare=len(frames) == 1 and bool(frames[0].table) and not (has_role or protocol.variants),
            has_required=any(field.is_required for frame in frames for field in frame.header),
            has_frame_alias=bool(refused) or len(frames) > 1 or bool(protocol.variants),
            is_plain=self._is_plain(frames, refused),
            plan=self._plan,
        )

    def _is_plain(self, frames: tuple[FrameView, ...], refused: list[str]) -> bool:
        protocol = self._protocol
        around = (protocol.variants, protocol.contexts, protocol.preambles, protocol.frames[1:], refused)
        return not any(around) and not frames[0].unknown

    def _offered(self) -> Iterator[str]:
        yield from ("Limits", "decode", "decode_message", "encode", "Decoder")
        yield from ("DecodeError", "EncodeError", "NeedMoreData")
        if self._protocol.contexts:
            yield from ("Context", "decode_conversation")
        if "Unknown" in self._shared.uses:
            yield "Unknown"

    def _message_names(self, messages: tuple[MessageView, ...]) -> list[str]:
        names = [message.data.name for message in messages]
        return [*names, "Unknown"] if "Unknown" in self._shared.uses else names

    def _variant(self, variant: m.Variant) -> Shared:
        """Return the protocol with a variant's layouts in place of its own."""
        protocol = self._protocol
        changed = replace(
            protocol,
            frames=_replaced(protocol.frames, variant.frames),
            structs=_replaced(protocol.structs, variant.structs),
            messages=_replaced(protocol.messages, variant.messages),
            preambles=_replaced(protocol.preambles, variant.preambles),
        )
        shared = Shared(changed, f"_in_{snake_case(variant.name)}", self._shared)
        self._all_shared.append(shared)
        return shared

    # ---- functions

    def _layout(self, shared: Shared) -> LayoutView:
        protocol, functions = shared.protocol, FunctionBuilder(shared)
        frames: list[FrameView] = []
        reads: list[ReadFunction] = []
        writes: list[WriteFunction] = []
        tables: list[TableView] = []
        is_body_read = False
        for frame in protocol.frames:
            place = _code_place(shared, frame)
            view = self._frame(shared, frame, place)
            frames.append(view)
            if place is not None:
                self._whole(functions, shared, frame, view, reads, writes, tables)
            else:
                is_body_read = True
                reads.append(functions.read_frame(frame))
                writes.append(functions.write_frame(frame))
                tables.append(self._codes_table(shared, frame))
        unions: tuple[ChoiceView, ...] = ()
        if shared.is_deep:
            recursive = recursive_structs(protocol)
            for struct in protocol.structs:
                if struct.name in recursive:
                    reads.append(functions.read_struct(struct))
                    writes.append(functions.write_struct(struct))
            unions = tuple(self._union(functions, shared, union, reads, writes) for union in protocol.unions)
            if is_body_read or _names_messages(protocol):
                self._bodies(functions, shared, reads, writes, tables)
            for preamble in protocol.preambles:
                reads.append(functions.read_preamble(preamble))
                writes.append(functions.write_preamble(preamble))
            writes += [functions.write_chunk(name, carrier) for name, carrier in shared.chunks.items()]
        return LayoutView(
            frames=tuple(frames),
            unions=unions,
            reads=tuple(reads),
            writes=tuple(writes),
            tables=tuple(tables),
        )

    def _whole(
        self,
        functions: FunctionBuilder,
        shared: Shared,
        frame: m.Frame,
        view: FrameView,
        reads: list[ReadFunction],
        writes: list[WriteFunction],
        tables: list[TableView],
    ) -> None:
        """Add the functions that read and write whole frames, one for each message."""
        wanted = _wanted(frame)
        taken = Locals()
        header = [field for field in shown_fields(frame.fields) if field.name != frame.message]
        headers = {field.name: taken.name(field.name) for field in header}
        parameters = "".join(
            f"{headers[field.name]}: {annotation(field.type, shared.protocol)}, " for field in header
        )
        with_code = [message for message in shared.protocol.messages if message.code is not None]
        for message in with_code:
            reads.append(functions.read_message(frame, message, wanted))
            writes.append(functions.write_message(frame, message, headers, parameters))
        if view.unknown:
            reads.append(functions.read_unknown(frame, wanted))
        tables += self._code_tables(shared, "_READERS" + shared.suffix.upper(), shared.reader)
        entries = tuple((class_name(message.name), shared.writer(message.name)) for message in with_code)
        tables.append(
            TableView(name=view.writers, annotation="dict[type, Callable[..., bytes]]", entries=entries)
        )

    def _bodies(
        self,
        functions: FunctionBuilder,
        shared: Shared,
        reads: list[ReadFunction],
        writes: list[WriteFunction],
        tables: list[TableView],
    ) -> None:
        """Add the functions that read and write messages by themselves."""
        for message in shared.protocol.messages:
            reads.append(functions.read_body(message))
            writes.append(functions.write_body(message))
        tables += self._code_tables(shared, "_BODIES" + shared.inner_suffix.upper(), shared.body_reader)
        entries = tuple(
            (class_name(message.name), shared.body_writer(message.name))
            for message in shared.protocol.messages
            if message.code is not None
        )
        name = f"_BODY_WRITERS{shared.inner_suffix.upper()}"
        tables.append(TableView(name=name, annotation="dict[type, Callable[..., bytes]]", entries=entries))

    @staticmethod
    def _code_tables(shared: Shared, name: str, function: object) -> Iterator[TableView]:
        """Yield a table by code, or one by role and code where roles share codes."""
        result = "_Message" if name.startswith("_READERS") else "Any"
        kind = f"Callable[[bytes, int, int, _ReadState | None], tuple[{result}, int]]"
        assert callable(function)
        if not shared.has_shared_codes:
            codes = shared.codes(None)
            entries = tuple((repr(code), function(message.name)) for code, message in codes.items())
            yield TableView(name=name, annotation=f"dict[int, {kind}]", entries=entries)
            return
        rows = []
        for role in (None, *shared.protocol.roles):
            codes = shared.codes(role)
            inside = ", ".join(f"{code}: {function(message.name)}" for code, message in codes.items())
            rows.append((repr(role), f"{{{inside}}}"))
        yield TableView(name=name, annotation=f"dict[str | None, dict[int, {kind}]]", entries=tuple(rows))

    @staticmethod
    def _codes_table(shared: Shared, frame: m.Frame) -> TableView:
        """Return the code of each message that a frame can carry."""
        codes = shared.codes(frame.role)
        entries = tuple((class_name(message.name), repr(code)) for code, message in codes.items())
        name = shared.table("codes", snake_case(frame.name))
        return TableView(name=name, annotation="dict[type, int]", entries=entries)

    def _union(
        self,
        functions: FunctionBuilder,
        shared: Shared,
        union: m.Union,
        reads: list[ReadFunction],
        writes: list[WriteFunction],
    ) -> ChoiceView:
        entries, classes = [], []
        for variety in union.varieties:
            read, write = functions.read_variety(union, variety), functions.write_variety(union, variety)
            reads.append(read)
            writes.append(write)
            classes.append((variety_class(union.name, variety.name), write.name))
            for span in variety.codes:
                if span.high - span.low > 4096:
                    raise UnsupportedError(variety.path, "a variety of more than 4096 codes")
                entries += [(repr(code), read.name) for code in range(span.low, span.high + 1)]
        code, size = self._union_code(shared, union)
        return ChoiceView(
            reader=shared.inner_reader(union.name),
            writer=shared.inner_writer(union.name),
            alias=f"_{class_name(union.name)}",
            code=code,
            size=size,
            table=shared.union_table(union.name),
            writers=f"_{snake_case(union.name)}_writers{shared.inner_suffix}".upper(),
            entries=tuple(entries),
            classes=tuple(classes),
        )

    @staticmethod
    def _union_code(shared: Shared, union: m.Union) -> tuple[str, str]:
        """Return the expression of a union's code and its size; ("", "") for a varint."""
        if not isinstance(union.type, m.Integer):
            shared.uses.add("read_varint")
            return "", ""
        size = union.type.bits // 8
        if (size, union.type.signed) == (1, False):
            return "buffer[offset]", "1"
        signed = ", signed=True" if union.type.signed else ""
        if size not in (1, 2, 4, 8):
            return f'int.from_bytes(buffer[offset : offset + {size}], "{union.type.endian}"{signed})', str(
                size
            )
        slot = Slot(key="", type=union.type, bits=union.type.bits, field=None, part="code")
        endian = "<" if union.type.endian == "little" else ">"
        return f"{shared.structs.unpack(endian + shared.format(slot))}(buffer, offset)[0]", str(size)

    # ---- frames and messages

    def _frame(self, shared: Shared, frame: m.Frame, place: tuple[str, str, Run] | None) -> FrameView:
        header_fields = tuple(field for field in shown_fields(frame.fields) if field.name != frame.message)
        header = tuple(self._classes.fields(header_fields, is_header=True))
        extras = self._classes.frame_extras(frame)
        names = ReadNames(shared=shared, is_frame=True, sender=repr(frame.role))
        reads: tuple[ReadStep, ...] = ()
        if place is not None:
            reads = ReadBuilder(names, has_state=False).steps((_header_run(place[2], header_fields),))
        attributes = [field.name for field in header]
        return FrameView(
            name=class_name(frame.name),
            wire_name=frame.name,
            doc=declaration_doc(frame.doc, frame.notes),
            role=frame.role,
            header=header,
            extras=extras,
            reader=shared.reader(frame.name),
            writer=shared.writer(frame.name),
            table=shared.frame_readers_of(repr(frame.role)) if place else "",
            writers=f"_WRITERS{shared.suffix.upper()}",
            code=place[0] if place else "",
            first_code=place[1] if place else "",
            unknown=f"_read_unknown{shared.suffix}" if place and _can_skip(shared, frame) else "",
            reads=reads,
            values=tuple(
                (local_name(field.name), names.values[FRAME + field.name]) for field in header_fields if place
            ),
            slots=tuple(sorted(("message", *attributes, *(extra[0] for extra in extras)))),
            arguments=("message", *attributes),
            has_message=frame.message is not None,
        )

    def _message(self, message: m.Message, layout: LayoutView) -> MessageView:
        frame = self._shared.frame_of(message.role)
        view = next(each for each in layout.frames if each.wire_name == frame.name)
        is_whole = bool(view.table) and message.code is not None
        writer = self._shared.writer(message.name) if is_whole else ""
        writes = [write for write in layout.writes if write.name == writer]
        return MessageView(
            data=self._classes.data(message),
            frame=view,
            writer=writer,
            has_compression=any(write.state == "always" for write in writes),
        )

    def _preamble(self, preamble: m.Preamble) -> tuple[ClassView, str, str, str]:
        shared = self._shared
        view = self._classes.data(preamble)
        return view, preamble.role, shared.inner_reader(preamble.name), shared.inner_writer(preamble.name)

    def _frame_classes(self, messages: tuple[MessageView, ...]) -> tuple[tuple[str, str], ...]:
        if len(self._protocol.frames) == 1:
            return ()
        return tuple((message.data.name, message.frame.name) for message in messages)

    def _by_role(self, layouts: tuple[LayoutView, ...], what: str) -> tuple[tuple[str, str], ...]:
        """Return the function for each variant and role (or frame class), where there is more than one."""
        if len(self._protocol.frames) == 1 and not self._protocol.variants:
            return ()
        rows = []
        for shared, layout in zip(self._all_shared, layouts, strict=True):
            variant = (
                self._protocol.variants[self._all_shared.index(shared) - 1].name if shared.suffix else None
            )
            if what == "writer":
                rows += [(f"({variant!r}, {view.name})", view.writer) for view in layout.frames]
                continue
            for role in (None, *self._protocol.roles):
                frame = shared.frame_of(role)
                rows.append((f"({variant!r}, {role!r})", shared.reader(frame.name)))
        return tuple(rows)

    def _uses(
        self,
        layouts: tuple[LayoutView, ...],
        classes: tuple[ClassView, ...],
        frames: tuple[FrameView, ...],
        refused: list[str],
    ) -> frozenset[str]:
        fields = [field for owner in (*frames,) for field in owner.header]
        fields += [field for view in classes for field in view.fields]
        found = {
            "REQUIRED": any(field.is_required_late for field in fields),
            "UUID": any("UUID" in field.annotation for field in fields),
            "dict": any(lazy.form == "dict" for view in classes for lazy in view.views),
            "json": any(lazy.form == "json" for view in classes for lazy in view.views),
            "type": any(lazy.form == "type" for view in classes for lazy in view.views),
            "show": any(not field.is_secret for field in fields),
            "Struct": bool(self._shared.structs.constants()),
            "built": bool(refused) or any(lazy.form == "type" for view in classes for lazy in view.views),
        }
        return frozenset(name for name, is_used in found.items() if is_used) | self._shared.uses


def _rank(name: str) -> tuple[int, str]:
    """Return what sorts names as `__all__` does: constants, classes, functions."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)


def _replaced(own: tuple, others: tuple) -> tuple:  # type: ignore[type-arg]
    names = {other.name: other for other in others}
    return tuple(names.get(each.name, each) for each in own)


def _merged_header(frames: tuple[FrameView, ...]) -> tuple[FieldView, ...]:
    merged: dict[str, FieldView] = {}
    for frame in frames:
        for field in frame.header:
            merged.setdefault(field.name, field)
    return tuple(merged.values())


def _wanted(frame: m.Frame) -> frozenset[str]:
    """Return the fields of the header that its expressions speak of."""
    from wiregen.walk import direct_expressions, field_expressions, nested_expressions, shapes

    found: set[str] = set()
    for field in flat(frame.fields):
        expressions = [*field_expressions(field)]
        for owner in frame.fields:
            expressions += [each for shape in shapes(owner.type) for each in direct_expressions(shape)]
        for expression in nested_expressions(*expressions):
            if isinstance(expression, m.FieldReference) and expression.path:
                found.add(expression.path[0])
        if field.where is not None:
            found.add(field.name)
    return frozenset(found - set(_code_names(frame)))


def _code_names(frame: m.Frame) -> Iterator[str]:
    for field in flat(frame.fields):
        match field.value:
            case m.Derived(value=m.Call(function="code")) if field.where is None:
                yield field.name


def _code_place(shared: Shared, frame: m.Frame) -> tuple[str, str, Run] | None:
    """Return the code at its fixed place (in a frame at `offset`, in the buffer), and the run that it stands in.

    None: the frame needs one function for whichever message it carries.
    """
    try:
        steps = frame_layout(shared.protocol, frame, None).steps
    except UnsupportedError:
        return None
    first = steps[0] if steps else None
    dispatches = [step for step in steps if isinstance(step, Dispatch)]
    if not isinstance(first, Run) or len(dispatches) != 1 or frame.message is None:
        return None
    held = {slot.key for slot in first.slots}
    header = [field for field in shown_fields(frame.fields) if field.name != frame.message]
    if any(FRAME + field.name not in held for field in header):
        return None
    subject = dispatches[0].subject
    before = 0
    for slot in first.slots:
        if slot.part == "code" and subject == m.FieldReference(path=(slot.key.removeprefix(FRAME),)):
            return _code_texts(shared, slot, before, first)
        before += slot.size
    return None


def _code_texts(shared: Shared, slot: Slot, before: int, run: Run) -> tuple[str, str, Run] | None:
    if slot.size not in (1, 2, 4, 8):
        return None
    format_ = shared.format(slot)
    at = f"offset + {before}" if before else "offset"
    if format_ == "B":
        return f"buffer[{at}]", f"buffer[{before}]", run
    endian = "<" if getattr(slot.type, "endian", "big") == "little" else ">"
    unpack = shared.structs.unpack(endian + format_)
    return f"{unpack}(buffer, {at})[0]", f"{unpack}(buffer, {before})[0]", run


def _header_run(run: Run, header: tuple[m.Field, ...]) -> Run:
    """Return a run in which only the fields that the API shows are read."""
    shown = {FRAME + field.name for field in header}
    slots = tuple(
        slot if slot.key in shown else replace(slot, part="padding", expected=None) for slot in run.slots
    )
    return Run(slots=slots, size=run.size)


def _can_skip(shared: Shared, frame: m.Frame) -> bool:
    steps = frame_layout(shared.protocol, frame, None).steps
    return any(isinstance(step, Dispatch) and step.can_skip for step in steps)


def _names_messages(protocol: m.Protocol) -> bool:
    from wiregen.walk import references

    owners: list[m.Struct | m.Message | m.Frame] = [*protocol.structs, *protocol.messages, *protocol.frames]
    types = [field.type for owner in owners for field in owner.fields]
    types += [
        field.type for union in protocol.unions for variety in union.varieties for field in variety.fields
    ]
    return any(reference.target == "message" for reference in references(*types))
