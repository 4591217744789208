"""The values of the constructors in a `.wire` file, in the form that the reference codec writes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from wiregen.runtime.reference.tree import FrameValue, Record, Variety
from wiregen.schema import model as m
from wiregen.schema.walk import every_field

__all__ = ["Constructs"]


class Constructs:
    """Builds the values of the constructors of one protocol."""

    def __init__(self, protocol: m.Protocol) -> None:
        owners: tuple[m.Struct | m.Message | m.Frame | m.Preamble | m.Variety, ...] = (
            *protocol.structs,
            *protocol.messages,
            *protocol.frames,
            *protocol.preambles,
            *(variety for union in protocol.unions for variety in union.varieties),
        )
        self._types = {field.path: field.type for owner in owners for field in every_field(owner.fields)}
        self._protocol = protocol
        sent: tuple[m.Message | m.Preamble | m.Frame, ...] = (
            *protocol.messages,
            *protocol.preambles,
            *protocol.frames,
        )
        self._sent = {each.name: each for each in sent}

    def frame(self, construct: m.Construct, sender: str | None = None) -> FrameValue | Record:
        """Return a frame; a message is put into its frame with defaults, that of `sender` if both roles send it."""
        if construct.what == "message":
            return FrameValue(self._frame_of(construct.name, sender).name, {}, self._value(construct, None))
        value = self._value(construct, None)
        assert isinstance(value, FrameValue | Record)
        return value

    def _frame_of(self, message: str, sender: str | None) -> m.Frame:
        role = next(each.role for each in self._protocol.messages if each.name == message) or sender
        return next(
            frame
            for frame in self._protocol.frames
            if frame.role is None or role is None or frame.role == role
        )

    def owner(self, construct: m.Construct) -> str | None:
        """Return the only role that sends a value, or None if both may."""
        sent = self._sent.get(construct.name)
        inner = self._message_in(construct)
        role = None if sent is None else sent.role
        return role or (None if inner is None else self.owner(inner))

    def sender(self, construct: m.Construct) -> str | None:
        """Return the role that sends a value, the first one if both do.

        Return None for a frame without a message that either role may send.
        """
        if construct.what == "frame" and self._message_in(construct) is None:
            return self.owner(construct)
        return self.owner(construct) or (self._protocol.roles or (None,))[0]

    def _message_in(self, construct: m.Construct) -> m.Construct | None:
        sent = self._sent.get(construct.name)
        body = sent.message if isinstance(sent, m.Frame) else None
        inner = next((item.value for item in construct.fields if item.name == body), None)
        return inner if isinstance(inner, m.Construct) else None

    def _value(self, value: m.ExampleValue, type_: m.Type | None) -> Any:
        match value:
            case m.Construct():
                return self._construct(value)
            case m.Values():
                item = type_.item if isinstance(type_, m.List) else None
                return [self._value(each, item) for each in value.items]
            case m.Null():
                return None
            case m.Octets():
                data = bytes.fromhex(value.hex)
                return UUID(bytes=data) if isinstance(type_, m.Uuid) else data
            case _:
                return value.value

    def _construct(self, construct: m.Construct) -> FrameValue | Record | Variety:
        name = construct.name
        prefix = f"{construct.union}.{name}" if construct.union else name
        fields = {
            item.name: self._value(item.value, self._types.get(f"{self._protocol.path}.{prefix}.{item.name}"))
            for item in construct.fields
        }
        match construct.what:
            case "frame":
                body = next(frame.message for frame in self._protocol.frames if frame.name == name)
                message = fields.pop(body, None) if body else None
                return FrameValue(name, fields, message, body=body)
            case "variety":
                code = self._code(construct)
                return Variety(construct.union or "", name, fields, code)
            case "message" | "struct" | "preamble":
                return Record(name, fields)

    def _code(self, construct: m.Construct) -> int:
        union = next(union for union in self._protocol.unions if union.name == construct.union)
        variety = next(variety for variety in union.varieties if variety.name == construct.name)
        return variety.spans[0].low
