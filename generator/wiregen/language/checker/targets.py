"""The targets of contexts, joins and rows: messages, frames, joins, preambles, and the fields visible with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from wiregen.schema.model import Field, Frame, Join, Message, Preamble, Protocol, Row, Session
from wiregen.schema.walk import every_field, sent_messages

__all__ = ["Target", "Targets"]

Target = Message | Frame | Join | Preamble


class Targets:
    """The targets of one protocol by name."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._fields: dict[str, Mapping[str, Field]] = {}
        self._sent_by: dict[str | None, Mapping[str, Message]] = {}

    @cached_property
    def by_name(self) -> Mapping[str, Target]:
        protocol = self._protocol
        kinds = (protocol.messages, protocol.frames, protocol.joins, protocol.preambles)
        return {target.name: target for kind in kinds for target in kind}

    def fields(self, name: str) -> Mapping[str, Field]:
        """Return the fields that are visible with a target: its own, and those of the frames that carry it."""
        if name not in self._fields:
            target = self.by_name.get(name)
            self._fields[name] = {} if target is None else self._seen(target)
        return self._fields[name]

    def roles(self, name: str) -> tuple[str, ...]:
        """Return the roles that may send it."""
        target = self.by_name.get(name)
        match target:
            case Message(role=str() as role) | Frame(role=str() as role) | Preamble(role=role):
                return (role,)
            case Join():
                return self._roles_of_pieces(target)
            case _:
                return self._protocol.roles

    def messages(self, name: str) -> tuple[str, ...]:
        """Return the messages of a name: all that a frame may carry, or a message itself; () for other targets."""
        target = self.by_name.get(name)
        match target:
            case Message():
                return (name,)
            case Frame(role=role):
                return tuple(self._sent(role))
            case _:
                return ()

    def _sent(self, role: str | None) -> Mapping[str, Message]:
        """Return the messages with a code that a frame of a role may carry, in the order of the file."""
        if role not in self._sent_by:
            sent = sent_messages(self._protocol.messages, role)
            self._sent_by[role] = {message.name: message for message in sent}
        return self._sent_by[role]

    def pieces(self, name: str) -> tuple[str, ...]:
        """Return the fragments of a join; () for other targets."""
        target = self.by_name.get(name)
        return tuple(_pieces(target)) if isinstance(target, Join) else ()

    def names_about(self, name: str) -> tuple[str, ...]:
        """Return the names by which a row may match a target, or some of its messages."""
        carriers = (each.name for each in self._protocol.frames if name in self._carried(each.name))
        return tuple(dict.fromkeys((name, *carriers, *self.messages(name))))

    def has_keys(self, session: Session, name: str) -> bool:
        """Return whether a session's rows for any message may match this one: it has the session's keys."""
        fields = self.fields(name)
        return all(key in fields for key in session.keys)

    def is_about(self, session: Session, row: Row, name: str) -> bool:
        """Return whether a row may match a target, or some of its messages."""
        if row.targets is None:
            return self.has_keys(session, name)
        return any(
            name == target or name in self._carried(target) or target in self._carried(name)
            for target in row.targets
        )

    def _carried(self, name: str) -> Mapping[str, Message]:
        """Return the messages that a frame may carry, or none for other targets."""
        target = self.by_name.get(name)
        return self._sent(target.role) if isinstance(target, Frame) else {}

    def _seen(self, target: Target) -> Mapping[str, Field]:
        match target:
            case Frame(fields=fields) | Preamble(fields=fields):
                return _named(fields)
            case Message(fields=fields, role=role):
                return {**self._header(role), **_named(fields)}
            case Join():
                pieces = (
                    self.fields(name)
                    for name in _pieces(target)
                    if not isinstance(self.by_name.get(name), Join)
                )
                return {name: field for piece in pieces for name, field in piece.items()}

    def _header(self, role: str | None) -> Mapping[str, Field]:
        """Return the fields of the frames that carry a role's messages."""
        if role not in self._headers:
            frames = [
                frame for frame in self._protocol.frames if None in (role, frame.role) or frame.role == role
            ]
            self._headers[role] = {
                name: field for frame in frames[:2] for name, field in _named(frame.fields).items()
            }
        return self._headers[role]

    @cached_property
    def _headers(self) -> dict[str | None, Mapping[str, Field]]:
        return {}

    def _roles_of_pieces(self, join: Join) -> tuple[str, ...]:
        named = [name for name in _pieces(join) if not isinstance(self.by_name.get(name), Join)]
        sending = {role for name in named for role in self.roles(name)}
        return tuple(role for role in self._protocol.roles if role in sending)


def _pieces(join: Join) -> Iterator[str]:
    yield from dict.fromkeys(setting.target for setting in (*join.parts, *join.lasts))


def _named(fields: tuple[Field, ...]) -> dict[str, Field]:
    return {field.name: field for field in every_field(fields)}
