"""Frames to JSON lines, each proven to give back its bytes as it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from wiregen.formats.jsonl import (
    LONGEST_LINE,
    Carrier,
    Line,
    LineEncoder,
    LineError,
    backend_of,
    decoded_line,
    dumps,
    loads,
)
from wiregen.formats.plain_records import PlainRecords
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import Recorder
from wiregen.runtime.schema.protocol import Schema

__all__ = ["CompiledCodec", "LineMaker"]

_SURROGATE: Final = r"\ud"
"""The start of a surrogate's escape."""


class CompiledCodec(Carrier, Protocol):
    """Compiled code that writes the frames that it read."""

    @property
    def classes(self) -> Mapping[str, object]:
        """The names of its package with their values, its classes among them."""

    def encode(self, frame: object, options: Options) -> bytes:
        """Return the bytes of a frame of the package.

        Raises:
            EncodeError: The protocol does not allow a value.
        """


class LineMaker:
    """Frames to lines, in order. Each line is encoded at once, to determine whether it needs its bytes.

    `compiled`: reads and writes the frames, instead of the native reference codec; `carrier`: writes them, if
    that is another serialization.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        variant: str | None = None,
        limits: dict[str, int] | None = None,
        carrier: Carrier | None = None,
        compiled: CompiledCodec | None = None,
    ) -> None:
        self._carrier = carrier or compiled
        self._recorder = Recorder(schema, variant)
        self._encoder = LineEncoder(schema, variant=variant, limits=limits, carrier=self._carrier)
        self._proven = _Proven({}, "{}")
        self._compiled = compiled if carrier is None else None
        self._plain = PlainRecords(schema, variant, {} if self._compiled is None else self._compiled.classes)

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
        record, part = self._recorder.outermost(frame), self._recorder.part(frame)
        line = decoded_line(record, offset=offset, size=len(data), role=role, flow=flow, time=time, **part)
        if not self._gives_back(frame, line, data):
            line = line | {"canonical": False, **backend_of(self._carrier), "raw": data.hex()}
        return line

    def _gives_back(self, frame: object, line: Line, data: bytes) -> bool:
        try:
            text = dumps(line)
            self._proven = _Proven(line, text)
            # The text has the same values, but for surrogates that meet, and for lines that are too long to be read.
            is_equal = _SURROGATE not in text and len(text) <= LONGEST_LINE
            if is_equal and self._compiled is not None and self._plain.holds(frame):
                return self._compiled.encode(frame, self._encoder.options(line)) == data
            return self._encoder.encode(line if is_equal else loads(text)) == data
        except (EncodeError, LineError, ValueError):
            return False

    def text(self, line: Line) -> str:
        """Return a line as text; that of the last line was made for its proof."""
        return self._proven.text if line is self._proven.line else dumps(line)


class _Proven(NamedTuple):
    line: Line
    text: str
