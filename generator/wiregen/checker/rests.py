"""Which shapes go on to the end of the region they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from wiregen.checker.inspection import Inspection, Owner
from wiregen.graph import components
from wiregen.model import (
    Bytes,
    Field,
    Frame,
    InCompressed,
    List,
    Message,
    MessageMatch,
    Reference,
    Region,
    Struct,
    Text,
    ToTheEnd,
    Trailing,
    Type,
    Variant,
)
from wiregen.walk import open_types

__all__ = ["Rests", "is_read_while_bytes_remain", "rests_of"]

_Key: TypeAlias = tuple[str, str]
_ALL_MESSAGES: _Key = ("messages", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rests:
    """The declarations of one layout that go on to the end, and which of their fields does so first.

    Varieties of unions do not count: they are refused at run time where they are not last.
    """

    takers: Mapping[_Key, Field | None]

    def takes(self, type_: Type) -> bool:
        """Tell whether a shape goes on to the end of the region it stands in."""
        return any(
            _is_to_the_end(each) or any(key in self.takers for key in _keys(each))
            for each in open_types(type_)
        )

    def field_takes(self, field: Field) -> bool:
        return is_read_while_bytes_remain(field) or self.takes(field.type)

    def taker(self, message: Message) -> Field | None:
        """Return the field by which a message goes on to the end, or None."""
        return self.takers.get(("message", message.name))


def is_read_while_bytes_remain(field: Field) -> bool:
    """Tell whether only the end of the region says that the field is not there: `?=` without `if`."""
    return isinstance(field.value, Trailing) and field.condition is None


def rests_of(inspection: Inspection, variant: Variant | None) -> Rests:
    owners = _owners(inspection, variant)
    takers: dict[_Key, Field | None] = {}
    rests = Rests(takers=takers)
    for group in components(owners, lambda key: _following(key, owners)):
        if any(_taker(key, owners, rests) is not None or _is_met(key, owners, takers) for key in group):
            takers.update(dict.fromkeys(group))
            takers.update({key: _taker(key, owners, rests) for key in group})
    return rests


def _owners(inspection: Inspection, variant: Variant | None) -> dict[_Key, Owner]:
    owners: dict[_Key, Owner] = {}
    for record in inspection.records:
        key = _key(record.owner)
        if key is not None and record.variant in (None, variant):
            owners[key] = record.owner
    return owners


def _key(owner: Owner) -> _Key | None:
    match owner:
        case Struct(name=name):
            return ("struct", name)
        case Message(name=name):
            return ("message", name)
        case Frame(name=name):
            return ("frame", name)
        case _:
            return None


def _following(key: _Key, owners: Mapping[_Key, Owner]) -> Iterator[_Key]:
    if key == _ALL_MESSAGES:
        yield from (other for other in owners if other[0] == "message")
    elif key in owners:
        for type_ in open_types(*(field.type for field in owners[key].fields)):
            yield from _keys(type_)


def _keys(type_: Type) -> Iterable[_Key]:
    match type_:
        case Reference(target="struct" | "message" | "frame" as target, name=name):
            return ((target, name),)
        case MessageMatch(only=None):
            return (_ALL_MESSAGES,)
        case MessageMatch(only=only):
            return (("message", name) for name in only or ())
        case _:
            return ()


def _taker(key: _Key, owners: Mapping[_Key, Owner], rests: Rests) -> Field | None:
    fields = owners[key].fields if key in owners else ()
    return next((field for field in fields if rests.field_takes(field)), None)


def _is_met(key: _Key, owners: Mapping[_Key, Owner], takers: Mapping[_Key, Field | None]) -> bool:
    return key == _ALL_MESSAGES and any(other in takers for other in _following(key, owners))


def _is_to_the_end(type_: Type) -> bool:
    match type_:
        case Bytes(length=length) | Text(length=length) | List(length=length):
            return isinstance(length, ToTheEnd)
        case Region(carrier=InCompressed(length=length)):
            return isinstance(length, ToTheEnd)
        case _:
            return False
