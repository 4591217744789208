"""The results of decoding for the code that prints them, and the options of decoding."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.reference.tree import FrameValue, Node, Unknown

if TYPE_CHECKING:
    from wiregen.generate.packages import Serialization
    from wiregen.runtime.schema.protocol import Schema

__all__ = ["Decoded", "DecodingSettings", "message_of", "name_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingSettings:
    """A protocol's schema, and the options for reading its bytes; `carrier`: their serialization, if not native."""

    schema: "Schema"
    variant: str | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    is_strict: bool = False
    carrier: "Serialization | None" = None

    @property
    def largest_frame(self) -> int:
        """Return the most bytes that a frame may have."""
        size: int = self.limits.get("frame", self.schema.limits["frame"])
        return size


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A frame or an error; those of one direction cover its stream without gaps.

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
    value = getattr(decoded.outcome, "value", None)
    return str(getattr(message, "name", None) or getattr(value, "name", ""))


def _message(decoded: Decoded) -> object:
    value = getattr(decoded.outcome, "value", None)
    return value.message if isinstance(value, FrameValue) else value
