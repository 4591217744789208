"""The meaning of names in transitions for one kind of message: its fields, its frame's, and values derived from them.

Messages are objects of generated classes or records of the reference codec; a row is compiled for one of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from ..codec.errors import DecodeError, EncodeError
from ..codec.options import ContextSource, Options
from ..codec.text import encode_text
from ..records.types import flat_fields, is_nullable
from ..reference.access import MISSING, attribute, declared_name, spellings
from ..reference.explain import explain
from ..reference.expressions import Undefined, Value
from ..reference.held import as_read, is_rewritten, type_at
from ..reference.layout import Fields
from ..reference.tree import FrameValue, Node, Record
from ..reference.writing.frames import write_frame
from ..schema.declarations import Constant, Derived, Field, FieldValue, Join
from ..schema.expressions import Call, Expression, FieldReference
from ..schema.node import nodes_in
from ..schema.protocol import Schema
from ..schema.types import EnumReference, Integer, Match, Text, Type, Varint
from .closures import Term, compile_term

__all__ = ["Kind", "MessageWords"]

_Get = Callable[[Value], Value]


class Kind:
    """One kind of item that is sent: a message in its frame, or a preamble.

    Attributes:
        name: The name of the message or preamble; `Unknown` for one without a layout.
        frame: The frame's name, or None for a preamble.
        fields, frame_fields: The fields of the schema, by name.
    """

    def __init__(self, schema: Schema, frame: Any, message: object) -> None:
        self.schema = schema
        self.name = declared_name(message)
        self.frame = None if frame is None else declared_name(frame)
        self.fields = {field.name: field for field in flat_fields(self._declared())}
        framed = () if self.frame is None else schema.frames[self.frame].fields
        self.frame_fields = {field.name: field for field in flat_fields(framed)}
        self.message_class = type(message)
        self.frame_class = type(frame)

    @property
    def code(self) -> int | None:
        """Return the message's code."""
        return self.schema.messages[self.name].code if self.name in self.schema.messages else None

    @property
    def role(self) -> str | None:
        """Return the only role that sends it, or None if both do."""
        if self.frame is None:
            return self.schema.preambles[self.name].role
        return self.schema.messages[self.name].role if self.name in self.schema.messages else None

    def _declared(self) -> Fields:
        declared = self.schema.messages.get(self.name) or self.schema.preambles.get(self.name)
        return () if declared is None else declared.fields


class MessageWords:
    """The meaning of names for one kind of message; `slots` are the variables of the session."""

    def __init__(self, kind: Kind, slots: Mapping[str, int]) -> None:
        self.kind = kind
        self.slots = slots

    def has(self, name: str) -> bool:
        """Return whether a field exists, in the message or in its frame."""
        return name in self.kind.fields or name in self.kind.frame_fields

    def is_number(self, path: tuple[str, ...]) -> bool:
        return isinstance(self.declared(path), Integer | EnumReference | Varint)

    def frame_number(self, path: tuple[str, ...]) -> _Get | None:
        is_of_frame = path[0] not in self.kind.fields and self.is_number(path)
        return _getter(self.kind.frame_class, path[0]) if is_of_frame else None

    def message_field(self, path: tuple[str, ...]) -> _Get | None:
        """Return a function that reads a number field, which is always present, from a message."""
        declared = self.declared(path) if path[0] in self.kind.fields else None
        return None if declared is None else _getter(self.kind.message_class, path[0])

    def declared(self, path: tuple[str, ...]) -> Type | None:
        """Return the type of a field that is always present, or None if it is unknown or may be absent."""
        found = self.kind.fields.get(path[0]) or self.kind.frame_fields.get(path[0])
        if found is None or len(path) > 1 or found.is_hidden or found.condition is not None:
            return None
        return None if is_nullable(found.type) else found.type

    def field(self, path: tuple[str, ...], scope: str) -> Term:
        first, rest = self._first(path[0]), path[1:]
        if not rest:
            return first
        kind = self.kind
        fields = kind.fields if path[0] in kind.fields else kind.frame_fields

        def term(m: object, f: object, v: list[object], x: object) -> object:
            return _inner(first(m, f, v, x), rest)

        return self._as_read(type_at(kind.schema, tuple(fields.values()), path), term, path[:-1])

    def _as_read(self, type_: Type | None, term: Term, outer: tuple[str, ...] = ()) -> Term:
        """Return a term of values as a reader has them; `outer`: the path of the struct with the field."""
        if type_ is None or not is_rewritten(type_):
            return term
        subjects = {
            node.subject: self._subject(node.subject, outer)
            for node in nodes_in(type_)
            if isinstance(node, Match)
        }
        return lambda m, f, v, x: as_read(
            type_, term(m, f, v, x), lambda subject: subjects[subject](m, f, v, x)
        )

    def _subject(self, subject: Expression, outer: tuple[str, ...]) -> Term:
        if not outer:
            return compile_term(subject, self)
        if isinstance(subject, FieldReference):
            return self.field((*outer, *subject.path), "own")
        return _missing("subject")

    def about(self, function: str, path: tuple[str, ...]) -> Term:
        match function:
            case "code":
                return self._code()
            case "present":
                return _presence(self.field(path, "own"))
            case "count":
                return self._count(path)
            case _:
                kind = self.kind
                return lambda m, f, v, x: _measured(kind, m, f, x, path).size

    def joined(self, name: str) -> Term:
        join = self.kind.schema.joins[name]
        data = self._piece(name, join)
        terms = [self.field((key,), "own") for key in join.keys]

        def joined(m: object, f: object, v: list[object], x: Any) -> int:
            key = tuple([term(m, f, v, x) for term in terms])
            before = x.contexts.joins.find(name, x.sender, key)
            return len(data(m, f, v, x)) + (0 if before is None else int(before.size))

        return joined

    def _piece(self, name: str, join: Join) -> Term:
        """Return the bytes that a message adds to a reassembly."""
        if self.kind.name == name:
            return lambda m, f, v, x: m.data
        names = (self.kind.name, self.kind.frame)
        found = [setting.field for setting in (*join.parts, *join.lasts) if setting.target in names]
        return self.field((found[0],), "own") if found else _missing(name)

    # ---- fields

    def _first(self, name: str) -> Term:
        kind = self.kind
        if name in kind.fields:
            return self._read(kind.fields[name], kind.message_class, is_header=False)
        if name in kind.frame_fields:
            return self._read(kind.frame_fields[name], kind.frame_class, is_header=True)
        return _missing(name)

    def _read(self, field: Field, class_: type, *, is_header: bool) -> Term:
        name = field.name
        if field.is_hidden and field.value is not None:
            return self._hidden(name, field.value)
        get = _getter(class_, name)
        if is_header:
            plain: Term = lambda m, f, v, x: get(f)  # noqa: E731 - a closure as all others
        else:
            plain = lambda m, f, v, x: get(m)  # noqa: E731
        is_optional = field.condition is not None and not is_nullable(field.type)
        term = self._as_read(field.type, plain)
        return _required(term, name) if is_optional else term

    def _hidden(self, name: str, value: FieldValue) -> Term:
        """Return a field that objects lack: a constant, a code, or otherwise a value measured in the bytes."""
        match value:
            case Constant(expression):
                return compile_term(expression, self)
            case Derived(Call("code")):
                return self._code()
            case Derived(Call("present", (FieldReference(path),))):
                return _kept(name, self.about("present", path))
        kind = self.kind
        return _kept(name, lambda m, f, v, x: _measured(kind, m, f, x, (name,)).value)

    def _code(self) -> Term:
        code = self.kind.code
        return _missing("code") if code is None else lambda m, f, v, x: code

    def _count(self, path: tuple[str, ...]) -> Term:
        value = self.field(path, "own")
        declared = self.kind.fields.get(path[0]) or self.kind.frame_fields.get(path[0])
        if declared is not None and len(path) == 1 and isinstance(declared.type, Text):
            return _measured_text(value, declared.type)
        return lambda m, f, v, x: len(value(m, f, v, x))


def _measured_text(value: Term, type_: Text) -> Term:
    """Return a term that counts the units of an encoded text."""
    encoding, is_lenient, endian = type_.encoding, type_.is_lenient, type_.endian
    unit = 2 if encoding == "utf16" else 1
    return lambda m, f, v, x: len(encode_text(value(m, f, v, x), encoding, is_lenient, endian)) // unit


def _getter(class_: type, name: str) -> _Get:
    if issubclass(class_, Record | FrameValue):
        return lambda value: value.fields[name]
    return attrgetter(next(iter(spellings(class_, name)), name))


def _missing(name: str) -> Term:
    def missing(m: object, f: object, v: list[object], x: object) -> object:
        raise Undefined("field", name)

    return missing


def _required(term: Term, name: str) -> Term:
    """Return a field that is present only if its condition holds."""

    def required(m: object, f: object, v: list[object], x: object) -> object:
        value = term(m, f, v, x)
        if value is None:
            raise Undefined("field", name)
        return value

    return required


def _presence(term: Term) -> Term:
    def present(m: object, f: object, v: list[object], x: object) -> bool:
        try:
            return term(m, f, v, x) is not None
        except Undefined:
            return False

    return present


def _kept(name: str, otherwise: Term) -> Term:
    """Return a term for a field that a fragment keeps from its header, as it cannot be derived; else the
    derived value.
    """

    def kept(m: object, f: object, v: list[object], x: object) -> Value:
        part = getattr(f, "part", None)
        if part is not None and name in part.header:
            return part.header[name]
        return otherwise(m, f, v, x)

    return kept


def _inner(value: object, path: tuple[str, ...]) -> object:
    for name in path:
        value = attribute(value, name, name)
        if value is MISSING or value is None:
            raise Undefined("field", name)
    return value


def _measured(kind: Kind, message: object, frame: object, moment: Value, path: tuple[str, ...]) -> Node:
    """Return the span of a field in the bytes of its frame, which are encoded again: for values that objects lack.

    Raises:
        Undefined: The frame cannot be encoded, or its bytes lack the field.
    """
    known = moment.contexts and _Entries(moment.contexts)
    options = Options(moment.sender, context=known, limits=_bounds(moment), variant=moment.variant)
    try:
        data = write_frame(kind.schema, message if frame is None else frame, options)
        node = explain(kind.schema, data, 0, len(data), options, is_preamble=frame is None)
    except (EncodeError, DecodeError):
        raise Undefined("size", path[-1]) from None
    tail = "." + ".".join(path)
    for each in node.walk():
        if not each.inner and each.path.endswith(tail):
            return each
    raise Undefined("size", path[-1])


def _bounds(moment: Value) -> dict[str, int]:
    """Return the limits of the connection, to which it has held the frame already."""
    return {name: bound for name, bound in moment.limits.items() if bound is not None}


class _Entries:
    """The entries of a context without its open reassemblies, to read a frame that is known to be whole."""

    __slots__ = ("lookup",)

    def __init__(self, source: ContextSource) -> None:
        self.lookup = source.lookup
