"""Lines of the frames of compiled code.

Those of plain frames are text at once: no record is walked, and no line is read to be proven.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from wiregen.formats.compiled_codec import CompiledCodec
from wiregen.formats.json_text import written_by
from wiregen.formats.jsonl import LONGEST_LINE, Line, backend_of
from wiregen.formats.line_maker import LineMaker
from wiregen.formats.plain_records import PlainRecords
from wiregen.formats.record_functions import RecordFunctions
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.schema.protocol import Schema

__all__ = ["CompiledLines", "PlainLines"]

_encode: Final = msgspec.json.Encoder().encode


class CompiledLines:
    """Frames to lines, in order, as a LineMaker makes them. `compiled` reads and writes the frames."""

    def __init__(
        self,
        schema: Schema,
        compiled: CompiledCodec,
        *,
        variant: str | None = None,
        limits: dict[str, int] | None = None,
    ) -> None:
        self._maker = LineMaker(schema, variant=variant, limits=limits, carrier=compiled)
        self._plain = PlainLines(schema, variant, compiled)
        self.decoded = self._maker.decoded

    def decoded_text(self, frame: object, data: bytes, place: Line) -> str:
        """Return the line of a frame that was read from `data`; `place` has the entries of `place_of`."""
        text = self._plain.text(frame, data, place)
        return self._maker.decoded_text(frame, data, place) if text is None else text


class PlainLines:
    """Plain frames to lines; `compiled` encodes each frame, to prove that its line gives back its bytes."""

    def __init__(self, schema: Schema, variant: str | None, compiled: CompiledCodec) -> None:
        self._variant = variant
        self._compiled = compiled
        self._plain = PlainRecords(schema, variant, compiled.classes)
        self._functions = RecordFunctions(Layout(schema, Options(variant=variant)), compiled.classes)
        self._encoders: dict[str | None, Callable[[object], bytes]] = {}

    def text(self, frame: object, data: bytes, place: Line) -> str | None:
        """Return the line of a frame that was read from `data`, or None if the frame or its text is not plain.

        `place`: the first entries of the line. Lone surrogates are not plain: two that meet are read as one character.
        """
        if not self._plain.holds(frame):
            return None
        try:
            is_canonical = self._encoder(place.get("from"))(frame) == data
            line = place | self._functions.record(frame)
            if not is_canonical:
                line |= {"canonical": False, **backend_of(self._compiled), "raw": data.hex()}
            text = written_by(_encode, line)
        except (EncodeError, ValueError):
            return None
        return text if len(text) <= LONGEST_LINE else None

    def _encoder(self, role: str | None) -> Callable[[object], bytes]:
        found = self._encoders.get(role)
        if found is None:
            options = Options(role, variant=self._variant)
            found = self._encoders[role] = self._compiled.encoder(options)
        return found
