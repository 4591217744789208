"""The largest memory that a message's limits allow, so that users see it before a peer makes use of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from wiregen.schema.lowering import limits_of
from wiregen.schema.model import (
    Delimited,
    Field,
    List,
    Message,
    Protocol,
    Reference,
    Text,
    Type,
    Union,
)
from wiregen.schema.sizes import Sizes
from wiregen.schema.walk import every_field, is_compressed, nested_types

__all__ = ["largest_memory"]

_OBJECT = 64
"""Bytes of a CPython object with slots and of one value in it, rounded up."""
_VALUE = 56
_RECORD = 256
"""Bytes of a record of the reference codec, with its dictionary of fields: it becomes the object only when all is read."""


def largest_memory(
    protocol: Protocol, narrowed: Mapping[str, int] | None = None
) -> tuple[tuple[str, int], ...]:
    """Return each message with the most bytes of memory that decoding one of it takes, in round numbers.

    They include the bytes of its frame, inflated bytes and the values. `narrowed`: limits that replace the protocol's.
    """
    known = {**limits_of(protocol), **(narrowed or {})}
    limits = {name: value for name, value in known.items() if value is not None}
    sizes = Sizes(protocol)
    owners = {struct.name: struct.fields for struct in protocol.structs}
    owners.update({union.name: _every_field(union) for union in protocol.unions})
    carried = list(_carried(protocol)) or [{}]
    lasts = {last.target for join in protocol.joins for last in join.lasts}
    joined = 2 * limits.get("joined", limits["frame"])  # the fragments, and the reassembled message
    return tuple(
        (
            message.name,
            max(
                _memory(tuple(_reached(message, {**owners, **frames})), sizes.largest(message), limits)
                for frames in carried
            )
            + joined * (message.name in lasts),
        )
        for message in protocol.messages
    )


def _carried(protocol: Protocol) -> Iterator[Mapping[str, tuple[Field, ...]]]:
    """Yield the fields of each frame with each message that it may carry: a message may contain a frame too."""
    for message in protocol.messages:
        if message.code is not None:
            yield {frame.name: (*frame.fields, *message.fields) for frame in protocol.frames}


def _memory(fields: tuple[Field, ...], largest: int | None, limits: Mapping[str, int]) -> int:
    types = tuple(nested_types(*(field.type for field in fields)))
    content = limits["frame"] if largest is None else min(largest, limits["frame"])
    inflated = 0
    if any(map(is_compressed, types)):
        inflated = limits["inflated"]
    n_objects = _n_elements(types, content + inflated, limits) + 1
    object_size = _OBJECT + _RECORD * any(map(_is_interpreted, types)) + _VALUE * len(fields)
    values = max(map(_width, types), default=1) * (content + inflated)
    # The frame as it came in two chunks, joined, and the part that is being decoded. Inflated bytes stay until all of
    # it is decoded.
    return 4 * content + inflated + values + n_objects * object_size


def _is_interpreted(type_: Type) -> bool:
    """Return whether the reference codec reads the values of a type: wide text up to a delimiter."""
    return isinstance(type_, Text) and type_.encoding == "utf16" and isinstance(type_.length, Delimited)


def _width(type_: Type) -> int:
    """Return how many bytes of memory one byte of the wire takes in a value.

    In CPython one wide character makes all characters of a text wide. The narrow text is freed once the wide one exists.
    """
    match type_:
        case Text(encoding="utf8" | "mutf8"):
            return 5
        case Text(encoding="utf16"):
            return 3
        case _:
            return 1


def _n_elements(types: Iterable[Type], content: int, limits: Mapping[str, int]) -> int:
    has_lists = any(isinstance(type_, List) for type_ in types)
    return min(limits["messages"], content) if has_lists else 0


def _reached(message: Message, owners: Mapping[str, tuple[Field, ...]]) -> Iterator[Field]:
    """Yield the fields of a message and of all structs and alternatives that it can contain."""
    seen: set[str] = set()
    waiting = [message.fields]
    while waiting:
        fields = tuple(every_field(waiting.pop()))
        yield from fields
        for type_ in nested_types(*(field.type for field in fields)):
            if isinstance(type_, Reference) and type_.name in owners and type_.name not in seen:
                seen.add(type_.name)
                waiting.append(owners[type_.name])


def _every_field(union: Union) -> tuple[Field, ...]:
    return tuple(field for variety in union.varieties for field in variety.fields)
