"""Detects which end of a connection has which role, if only its bytes can tell: both ways are tried."""

from pathlib import Path
from typing import Final

from wiregen.formats.capture import Flow, FlowBytes, read_streams
from wiregen.formats.inspect.values import plural
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.reference.tree import FrameValue
from wiregen.runtime.stream.context import Context
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings
from wiregen.tools.cli.direction import Direction

__all__ = ["opener_is_first"]

_TRIED: Final = 1 << 20
"""The most bytes of a connection that are decoded for the detection."""


def opener_is_first(path: Path, settings: DecodingSettings, port: int | None, flow: Flow) -> tuple[bool, str]:
    """Return whether the flow's opener seems to be the protocol's first role, and the reason."""
    roles = settings.schema.roles
    ways = (_Way(settings, roles[0], roles[-1]), _Way(settings, roles[-1], roles[0]))
    n_tried = 0
    for event in read_streams(path, port=port):
        if isinstance(event, FlowBytes) and event.flow == flow:
            for way in ways:
                way.feed(event)
            n_tried += len(event.data)
        if n_tried >= _TRIED:
            break
    as_seen, reversed_ = ways
    is_first = as_seen.score >= reversed_.score
    best, worst = (as_seen, reversed_) if is_first else (reversed_, as_seen)
    counts = f"{plural(best.n_fitting, 'frame')} {'fits' if best.n_fitting == 1 else 'fit'} against {worst.n_fitting}"
    return is_first, f"both ways were tried, {counts}"


class _Way:
    """A connection decoded with its ends in the given roles, to measure how much of it fits."""

    def __init__(self, settings: DecodingSettings, opener: str, other: str) -> None:
        self._messages = settings.schema.messages
        context = Context(settings.schema, limits=dict(settings.limits))
        self._directions = {
            True: Direction(settings, opener, context),
            False: Direction(settings, other, context),
        }
        self.n_whole = 0
        self.n_fitting = 0

    @property
    def score(self) -> tuple[int, int]:
        return self.n_fitting, self.n_whole

    def feed(self, piece: FlowBytes) -> None:
        for decoded in self._directions[piece.from_opener].feed(piece.data):
            if not isinstance(decoded.outcome, DecodeError):
                self.n_whole += 1
                self.n_fitting += self._fits(decoded)

    def _fits(self, decoded: Decoded) -> bool:
        """Return whether the role may send that message: the codec accepts messages of any role."""
        value = getattr(decoded.outcome, "value", None)
        message = getattr(value, "message", None) if isinstance(value, FrameValue) else value
        declared = self._messages.get(getattr(message, "name", ""))
        return declared is None or declared.role in (None, decoded.role)
