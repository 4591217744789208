"""Finds the limits of codecs that bound something in a protocol, and those that do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from wiregen.schema import model as m
from wiregen.schema.circles import circular, varied
from wiregen.schema.walk import compresses, declared_types

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
    """Return the limits that cannot be reached in a protocol, each with the reason."""
    has_lists = any(isinstance(type_, m.List) for type_ in declared_types(protocol))
    is_kept = protocol.contexts or protocol.joins or any(session.keys for session in protocol.sessions)
    is_met = {
        "inflated": compresses(protocol),
        "count": has_lists,
        "messages": has_lists,
        "depth": any(map(circular, (protocol, *(varied(protocol, each) for each in protocol.variants)))),
        "open": bool(is_kept),
        "joined": bool(protocol.joins),
    }
    return {name: _NOT_THERE[name] for name, is_it in is_met.items() if not is_it}
