"""The examples of a file, held to the careful codec: what a `.wire` file promises about bytes is true before a build."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from wiregen import model as m
from wiregen.diagnostics import Report, Span
from wiregen.plan import lower
from wiregen.runtime.context import Context
from wiregen.runtime.errors import DecodeError, EncodeError
from wiregen.runtime.explain import explain
from wiregen.runtime.options import Options
from wiregen.runtime.records import frame_record
from wiregen.runtime.tree import FrameValue, Record, Variety
from wiregen.runtime.writing import write_frame
from wiregen.walk import flat_fields

__all__ = ["check_examples", "examples_in_bytes"]


def check_examples(protocol: m.Protocol, origins: Mapping[str, Span], report: Report) -> None:
    """Report every example that does not hold."""
    if not protocol.examples:
        return
    bench = _Bench(protocol)
    for example in protocol.examples:
        fault = bench.fault(example)
        if fault is not None:
            message, help_ = fault
            report.error(
                "WG5004",
                f"the example does not hold: {message}",
                origins.get(example.path),
                help=help_,
            )


def examples_in_bytes(protocol: m.Protocol) -> Iterator[dict[str, Any]]:
    """Yield each example that holds as bytes: what it is called, what is said before it and by whom, and what it violates."""
    bench = _Bench(protocol) if protocol.examples else None
    for example in protocol.examples:
        assert bench is not None
        yield {
            "name": example.name,
            "data": bytes.fromhex(example.hex),
            "role": bench.sender(example),
            "variant": example.variant,
            "before": tuple(bench.scene(example)),
            "violation": example.violation,
            "is_opening": example.value is not None and _is_preamble(example.value),
        }


Fault = tuple[str, str | None]


class _Bench:
    """Tries the examples of one protocol."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._protocol = protocol
        self._plan = lower(protocol)
        self._values = _Values(protocol)
        self._frames = {frame.name: frame for frame in protocol.frames}

    def fault(self, example: m.Example) -> Fault | None:
        """Return what does not hold, and the way out; None where all does."""
        data = bytes.fromhex(example.hex)
        options = Options(variant=example.variant, context=Context(self._plan))
        try:
            self._set_scene(example, options)
            if example.form == "violates":
                return self._not_refused(example, data, options)
            assert example.value is not None
            return self._unequal(example, example.value, data, options)
        except EncodeError as error:
            return f"the value cannot be written: {error}", None

    def scene(self, example: m.Example) -> Iterator[tuple[str | None, bytes]]:
        """Yield what is said before an example, and by whom."""
        return self._scene(example, Options(variant=example.variant, context=Context(self._plan)))

    def _set_scene(self, example: m.Example, options: Options) -> None:
        for _ in self._scene(example, options):
            pass

    def _scene(self, example: m.Example, options: Options) -> Iterator[tuple[str | None, bytes]]:
        for construct in example.scene:
            sender = self._sender(construct)
            data = self._write(self._values.frame(construct), sender, options)
            frame = self._read(data, sender, options, is_preamble=_is_preamble(construct))
            assert isinstance(options.context, Context)
            if isinstance(frame, FrameValue):
                options.context.take(frame, options)
            yield sender, data

    def _not_refused(self, example: m.Example, data: bytes, options: Options) -> Fault | None:
        try:
            self._read(data, self.sender(example), options)
        except DecodeError as error:
            if example.violation in (error.code, error.rule):
                return None
            return f"the bytes are refused with `{error.code}` at {error.at}", f"{error}"
        return "the bytes are read without an error", None

    def _unequal(
        self, example: m.Example, construct: m.Construct, data: bytes, options: Options
    ) -> Fault | None:
        sender = self._sender(construct)
        value, is_preamble = self._values.frame(construct), _is_preamble(construct)
        try:
            read = self._read(data, sender, options, is_preamble=is_preamble)
        except DecodeError as error:
            return f"the bytes are refused with `{error.code}` at {error.at}", f"{error}"
        written = self._write(value, sender, options)
        if example.form == "both" and written != data:
            return _differing(written, data)
        again = self._read(written, sender, options, is_preamble=is_preamble)
        if _without_absence(read) != _without_absence(again):
            return "the bytes are read as another value", f"read: {self._shown(read)}"
        return None

    def _read(self, data: bytes, sender: str | None, options: Options, *, is_preamble: bool = False) -> Any:
        options.from_role = sender
        node = explain(self._plan, data, 0, len(data), options, is_preamble=is_preamble)
        if node.end != len(data):
            raise DecodeError("trailing_bytes", at=node.end, expected="the end", found="more bytes")
        return node.value

    def _write(self, value: Any, sender: str | None, options: Options) -> bytes:
        options.from_role = sender
        return write_frame(self._plan, value, options, compression=0)

    def _shown(self, value: Any) -> str:
        """Return a frame as one line of JSON, cut where it is long."""
        text = json.dumps(frame_record(self._plan, value))
        return text if len(text) <= 200 else f"{text[:200]}…"

    def sender(self, example: m.Example) -> str | None:
        """Return who sends an example; None: it does not say."""
        return self._sender(example.value) if example.value is not None else None

    def _sender(self, construct: m.Construct) -> str | None:
        if construct.what == "frame":
            frame = self._frames[construct.name]
            inner = next((item.value for item in construct.fields if item.name == frame.message), None)
            return frame.role or (self._sender(inner) if isinstance(inner, m.Construct) else None)
        senders: tuple[m.Message | m.Preamble, ...] = (*self._protocol.messages, *self._protocol.preambles)
        roles = {each.name: each.role for each in senders}
        return roles.get(construct.name) or (self._protocol.roles or (None,))[0]


def _is_preamble(construct: m.Construct) -> bool:
    return construct.what == "preamble"


def _differing(written: bytes, data: bytes) -> Fault:
    pairs = enumerate(zip(written, data, strict=False))
    at = next((offset for offset, (one, other) in pairs if one != other), min(len(written), len(data)))
    return f"the value is written with other bytes, from offset {at} on", f'written: x"{written[:64].hex()}"'


def _without_absence(value: Any) -> Any:
    """Return a frame as if all its trailing fields had been there: what is absent has its default anyway."""
    if isinstance(value, FrameValue):
        message = _without_absence(value.message)
        return (value.name, value.fields, message)
    if isinstance(value, Record):
        return (value.name, value.fields)
    return value


class _Values:
    """Makes the values that an example's constructors stand for."""

    def __init__(self, protocol: m.Protocol) -> None:
        owners: tuple[m.Struct | m.Message | m.Frame | m.Preamble | m.Variety, ...] = (
            *protocol.structs,
            *protocol.messages,
            *protocol.frames,
            *protocol.preambles,
            *(variety for union in protocol.unions for variety in union.varieties),
        )
        self._types = {field.path: field.type for owner in owners for field in flat_fields(owner.fields)}
        self._protocol = protocol

    def frame(self, construct: m.Construct) -> FrameValue | Record:
        """Return a frame; a message stands for its frame with defaults."""
        if construct.what == "message":
            return FrameValue(self._frame_of(construct.name).name, {}, self._value(construct, None))
        value = self._value(construct, None)
        assert isinstance(value, FrameValue | Record)
        return value

    def _frame_of(self, message: str) -> m.Frame:
        role = next(each.role for each in self._protocol.messages if each.name == message)
        return next(
            frame
            for frame in self._protocol.frames
            if frame.role is None or role is None or frame.role == role
        )

    def _value(self, value: m.ExampleValue, type_: m.Type | None) -> Any:
        match value:
            case m.Construct():
                return self._construct(value)
            case m.Values():
                item = type_.item if isinstance(type_, m.List) else None
                return [self._value(each, item) for each in value.items]
            case m.Null():
                return None
            case m.Octets():
                data = bytes.fromhex(value.hex)
                return UUID(bytes=data) if isinstance(type_, m.Uuid) else data
            case _:
                return value.value

    def _construct(self, construct: m.Construct) -> FrameValue | Record | Variety:
        name = construct.name
        prefix = f"{construct.union}.{name}" if construct.union else name
        fields = {
            item.name: self._value(item.value, self._types.get(f"{self._protocol.path}.{prefix}.{item.name}"))
            for item in construct.fields
        }
        match construct.what:
            case "frame":
                body = next(frame.message for frame in self._protocol.frames if frame.name == name)
                message = fields.pop(body, None) if body else None
                return FrameValue(name, fields, message, body=body)
            case "variety":
                code = self._code(construct)
                return Variety(construct.union or "", name, fields, code)
            case "message" | "struct" | "preamble":
                return Record(name, fields)

    def _code(self, construct: m.Construct) -> int:
        union = next(union for union in self._protocol.unions if union.name == construct.union)
        variety = next(variety for variety in union.varieties if variety.name == construct.name)
        return variety.codes[0].low
