"""Which types extend to the end of the region that contains them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from wiregen.language.checker.inspection import Inspection, Owner, role_of
from wiregen.runtime.schema.shapes import is_to_the_end
from wiregen.schema.graph import components
from wiregen.schema.model import (
    Field,
    Frame,
    Message,
    MessageMatch,
    RecordReference,
    Struct,
    Trailing,
    Type,
    Variant,
    target_of,
)
from wiregen.schema.walk import matched_messages, open_types, sent_messages

__all__ = ["Rests", "is_read_while_bytes_remain", "rests_of"]

_Key: TypeAlias = tuple[str, str]
_SENT = "messages"
"""The kind of a key that means all messages that a role sends by their codes; the role `\"\"` means either one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rests:
    """The declarations of one layout that extend to the end of a region, with the first field of each that does so.

    Alternatives of unions do not count: they are refused at run time where they are not last.
    """

    takers: Mapping[_Key, Field | None]
    messages: tuple[Message, ...]

    def takes(self, type_: Type, role: str | None) -> bool:
        """Return whether a type, in a message that `role` sends, extends to the end of the region that contains it."""
        return any(
            is_to_the_end(each) or any(key in self.takers for key in _keys(each, role, self.messages))
            for each in open_types(type_)
        )

    def field_takes(self, field: Field, role: str | None) -> bool:
        return is_read_while_bytes_remain(field) or self.takes(field.type, role)

    def taker(self, message: Message) -> Field | None:
        """Return the field by which a message extends to the end of its region, or None."""
        return self.takers.get(("message", message.name))


def is_read_while_bytes_remain(field: Field) -> bool:
    """Return whether a field is absent exactly where its region has ended: `?=` without `if`."""
    return isinstance(field.value, Trailing) and field.condition is None


def rests_of(inspection: Inspection, variant: Variant | None) -> Rests:
    owners = _owners(inspection, variant)
    takers: dict[_Key, Field | None] = {}
    messages = inspection.protocol.messages
    rests = Rests(takers=takers, messages=messages)
    for group in components(owners, lambda key: _following(key, owners, messages)):
        if any(_taker(key, owners, rests) is not None or _is_met(key, rests) for key in group):
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


def _following(key: _Key, owners: Mapping[_Key, Owner], messages: tuple[Message, ...]) -> Iterator[_Key]:
    if key[0] == _SENT:
        yield from _sent(key, messages)
    elif key in owners:
        for type_ in open_types(*(field.type for field in owners[key].fields)):
            yield from _keys(type_, role_of(owners[key]), messages)


def _sent(key: _Key, messages: tuple[Message, ...]) -> Iterator[_Key]:
    return (("message", each.name) for each in sent_messages(messages, key[1] or None))


def _keys(type_: Type, role: str | None, messages: tuple[Message, ...]) -> Iterable[_Key]:
    match type_:
        case _ if isinstance(type_, RecordReference):
            return ((target_of(type_), type_.name),)
        case MessageMatch(only=None) | MessageMatch(is_lenient=True):
            return ((_SENT, role or ""),)  # one key keeps the work linear in the number of frames
        case MessageMatch():
            return (("message", each.name) for each in matched_messages(messages, type_, role))
        case _:
            return ()


def _taker(key: _Key, owners: Mapping[_Key, Owner], rests: Rests) -> Field | None:
    owner = owners.get(key)
    fields = () if owner is None else owner.fields
    role = None if owner is None else role_of(owner)
    return next((field for field in fields if rests.field_takes(field, role)), None)


def _is_met(key: _Key, rests: Rests) -> bool:
    return key[0] == _SENT and any(other in rests.takers for other in _sent(key, rests.messages))
