"""The parts of a generated package that its connections use: its decoder, its encoder, its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..codec.given_header import in_frame
from ..codec.options import Options
from ..codec.values import is_a
from ..schema.protocol import Schema
from ..stream.decoder import Decoder
from .own_classes import Classes
from .table import Program

__all__ = ["Package"]


class Package:
    """One protocol's package; `program` is made once for all its connections.

    Attributes:
        frames: The class of the frames that each role sends.
        bare: Classes that are not put into a frame: the frames, and the preambles.
        make_context: Makes a context, or None if frames are independent of each other.
        classes: All classes.
        limits: The class of the bounds.
    """

    __slots__ = (
        "_make_decoder", "bare", "classes", "encode", "frames", "has_variants", "limits", "make_context", "program", "schema",
    )  # fmt: skip

    def __init__(
        self,
        schema: Schema,
        *,
        decoder: Callable[..., Decoder[Any]],
        encode: Callable[..., bytes],
        frames: Mapping[str, type],
        limits: type,
        classes: dict[str, object],
        preambles: tuple[type, ...] = (),
        context: Callable[..., object] | None = None,
    ) -> None:
        self.schema = schema
        self.program = Program(schema)
        self._make_decoder = decoder
        self.encode = encode
        self.frames = frames
        self.limits = limits
        self.bare = frozenset((*frames.values(), *preambles))
        self.make_context = context
        self.classes = Classes(classes)
        self.has_variants = bool(schema.variants)

    @property
    def roles(self) -> tuple[str, ...]:
        roles: tuple[str, ...] = self.schema.roles
        return roles

    def decoder(
        self, role: str, *, context: object, limits: object, strict: bool, variant: str | None
    ) -> Decoder[object]:
        """Return a decoder of the bytes that a role sends; errors are items among its frames."""
        more: dict[str, Any] = {} if self.make_context is None else {"context": context}
        more |= {"variant": variant} if self.has_variants else {}
        return self._make_decoder(role, limits=limits, strict=strict, errors="yield", **more)

    def writing(self, role: str, context: object, limits: object, variant: str | None) -> dict[str, object]:
        """Return the arguments that `encode` has in this package in addition to the usual ones."""
        more: dict[str, Any] = {} if limits is None else {"limits": limits}
        more |= {"from_role": role, "context": context} if self.schema.contexts else {}
        return more | ({"variant": variant} if self.has_variants else {})

    def framed(self, role: str, message: Any, header: Mapping[str, object]) -> object:
        """Return a message in the frame that the role sends; a frame with the changes of the header; a
        preamble as it is.

        Raises:
            EncodeError: A field of the header is missing or foreign, or an attribute cannot be read.
        """
        given = {name: value for name, value in header.items() if value is not None}
        bare = next((each for each in self.bare if is_a(message, each)), None)
        # A message of a role without frames is put in those of the other role: rows say that it may not be
        # sent.
        frame = bare or self.frames.get(role) or next(iter(self.frames.values()))
        return in_frame(frame, message, given)

    def read_back(self, frame: object, data: bytes, options: Options) -> object:
        """Return a frame or preamble as a reader reads it from its bytes."""
        from ..reference.explain import explain
        from ..reference.objects import build

        is_preamble = type(frame) not in self.frames.values()
        node = explain(self.schema, data, 0, len(data), options, is_preamble=is_preamble)
        return build(self.schema, node.value, self.classes.by_name)
