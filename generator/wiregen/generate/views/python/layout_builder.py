"""All functions of one layout of a protocol: its own, or a variant's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wiregen.generate.steps.step import FRAME, FixedRun, Slot
from wiregen.generate.views.python.classes import (
    ClassBuilder,
    shown_attributes,
    shown_fields,
)
from wiregen.generate.views.python.frame_views import (
    ChoiceView,
    FrameView,
    FunctionTableView,
    LayoutFunctionsView,
)
from wiregen.generate.views.python.frames import (
    can_skip,
    code_place,
    header_run,
    message_annotation,
    names_messages,
    wanted_fields,
)
from wiregen.generate.views.python.function_views import CodecView, ReadFunction, WriteFunction
from wiregen.generate.views.python.functions import FunctionBuilder
from wiregen.generate.views.python.methods import MethodBuilder
from wiregen.generate.views.python.names import Locals, PackedNumber, local_name
from wiregen.generate.views.python.reading.names import ReadNames
from wiregen.generate.views.python.reading.step_views import ReadStep
from wiregen.generate.views.python.reading.steps import ReadBuilder
from wiregen.generate.views.python.shared import Shared, variety_class
from wiregen.generate.views.python.text import (
    annotation,
    class_name,
    declaration_doc,
    flat,
    layout_text,
    null_names,
    union_alias,
)
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.field_facts import called_structs

__all__ = ["LayoutBuilder"]

_MOST_ENTRIES = 4096
"""The most codes of one alternative that are written out in a table; with more, the reference codec is used."""


class Codecs:
    """The functions of a layout by declaration; "" for those that do not belong to a single one."""

    def __init__(self) -> None:
        self._reads: dict[str, list[ReadFunction]] = {}
        self._writes: dict[str, list[WriteFunction]] = {}
        self.methods: dict[str, WriteFunction] = {}

    def add(self, name: str, read: ReadFunction | None, write: WriteFunction | None = None) -> None:
        if read is not None:
            self._reads.setdefault(name, []).append(read)
        if write is not None:
            self._writes.setdefault(name, []).append(write)

    def of(self, name: str) -> CodecView:
        return CodecView(reads=tuple(self._reads.get(name, ())), writes=tuple(self._writes.get(name, ())))


class LayoutBuilder:
    """Builds the functions and tables of one layout of a protocol."""

    def __init__(self, shared: Shared, classes: ClassBuilder) -> None:
        self._shared = shared
        self._classes = classes

    def build(self) -> LayoutFunctionsView:
        """Return the view."""
        shared = self._shared
        protocol, functions = shared.protocol, FunctionBuilder(shared)
        frames: list[FrameView] = []
        codecs = Codecs()
        tables: list[FunctionTableView] = []
        is_body_read = False
        for frame in protocol.frames:
            place = code_place(shared, frame)
            view = self._frame(shared, frame, place)
            if place is not None:
                view = self._whole(functions, frame, view, codecs, tables)
            else:
                is_body_read = True
                view = self._by_body(functions, frame, view, codecs)
                tables.append(self._codes_table(shared, frame))
            frames.append(view)
        if any("_FOREIGN" in view.foreign for view in frames) and not shared.suffix:
            tables.append(self._foreign_table(shared))
        unions: tuple[ChoiceView, ...] = ()
        if shared.is_deep:
            unions = tuple(self._union(functions, shared, union, codecs) for union in protocol.unions)
            self._deep(functions, codecs)
        if not shared.has_bodies and (is_body_read or (shared.is_deep and names_messages(protocol))):
            self._bodies(functions, shared, codecs, tables)
            shared.note_bodies()
        for name, step in shared.header_lists.items():
            codecs.add("", None, functions.write_header_list(name, step))
        if shared.is_deep:
            for name, carrier in shared.chunks.items():
                codecs.add("", None, functions.write_chunk(name, carrier))
        return LayoutFunctionsView(
            frames=tuple(frames),
            unions=unions,
            codecs={name: codecs.of(name) for name in self._names()},
            methods=codecs.methods,
            others=codecs.of(""),
            tables=tuple(tables),
        )

    def _names(self) -> Iterator[str]:
        protocol = self._shared.protocol
        for declarations in (protocol.structs, protocol.unions, protocol.messages, protocol.preambles):
            yield from (declaration.name for declaration in declarations)
        yield from (frame.name for frame in protocol.frames)

    def _deep(self, functions: FunctionBuilder, codecs: Codecs) -> None:
        """Add the functions of structs that are not laid out inline, and of preambles."""
        protocol = self._shared.protocol
        called = called_structs(protocol)
        for struct in protocol.structs:
            if struct.name in called:
                codecs.add(struct.name, functions.read_struct(struct), functions.write_struct(struct))
        for preamble in protocol.preambles:
            codecs.add(preamble.name, functions.read_preamble(preamble), functions.write_preamble(preamble))

    def _by_body(
        self, functions: FunctionBuilder, frame: m.Frame, view: FrameView, codecs: Codecs
    ) -> FrameView:
        """Add the functions of a frame for all its messages, and the methods of messages that have their own."""
        shared = self._shared
        whole = functions.read_frame(frame)
        codecs.add(frame.name, whole, functions.write_frame(frame))
        alone = functions.read_frame(frame, is_bare=True) if shared.parent is None else None
        if alone is not None and not alone.is_refused and len(shared.protocol.frames) > 1:
            codecs.add(frame.name, alone)
        builder = MethodBuilder(shared, functions)
        own = [each for each in shared.protocol.messages if shared.frame_of_message(each) is frame]
        for message in own:
            method = builder.beside_function(frame, message, self._headers(frame), view)
            if method is not None and message.code is not None:
                codecs.methods[message.name] = method
        return replace(
            view,
            has_own_encode=all(message.name in codecs.methods for message in own),
            bare=None if alone is None or alone.is_refused else alone,
        )

    @staticmethod
    def _headers(frame: m.Frame) -> dict[str, str]:
        """Return the parameters that hold the fields of a frame's header."""
        taken = Locals()
        header = [field for field in shown_fields(frame.fields) if field.name != frame.message]
        return {field.name: taken.name(field.name) for field in header}

    def _whole(
        self,
        functions: FunctionBuilder,
        frame: m.Frame,
        view: FrameView,
        codecs: Codecs,
        tables: list[FunctionTableView],
    ) -> FrameView:
        """Add the functions that read and write whole frames, one for each message; return the view with their tables."""
        shared = self._shared
        wanted = wanted_fields(frame)
        headers, nulls = self._headers(frame), null_names(flat(frame.fields), shared.protocol)
        parameters = "".join(
            f"{headers[field.name]}: {annotation(field.type, shared.protocol, nulls).text}, "
            for field in shown_fields(frame.fields)
            if field.name != frame.message
        )
        with_code = [message for message in shared.protocol.messages if message.code is not None]
        builder = MethodBuilder(shared, functions)
        methods = {
            message.name for message in with_code if builder.needs_no_function(frame, message, headers)
        }
        for message in with_code:
            is_method = message.name in methods
            write = functions.write_message(frame, message, headers, parameters, is_method=is_method)
            codecs.add(
                message.name, functions.read_message(frame, message, wanted), None if is_method else write
            )
            if is_method:
                codecs.methods[message.name] = write
        if view.unknown:
            write = functions.write_unknown(frame, headers, parameters)
            codecs.add("", functions.read_unknown(frame, wanted), write)
        tables += self._code_tables(shared, "_READERS" + shared.suffix.upper(), shared.reader)
        tables += self._class_tables(with_code, methods, view)
        return replace(view, encoders=view.encoders if methods else "")

    def _class_tables(
        self, messages: list[m.Message], methods: set[str], view: FrameView
    ) -> Iterator[FunctionTableView]:
        """Yield the tables of the functions that write each message: its method, which has no state, or a function."""
        kind = "dict[type, Callable[..., bytes]]"
        encoders = tuple(
            (class_name(each.name), f"{class_name(each.name)}.encode")
            for each in messages
            if each.name in methods
        )
        writers = tuple(
            (class_name(each.name), self._shared.writer(each.name))
            for each in messages
            if each.name not in methods
        )
        if view.unknown:
            writers += (("Unknown", self._shared.writer("Unknown")),)
        if encoders:
            yield FunctionTableView(name=view.encoders, annotation=kind, entries=encoders)
        yield FunctionTableView(name=view.writers, annotation=kind, entries=writers)

    def _bodies(
        self,
        functions: FunctionBuilder,
        shared: Shared,
        codecs: Codecs,
        tables: list[FunctionTableView],
    ) -> None:
        """Add the functions that read and write messages by themselves."""
        for message in shared.protocol.messages:
            codecs.add(message.name, functions.read_body(message), functions.write_body(message))
        tables += self._code_tables(shared, "_BODIES" + shared.inner_suffix.upper(), shared.body_reader)
        entries = tuple(
            (class_name(message.name), shared.body_writer(message.name))
            for message in shared.protocol.messages
            if message.code is not None
        )
        name = f"_BODY_WRITERS{shared.inner_suffix.upper()}"
        tables.append(
            FunctionTableView(name=name, annotation="dict[type, Callable[..., bytes]]", entries=entries)
        )

    @staticmethod
    def _code_tables(
        shared: Shared, name: str, function: Callable[[str], str]
    ) -> Iterator[FunctionTableView]:
        """Yield a table by code, or one by role and code if roles share codes or have frames of their own."""
        result = "_Message" if name.startswith("_READERS") else "Any"
        kind = f"Callable[[bytes, int, int, _Reading], tuple[{result}, int]]"
        if not shared.has_tables_by_role:
            codes = shared.codes(None)
            entries = tuple((repr(code), function(message.name)) for code, message in codes.items())
            yield FunctionTableView(name=name, annotation=f"dict[int, {kind}]", entries=entries)
            return
        rows = []
        for role in (None, *shared.protocol.roles):
            readers = [f"{code}: {function(message.name)}" for code, message in shared.codes(role).items()]
            foreign = [f"{code}: _foreign" for code in shared.foreign_codes(role)]
            shared.uses |= {"foreign"} if foreign else set()
            inside = ", ".join((*readers, *foreign))
            rows.append((repr(role), f"{{{inside}}}"))
        yield FunctionTableView(
            name=name, annotation=f"dict[str | None, dict[int, {kind}]]", entries=tuple(rows)
        )

    @staticmethod
    def _foreign_table(shared: Shared) -> FunctionTableView:
        """Return the messages that only other roles send, among each role's codes."""
        rows = []
        for role in shared.protocol.roles:
            names = [class_name(message.name) for message in shared.foreign_messages(role)]
            rows.append((repr(role), f"frozenset(({', '.join(names)}{',' * bool(names)}))"))
        return FunctionTableView(
            name="_FOREIGN", annotation="dict[str, frozenset[type]]", entries=tuple(rows)
        )

    @staticmethod
    def _codes_table(shared: Shared, frame: m.Frame) -> FunctionTableView:
        """Return the code of each message that a frame can carry."""
        codes = shared.codes(frame.role)
        entries = tuple((class_name(message.name), repr(code)) for code, message in codes.items())
        name = shared.codes_table(frame)
        return FunctionTableView(name=name, annotation="dict[type, int]", entries=entries)

    def _union(
        self,
        functions: FunctionBuilder,
        shared: Shared,
        union: m.Union,
        codecs: Codecs,
    ) -> ChoiceView:
        entries, classes = [], []
        for variety in union.varieties:
            read, write = functions.read_variety(union, variety), functions.write_variety(union, variety)
            codecs.add(union.name, read, write)
            classes.append((variety_class(union.name, variety.name), write.name))
            for span in variety.spans:
                if span.high - span.low >= _MOST_ENTRIES:
                    shared.refused.append(f"{class_name(union.name)}.{variety.name}: that many codes")
                    continue
                entries += [(repr(code), read.name) for code in range(span.low, span.high + 1)]
        code, size = self._union_code(shared, union)
        return ChoiceView(
            reader=shared.inner_reader(union.name),
            writer=shared.inner_writer(union.name),
            alias=union_alias(union.name),
            code=code,
            size=size,
            table=shared.union_table(union.name),
            writers=shared.union_table(union.name, "writers"),
            entries=tuple(entries),
            classes=tuple(classes),
        )

    @staticmethod
    def _union_code(shared: Shared, union: m.Union) -> tuple[str, str]:
        """Return the expression of a union's code and its size; ("", "") for a varint."""
        if not isinstance(union.type, m.Integer):
            shared.uses.add("read_varint")
            return "", ""
        size = union.type.size
        if (size, union.type.is_signed) == (1, False):
            return "buffer[offset]", "1"
        number = PackedNumber(type=union.type)
        if number.is_odd:
            return number.decoded(f"buffer[offset : offset + {size}]"), str(size)
        slot = Slot(key="", type=union.type, bits=union.type.bits, field=None, part="code")
        endian = "<" if union.type.endian == "little" else ">"
        return f"{shared.structs.unpack(endian + shared.format(slot))}(buffer, offset)[0]", str(size)

    # ---- frames and messages

    def _frame(self, shared: Shared, frame: m.Frame, place: tuple[str, str, FixedRun] | None) -> FrameView:
        shown = tuple(each for each in shown_attributes(frame.fields) if each.field.name != frame.message)
        header_fields = tuple(each.field for each in shown)
        header = self._classes.header(frame)
        extras = self._classes.frame_extras(frame)
        names = ReadNames(shared=shared, is_frame=True, sender=repr(frame.role))
        reads: tuple[ReadStep, ...] = ()
        if place is not None:
            reads = ReadBuilder(names, has_state=False).steps((header_run(place[2], header_fields),))
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
            encoders=f"_ENCODERS{shared.suffix.upper()}",
            code=place[0] if place else "",
            first_code=place[1] if place else "",
            unknown=f"_read_unknown{shared.suffix}" if place and can_skip(shared, frame) else "",
            foreign=shared.foreign_test(frame),
            reads=reads,
            values=tuple(
                (local_name(field.name), names.values[FRAME + field.name]) for field in header_fields if place
            ),
            slots=tuple(sorted(("message", *attributes, *(extra[0] for extra in extras)))),
            arguments=("message", *attributes),
            secrets=tuple(field.name for field in header if field.is_secret),
            layout=layout_text(frame.fields),
            message_annotation=message_annotation(frame),
        )
