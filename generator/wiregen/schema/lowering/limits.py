"""Which of the limits that codecs keep to bound something in a protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from wiregen.schema import model as m
from wiregen.schema.graph import components
from wiregen.schema.walk import compresses, declared_types, nested_types

__all__ = ["idle_limits"]

_NOT_THERE: Final[Mapping[str, str]] = {
    "inflated": "nothing is compressed",
    "count": "there are no lists",
    "messages": "there are no lists",
    "depth": "nothing can stand inside itself",
    "open": "there are no contexts, joins or sessions with keys",
    "joined": "nothing is joined",
}


def idle_limits(protocol: m.Protocol) -> Mapping[str, str]:
    """Return the limits that nothing in a protocol can meet, each with the reason."""
    has_lists = any(isinstance(type_, m.List) for type_ in declared_types(protocol))
    is_kept = protocol.contexts or protocol.joins or any(session.keys for session in protocol.sessions)
    is_met = {
        "inflated": compresses(protocol),
        "count": has_lists,
        "messages": has_lists,
        "depth": _has_circle(protocol),
        "open": bool(is_kept),
        "joined": bool(protocol.joins),
    }
    return {name: _NOT_THERE[name] for name, is_it in is_met.items() if not is_it}


def _has_circle(protocol: m.Protocol) -> bool:
    """Return whether a declaration can stand inside itself."""
    inside: dict[tuple[str, str], set[tuple[str, str]]] = {}
    layouts: tuple[m.Protocol | m.Variant, ...] = (protocol, *protocol.variants)
    for layout in layouts:
        rows: list[tuple[str, m.Struct | m.Message | m.Frame]] = [("struct", each) for each in layout.structs]
        rows += [("message", each) for each in layout.messages]
        rows += [("frame", each) for each in layout.frames]
        for target, owner in rows:
            inside.setdefault((target, owner.name), set()).update(_held(protocol, owner.fields))
    for union in protocol.unions:
        fields = tuple(field for variety in union.varieties for field in variety.fields)
        inside["union", union.name] = set(_held(protocol, fields))
    groups = components(inside, lambda key: inside.get(key, ()))
    return any(len(group) > 1 or group[0] in inside.get(group[0], ()) for group in groups)


def _held(protocol: m.Protocol, fields: tuple[m.Field, ...]) -> Iterator[tuple[str, str]]:
    for type_ in nested_types(*(field.type for field in fields)):
        match type_:
            case m.MessageMatch():
                yield from (("message", each.name) for each in protocol.messages if each.code is not None)
            case _ if isinstance(type_, m.Reference):
                yield m.target_of(type_), type_.name
