"""Checks the examples of a file with the reference codec, so that a build only starts from true examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from wiregen.language.diagnostics import Report, Span
from wiregen.language.examples.construction import Constructs
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_record
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.tree import FrameValue, Record
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.stream.context import Context
from wiregen.schema import model as m
from wiregen.schema.lowering import lower

__all__ = ["check_examples", "examples_in_bytes"]


def check_examples(protocol: m.Protocol, origins: Mapping[str, Span], report: Report) -> None:
    """Report every example whose bytes or violation are not as written."""
    if not protocol.examples:
        return
    bench = _Bench(protocol)
    for example in protocol.examples:
        fault = bench.fault(example)
        if fault is not None:
            message, help_ = fault
            report.error(
                "WG5004",
                f"the example is wrong: {message}",
                origins.get(example.path),
                help=help_,
            )


def examples_in_bytes(protocol: m.Protocol) -> Iterator[dict[str, Any]]:
    """Yield each correct example with its name, bytes, sender, preceding messages with their senders, and violation."""
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
    """Checks the examples of one protocol."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._schema = lower(protocol)
        self._values = Constructs(protocol)

    def fault(self, example: m.Example) -> Fault | None:
        """Return the error of an example and the way to fix it, or None if it is correct."""
        data = bytes.fromhex(example.hex)
        options = Options(variant=example.variant, context=Context(self._schema))
        try:
            self._set_scene(example, options)
            if example.form == "violates":
                return self._not_refused(example, data, options)
            assert example.value is not None
            return self._unequal(example, example.value, data, options)
        except EncodeError as error:
            return f"the value cannot be written: {error}", None

    def scene(self, example: m.Example) -> Iterator[tuple[str | None, bytes]]:
        """Yield the messages before an example as bytes, each with its sender."""
        return self._scene(example, Options(variant=example.variant, context=Context(self._schema)))

    def _set_scene(self, example: m.Example, options: Options) -> None:
        for _ in self._scene(example, options):
            pass

    def _scene(self, example: m.Example, options: Options) -> Iterator[tuple[str | None, bytes]]:
        for construct in example.scene:
            sender = self._values.sender(construct)
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
        sender = self._values.sender(construct)
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
        node = explain(self._schema, data, 0, len(data), options, is_preamble=is_preamble)
        if node.end != len(data):
            raise DecodeError("trailing_bytes", at=node.end, expected="the end", found="more bytes")
        return node.value

    def _write(self, value: object, sender: str | None, options: Options) -> bytes:
        options.from_role = sender
        return write_frame(self._schema, value, options, compression=0)

    def _shown(self, value: object) -> str:
        """Return a frame as one line of JSON, cut where it is long."""
        text = json.dumps(frame_record(self._schema, value))
        return text if len(text) <= 200 else f"{text[:200]}…"

    def sender(self, example: m.Example) -> str | None:
        """Return the role that sends an example, or None if the example does not say."""
        return self._values.sender(example.value) if example.value is not None else None


def _is_preamble(construct: m.Construct) -> bool:
    return construct.what == "preamble"


def _differing(written: bytes, data: bytes) -> Fault:
    pairs = enumerate(zip(written, data, strict=False))
    at = next((offset for offset, (one, other) in pairs if one != other), min(len(written), len(data)))
    return f"the value is written with other bytes, from offset {at} on", f'written: x"{written[:64].hex()}"'


def _without_absence(value: object) -> object:
    """Return a frame as if all its trailing fields had been there: absent ones have their defaults anyway."""
    if isinstance(value, FrameValue):
        message = _without_absence(value.message)
        return (value.name, value.fields, message)
    if isinstance(value, Record):
        return (value.name, value.fields)
    return value
