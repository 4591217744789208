"""The flat list of steps of a declaration: what straight-line code is printed from.

Steps are in wire order. Adjacent fields of fixed size are one `Run`, across nested blocks and structs and across the
frame's header into its message; a length prefix is part of the run before its bytes. Every value has a `key`, its place
in the declaration (`pairs`, `pairs[].key`, `pairs#length`; `frame:version` in the frame around a message); later steps
and checks speak of keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from wiregen import model as m

Fixed: TypeAlias = m.Integer | m.Float | m.Boolean | m.Uuid | m.Reference
"""What a run can hold; a Reference is an enum."""

FRAME = "frame:"
"""What the key of a frame's own field begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One value of a run. `part`: the field's value, or the length before it; `expected`: what it must be."""

    key: str
    type: Fixed
    size: int
    field: m.Field | None
    part: Literal["value", "length", "code", "padding"]
    expected: int | bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Values of fixed size in a row; `size` bytes together."""

    slots: tuple[Slot, ...]
    size: int
    kind: Literal["run"] = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The bytes of a bytes or text field, as many as `length` (a key) says."""

    key: str
    type: m.Bytes | m.Text
    length: str
    field: m.Field | None
    kind: Literal["chunk"] = "chunk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Make:
    """A struct whose fields the steps before have read."""

    key: str
    struct: m.Struct
    kind: Literal["make"] = "make"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """As many items as `length` (a key) says; `smallest` is the size of the least item in bytes."""

    key: str
    length: str
    item: tuple[Step, ...]
    item_key: str
    smallest: int
    field: m.Field | None
    kind: Literal["repeat"] = "repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """Whole frames in a compressed region of `length` (a key) bytes."""

    key: str
    length: str
    algorithm: Literal["zlib", "gzip", "deflate"]
    frame: str
    field: m.Field | None
    kind: Literal["envelope"] = "envelope"


Step: TypeAlias = Run | Chunk | Make | Repeat | Envelope


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The steps of a declaration; of a message they begin with the fields of its frame."""

    steps: tuple[Step, ...]
    fixed_size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported:
    """A construct that straight-line code is not printed for: where it stands, and its name for people."""

    path: str
    construct: str


class UnsupportedError(Exception):
    """Raised while steps are made; carries what was met."""

    def __init__(self, path: str, construct: str) -> None:
        super().__init__(path, construct)
        self.unsupported = Unsupported(path=path, construct=construct)


def frame_layout(protocol: m.Protocol, frame: m.Frame, message: m.Message) -> Layout:
    """Return the layout of a whole frame that carries `message`.

    Raises:
        UnsupportedError: a construct of it has no straight-line form.
    """
    return _finish(_Flattener(protocol, message).fields(frame.fields, FRAME))


def layout_of(protocol: m.Protocol, fields: tuple[m.Field, ...]) -> Layout:
    """Return the layout of a declaration by itself: a struct that is not inlined, the header of a frame.

    Raises:
        UnsupportedError: a construct of it has no straight-line form.
    """
    return _finish(_Flattener(protocol, None).fields(fields, ""))


def _finish(steps: Iterator[Step]) -> Layout:
    merged = tuple(_merge(steps))
    sizes = [step.size if isinstance(step, Run) else None for step in merged]
    known = [size for size in sizes if size is not None]
    return Layout(steps=merged, fixed_size=sum(known) if len(known) == len(sizes) else None)


def _merge(steps: Iterator[Step]) -> Iterator[Step]:
    """Join adjacent runs; what a struct is made of may stand between them, for it reads nothing."""
    run: Run | None = None
    made: list[Step] = []
    for step in steps:
        if isinstance(step, Run):
            run = step if run is None else Run(slots=run.slots + step.slots, size=run.size + step.size)
        elif isinstance(step, Make):
            made.append(step)
        else:
            if run is not None:
                yield run
            yield from made
            run, made = None, []
            yield replace(step, item=tuple(_merge(iter(step.item)))) if isinstance(step, Repeat) else step
    if run is not None:
        yield run
    yield from made


class _Flattener:
    """Flattens fields into steps; `message` is what the frame's match stands for."""

    def __init__(self, protocol: m.Protocol, message: m.Message | None) -> None:
        self._structs = {struct.name: struct for struct in protocol.structs}
        self._enums = {enum.name: enum for enum in protocol.enums}
        self._message = message
        self._open: list[str] = []
        self._n_unnamed = 0

    def fields(self, fields: tuple[m.Field, ...], prefix: str) -> Iterator[Step]:
        for field in fields:
            yield from self._field(field, prefix)

    def _field(self, field: m.Field, prefix: str) -> Iterator[Step]:
        _refuse_clauses(field)
        key = prefix + self._key_of(field)
        if isinstance(field.type, m.MessageMatch) and self._message is not None:
            yield from self.fields(self._message.fields, "")
        else:
            yield from self._type(field.type, key, field)

    def _key_of(self, field: m.Field) -> str:
        """Return a field's own part of its key: any number of them may be called `_`."""
        if field.name != "_":
            return field.name
        self._n_unnamed += 1
        return f"_#{self._n_unnamed}"

    def _type(self, type_: m.Type, key: str, field: m.Field) -> Iterator[Step]:
        size = self._size(type_)
        if size is not None:
            assert isinstance(type_, m.Integer | m.Float | m.Boolean | m.Uuid | m.Reference)
            yield self._slot(type_, size, key, field)
            return
        match type_:
            case m.Bytes() | m.Text():
                yield self._prefix(type_.length, key, field)
                yield Chunk(key=key, type=type_, length=f"{key}#length", field=field)
            case m.List():
                yield self._prefix(type_.length, key, field)
                yield self._repeat(type_, key, field)
            case m.Reference(target="struct"):
                yield from self._struct(type_.name, key, field)
            case m.Region():
                yield from self._region(type_, key, field)
            case m.Block():
                yield from self.fields(type_.fields, key.removesuffix(field.name))
            case _:
                raise UnsupportedError(field.path, _construct(type_))

    def _slot(self, type_: Fixed, size: int, key: str, field: m.Field) -> Run:
        expected: int | bytes | None = None
        part: Literal["value", "code", "padding"] = "value"
        match field.value:
            case m.Derived(value=m.Call(function="code")):
                part = "code"
                expected = self._message.code if self._message else None
            case m.Constant(value=m.Number(value=number)):
                expected = number
            case m.Constant(value=m.Octets(hex=text)):
                expected = bytes.fromhex(text)
            case m.Derived() | m.Constant():
                raise UnsupportedError(field.path, "a derived field other than `code(…)`")
            case _ if field.name == "_":
                part = "padding"
        return Run(
            slots=(Slot(key=key, type=type_, size=size, field=field, part=part, expected=expected),),
            size=size,
        )

    def _prefix(self, length: m.Length, key: str, field: m.Field) -> Run:
        match length:
            case m.Prefix(type=m.Integer() as type_) if type_.bits in (8, 16, 32, 64):
                size = type_.bits // 8
                slot = Slot(key=f"{key}#length", type=type_, size=size, field=field, part="length")
                return Run(slots=(slot,), size=size)
            case _:
                raise UnsupportedError(field.path, "a length other than a prefix of 1, 2, 4 or 8 bytes")

    def _repeat(self, type_: m.List, key: str, field: m.Field) -> Repeat:
        item_key = f"{key}[]"
        item = tuple(self._type(type_.item, item_key, _as_item(field)))
        smallest = sum(step.size for step in item if isinstance(step, Run))
        return Repeat(
            key=key, length=f"{key}#length", item=item, item_key=item_key, smallest=smallest, field=field
        )

    def _struct(self, name: str, key: str, field: m.Field) -> Iterator[Step]:
        if name in self._open:
            raise UnsupportedError(field.path, "a struct inside itself")
        self._open.append(name)
        struct = self._structs[name]
        yield from self.fields(struct.fields, f"{key}.")
        self._open.pop()
        yield Make(key=key, struct=struct)

    def _region(self, type_: m.Region, key: str, field: m.Field) -> Iterator[Step]:
        match type_:
            case m.Region(
                content=m.List(item=m.Reference(target="frame", name=frame, only=None), length=m.ToTheEnd()),
                carrier=m.InCompressed() as carrier,
                lenient=False,
            ):
                yield self._prefix(carrier.length, key, field)
                yield Envelope(
                    key=key, length=f"{key}#length", algorithm=carrier.algorithm, frame=frame, field=field
                )
            case _:
                raise UnsupportedError(field.path, _construct(type_))

    def _size(self, type_: m.Type) -> int | None:
        match type_:
            case m.Integer(bits=bits) | m.Float(bits=bits) if bits in (8, 16, 32, 64):
                return bits // 8
            case m.Boolean():
                return 1
            case m.Uuid():
                return 16
            case m.Reference(target="enum", name=name, only=None):
                return self._size(self._enums[name].type)
            case _:
                return None


def _as_item(field: m.Field) -> m.Field:
    """Return the field as its items see it: a default or view is the list's, not theirs."""
    return replace(field, value=None, view=None)


def _refuse_clauses(field: m.Field) -> None:
    if field.condition is not None or isinstance(field.value, m.Trailing):
        raise UnsupportedError(field.path, "an optional field")
    if field.where is not None:
        raise UnsupportedError(field.path, "`where`")


def _construct(type_: m.Type) -> str:
    """Return what a type is called in the language."""
    match type_:
        case m.Integer(bits=bits, signed=signed):
            return f"`{'i' if signed else 'u'}{bits}`"
        case m.Varint():
            return "`varint`"
        case m.Bits():
            return "a bit field"
        case m.MessageMatch() | m.Match():
            return "`match` inside a declaration"
        case m.Region():
            return "this region (`in`)"
        case m.Reference(target=target):
            return f"this use of a {target}"
        case _:
            return "this type"
