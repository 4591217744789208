"""Limits that a file declares and that no codec, or not every codec, enforces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wiregen.language.checker.inspection import Inspection
from wiregen.runtime.codec.options import DEFAULT_LIMITS
from wiregen.runtime.codec.values import MOST_NESTING
from wiregen.runtime.schema.node import Node, fields_of, nodes_in
from wiregen.schema.lowering import idle_limits
from wiregen.schema.model import LimitReference, List, Message, Protocol, Struct, Type
from wiregen.schema.walk import every_field, nested_types

__all__ = ["RULES"]

_KEPT: Final = f"codecs enforce only {', '.join(f'`{name}`' for name in DEFAULT_LIMITS)}"


def _bounds_nothing(inspection: Inspection) -> None:
    protocol = inspection.protocol
    if not protocol.limits:
        return
    asked = set(_asked(protocol))
    idle = dict(idle_limits(protocol))
    if any(isinstance(type_, List) for type_ in _viewed(protocol)):
        for name in ("count", "messages"):  # the list of a view keeps to these limits when it is read
            idle.pop(name, None)
    for limit in protocol.limits:
        reason = idle.get(limit.name)
        if limit.name in asked or (limit.name in DEFAULT_LIMITS and reason is None):
            continue
        inspection.warning(
            "WG3050",
            f"`limits.{limit.name}` has no effect",
            inspection.place(limit.path, "name"),
            reason or "no expression uses it",
            help_=(
                "remove the limit"
                if reason is not None
                else f"use it in a `where`, `when` or `after`; {_KEPT}"
            ),
        )


def _viewed(protocol: Protocol) -> Iterator[Type]:
    """Yield the types as which views read their fields."""
    owners: tuple[Struct | Message, ...] = (*protocol.structs, *protocol.messages)
    for owner in owners:
        for field in every_field(owner.fields):
            if isinstance(field.view, Node):
                yield from nested_types(field.view)


def _asked(protocol: Protocol) -> Iterator[str]:
    """Yield the limits that the expressions of a protocol refer to."""
    for name in fields_of(protocol):
        if name != "enums":  # they may have tens of thousands of members, and have no expressions
            yield from (
                each.name for each in nodes_in(getattr(protocol, name)) if isinstance(each, LimitReference)
            )


def _nests_too_deep(inspection: Inspection) -> None:
    for limit in inspection.protocol.limits:
        if limit.name == "depth" and limit.value > MOST_NESTING:
            inspection.error(
                "WG3084",
                f"`limits.depth` is at most {MOST_NESTING}",
                inspection.place(limit.path, "name"),
                "above the maximum",
                help_=f"write `depth = {MOST_NESTING}` or less, or use a list instead of nested values",
            )


RULES = (_bounds_nothing, _nests_too_deep)
