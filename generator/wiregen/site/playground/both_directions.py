"""A stream and the bytes of the other side in between: every frame in the order of the connection.

Invariant: the stream itself ends at its first error. An error of the other side hides only the later bytes of
that side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wiregen.conformance.vectors.reference_verdicts import ReferenceVerdicts, Scene
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder

__all__ = ["Aside", "BothDirections", "DecodedItem", "said_until"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """Bytes of another role; `at`: how many bytes of the stream were sent before them."""

    at: int
    role: str | None
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedItem:
    """A frame or the first error.

    `offset` counts in the stream; where `is_aside`, in the bytes of its own role.
    """

    role: str | None
    offset: int
    size: int
    found: Node | DecodeError
    data: bytes
    is_aside: bool


class BothDirections:
    """Decodes one stream in its scene; `known`: the context that the frames have set so far."""

    def __init__(self, schema: Schema, scene: Scene) -> None:
        self._schema, self._scene = schema, scene
        self.known = Context(schema, limits=scene.limits)
        self._directions: dict[str | None, _Direction] = {}

    def decode(self, data: bytes, asides: tuple[Aside, ...] = ()) -> Iterator[DecodedItem]:
        """Yield the frames of the stream, and those of earlier bytes and of the other side, in order.

        Raises:
            DecodeError: The bytes sent before do not conform.
        """
        ReferenceVerdicts(self._schema).read(
            self._scene, b""
        )  # bytes that no frame can follow are an item only where a stream ends
        for role, sent in self._scene.before:
            yield from self._direction(role).decode(sent, is_aside=True)
        own, at = self._direction(self._scene.role), 0
        own.forget()
        for aside in (*asides, Aside(at=len(data), role=None, data=b"")):
            until = min(max(aside.at, at), len(data))
            yield from own.decode(data[at:until], is_aside=False)
            at = until
            if aside.data:
                yield from self._direction(aside.role).decode(aside.data, is_aside=True)
        yield from own.end()

    def _direction(self, role: str | None) -> _Direction:
        if role not in self._directions:
            self._directions[role] = _Direction(self._schema, self._scene, role, self.known)
        return self._directions[role]


class _Direction:
    """Decodes the bytes of one role, up to its first error."""

    def __init__(self, schema: Schema, scene: Scene, role: str | None, known: Context) -> None:
        options = Options(
            role, context=known, limits=scene.limits, strict=scene.strict, variant=scene.variant
        )
        self._decoder: Any = reference_decoder(schema, options, "yield", context=known)
        self._role = role
        self._bytes = bytearray()
        self._start = 0
        self._has_failed = False

    def forget(self) -> None:
        """Count offsets from here on."""
        self._start += len(self._bytes)
        self._bytes.clear()

    def decode(self, data: bytes, *, is_aside: bool) -> Iterator[DecodedItem]:
        self._bytes += data
        if data and not self._has_failed:
            yield from self._decoded(self._decoder.items(data), is_aside=is_aside)

    def end(self) -> Iterator[DecodedItem]:
        if not self._has_failed:
            yield from self._decoded(self._decoder.finish_items(), is_aside=False)

    def _decoded(self, items: Any, *, is_aside: bool) -> Iterator[DecodedItem]:
        for start, size, item in items:
            offset = start - self._start
            self._has_failed = isinstance(item, DecodeError)
            found = item.moved(-self._start) if isinstance(item, DecodeError) else item
            data = bytes(self._bytes[max(offset, 0) : offset + size])
            yield DecodedItem(
                role=self._role, offset=offset, size=size, found=found, data=data, is_aside=is_aside
            )
            if self._has_failed:
                return


def said_until(scene: Scene, data: bytes, asides: tuple[Aside, ...]) -> tuple[tuple[str | None, bytes], ...]:
    """Return all bytes that were sent before a place: the scene's, then the stream and the other side's."""
    said: list[tuple[str | None, bytes]] = [*scene.before]
    at = 0
    for aside in (*asides, Aside(at=len(data), role=None, data=b"")):
        until = min(max(aside.at, at), len(data))
        said += [(scene.role, data[at:until])] if until > at else []
        at = until
        said += [(aside.role, aside.data)] if aside.data and aside.at <= len(data) else []
    return tuple(said)
