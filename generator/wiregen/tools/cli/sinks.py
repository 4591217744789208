"""The output formats of decoded messages: each takes frames and errors one by one, and stores none of them."""

from typing import TYPE_CHECKING, Protocol

from wiregen.formats.jsonl import Line, backend_of, dumps, error_line, place_of
from wiregen.formats.line_maker import LineMaker
from wiregen.runtime.codec.errors import DecodeError
from wiregen.tools.cli.clock import Clock
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings
from wiregen.tools.cli.row_printers import JsonArray, JsonLines

if TYPE_CHECKING:
    from wiregen.formats.plain_lines import CompiledLines

__all__ = ["Sink", "sink"]


class Sink(Protocol):
    """Writes decoded frames and errors."""

    def write(self, decoded: Decoded) -> None: ...

    def close(self) -> None:
        """Write the end of the result; not called if decoding was interrupted."""


def sink(format_: str, settings: DecodingSettings, clock: Clock, *, is_live: bool = False) -> Sink:
    """Return the sink of a format, writing to stdout.

    `is_live`: for traffic that a person follows. Secret fields are hidden in lines for programs too, and colours show
    the roles.
    """
    if format_ in ("jsonl", "json"):
        printer = JsonLines() if format_ == "jsonl" else JsonArray()
        return _Lines(settings, clock, printer, is_masked=is_live)
    from wiregen.tools.cli.tree_sinks import HexdumpSink, Tree  # rich is not loaded for programs

    return (Tree if format_ == "tree" else HexdumpSink)(settings, clock, is_live=is_live)


class _Lines:
    """Prints a JSON object for every frame and error; `is_masked`: without the values of secret fields."""

    def __init__(
        self, settings: DecodingSettings, clock: Clock, printer: JsonLines | JsonArray, *, is_masked: bool
    ) -> None:
        self._masked_by = settings.schema if is_masked else None
        self._writer = settings.carrier or settings.compiled
        self._maker = _maker(settings)
        self._clock = clock
        self._printer = printer
        self.close = printer.close

    def write(self, decoded: Decoded) -> None:
        if self._masked_by is not None:
            from wiregen.formats.inspect.secrets import without_secrets

            self._printer.text(dumps(without_secrets(self._line(decoded), self._masked_by)))
        elif isinstance(decoded.outcome, DecodeError):
            self._printer.text(dumps(self._line(decoded)))
        else:
            place = place_of(decoded.offset, decoded.size, decoded.role, decoded.flow, self._time(decoded))
            self._printer.text(self._maker.decoded_text(decoded.outcome.value, decoded.raw, place))

    def _time(self, decoded: Decoded) -> float | str | None:
        return None if decoded.time is None else self._clock.shown(decoded.time)

    def _line(self, decoded: Decoded) -> Line:
        time, outcome, role, flow = self._time(decoded), decoded.outcome, decoded.role, decoded.flow
        if not isinstance(outcome, DecodeError):
            return self._maker.decoded(
                outcome.value, decoded.raw, offset=decoded.offset, role=role, flow=flow, time=time
            )
        line = error_line(outcome, decoded.raw, offset=decoded.offset, role=role, flow=flow, time=time)
        more = {"size": decoded.size, "bytes_truncated": decoded.size != len(decoded.raw)}
        return line | more | backend_of(self._writer)


def _maker(settings: DecodingSettings) -> "LineMaker | CompiledLines":
    schema, variant, limits = settings.schema, settings.variant, dict(settings.limits)
    if settings.compiled is None or settings.carrier is not None:
        return LineMaker(schema, variant=variant, limits=limits, carrier=settings.carrier)
    # For large inputs: msgspec is not loaded for others.
    from wiregen.formats.plain_lines import CompiledLines

    return CompiledLines(schema, settings.compiled, variant=variant, limits=limits)
