"""A whole frame, as the scope of the rules of contexts and reassemblies."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from ..codec.unknown import Unknown
from ..records.types import flat_fields
from ..schema.declarations import Derived
from ..schema.expressions import FieldReference
from ..stream.snapshots import Key
from .access import MISSING, attribute, declared_name, is_a
from .expressions import Undefined, Value, evaluate
from .held import as_read, is_rewritten, type_at

if TYPE_CHECKING:
    from ..schema.expressions import Expression
    from ..schema.protocol import Schema
    from ..stream.context import Context
    from .layout import Fields, Type

__all__ = ["FrameScope"]


class FrameScope:
    """The scope of a rule: the message's fields, then the frame's; or the frame's alone."""

    def __init__(
        self,
        schema: Schema,
        limits: Mapping[str, Any],
        frame: Any,
        contexts: Context,
        sender: str | None,
        *,
        is_header: bool = False,
    ) -> None:
        self._schema = schema
        self._limits = limits
        self._frame = frame
        self._message = frame.message
        self._contexts = contexts
        self._sender = sender
        self._owners = (frame,) if is_header else (frame.message, frame)

    def holds(self, when: Any) -> bool:
        """Return whether a `when` holds; a missing value makes it false."""
        try:
            return when is None or bool(evaluate(when, self))
        except Undefined:
            return False

    def certainly_not(self, when: Any) -> bool:
        """Return whether a `when` certainly does not hold; if it cannot be evaluated, it may hold."""
        try:
            return when is not None and not evaluate(when, self)
        except Undefined:
            return False

    def known(self, names: tuple[str, ...]) -> dict[int, Value]:
        """Return the keys that the frame carries, by position."""
        found: dict[int, Value] = {}
        for position, name in enumerate(names):
            with suppress(Undefined):
                found[position] = self.field((name,), "own")
        return found

    def key_where(self, when: object, names: tuple[str, ...]) -> Key | None:
        """Return the key of a frame for which a `when` holds, or None for another frame, or one without the
        key's fields.

        A message of the other role lacks them if the frames of the roles differ.
        """
        if not self.holds(when):
            return None
        try:
            return tuple(self.field((name,), "own") for name in names)
        except Undefined:
            return None

    def said(self, name: str, otherwise: Value) -> Value:
        """Return the value of a name in the frame, or `otherwise` if it has none, as the code of a message
        without one.
        """
        try:
            return self.field((name,), "own")
        except Undefined:
            return otherwise

    def field(self, path: tuple[str, ...], scope: str) -> Value:
        for owner in self._owners:
            value = attribute(owner, path[0], path[0])
            if value is not MISSING:
                break
        else:
            return self._derived(path[0])
        for name in path[1:]:
            value = attribute(value, name, name)
        type_ = self._rewritten(declared_name(owner), path)
        return value if type_ is None else as_read(type_, value, partial(self._subject, path))

    def _rewritten(self, owner: str, path: tuple[str, ...]) -> Type | None:
        """Return the type of a field of which a reader may have another value than the sender gave, or None."""
        known, schema = self._contexts.rewritten, self._schema
        if (owner, path) not in known:
            declared = schema.messages.get(owner) or schema.frames.get(owner)
            type_ = type_at(schema, flat_fields(declared.fields) if declared is not None else (), path)
            known[owner, path] = type_ if is_rewritten(type_) else None
        return known[owner, path]

    def _subject(self, path: tuple[str, ...], subject: Expression) -> Value:
        """Return the subject of a choice that is the field at a path."""
        if path[1:] and isinstance(subject, FieldReference):
            return self.field((*path[:-1], *subject.path), "own")
        return evaluate(subject, self)

    def _derived(self, name: str) -> object:
        """Return a code field of the frame, which is derived and therefore not in the value."""
        frame, derived = declared_name(self._frame), self._contexts.derived
        if frame not in derived:
            derived[frame] = _derived_fields(self._schema.frames[frame].fields)
        if name not in derived[frame]:
            raise Undefined("field", name)
        return evaluate(derived[frame][name], self)

    def limit(self, name: str) -> int:
        value: int = self._limits[name]
        return value

    def context(self, name: str, keys: Key) -> Value:
        try:
            return self._contexts.lookup(name, keys, self._sender)
        except KeyError:
            raise Undefined("context", name) from None

    def variable(self, name: str) -> Value:
        if name == "sender":
            return self._sender
        raise Undefined("variable", name)

    def code(self, path: tuple[str, ...]) -> int:
        if is_a(self._message, Unknown) and type(self._message.code) is int:
            return int(self._message.code)
        name = declared_name(self._message)
        code = self._schema.messages[name].code if name in self._schema.messages else None
        if code is None:
            raise Undefined("code", name)
        return code

    def count(self, path: tuple[str, ...]) -> int | None:
        value = self.field(path, "own")
        return None if value is None else len(value)

    def present(self, path: tuple[str, ...]) -> bool:
        return self.field(path, "own") is not None

    def remaining(self) -> int:
        raise Undefined("remaining")

    def offset(self) -> int:
        raise Undefined("offset")

    def size(self, path: tuple[str, ...]) -> int:
        raise Undefined("size", ".".join(path))

    def checksum(self, algorithm: str, first: str, last: str) -> int:
        raise Undefined("field", first)


def _derived_fields(fields: Fields) -> dict[str, Expression]:
    """Return the expressions of the fields that are derived, by name."""
    values = ((field.name, field.value) for field in flat_fields(fields))
    return {name: value.value for name, value in values if isinstance(value, Derived)}
