"""The output formats of decoded messages: each takes frames and errors one by one, and stores none of them."""

from typing import Protocol

from wiregen.formats.jsonl import LineMaker, backend_of, dumps, error_line
from wiregen.runtime.codec.errors import DecodeError
from wiregen.tools.cli.decoding_options import Decoded, Settings

__all__ = ["Sink", "sink"]


class Sink(Protocol):
    """Writes decoded frames and errors."""

    def write(self, decoded: Decoded) -> None: ...

    def close(self) -> None:
        """Write the end of the result; not called if decoding was interrupted."""


def sink(format_: str, settings: Settings) -> Sink:
    """Return the sink of a format, writing to stdout."""
    if format_ == "jsonl":
        return _Jsonl(settings)
    if format_ == "json":
        return _Json(settings)
    from wiregen.tools.cli.tree_sinks import Hex, Tree  # rich is not loaded for programs

    return Tree(settings) if format_ == "tree" else Hex(settings)


class _Lines:
    """Makes the lines of frames and errors."""

    def __init__(self, settings: Settings) -> None:
        limits, self._carrier = dict(settings.limits), settings.carrier
        self._maker = LineMaker(
            settings.schema, variant=settings.variant, limits=limits, carrier=self._carrier
        )

    def text(self, decoded: Decoded) -> str:
        """Return a line without its end."""
        time = None if decoded.time is None else round(decoded.time, 6)
        outcome, role, flow = decoded.outcome, decoded.role, decoded.flow
        if not isinstance(outcome, DecodeError):
            line = self._maker.decoded(
                outcome.value, decoded.raw, offset=decoded.offset, role=role, flow=flow, time=time
            )
            return dumps(line)
        line = error_line(outcome, decoded.raw, offset=decoded.offset, role=role, flow=flow, time=time)
        more = {"size": decoded.size, "bytes_truncated": decoded.size != len(decoded.raw)}
        return dumps(line | more | backend_of(self._carrier))


class _Jsonl:
    """A line for every frame and error."""

    def __init__(self, settings: Settings) -> None:
        self._lines = _Lines(settings)

    def write(self, decoded: Decoded) -> None:
        print(self._lines.text(decoded))

    def close(self) -> None:
        pass


class _Json:
    """One array with the same objects."""

    def __init__(self, settings: Settings) -> None:
        self._lines = _Lines(settings)
        self._is_empty = True

    def write(self, decoded: Decoded) -> None:
        print(f"{'[' if self._is_empty else ','}\n{self._lines.text(decoded)}", end="")
        self._is_empty = False

    def close(self) -> None:
        print("[]" if self._is_empty else "\n]")
