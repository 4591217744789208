"""Frames to JSON lines, each proven to give back its bytes as it is made."""

from __future__ import annotations

from typing import Final, NamedTuple

from wiregen.formats.jsonl import (
    LONGEST_LINE,
    Carrier,
    Line,
    LineEncoder,
    LineError,
    backend_of,
    dumps,
    line_record,
    loads,
    place_of,
)
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.records.frames import Recorder
from wiregen.runtime.schema.protocol import Schema

__all__ = ["LineMaker"]

_SURROGATE: Final = r"\ud"
"""The start of a surrogate's escape."""


class LineMaker:
    """Frames to lines, in order. Each line is encoded at once, to determine whether it needs its bytes.

    `carrier`: writes the frames, if that is not the reference codec.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        variant: str | None = None,
        limits: dict[str, int] | None = None,
        carrier: Carrier | None = None,
    ) -> None:
        self._carrier = carrier
        self._recorder = Recorder(schema, variant)
        self._encoder = LineEncoder(schema, variant=variant, limits=limits, carrier=self._carrier)
        self._proven = _Proven({}, "{}")

    def decoded(
        self,
        frame: object,
        data: bytes,
        *,
        offset: int,
        role: str | None = None,
        flow: str | None = None,
        time: float | str | None = None,
    ) -> Line:
        """Return the line of a frame, a message in a frame, or a preamble that was read from `data`."""
        return self._line(frame, data, place_of(offset, len(data), role, flow, time))

    def _line(self, frame: object, data: bytes, place: Line) -> Line:
        line = place | line_record(self._recorder.outermost(frame), **self._recorder.part(frame))
        if not self._gives_back(line, data):
            line = line | {"canonical": False, **backend_of(self._carrier), "raw": data.hex()}
        return line

    def _gives_back(self, line: Line, data: bytes) -> bool:
        try:
            text = dumps(line)
            self._proven = _Proven(line, text)
            # The text has the same values, but for surrogates that meet, and for lines that are too long to be read.
            is_equal = _SURROGATE not in text and len(text) <= LONGEST_LINE
            return self._encoder.encode(line if is_equal else loads(text)) == data
        except (EncodeError, LineError, ValueError):
            return False

    def decoded_text(self, frame: object, data: bytes, place: Line) -> str:
        """Return that line as text; `place` has the entries of `place_of`."""
        return self.text(self._line(frame, data, place))

    def text(self, line: Line) -> str:
        """Return a line as text; that of the last line was made for its proof."""
        return self._proven.text if line is self._proven.line else dumps(line)


class _Proven(NamedTuple):
    line: Line
    text: str
