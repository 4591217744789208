"""The two codecs of one protocol side by side: generated code, and the reference one that walks its schema.

Whatever comes out is turned into an `Outcome`, plain data, so that both can be compared: a frame as its JSON line, an error
as its attributes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

from wiregen.runtime.codec.errors import DecodeError, EncodeError, check_end
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_record
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.tree import FrameValue, Node, Record
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wiregen.schema.naming import Namespace, python_name

Outcome: TypeAlias = str | dict[str, Any] | bytes
Item: TypeAlias = tuple[int, int, Outcome]

LACKING: dict[str, Any] = {"message": None, "fields": {}}
"""The record of a frame without a message, without its header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How bytes are to be decoded."""

    from_role: str | None = None
    limits: tuple[tuple[str, int], ...] = ()
    strict: bool = False

    def options(self) -> Options:
        return Options(self.from_role, limits=dict(self.limits), strict=self.strict)

    def arguments(self, module: ModuleType) -> dict[str, Any]:
        limits = module.Limits(**dict(self.limits)) if self.limits else None
        return {"from_role": self.from_role, "limits": limits, "strict": self.strict}


@dataclass(frozen=True, slots=True, kw_only=True)
class Codecs:
    """A generated package, and the schema of the same protocol."""

    module: ModuleType
    schema: Schema

    # ---- decoding

    def compiled(self, data: bytes, wishes: Wishes) -> Outcome:
        """Return the result of the generated `decode` for a whole frame."""
        try:
            frame = self.module.decode(data, **wishes.arguments(self.module))
        except self.module.DecodeError as error:
            return described(error)
        return self.line(frame)

    def reference(self, data: bytes, wishes: Wishes) -> Outcome:
        """Return the result of the reference codec for a whole frame."""
        try:
            node = explain(self.schema, data, 0, len(data), wishes.options())
            check_end(node.end, len(data))
        except DecodeError as error:
            return described(error)
        return self.line(node.value)

    def compiled_items(self, chunks: Iterable[bytes], wishes: Wishes) -> list[Item]:
        """Return all items of the generated Decoder for a stream: frames and errors with their places."""
        decoder = self.module.Decoder(errors="yield", **wishes.arguments(self.module))
        return self._items(decoder, chunks)

    def reference_items(self, chunks: Iterable[bytes], wishes: Wishes) -> list[Item]:
        return self._items(reference_decoder(self.schema, wishes.options(), "yield"), chunks)

    def compiled_feeds(
        self, chunks: Iterable[bytes], wishes: Wishes, *, is_bare: bool = False
    ) -> list[Outcome]:
        """Return the same by `feed`, or by `bare_messages`: then without the headers."""
        decoder = self.module.Decoder(errors="yield", **wishes.arguments(self.module))
        feed = decoder.bare_messages if is_bare else decoder.feed
        outcomes = [self._outcome(item) for chunk in chunks for item in feed(chunk)]
        try:
            decoder.finish()
        except self.module.DecodeError as error:
            if outcomes[-1:] != [described(error)]:  # what was given up is said once more
                outcomes.append(described(error))
        return outcomes

    def _items(self, decoder: Any, chunks: Iterable[bytes]) -> list[Item]:
        items = [item for chunk in chunks for item in decoder.items(chunk)]
        items += decoder.finish_items()
        return [(offset, size, self._outcome(item)) for offset, size, item in items]

    def _outcome(self, item: Any) -> Outcome:
        if isinstance(item, DecodeError | self.module.DecodeError):
            return described(item)
        return self.line(item.value if isinstance(item, Node) else item)

    def line(self, frame: Any) -> str:
        """Return a frame as one line of JSON; equal lines are equal frames, NaN and -0.0 included. A
        `frame` of None is one without a message.
        """
        return json.dumps(LACKING if frame is None else frame_record(self.schema, frame))

    # ---- encoding

    def compiled_encode(self, frame: Any) -> Outcome:
        try:
            return bytes(self.module.encode(frame))
        except self.module.EncodeError as error:
            return described(error)

    def reference_encode(self, frame: Any) -> Outcome:
        try:
            return write_frame(self.schema, frame, Options())
        except EncodeError as error:
            return described(error)

    def made(self, value: Any) -> Any:
        """Return a tree value as an object of the generated classes."""
        match value:
            case FrameValue():
                header = {header_attribute(name): self.made(part) for name, part in value.fields.items()}
                return self.class_of(value.name)(self.made(value.message), **header)
            case Record():
                fields = {attribute(name): self.made(part) for name, part in value.fields.items()}
                return self.class_of(value.name)(**fields)
            case list():
                return [self.made(item) for item in value]
            case _:
                return value

    def class_of(self, name: str) -> Any:
        return getattr(self.module, python_name(name, Namespace.MODULE, granted=("Frame",)))


def attribute(name: str) -> str:
    """Return a field's name as Python has it."""
    return python_name(name, Namespace.MEMBER)


def header_attribute(name: str) -> str:
    """Return a frame's own field as Python has it: it is an argument of `encode` too."""
    return python_name(name, Namespace.FRAME_MEMBER)


def described(error: Any) -> dict[str, Any]:
    """Return an error as plain data; the text of an EncodeError may name the class of a value, which differs."""
    if isinstance(error, ValueError) and hasattr(error, "at"):
        return {"error": type(error).__name__, "text": str(error), **vars(error)}
    return {"error": type(error).__name__, "code": error.code, "path": error.path}


def is_refusal(outcome: Outcome) -> bool:
    return isinstance(outcome, dict)


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    """Return the chunks between the places, which are taken modulo the size; some may be empty."""
    ends = sorted(place % (len(data) + 1) for place in places)
    return [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]
