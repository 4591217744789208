"""Declarations that contain each other in a cycle: a table cannot have endless columns."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.schema import model as m
from wiregen.schema.walk import nested_types

__all__ = ["Cycles"]

_Name = tuple[str, str]


class Cycles:
    """The declarations that can contain each other, by kind and name; an alternative is `("variety", "Union.Name")`."""

    def __init__(self, protocol: m.Protocol) -> None:
        coded = tuple(("message", message.name) for message in protocol.messages if message.code is not None)
        self._direct: dict[_Name, set[_Name]] = {
            name: set(_held(fields, coded)) for name, fields in _declarations(protocol)
        }
        self._reached: dict[_Name, set[_Name]] = {}

    def is_between(self, one: _Name, other: _Name) -> bool:
        """Return whether each of the two can contain the other."""
        return other in self._reach(one) and one in self._reach(other)

    def _reach(self, name: _Name) -> set[_Name]:
        if name not in self._reached:
            found: set[_Name] = set()
            waiting = [name]
            while waiting:
                new = self._direct.get(waiting.pop(), set()) - found
                found |= new
                waiting += new
            self._reached[name] = found
        return self._reached[name]


def _declarations(protocol: m.Protocol) -> Iterator[tuple[_Name, tuple[m.Field, ...]]]:
    yield from ((("struct", each.name), each.fields) for each in protocol.structs)
    yield from ((("message", each.name), each.fields) for each in protocol.messages)
    yield from ((("frame", each.name), each.fields) for each in protocol.frames)
    for union in protocol.unions:
        yield ("union", union.name), tuple(field for each in union.varieties for field in each.fields)


def _held(fields: tuple[m.Field, ...], coded: tuple[_Name, ...]) -> Iterator[_Name]:
    for type_ in nested_types(*(field.type for field in fields)):
        match type_:
            case m.MessageMatch():
                yield from coded
            case _ if isinstance(type_, m.Reference):
                yield m.target_of(type_), type_.name
