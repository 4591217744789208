"""The result of the reference codec for bytes in their scene, which is the verdict of every vector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder

__all__ = ["Item", "ReferenceVerdicts", "Scene"]

Item: TypeAlias = "tuple[int, int, Node | DecodeError]"
"""Offset and size in the judged bytes, and the frame or error there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """How bytes are to be read: their sender, the bytes that were sent before, in order, and the options of
    the reader.
    """

    role: str | None = None
    variant: str | None = None
    before: tuple[tuple[str | None, bytes], ...] = ()
    limits: dict[str, int] = field(default_factory=dict)
    strict: bool = False

    @property
    def n_own_bytes(self) -> int:
        """The number of bytes that the same role sent before."""
        return sum(len(data) for role, data in self.before if role == self.role)


class ReferenceVerdicts:
    """Reads streams of one protocol from the beginning of a connection."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def read(self, scene: Scene, data: bytes, *, ends: bool = False) -> tuple[tuple[Item, ...], Context]:
        """Return the frames of `data` and the first error, if any; and the context after them.

        A frame that is cut off is an error, as its rest does not follow. An unfinished reassembly is one
        only if the stream `ends`.

        Raises:
            DecodeError: The bytes that were sent before do not conform.
        """
        context = Context(self.schema, limits=scene.limits)
        decoders: dict[str | None, Any] = {}
        for role, sent in scene.before:
            decoder = decoders.setdefault(role, self._decoder(scene, role, context))
            for node in decoder.feed(sent):
                if isinstance(node, DecodeError):
                    raise node
        decoder = decoders.get(scene.role) or self._decoder(scene, scene.role, context)
        items = _until_error(decoder, data, scene.n_own_bytes)
        return tuple(item for item in items if ends or not _is_unfinished(item)), context

    def _decoder(self, scene: Scene, role: str | None, context: Context) -> object:
        options = Options(
            role, context=context, limits=scene.limits, strict=scene.strict, variant=scene.variant
        )
        return reference_decoder(self.schema, options, "yield", context=context)


def _until_error(decoder: Any, data: bytes, start: int) -> list[Item]:
    items: list[Item] = []
    for source in (lambda: decoder.items(data), decoder.finish_items):
        for offset, size, item in source():
            items.append(
                (offset - start, size, item.moved(-start) if isinstance(item, DecodeError) else item)
            )
            if isinstance(item, DecodeError):
                return items
    return items


def _is_unfinished(item: Item) -> bool:
    return isinstance(item[2], DecodeError) and item[1] == 0 and item[2].code == "truncated"
