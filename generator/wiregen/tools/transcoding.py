"""From one serialization of a stream to another, frame by frame; at most one frame and the current piece are held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from wiregen.generate.packages import Package
from wiregen.generate.serialization import NATIVE, StreamItem
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.serial.codec import refuse_tails

__all__ = ["LeftOut", "LostBytes", "StreamWishes", "Transcoder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamWishes:
    """The options for reading a stream: its sender, its layout and its limits."""

    role: str | None = None
    variant: str | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    is_strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LostBytes:
    """Bytes of the source that the target does not get: they could not be read, or could not be carried."""

    offset: int
    size: int
    error: DecodeError | EncodeError


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A preamble, which other serializations do not have."""

    data: bytes
    name: str


class Transcoder:
    """Transcodes the frames of one role; source and target each keep a context of earlier frames."""

    def __init__(self, package: Package, source: str, target: str, wishes: StreamWishes) -> None:
        self._wishes = wishes
        self._context = package.context(wishes.limits)
        self._source_context = package.context(wishes.limits)
        self._source = package.serialization(source)
        self._target = package.serialization(target)
        self._decoders = {wishes.role: self._source.decoder(self._options(self._source_context))}
        opens = package.schema.opens
        self._opening: str | None = opens.get(wishes.role or "") if source == NATIVE != target else None
        self._native = package.serialization(NATIVE)
        self._is_native = target == NATIVE  # the others refuse trailing bytes themselves
        self._has_context = bool(package.schema.contexts)

    def receive_earlier(self, role: str, data: bytes) -> None:
        """Process bytes that a role sent before, in the source's serialization.

        Raises:
            DecodeError: They are incomplete or wrong.
        """
        if role not in self._decoders:
            self._decoders[role] = self._source.decoder(self._options(self._source_context, role))
        for _, _, item in self._decoders[role].items(data):
            if isinstance(item, DecodeError):
                raise item
        self._context.restore(self._source_context.snapshot())

    def feed(self, chunk: bytes) -> Iterator[bytes | LostBytes | LeftOut]:
        """Process the next bytes of the source, and yield the results of the frames that are complete now."""
        return self._carried(self._decoders[self._wishes.role].items(chunk))

    def finish(self) -> Iterator[bytes | LostBytes | LeftOut]:
        """Process the end of the source, and yield the results of the remaining bytes."""
        return self._carried(self._decoders[self._wishes.role].finish_items())

    def _carried(self, items: Iterable[StreamItem]) -> Iterator[bytes | LostBytes | LeftOut]:
        options = self._options(self._context)
        for offset, size, item in items:
            if isinstance(item, DecodeError):
                yield LostBytes(offset=offset, size=size, error=item)
            elif self._opening is not None and offset == 0:
                yield LeftOut(data=self._native.encode(item, options), name=self._opening)
            else:
                yield self._one(offset, size, item, options)

    def _one(self, offset: int, size: int, frame: object, options: Options) -> bytes | LostBytes:
        try:
            if self._is_native:
                refuse_tails(frame)
            data = self._target.encode(frame, options)
            self._note(frame)
        except (EncodeError, DecodeError) as error:
            return LostBytes(offset=offset, size=size, error=error)
        return data

    def _note(self, frame: object) -> None:
        """Apply a frame to the context with which later ones are written."""
        if not self._has_context or not hasattr(frame, "message"):
            return
        self._context.apply(frame, self._wishes.role)
        joined = getattr(getattr(frame, "part", None), "joined", None)
        if hasattr(joined, "message"):
            self._context.apply(joined, self._wishes.role)

    def _options(self, context: Any, role: str | None = None) -> Options:
        wishes = self._wishes
        return Options(
            role or wishes.role,
            context=context,
            limits=dict(wishes.limits),
            strict=wishes.is_strict,
            variant=wishes.variant,
        )
