"""Properties of the package of any schema: both codecs agree, JSON lines and the other serializations are lossless."""

from __future__ import annotations

import contextlib
import copy
import inspect
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from tests.property import grown, values
from tests.property.codecs import Outcome, cut, described
from tests.property.test_serializations import absences

from wiregen.conformance.samples import SampleBasis
from wiregen.formats.jsonl import LineEncoder, dumps, loads, place_of
from wiregen.formats.line_maker import LineMaker
from wiregen.formats.plain_lines import CompiledLines
from wiregen.formats.plain_records import PlainRecords
from wiregen.runtime.codec.errors import DecodeError, EncodeError, check_end
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_record
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.objects import build
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import Boolean, EnumReference, Float, Type
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wiregen.schema.copies import replace

__all__ = ["Checks", "Layout", "check_package"]

_UNFIT: tuple[Any, ...] = (
    *(None, True, 0, -1, 300, 2**70, 1.5, "", "abc", "\ud800"),
    *(b"", b"abc", b"x" * 300, [], [1], [None], object()),
)
_LIMITS = {"frame": 30, "count": 1, "messages": 3, "depth": 0, "inflated": 5}


class _Int(int):
    """An integer of a class of its own."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The sender, the layout variant, and the earlier messages, as the snapshot of a context."""

    role: str | None = None
    variant: str | None = None
    known: dict[str, Any] = field(default_factory=dict)
    is_strict: bool = False
    limits: dict[str, int] = field(default_factory=dict)


class _Codec:
    """The native codec of a generated package, as lines take it."""

    name = "native"

    def __init__(self, module: Any, schema: Schema) -> None:
        self.classes = vars(module)
        self._encode = module.encode
        self._known = frozenset(inspect.signature(module.encode).parameters)
        self._schema = schema

    def encoder(self, options: Options) -> Callable[[object], bytes]:
        told = {"from_role": options.from_role, "variant": options.variant}
        return partial(self._encode, **{name: told[name] for name in told if name in self._known})

    def write(self, value: object, options: Options) -> bytes:
        return self.encoder(options)(build(self._schema, value, dict(self.classes)))


class _Answers:
    """A context that has an answer to everything, and remembers it."""

    def __init__(self, plan: Schema, dice: random.Random) -> None:
        self._schema = plan
        self._dice = dice
        self.entries: dict[tuple[Any, ...], Any] = {}

    def lookup(self, name: str, keys: tuple[Any, ...], sender: str | None) -> Any:
        context = self._schema.contexts[name]
        place = (name, context.role or sender, *keys)
        if place not in self.entries:
            self.entries[place] = self._entry(context.type)
        return self.entries[place]

    def _entry(self, type_: Type) -> Any:
        match type_:
            case Boolean():
                return self._dice.random() < 0.5
            case EnumReference(name):
                return self._dice.choice(self._schema.enums[name].members).value
            case Float():
                return type_.definition.held(self._dice.choice((0.0, -0.0, 0.1, 1.0, 1e-50, -2.5, 1e10)))
            case _:
                return self._dice.choice((0, 1, 2, 5))

    def snapshot(self) -> dict[str, Any]:
        found: dict[str, Any] = {name: [] for name in self._schema.contexts}
        for (name, *key), value in self.entries.items():
            found[name].append([*key, value])
        return found


def check_package(module: Any, plan: Schema, others: dict[str, Any], seed: str, n_values: int) -> int:
    """Check one package in all its layouts; return how many values were checked."""
    checks = Checks(module, plan, others, random.Random(seed))
    return sum(checks.check_layout(layout, n_values) for layout in checks.layouts())


class Checks:
    """One generated package beside the reference codec of its plan."""

    def __init__(self, module: Any, plan: Schema, others: dict[str, Any], dice: random.Random) -> None:
        self.module = module
        self.schema = plan
        self.others = others
        self.dice = dice
        self.codec = _Codec(module, plan)
        self._parameters: dict[Any, frozenset[str]] = {}
        self._basis = SampleBasis(schema=plan)

    def layouts(self) -> Iterator[Layout]:
        frames = list(self.schema.frames.values())
        senders = dict.fromkeys(frame.role for frame in frames)
        roles = list(senders) if None not in senders else [None, *self.schema.roles]
        first, second = (self.schema.codes.get(role, {}) for role in self.schema.roles)
        if any(
            second.get(code, name) != name for code, name in first.items()
        ):  # the sender tells what is meant
            roles = list(self.schema.roles)
        for variant in (None, *self.schema.variants):
            yield from (Layout(role, variant) for role in roles)

    @cached_property
    def _has_context(self) -> bool:
        return hasattr(self.module, "Context")

    # ---- both codecs

    def _told(self, function: Any, layout: Layout) -> dict[str, Any]:
        """Return those options of a layout that a generated function has."""
        if function not in self._parameters:
            self._parameters[function] = frozenset(inspect.signature(function).parameters)
        options = {"variant": layout.variant, "strict": layout.is_strict}
        options |= {"limits": self.module.Limits(**layout.limits)} if layout.limits else {}
        options |= {"context": self._context(layout)} if self._has_context else {}
        options |= {"from_role": layout.role}
        return {name: value for name, value in options.items() if name in self._parameters[function]}

    def _context(self, layout: Layout) -> Any:
        return self._filled(self.module.Context(), layout)

    def _filled(self, context: Any, layout: Layout) -> Any:
        if layout.known:
            context.restore(copy.deepcopy(layout.known))
        return context

    def _options(self, layout: Layout) -> Options:
        context = self._filled(Context(self.schema, limits=layout.limits), layout)
        return Options(
            layout.role,
            context=context,
            limits=layout.limits,
            strict=layout.is_strict,
            variant=layout.variant,
        )

    def compiled(self, data: bytes, layout: Layout) -> tuple[Outcome, Any]:
        try:
            frame = self.module.decode(data, **self._told(self.module.decode, layout))
        except self.module.DecodeError as error:
            return described(error), None
        return self._line(frame, layout), frame

    def reference(self, data: bytes, layout: Layout) -> Outcome:
        try:
            node = explain(self.schema, data, 0, len(data), self._options(layout))
            check_end(node.end, len(data))
        except DecodeError as error:
            return described(error)
        return self._line(node.value, layout)

    def compiled_encode(self, frame: Any, layout: Layout) -> Outcome:
        encode = self.module.encode
        try:
            return bytes(encode(frame, **self._told(encode, layout)))
        except self.module.EncodeError as error:
            return described(error)

    def reference_encode(self, frame: Any, layout: Layout) -> Outcome:
        try:
            return write_frame(self.schema, frame, self._options(layout))
        except EncodeError as error:
            return described(error)

    def _line(self, frame: Any, layout: Layout) -> str:
        return dumps(_plain(frame_record(self.schema, frame, variant=layout.variant)))

    # ---- checks

    def check_layout(self, layout: Layout, n_values: int) -> int:
        found = []
        for _ in range(n_values):
            answers = _Answers(self.schema, self.dice)
            options = Options(layout.role, context=answers, variant=layout.variant)
            for value, data in grown.frames(self.schema, self.dice, 1, options, self._basis):
                known = answers.snapshot() if self.schema.contexts else {}
                own = replace(layout, known=known)
                self.check_value(value, data, own)
                found.append(data)
        self.check_stream(b"".join(found[:4]), layout)
        self.check_noise(layout)
        return len(found)

    def check_value(self, value: Any, data: bytes, layout: Layout) -> None:
        """Check a value that can be written, its bytes, and the same damaged."""
        frame = build(self.schema, value, vars(self.module))
        written = self.reference_encode(frame, layout)
        same("compiled and reference encoder", self.compiled_encode(frame, layout), written)
        same("encoder and its bytes", written, data)
        outcome = self.check_bytes(data, layout)
        if isinstance(outcome, dict):
            same(
                "a written frame is refused only for a limit, or for what is joined of it",
                self._is_excused(outcome),
                True,
                outcome,
            )
            return
        decoded = self.compiled(data, layout)[1]
        same("decode, then encode", self.compiled_encode(decoded, layout), data)
        self.check_line(decoded, data, layout)
        self.check_dict(decoded)
        self.check_others(decoded, data, layout)
        self.check_prefixes(data, layout)
        self.check_damaged(data, layout)
        self.check_given(decoded, layout)

    def check_given(self, frame: Any, layout: Layout) -> None:
        """Check values of other classes, and floats between those of their bytes: refused, or written and read."""
        for place in reversed([*values.spots(frame)]):
            if self.dice.random() < 0.4:
                values.put(place, self._given(values.at(place)))
        written = self.compiled_encode(frame, layout)
        same("compiled and reference encoder", written, self.reference_encode(frame, layout), repr(frame))
        if isinstance(written, bytes):
            outcome = self.check_bytes(written, layout)
            is_read = not isinstance(outcome, dict) or self._is_excused(outcome)
            same("what is written can be read", is_read, True, outcome, repr(frame))

    def _given(self, value: Any) -> Any:
        """Return a value that a caller may give in the place of one that was read."""
        match value:
            case bool():
                return int(value)
            case int():
                return _Int(value)
            case float() if value.is_integer() and self.dice.random() < 0.3:
                return int(value)
            case float():
                return self.dice.choice((value * (1 - 2**-40), value * (1 + 2**-40), 1e-50, value))
            case bytes():
                return self.dice.choice((bytearray, memoryview))(value)
            case str():
                return "".join(map(_as_pair, value))
            case list():
                return tuple(value)
            case _:
                return value

    def _is_excused(self, outcome: dict[str, Any]) -> bool:
        return outcome["code"] in ("limit_exceeded", "too_deep") or self._is_in_join(outcome)

    def _is_in_join(self, outcome: dict[str, Any]) -> bool:
        """Return whether a refusal is in reassembled bytes: an encoder writes a fragment, and does not know
        the message that it completes.
        """
        path = outcome["path"] or ""
        return any(path == name or path.startswith(f"{name}.") for name in self.schema.joins)

    def check_bytes(self, data: bytes, layout: Layout) -> Outcome:
        outcome, frame = self.compiled(data, layout)
        if frame is not None:
            self.check_plain(frame, data, layout)
        if self.schema.joins:  # what is joined is read by decoders alone in the reference codec
            self.check_chunks(data, [data], layout)
            return outcome
        same("compiled and reference decoder", outcome, self.reference(data, layout), data.hex())
        return outcome

    def check_line(self, frame: Any, data: bytes, layout: Layout) -> None:
        """Check that the JSON line of a frame gives back its bytes, without having to hold them where it is canonical."""
        if self.schema.contexts or getattr(frame, "part", None) is not None:
            return
        maker = LineMaker(self.schema, variant=layout.variant)
        line = loads(dumps(maker.decoded(frame, data, offset=0, role=layout.role)))
        same("a frame that was written is canonical", line.get("canonical", True), True, line)
        same(
            "JSON line, then encode",
            LineEncoder(self.schema, variant=layout.variant).encode(line),
            data,
            line,
        )
        encoder = LineEncoder(self.schema, variant=layout.variant, is_canonical=True)
        same("JSON line, then encode --canonical", encoder.encode(line), data, line)

    def check_plain(self, frame: Any, data: bytes, layout: Layout) -> None:
        """Check that a line that is not read to be proven is the same as one that is."""
        if not PlainRecords(self.schema, layout.variant, self.codec.classes).holds(frame):
            return
        makers = (
            CompiledLines(self.schema, self.codec, variant=layout.variant),
            LineMaker(self.schema, variant=layout.variant, carrier=self.codec),
        )
        place = place_of(0, len(data), layout.role, None, None)
        lines = [maker.decoded_text(frame, data, place) for maker in makers]
        same("a line of a plain record", *lines, data.hex())

    def check_dict(self, frame: Any) -> None:
        message = frame.message
        if hasattr(message, "to_dict") and hasattr(type(message), "from_dict"):
            again = type(message).from_dict(message.to_dict())
            same("to_dict, then from_dict", numbers(again), numbers(message))

    def check_others(self, frame: Any, data: bytes, layout: Layout) -> None:
        for name, module in self.others.items():
            try:
                octets = module.encode(frame, **self._told(module.encode, layout))
            except module.EncodeError as error:
                same(
                    f"{name} refuses what it cannot carry alone",
                    error.code in ("unrepresentable", "limit_exceeded"),
                    True,
                    str(error),
                )
                continue
            again = module.decode(octets, **self._told(module.decode, layout))
            same(f"{name}, then back", self._line(again, layout), self._line(frame, layout), octets.hex())
            same(f"{name}, then native", self.compiled_encode(again, layout), data)
            same(f"{name}: what is absent", absences(again), absences(frame))
            for mutant in (self.damaged(octets) for _ in range(2)):
                with contextlib.suppress(module.DecodeError):
                    module.decode(mutant, **self._told(module.decode, layout))

    def check_prefixes(self, data: bytes, layout: Layout) -> None:
        if len(data) > 30:
            return
        for size in range(len(data)):
            outcome = self.check_bytes(data[:size], layout)
            same("a prefix is refused", isinstance(outcome, dict), True, data[:size].hex())
            if isinstance(outcome, dict):
                same("a prefix asks for more", outcome["error"], "NeedMoreData", data[:size].hex())
                same("no more than there is", 0 < outcome["needed"] <= len(data) - size, True, outcome)

    def check_damaged(self, data: bytes, layout: Layout) -> None:
        layouts = (layout, replace(layout, is_strict=True), replace(layout, limits=_LIMITS))
        for own in layouts:
            mutant = self.damaged(data)
            outcome = self.check_bytes(mutant, own)
            _, frame = self.compiled(mutant, own)
            if frame is not None and not isinstance(outcome, dict):
                self.check_refusal(frame, layout)
                self.check_spoiled(frame, layout)

    def check_refusal(self, frame: Any, layout: Layout) -> None:
        same(
            "compiled and reference encoder",
            self.compiled_encode(frame, layout),
            self.reference_encode(frame, layout),
            repr(frame),
        )

    def check_spoiled(self, frame: Any, layout: Layout) -> None:
        places = list(values.spots(frame))
        if places:
            values.put(self.dice.choice(places), copy.copy(self.dice.choice(_UNFIT)))
            self.check_refusal(frame, layout)

    def check_noise(self, layout: Layout) -> None:
        for _ in range(3):
            self.check_bytes(self.dice.randbytes(self.dice.randrange(30)), layout)

    def check_stream(self, data: bytes, layout: Layout) -> None:
        """Check that both decoders find the same in a stream, whole, byte by byte, and damaged."""
        for stream in (data, self.damaged(data)):
            pieces = (
                [bytes([byte]) for byte in stream]
                if len(stream) < 200
                else cut(stream, [self.dice.randrange(len(stream)) for _ in range(9)])
            )
            found = self.check_chunks(stream, [stream], layout)
            same(
                "a stream in one piece and in many",
                self.check_chunks(stream, pieces, layout),
                found,
                stream.hex(),
            )

    def check_chunks(
        self, stream: bytes, chunks: list[bytes], layout: Layout
    ) -> list[tuple[int, int, Outcome]]:
        found = self._items(self._reference_decoder(layout), chunks, layout)
        made = self.module.Decoder(errors="yield", **self._told(self.module.Decoder, layout))
        same("compiled and reference stream decoder", self._items(made, chunks, layout), found, stream.hex())
        same("items tile the stream", sum(size for _, size, _ in found), len(stream), found, stream.hex())
        return found

    def _reference_decoder(self, layout: Layout) -> Any:
        options = self._options(layout)
        known: Any = options.context
        return reference_decoder(self.schema, options, "yield", context=known)

    def _items(self, decoder: Any, chunks: list[bytes], layout: Layout) -> list[tuple[int, int, Outcome]]:
        items = [item for chunk in chunks for item in decoder.items(chunk)]
        items += decoder.finish_items()
        return [(offset, size, self._outcome(item, layout)) for offset, size, item in items]

    def _outcome(self, item: Any, layout: Layout) -> Outcome:
        if isinstance(item, DecodeError | self.module.DecodeError):
            return described(item)
        return self._line(item.value if isinstance(item, Node) else item, layout)

    def damaged(self, data: bytes) -> bytes:
        """Return bytes with one or two things changed, taken out, put in or cut off."""
        for _ in range(self.dice.randint(1, 2)):
            data = self._changed(data)
        return data

    def _changed(self, data: bytes) -> bytes:
        place, other = self.dice.randrange(len(data) or 1), self.dice.randbytes(self.dice.choice((1, 2, 4)))
        number = bytes([self.dice.choice((0, 1, 2, 127, 128, 255))])
        changes = (
            data[:place] + number + data[place + 1 :],
            data[:place] + data[place + len(other) :],
            data[:place] + other + data[place:],
            data[:place],
            data + other,
        )
        return self.dice.choice(changes)


def _plain(value: Any) -> Any:
    """Return a record with NaN as text: JSON lines have it as null beside the bytes."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return repr(value) if isinstance(value, float) else value


def _as_pair(character: str) -> str:
    """Return the two surrogates of a character beyond 16 bits; any other as it is."""
    rest = ord(character) - 0x10000
    return character if rest < 0 else chr(0xD800 + (rest >> 10)) + chr(0xDC00 + (rest & 0x3FF))


def numbers(message: object) -> str:
    """Return the text of a message, with members of enums as numbers: where other integers are allowed too,
    a dict does not distinguish them.
    """
    return re.sub(r"<\w+\.\w+: (-?\d+)>", r"\1", repr(message))


def same(what: str, found: Any, expected: Any, *about: Any) -> None:
    """Refuse two outcomes that differ, and show both."""
    if found != expected:
        raise AssertionError(
            "\n".join(
                [
                    f"{what}:",
                    f"  found    {found!r}",
                    f"  expected {expected!r}",
                    *(f"  {each!r}" for each in about),
                ]
            )
        )
