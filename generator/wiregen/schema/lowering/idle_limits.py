"""The limits of codecs that bound nothing in a protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from wiregen.schema import model as m
from wiregen.schema.circles import circular, varied
from wiregen.schema.walk import compresses, declared_types

__all__ = ["idle_limits"]

_REASONS: Final[Mapping[str, str]] = {
    "inflated": "there are no compressed regions",
    "count": "there are no lists",
    "messages": "there are no lists",
    "depth": "no declaration can contain itself",
    "open": "there are no contexts, joins or sessions with keys",
    "joined": "there are no joins",
}


def idle_limits(protocol: m.Protocol) -> Mapping[str, str]:
    """Return the limits that cannot be reached in a protocol, each with the reason."""
    has_lists = any(isinstance(type_, m.List) for type_ in declared_types(protocol))
    has_keys = protocol.contexts or protocol.joins or any(session.keys for session in protocol.sessions)
    is_used = {
        "inflated": compresses(protocol),
        "count": has_lists,
        "messages": has_lists,
        "depth": any(map(circular, (protocol, *(varied(protocol, each) for each in protocol.variants)))),
        "open": bool(has_keys),
        "joined": bool(protocol.joins),
    }
    return {name: _REASONS[name] for name, is_used_ in is_used.items() if not is_used_}
