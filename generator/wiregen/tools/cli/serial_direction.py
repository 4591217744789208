"""One direction of a connection in a serialization other than the native one: frames and errors that cover it."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.records.frames import frame_from_record, frame_record
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.stream.context import Context
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings, without_places
from wiregen.tools.cli.direction import HeldBytes

if TYPE_CHECKING:
    from wiregen.generate.serialization import Serialization, StreamItem

__all__ = ["SerialDirection"]


class SerialDirection:
    """Decodes the bytes that one role sends; `context` is shared with the other direction of the connection."""

    def __init__(
        self, settings: DecodingSettings, carrier: "Serialization", role: str | None, context: Context
    ) -> None:
        self._settings = settings
        self._role = role
        self._held = HeldBytes()
        self._decoder = carrier.decoder(settings.options(role, context))

    def feed(self, data: bytes) -> Iterator[Decoded]:
        """Process the next bytes of the stream, and yield the frames and errors that are complete now."""
        self._held.add(data)
        yield from self._settled(self._decoder.items(data))

    def finish(self) -> Iterator[Decoded]:
        """Process the end of the stream, and yield the remaining bytes."""
        yield from self._settled(self._decoder.finish_items())

    def _settled(self, items: "Iterable[StreamItem]") -> Iterator[Decoded]:
        for offset, size, item in items:
            raw = self._held.take(size)
            outcome = item if isinstance(item, DecodeError) else self._node(item, size)
            yield Decoded(offset=offset, size=size, role=self._role, raw=raw, outcome=outcome)

    def _node(self, frame: object, size: int) -> Node:
        """Return a frame as a node of the reference codec, without children: its parts have no native offsets."""
        schema, variant = self._settings.schema, self._settings.variant
        record = frame_record(schema, frame, variant=variant)
        value = frame_from_record(schema, record, role=self._role, variant=variant)
        return without_places(value, size)
