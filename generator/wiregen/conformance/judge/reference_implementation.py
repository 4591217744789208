"""Adapter for the reference codec: it works for any .wire file, without generated code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from wiregen.conformance.judge.implementation import (
    CAPABILITIES,
    NATIVE,
    TOLD,
    Capability,
    CodecSetting,
    DecodedFrames,
    ImplementationError,
    Line,
    Step,
    Traced,
    WrittenFrames,
)
from wiregen.conformance.judge.reference_sessions import traced
from wiregen.conformance.judge.stream_answers import collected
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_from_record, frame_record, part_record
from wiregen.runtime.reference.access import extra
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.sessions.table import Program
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.decoder import Decoder
from wiregen.runtime.stream.reference_decoder import reference_decoder

__all__ = ["ReferenceImplementation"]

_KEYS: Final = ("message", "code", "header", "fields")


class ReferenceImplementation:
    """The decoder of `explain`, and the writer that interprets the same schema."""

    name: Final = "the reference codec"
    serializations: Final = frozenset({NATIVE})
    tells: Final = TOLD

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.can: frozenset[Capability] = frozenset(
            name for name in CAPABILITIES if name != "trace" or schema.sessions
        )

    @cached_property
    def _program(self) -> Program:
        return Program(self.schema)

    def decode(self, setting: CodecSetting, chunks: Sequence[bytes]) -> DecodedFrames:
        decoders = _Decoders(self.schema, setting)
        return collected(decoders.of(setting.role), chunks, lambda node: self._line(node, setting))

    def nodes(self, setting: CodecSetting, data: bytes) -> tuple[Node, ...]:
        """Return the trees of the frames before the first error; their offsets count from the first of the bytes."""
        decoder = _Decoders(self.schema, setting).of(setting.role)
        base = decoder.fed
        items = [item for item in decoder.feed(data) if isinstance(item, Node)]
        return tuple(_moved(node, -base) for node in items)

    def spans(self, setting: CodecSetting, data: bytes) -> frozenset[tuple[str, int, int]]:
        """Return the offsets of all nodes of the frames, by their paths and by their own names."""
        parts = (part for node in self.nodes(setting, data) for part in node.walk() if not part.inner)
        return frozenset((name, part.start, part.end) for part in parts for name in _names(part))

    def encode(self, setting: CodecSetting, frames: Sequence[Line]) -> WrittenFrames:
        context = _Decoders(self.schema, setting).context
        try:
            return WrittenFrames(data=b"".join(self._written(line, setting, context) for line in frames))
        except EncodeError as error:
            return WrittenFrames(code=error.code)

    def trace(self, setting: CodecSetting, steps: Sequence[Step], options: Mapping[str, object]) -> Traced:
        return traced(self._program, setting, steps, options)

    def _line(self, node: Node, setting: CodecSetting) -> Line:
        record = frame_record(self.schema, node.value, variant=setting.variant)
        return record | part_record(self.schema, node.value, variant=setting.variant)

    def _written(self, line: Line, setting: CodecSetting, context: Context) -> bytes:
        value = self._value(line, setting)
        options = Options(setting.role, context=context, limits=dict(setting.limits), variant=setting.variant)
        data = write_frame(self.schema, value, options, compression=0)
        for said in (value, *(self._value(each, setting) for each in _joined(line))):
            if extra(said, "message", None, "") is not None:
                _apply(context, said, setting.role)
        return data

    def _value(self, line: Line, setting: CodecSetting) -> Any:
        record = {key: line[key] for key in _KEYS if key in line}
        return frame_from_record(self.schema, record, role=setting.role, variant=setting.variant)


class _Decoders:
    """The decoders of one connection, after the earlier frames of the setting."""

    def __init__(self, schema: Schema, setting: CodecSetting) -> None:
        self.context = Context(schema, limits=dict(setting.limits))
        self._schema = schema
        self._setting = setting
        self._decoders: dict[str | None, Decoder[Node]] = {}
        for role, data in setting.before:
            said = collected(self.of(role), [data], lambda node: {}, is_all=False)
            if said.fault is not None or said.is_incomplete:
                raise ImplementationError(
                    "failed", f"the earlier bytes of {role} do not conform: {said.fault}"
                )

    def of(self, role: str | None) -> Decoder[Node]:
        if role not in self._decoders:
            setting = self._setting
            options = Options(
                role,
                context=self.context,
                limits=dict(setting.limits),
                strict=setting.is_strict,
                variant=setting.variant,
            )
            self._decoders[role] = reference_decoder(self._schema, options, "yield", context=self.context)
        return self._decoders[role]


def _names(part: Node) -> tuple[str, str, str]:
    """Return the names of a node: a prefix has the path of the field that it belongs to, and a name of its own."""
    return part.path, part.name, f"{part.path} {part.name}"


def _joined(line: Line) -> tuple[Line, ...]:
    joined = line.get("joined")
    return (joined,) if isinstance(joined, dict) else ()


def _apply(context: Context, value: object, role: str | None) -> None:
    try:
        context.apply(value, role)
    except DecodeError as error:
        raise EncodeError(error.code, path=error.path, expected=error.expected) from None


def _moved(node: Node, by: int) -> Node:
    if by:
        for each in node.walk():
            if not each.inner:
                each.start += by
                each.end += by
    return node
