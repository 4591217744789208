"""One direction of a connection, read and written both by generated code and by the reference codec.

All results are records, the plain data of a decoded line, so that the two can be compared with each other
and with the verdict of a vector's maker.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pytest
from tests.built_schema import schema_of

from wiregen.runtime.codec import errors as reference_errors
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_from_record, frame_record
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.objects import build
from wiregen.runtime.reference.tree import FrameValue, Node
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wireproto._runtime.codec import errors as generated_errors

Codec: TypeAlias = Literal["generated", "reference"]
Record: TypeAlias = dict[str, Any]
CODECS: tuple[Codec, ...] = ("generated", "reference")
MANY = 400
"""Prefixes that are all decoded anew; of a longer frame some are, and feeding it byte by byte passes through all."""


def errors_of(codec: Codec) -> Any:
    """Return the classes of errors of an implementation: a generated tree has a runtime of its own."""
    return generated_errors if codec == "generated" else reference_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """The options of decoding: the protocol, the sender, the layout variant, the earlier messages.

    `snapshot`: the context of earlier messages. `opening`: the preamble before the frames.
    """

    protocol: str
    role: str | None = None
    variant: str | None = None
    snapshot: dict[str, Any] | None = None
    opening: bytes = b""
    strict: bool = False

    @property
    def module(self) -> Any:
        return importlib.import_module(f"wireproto.{self.protocol}")

    @property
    def schema(self) -> Schema:
        return schema_of(self.protocol)

    def context(self, codec: Codec) -> Any:
        """Return a new context after the earlier messages, or None for code that needs none."""
        context: Any = Context(self.schema)
        if codec == "generated":
            if not hasattr(self.module, "Context"):
                return None
            context = self.module.Context()
        if self.snapshot is not None:
            context.restore({**context.snapshot(), **self.snapshot})
        return context

    def options(self, context: Context | None = None) -> Options:
        context = context or self.context("reference")
        return Options(self.role, context=context, strict=self.strict, variant=self.variant)

    def call(self, function: Callable[..., Any], *arguments: Any, **wishes: Any) -> Any:
        """Call a generated function with those of the wishes that this protocol has."""
        wishes |= {"from_role": self.role, "context": self.context("generated"), "strict": self.strict}
        wishes |= {"variant": self.variant}
        known = inspect.signature(function).parameters
        return function(*arguments, **{name: value for name, value in wishes.items() if name in known})

    def record(self, value: Any) -> Record:
        return frame_record(self.schema, value, variant=self.variant)

    # ---- reading

    def decode(self, codec: Codec, data: bytes) -> Record:
        """Return the record of one whole frame."""
        if codec == "generated":
            return self.record(self.call(self.module.decode, data))
        node = explain(self.schema, data, 0, len(data), self.options())
        assert node.end == len(data)
        return self.record(node.value)

    def reading(self, codec: Codec, *, errors: Literal["raise", "yield"] = "yield") -> Reading:
        """Return a new decoder, after the preamble if there is one."""
        reading = Reading(self, codec, errors)
        if self.opening:
            assert len(list(reading.feed(self.opening))) == 1
        return reading

    # ---- writing

    def encode(self, codec: Codec, record: Record) -> bytes:
        """Return the bytes of the frame that a record describes."""
        value = frame_from_record(self.schema, record, role=self.role, variant=self.variant)
        if codec == "reference":
            return write_frame(self.schema, value, self.options())
        frame = build(self.schema, value, vars(self.module))
        data: bytes = self.call(self.module.encode, frame)
        return data


class Reading:
    """A stream decoder of either implementation whose items are records and errors."""

    def __init__(self, wire: Wire, codec: Codec, errors: Literal["raise", "yield"]) -> None:
        self._wire = wire
        self._context = wire.context(codec)
        if codec == "reference":
            self.decoder: Any = reference_decoder(wire.schema, wire.options(self._context), errors)
        else:
            wishes = {"context": self._context, "strict": wire.strict, "variant": wire.variant}
            known = inspect.signature(wire.module.Decoder).parameters
            chosen = {name: value for name, value in wishes.items() if name in known}
            self.decoder = wire.module.Decoder(wire.role, errors=errors, **chosen)

    def feed(self, chunk: bytes) -> Iterator[Any]:
        """Yield what is complete now."""
        yield from map(self._seen, (item for _, _, item in self.decoder.items(chunk)))

    def finish(self) -> Iterator[Any]:
        """Yield what the end of the stream leaves."""
        yield from map(self._seen, (item for _, _, item in self.decoder.finish_items()))

    def _seen(self, item: Any) -> Record | Exception:
        if isinstance(item, Exception):
            return item
        if isinstance(item, Node):
            item = item.value
            if isinstance(item, FrameValue):
                self._context.apply(item, self._wire.role)  # as a generated decoder does by itself
        return self._wire.record(item)


# ---- what holds of every whole frame


def check_frame(wire: Wire, data: bytes, record: Record, *, is_piece: bool = False) -> None:
    """Check that the bytes are read as the record, whole and in pieces, and that none of their prefixes is.

    `is_piece`: the frame is a fragment, and others must follow.
    """
    for codec in CODECS:
        assert wire.decode(codec, data) == record
        check_stream(
            wire, codec, data, [record], left=["truncated"] if is_piece and codec == "generated" else []
        )
    check_prefixes(wire, data)
    check_bytes_behind(wire, data, record)


def check_stream(
    wire: Wire, codec: Codec, data: bytes, records: Iterable[Record], *, left: Sequence[str] = ()
) -> None:
    """Check that a stream is these records, fed at once and byte by byte; `left`: the errors of its end, by code."""
    expected = list(records)
    for chunks in ([data], [data[at : at + 1] for at in range(len(data))]):
        reading = wire.reading(codec)
        found = [item for chunk in chunks for item in reading.feed(chunk)]
        assert found == expected
        assert (reading.decoder.offset, reading.decoder.pending) == (len(wire.opening) + len(data), 0)
        assert [error.code for error in reading.finish()] == list(left)


def check_prefixes(wire: Wire, data: bytes) -> None:
    """Check that every strict prefix that is not empty asks for more, and is truncated where nothing comes."""
    for codec in CODECS:
        check_waiting(wire, codec, data[:-1])
        for size in sizes_below(len(data)):
            check_incomplete(wire, codec, data[:size])


def sizes_below(size: int) -> list[int]:
    """Return all sizes from 1 on, or of many the first, some, and the last."""
    if size <= MANY:
        return list(range(1, size))
    return [*range(1, MANY // 2), *range(MANY // 2, size, size // 20), size - 2, size - 1]


def check_waiting(wire: Wire, codec: Codec, data: bytes) -> None:
    """Check that a decoder goes through all prefixes without a word."""
    reading = wire.reading(codec)
    for at in range(len(data)):
        assert list(reading.feed(data[at : at + 1])) == []
        assert reading.decoder.pending == at + 1


def check_incomplete(wire: Wire, codec: Codec, data: bytes) -> None:
    """Check that bytes are the beginning of a frame, and no more."""
    errors = errors_of(codec)
    with pytest.raises(errors.NeedMoreData) as caught:
        wire.decode(codec, data)
    assert (caught.value.code, caught.value.at, caught.value.needed > 0) == ("truncated", len(data), True)
    reading = wire.reading(codec)
    assert list(reading.feed(data)) == []
    assert reading.decoder.pending == len(data)
    (error,) = reading.finish()
    assert isinstance(error, errors.DecodeError) and not isinstance(error, errors.NeedMoreData)
    assert (error.code, error.at) == ("truncated", len(wire.opening) + len(data))


def check_bytes_behind(wire: Wire, data: bytes, record: Record) -> None:
    """Check that bytes after a frame are not read as part of it."""
    with pytest.raises(wire.module.DecodeError) as caught:
        wire.call(wire.module.decode, data + b"\0")
    assert (caught.value.code, caught.value.at, caught.value.frame_offset) == ("trailing_bytes", len(data), 0)
    for codec in CODECS:
        reading = wire.reading(codec)
        assert next(reading.feed(data + data[:1])) == record
        assert (reading.decoder.offset, reading.decoder.pending) == (len(wire.opening) + len(data), 1)


def check_written(wire: Wire, record: Record, data: bytes) -> None:
    """Check that the record is encoded to these bytes, and so are the values decoded from them."""
    for codec in CODECS:
        assert wire.encode(codec, record) == data
    assert wire.call(wire.module.encode, wire.call(wire.module.decode, data)) == data
