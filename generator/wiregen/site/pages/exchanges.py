"""The frames of a connection in order, with the annotated bytes of each.

Invariant: each frame was decoded by the reference codec while the page was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain_type
from wiregen.runtime.reference.tree import FrameValue, Node
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import Bytes
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wiregen.site.pages.annotated_bytes import anatomy_of
from wiregen.site.pages.behaviour_views import ExampleFrameView
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.page_paths import Linked

__all__ = ["DecodedFrame", "Exchange", "decoded_frames", "example_frame_views", "joined_view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Bytes in the order in which they were sent, and their source."""

    origin: str
    said: tuple[tuple[str | None, bytes], ...]
    variant: str | None = None
    limits: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedFrame:
    """A frame, or a preamble, as the reference codec decoded it."""

    role: str | None
    data: bytes
    node: Node

    @property
    def name(self) -> str:
        """Return the name; of a frame with a message, the name of the message."""
        value = self.node.value
        return str(getattr(getattr(value, "message", value), "name", self.node.name))

    @property
    def names(self) -> frozenset[str]:
        """Return the names that a `.wire` file may use: of the message, and of the frame around it."""
        return frozenset((self.name, str(getattr(self.node.value, "name", self.node.name))))

    @property
    def part(self) -> Any:
        """Return the place of the frame in its join; None where it is not a fragment."""
        return self.node.value.part if isinstance(self.node.value, FrameValue) else None


def decoded_frames(schema: Schema, exchange: Exchange) -> tuple[DecodedFrame, ...]:
    """Return every frame of an exchange.

    Raises:
        DecodeError: The bytes do not conform.
    """
    context = Context(schema, limits=exchange.limits)
    decoders: dict[str | None, _Decoder] = {}
    found: list[DecodedFrame] = []
    for role, data in exchange.said:
        options = Options(role, context=context, limits=exchange.limits, variant=exchange.variant)
        decoder = decoders.setdefault(role, _Decoder(schema, options, context))
        found += decoder.decode(data)
    return tuple(found)


class _Decoder:
    """Decodes the bytes of one role, and keeps them."""

    def __init__(self, schema: Schema, options: Options, context: Context) -> None:
        self._role = options.from_role
        self._decoder: Any = reference_decoder(schema, options, context=context)
        self._stream = bytearray()

    def decode(self, data: bytes) -> Iterator[DecodedFrame]:
        self._stream += data
        for offset, size, node in self._decoder.items(data):
            if isinstance(node, DecodeError):
                raise node
            yield DecodedFrame(role=self._role, data=bytes(self._stream[offset : offset + size]), node=node)


# ---- as pages show them


def example_frame_views(book: Book, some: Iterable[tuple[DecodedFrame, str]]) -> tuple[ExampleFrameView, ...]:
    """Return frames, each with a few words about it; their leaves are numbered through all of them."""
    found: list[ExampleFrameView] = []
    for one, about in some:
        found.append(_view(book, one.name, one.data, one.node, role=one.role, about=about, above=found))
    return tuple(found)


def joined_view(
    book: Book, name: str, data: bytes, above: tuple[ExampleFrameView, ...]
) -> ExampleFrameView | None:
    """Return the reassembled frame; None where it is only bytes, or the last fragment's own block."""
    type_ = book.schema.joins[name].type
    if type_ is None or isinstance(type_, Bytes) or not above:
        return None
    options = Options(above[-1].role or None)
    node = explain_type(book.schema, type_, data, options, name=name)
    one = DecodedFrame(role=options.from_role, data=data, node=node)
    return _view(book, one.name, data, node, role=one.role, about="all pieces together", above=above)


def _view(
    book: Book,
    name: str,
    data: bytes,
    node: Node,
    *,
    role: str | None,
    about: str,
    above: Iterable[ExampleFrameView],
) -> ExampleFrameView:
    first = sum(len(each.anatomy.pieces) + each.anatomy.n_left for each in above)
    return ExampleFrameView(
        title=Linked(text=name, url=book.places.url(name)),
        role=role or "",
        size=len(data),
        about=about,
        anatomy=anatomy_of(data, node, (), first=first),
    )
