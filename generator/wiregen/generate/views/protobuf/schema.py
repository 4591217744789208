"""A protocol as a protobuf file: messages, fields and enums with their numbers and docs.

The same view becomes the readable `.proto` and the serialized descriptor in the Python module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["ProtoEnum", "ProtoField", "ProtoFile", "ProtoMember", "ProtoMessage", "ProtoOption"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoField:
    """A field; `type` is a scalar's name, or a full name with a leading dot; `oneof`: the name of its oneof."""

    name: str
    number: int
    type: str
    is_enum: bool = False
    label: str = ""
    oneof: str = ""
    doc: str = ""

    def shown_type(self, file: ProtoFile) -> str:
        """Return the type as written in the text: without the package if no nested message has its name."""
        short = self.type.removeprefix(f".{file.package}.")
        type_ = self.type if short.partition(".")[0] in file.inner_names else short
        return f"{self.label} {type_}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoMessage:
    """A message; the fields of a oneof are together, after the others."""

    name: str
    doc: str
    fields: tuple[ProtoField, ...]
    oneof: str = ""
    nested: tuple[ProtoMessage, ...] = ()
    reserved: tuple[int, ...] = ()

    @property
    def plain(self) -> tuple[ProtoField, ...]:
        return tuple(each for each in self.fields if not each.oneof)

    @property
    def chosen(self) -> tuple[ProtoField, ...]:
        return tuple(each for each in self.fields if each.oneof)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoMember:
    name: str
    number: int
    doc: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoEnum:
    name: str
    doc: str
    members: tuple[ProtoMember, ...]

    @property
    def has_alias(self) -> bool:
        return len({member.number for member in self.members}) < len(self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoOption:
    """An option of a file; `shown` is its value as text of a .proto file, `value` that of the descriptor."""

    name: str
    number: int
    value: str | int
    shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoFile:
    """A whole file; `name` is its path below the folder of all protocols."""

    name: str
    package: str
    source: str
    doc: str
    messages: tuple[ProtoMessage, ...]
    enums: tuple[ProtoEnum, ...]
    options: tuple[ProtoOption, ...] = ()

    @property
    def inner_names(self) -> frozenset[str]:
        """The names of all messages that are inside others."""
        return frozenset(name for message in self.messages for name in _inner_names(message))


def _inner_names(message: ProtoMessage) -> Iterator[str]:
    for inner in message.nested:
        yield inner.name
        yield from _inner_names(inner)
