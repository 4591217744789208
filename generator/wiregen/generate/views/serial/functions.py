"""The functions a user calls, alike in all serializations: `encode decode decode_message Decoder`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wiregen.generate.views.python.names import caseless
from wiregen.generate.views.python.shared import Shared
from wiregen.generate.views.python.text import PythonType, annotation, class_name, flat, null_names
from wiregen.generate.views.serial.names import SerialNames, attribute_of, class_of
from wiregen.runtime.schema.node import nodes_in
from wiregen.schema import model as m
from wiregen.schema.naming import Namespace, python_name
from wiregen.schema.value_shapes import Carried, Form, FrameRecord, Many, Member, Nullable, Raw, Record
from wiregen.schema.walk import compresses, is_compressed, nested_types

__all__ = ["FunctionsView", "forms_of", "functions_view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawView:
    """A union that is carried as bytes; `reader` and `writers` are the package's own."""

    name: str
    union: str
    reader: str
    writers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionsView:
    """The data of a protocol for the functions that users call. `classes` are imported from its package."""

    name: str
    wire_name: str
    source: str
    title: str
    classes: tuple[str, ...]
    enums: tuple[tuple[str, str], ...]
    """Table and class of each enum whose members are created."""
    raws: tuple[RawView, ...]
    roles: tuple[str, ...]
    header: tuple[tuple[str, str], ...]
    """Name and annotation of the fields of all frames' headers, for `encode`."""
    frames: tuple[str, ...]
    frame_of: tuple[tuple[str, str], ...]
    """The frame of each message."""
    messages: tuple[str, ...]
    role_frames: tuple[tuple[str, str], ...]
    """The frame that a role sends, or None for the first."""
    has_context: bool
    has_variants: bool
    has_compression: bool
    compressed: tuple[str, ...]
    """The messages that hold compressed data."""
    uses_uuid: bool
    needs_role: bool
    """Whether reading a frame depends on its sender."""
    may_lack_message: bool
    """Whether some frame may come without a message."""

    @property
    def message_annotation(self) -> str:
        """The annotation of the message of any frame."""
        return "_Message | None" if self.may_lack_message else "_Message"

    def imports(self, runtime: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Return the imports from the runtime, module and name, sorted.

        They are the given ones and those of the functions that users call.
        """
        own = {("codec.options", "Options"), ("serial.conversion", "Budget"), ("serial.codec", "SerialCodec")}
        own |= {
            ("serial.codec", "framed"),
            ("serial.validation", "Judge"),
            ("serial.stream", "StreamDecoder"),
        }
        own |= {("codec.values", "bounds_of"), ("codec.values", "check_role"), *runtime}
        own |= {("codec.values", "check_context")} if self.has_context else set()
        own |= {("serial.conversion", "Members")} if self.enums else set()
        own |= {("serial.conversion", "RawUnion")} if self.raws else set()
        return tuple(sorted(own, key=lambda row: (row[0], not row[1][0].isupper(), row[1])))

    @property
    def imported_classes(self) -> str:
        """The classes of the package, sorted as imports are."""
        more = {"Limits", "Context"} if self.has_context else {"Limits"}
        return ", ".join(sorted({*self.classes, *more}, key=caseless))

    @property
    def native_arguments(self) -> str:
        """The arguments of the native `encode` after the frame and `compression`."""
        parts = ["from_role=given.from_role, context=given.context"] if self.has_context else []
        return ", ".join([*parts, *(["variant=given.variant"] if self.has_variants else [])])


def functions_view(
    protocol: m.Protocol, carried: Carried, names: SerialNames, source: str, title: str
) -> FunctionsView:
    frames = tuple(class_of(frame) for frame in carried.frames)
    messages = {name: class_name(name) for frame in carried.frames for name in frame.messages}
    fields = tuple(_header(protocol, carried))
    header = {name: shown.text for name, _, shown in fields}
    in_header = {node for _, type_, _ in fields for node in nodes_in(type_)}
    forms = tuple(forms_of(carried))
    members = sorted({form.enum for form in forms if isinstance(form, Member)})
    raws = sorted({form.union for form in forms if isinstance(form, Raw)})
    tops = {class_of(each).partition(".")[0] for each in carried.records}
    enums = {node.name for node in in_header if isinstance(node, m.EnumReference)}
    chosen = {form.union for form in _choices(carried) if isinstance(form, Raw)}
    classes = {
        *tops,
        *frames,
        *(class_name(name) for name in chosen),
        *(class_name(name) for name in members),
        *(class_name(each.name) for each in protocol.enums if each.name in enums and not each.is_open),
    }
    return FunctionsView(
        name=python_name(protocol.name, Namespace.PACKAGE),
        wire_name=protocol.name,
        source=source,
        title=title,
        classes=tuple(sorted(classes)),
        enums=tuple((names.members(name), class_name(name)) for name in members),
        raws=tuple(_raws(protocol, raws, names)),
        roles=protocol.roles,
        header=tuple(header.items()),
        frames=frames,
        frame_of=tuple(_frame_of(carried)),
        messages=tuple(messages.values()),
        role_frames=tuple(_role_frames(protocol, carried)),
        has_context=bool(protocol.contexts),
        has_variants=bool(protocol.variants),
        has_compression=compresses(protocol),
        compressed=tuple(messages[name] for name in _compressed(protocol) if name in messages),
        uses_uuid=any(isinstance(node, m.Uuid) for node in in_header),
        may_lack_message=any(frame.may_lack_message for frame in carried.frames),
        needs_role=len({frame for _, frame in _role_frames(protocol, carried)}) > 1,
    )


def _raws(protocol: m.Protocol, unions: Iterable[str], names: SerialNames) -> Iterator[RawView]:
    shared = Shared(protocol)
    for name in unions:
        yield RawView(
            name=names.raw_union(name),
            union=name,
            reader=shared.inner_reader(name),
            writers=shared.union_table(name, "writers"),
        )


def forms_of(carried: Carried) -> Iterator[Form]:
    """Yield every form of a protocol, outer ones before inner ones."""
    owners: tuple[Record | FrameRecord, ...] = (*carried.records, *carried.frames)
    for owner in owners:
        for form in (
            *(field.form for field in owner.fields),
            *(each for choice in owner.choices for each in choice.forms),
        ):
            yield from _nested(form)


def _choices(carried: Carried) -> Iterator[Form]:
    """Yield the forms by which, with its class, a value is distinguished from others of a choice."""
    owners: tuple[Record | FrameRecord, ...] = (*carried.records, *carried.frames)
    for owner in owners:
        yield from (inner for choice in owner.choices for form in choice.forms for inner in _nested(form))


def _nested(form: Form) -> Iterator[Form]:
    yield form
    match form:
        case Many(item=inner) | Nullable(value=inner):
            yield from _nested(inner)


def _header(protocol: m.Protocol, carried: Carried) -> Iterator[tuple[str, m.Type, PythonType]]:
    """Yield the attribute of each field of a header, its type, and the same for the argument of `encode`."""
    declared = {field.path: field for frame in protocol.frames for field in flat(frame.fields)}
    nulls = {frame.name: null_names(flat(frame.fields), protocol) for frame in protocol.frames}
    for frame in carried.frames:
        for field in frame.fields:
            type_ = declared[field.path].type
            shown = annotation(type_, protocol, nulls[frame.name], is_elsewhere=True)
            yield attribute_of(frame, field), type_, shown


def _frame_of(carried: Carried) -> Iterator[tuple[str, str]]:
    """Yield each frame and each message with its frame."""
    seen: set[str] = set()
    for frame in carried.frames:
        yield class_of(frame), class_of(frame)
    for frame in carried.frames:
        for name in frame.messages:
            if name not in seen:
                yield class_name(name), class_of(frame)
            seen.add(name)


def _role_frames(protocol: m.Protocol, carried: Carried) -> Iterator[tuple[str, str]]:
    for role in (None, *protocol.roles):
        sent = [frame for frame in carried.frames if role is None or frame.role in (None, role)]
        if sent:
            yield repr(role), class_of(sent[0])


def _compressed(protocol: m.Protocol) -> tuple[str, ...]:
    """Return the messages that hold compressed data, at any depth; all of them if their frame compresses them."""
    types = _types(protocol)
    found = {name for name, own in types.items() if _is_compressed(own)}
    names = tuple(message.name for message in protocol.messages)
    if found & {frame.name for frame in protocol.frames}:
        return names
    size = -1
    while len(found) > size:
        size = len(found)
        found |= {name for name, own in types.items() if _mentions(own, found, names)}
    return tuple(name for name in names if name in found)


def _mentions(types: tuple[m.Type, ...], found: set[str], messages: tuple[str, ...]) -> bool:
    return any(
        (isinstance(type_, m.Reference) and type_.name in found)
        or (isinstance(type_, m.MessageMatch) and not found.isdisjoint(messages))
        for type_ in nested_types(*types)
    )


def _types(protocol: m.Protocol) -> dict[str, tuple[m.Type, ...]]:
    """Return the types of the fields of every declaration that has fields."""
    owners: tuple[m.Struct | m.Message | m.Frame, ...]
    owners = (*protocol.structs, *protocol.messages, *protocol.frames)
    found = {owner.name: tuple(field.type for field in owner.fields) for owner in owners}
    for union in protocol.unions:
        found[union.name] = tuple(field.type for each in union.varieties for field in each.fields)
    return found


def _is_compressed(types: tuple[m.Type, ...]) -> bool:
    return any(map(is_compressed, nested_types(*types)))
