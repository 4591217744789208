"""The results of decoding for the code that prints them, and the options of decoding."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from wiregen.runtime.codec.classes import Envelope
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.access import declared_name, extra
from wiregen.runtime.reference.tree import FrameValue, Node, Unknown
from wiregen.runtime.schema.elements import Data

if TYPE_CHECKING:
    from wiregen.generate.serialization import Serialization
    from wiregen.runtime.schema.protocol import Schema
    from wiregen.runtime.stream.context import Context

__all__ = ["Decoded", "DecodingSettings", "message_of", "name_of", "without_places"]

_NO_TYPE: Final = Data()


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingSettings:
    """A protocol's schema, and the options for reading its bytes.

    Attributes:
        carrier: The serialization of the bytes, if it is not the native one.
        compiled: The native serialization in compiled code, whose frames have no places in them; None: the reference codec.
    """

    schema: "Schema"
    variant: str | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    is_strict: bool = False
    carrier: "Serialization | None" = None
    compiled: "Serialization | None" = None

    def options(self, role: str | None, context: "Context") -> Options:
        """Return the options of a decoder of the bytes that `role` sends."""
        limits = dict(self.limits)
        return Options(role, context=context, limits=limits, strict=self.is_strict, variant=self.variant)

    @property
    def largest_frame(self) -> int:
        """Return the most bytes that a frame may have."""
        size: int = self.limits.get("frame", self.schema.limits["frame"])
        return size


class Decoded(NamedTuple):
    """A frame or an error; those of one direction cover its stream without gaps. A tuple, as large captures have many.

    Attributes:
        offset, size: Of the frame in its direction's stream; a gap has a size and no `raw`.
        outcome: An error's offsets count in the stream, those of a tree from `offset - outcome.start` on.
        flow, time: The connection and the time in seconds, for frames from a capture.
    """

    offset: int
    size: int
    role: str | None
    raw: bytes
    outcome: Node | DecodeError
    flow: str | None = None
    time: float | None = None

    def sent_by(self, role: str | None) -> "Decoded":
        """Return the same as sent by a role."""
        return self._replace(role=role)

    def seen(self, flow: str | None, time: float | None) -> "Decoded":
        """Return the same in a connection, at a time."""
        return Decoded(self.offset, self.size, self.role, self.raw, self.outcome, flow, time)


def message_of(decoded: Decoded) -> str:
    """Return the name of the message that a frame carries, or of the preamble; an unknown one has its code with it."""
    message = _message(decoded)
    code = message.code if isinstance(message, Unknown) else None
    return name_of(decoded) if code is None else f"{name_of(decoded)} (code {code})"


def name_of(decoded: Decoded) -> str:
    """Return the name of the message alone, `Unknown` for an unknown one."""
    message = _message(decoded)
    if isinstance(message, Unknown):
        return "Unknown"
    if message is None:  # of a frame that carries none
        message = getattr(decoded.outcome, "value", None)
    return "" if message is None else declared_name(message)


def _message(decoded: Decoded) -> object:
    value = getattr(decoded.outcome, "value", None)
    return extra(value, "message", None, "") if isinstance(value, FrameValue | Envelope) else value


def without_places(frame: object, size: int) -> Node:
    """Return a frame, of a package too, as a node without children: its decoder does not say where its parts are."""
    return Node("", "", _NO_TYPE, 0, size, cast(FrameValue, frame))
