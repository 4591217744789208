"""Messages that their records give back whatever their values: a line of one needs no reading to be proven.

The record of such a message has all of its fields, in a form that no two values share. So its line gives the bytes of a
frame back if the frame itself does, and it is enough to encode the frame.
"""

from collections.abc import Mapping
from typing import Final

from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.access import declared_name
from wiregen.runtime.reference.layout import Fields, Layout
from wiregen.runtime.reference.objects import class_of
from wiregen.runtime.schema.declarations import Field
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import (
    Bits,
    Boolean,
    Bytes,
    CodingReference,
    EnumReference,
    FrameReference,
    Integer,
    List,
    Region,
    StructReference,
    Text,
    Type,
    Uuid,
    Varint,
)

__all__ = ["PlainRecords"]

_PLAIN: Final = (
    *(Bits, Boolean, Bytes, CodingReference, EnumReference, Integer, Text, Uuid, Varint),
    *(FrameReference, List, Region, StructReference),
)
"""Types whose JSON has one form, which no two values share. The lines of all others are read to be proven."""
_MORE: Final = frozenset({"absent", "tail"})
"""Slots of classes for data that records do not have; a message's own are looked at."""
_UNKNOWN: Final = "Unknown"


class PlainRecords:
    """The plain records of one protocol. `classes`: the names of its package with their values."""

    def __init__(self, schema: Schema, variant: str | None, classes: Mapping[str, object]) -> None:
        self._layout = Layout(schema, Options(variant=variant))
        self._classes = classes
        self._known: dict[tuple[type, type], bool] = {}
        self._frames = frozenset(schema.sends.values())
        self._is_simple = len(self._frames) == 1 and not (
            schema.contexts or schema.joins or _UNKNOWN in schema.messages
        )

    def holds(self, frame: object) -> bool:
        """Return whether a frame of the package is given back by its record if its encoding has its bytes."""
        message = getattr(frame, "message", None)
        key = type(frame), type(message)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._is_simple and self._is_plain_frame(frame, message)
        return found and not (getattr(message, "tail", b"") or getattr(message, "absent", 0))

    def _is_plain_frame(self, frame: object, message: object) -> bool:
        name, carried, messages = declared_name(frame), declared_name(message), self._layout.messages
        seen = set[str]()
        return (
            name in self._frames
            and carried in messages.keys() - self._layout.frames
            and self._is_plain_header(name, seen)
            and all(self._is_plain_field(field, seen) for field in messages[carried].fields)
        )

    def _is_plain_header(self, frame: str, seen: set[str]) -> bool:
        """Return whether all of a frame but its message is plain; `seen`: declarations that are, if the others are."""
        declared = self._layout.frames[frame]
        header = tuple(field for field in declared.fields if field.name != declared.message)
        return declared.message is not None and self._are_plain(frame, header, seen)

    def _are_plain(self, name: str, fields: Fields, seen: set[str]) -> bool:
        if name in seen:
            return True
        seen.add(name)
        slots = getattr(class_of(self._classes, name), "__slots__", _MORE)
        return _MORE.isdisjoint(slots) and all(self._is_plain_field(field, seen) for field in fields)

    def _is_plain_field(self, field: Field, seen: set[str]) -> bool:
        return field.condition is None and self._is_plain_type(field.type, seen)

    def _is_plain_type(self, type_: object, seen: set[str]) -> bool:
        for node in nodes_in(type_):
            match node:
                case StructReference(name) if not self._are_plain(name, self._layout.structs[name], seen):
                    return False
                case FrameReference(name) if not (
                    self._is_plain_header(name, seen) and self._has_plain(seen)
                ):
                    return False
                case _ if isinstance(node, Type) and not isinstance(node, _PLAIN):
                    return False
        return True

    def _has_plain(self, seen: set[str]) -> bool:
        """Return whether all messages are plain: any of them may be in an inner frame."""
        messages = self._layout.messages
        return messages.keys().isdisjoint(self._layout.frames) and all(
            self._are_plain(name, message.fields, seen) for name, message in messages.items()
        )
