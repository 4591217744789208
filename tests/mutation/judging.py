"""The observable results of a generated module for a vector, and how often compiled code gave up.

A fault in compiled code that makes it give up is invisible to callers, as the reference codec then does the
work: the verdict is the same, later. So the two cases are distinguished.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from operator import itemgetter
from types import ModuleType
from typing import Any, Final

from tests.built_schema import schema_of

from wiregen.conformance.vectors.format import (
    Hex,
    Invalid,
    Octets,
    Trace,
    Unwritable,
    Valid,
    expanded,
    octets,
)
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.records.frames import frame_from_record
from wiregen.runtime.reference.objects import build
from wiregen.runtime.schema.protocol import Schema
from wiregen.schema.copies import replace

from .hostile import hostile
from .long_lists import with_long_lists, with_short_lists
from .mistakes import OTHER_CODES, OTHER_COUNTS, OTHER_LISTS, OTHER_TYPES, Spoilt, given, parts, twin
from .outcomes import Outcome, plain, raised
from .remembered import Remembered

__all__ = ["Judge", "View"]

_LONGEST_BYTEWISE: Final = 600
_LARGE: Final = 1 << 16
_PREFIXES: Final = 24
_KEPT: Final = 40
_SHOWN: Final = 2
"""Frames in which a field is given other types."""
_LARGEST: Final = 1 << 20
"""Bytes that are looked at in every way."""
_OTHER_NUMBERS: Final = {"absent": OTHER_COUNTS, "code": OTHER_CODES}
"""Further numbers for some attributes."""
_CALLS: Final[tuple[dict[str, bool], ...]] = ({"bounded": True}, {"strict": True})
_ALONE: Final[tuple[dict[str, bool], ...]] = ({"alone": True}, {"alone": True, "bounded": True})
"""Without a context: frames that need one are judged as a stranger would."""


@dataclass(slots=True)
class View:
    """One way of looking at a vector.

    Attributes:
        size: The approximate amount of work.
        kind: The kind of call: views of one vector of the same kind run the same functions, or fewer than
            the first of them.
    """

    vector: str
    size: int
    kind: str
    look: Callable[[], Outcome]


class Judge:
    """All views of all vectors of one protocol's module. The objects that are encoded are made before any fault is planted."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.n_reference = 0
        self._built: dict[tuple[str, int], Any] = {}
        self._replaced: list[Callable[[], None]] = []
        self._spoilt_sites: Counter[Any] = Counter()
        self._has_context = hasattr(module, "Context")
        for holder, name in (
            (module, "_encode_by_reference"),
            (module, "_fault"),
            (module.Decoder, "_built"),
        ):
            if hasattr(holder, name):
                own = getattr(holder, name)
                self._replaced.append(partial(setattr, holder, name, own))
                setattr(holder, name, self._counted(own, is_method=holder is not module))

    def close(self) -> None:
        """Give the module back what counted its calls."""
        for restore in self._replaced:
            restore()

    def seen(self, view: View) -> tuple[Outcome, int]:
        """Return the result that a caller sees, and how often the reference codec was called for it."""
        self.n_reference = 0
        return view.look(), self.n_reference

    def _counted(self, function: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def count() -> None:
            self.n_reference += 1

        def counted(*arguments: Any, **named: Any) -> Any:
            count()
            return function(*arguments, **named)

        return counted if is_method else Remembered(function, count)

    @cached_property
    def schema(self) -> Schema:
        assert self.module.__package__
        return schema_of(self.module.__package__)

    def views(self, vectors: Sequence[Valid | Invalid | Unwritable | Trace]) -> list[View]:
        """Return them, short ones first."""
        found: list[View] = []
        for vector in vectors:
            match vector:
                case Valid() | Invalid():
                    found += self._of_bytes(vector)
                case Unwritable():
                    found += self._of_values(vector)
                case Trace():
                    pass  # sessions have tests of their own
        return sorted(found, key=lambda view: view.size)

    def hostile_views(self, vector: Valid | Invalid, count: int) -> Iterator[View]:
        """Yield views of bytes that are nearly those of a vector; frames that can be read from them are also written."""
        for data in hostile(octets(vector.bytes), count, len(vector.id)):
            changed = replace(vector, bytes=data.hex())
            look = partial(self._both_ways, changed)
            yield View(f"{vector.id} changed into {data.hex()}", len(data), "hostile", look)

    def _both_ways(self, vector: Valid | Invalid) -> Outcome:
        told = (
            *(self._streamed(vector, _at_once, call) for call in ({}, *_CALLS)),
            self._whole(vector, _as_it_is, {"alone": True}),
        )
        frames = self._frames(vector, octets(vector.bytes))
        return (told, [self._encoded(vector, frame) for frame in frames])

    # ---- bytes ----

    def _of_bytes(self, vector: Valid | Invalid) -> Iterator[View]:
        size = _size(vector.bytes)

        def view(kind: str, more: int, look: Callable[..., Outcome], *arguments: Any) -> View:
            return View(vector.id, size + more, kind, lambda: look(vector, *arguments))

        yield view("streamed", 0, self._streamed, _at_once, {})
        yield view("whole", 1, self._whole, _as_it_is, {})
        if size <= _LARGEST:
            for options in _CALLS:
                yield view("streamed", 0, self._streamed, _at_once, options)
                yield view("whole", 1, self._whole, _as_it_is, options)
                yield view("streamed", size, self._streamed, _twice, options)
            for options in ({}, *_CALLS):
                yield view("messages", 4, self._messages, options)
            yield view("whole", 4, self._whole, memoryview, {})
            yield view("stranger", 4, self._whole, _as_it_is, {"stranger": True})
            yield view("stranger", 4, self._whole, _as_it_is, {"stranger": True, "alone": True})
        if self._has_context:
            for options in _ALONE:
                yield view("alone", 2, self._whole, _as_it_is, options)
        if size <= _LONGEST_BYTEWISE:
            yield view("streamed", size * 9, self._streamed, _bytewise, {})
        if isinstance(vector, Valid):
            for cut in range(0, size, max(1, size // _PREFIXES)) if size <= _LARGE else ():
                yield view("whole", 2, self._whole, itemgetter(slice(cut)), {})
                if self._has_context:
                    yield view("alone", 3, self._whole, itemgetter(slice(cut)), _ALONE[0])
            yield view("whole", 3, self._whole, _with_more, {})
        if isinstance(vector, Valid) or vector.frames_before:
            yield from self._of_frames(vector, size)
        elif vector.limits and size <= _LARGE:
            yield view("limited", 5, self._beyond_limits)

    def _beyond_limits(self, vector: Invalid) -> Outcome:
        """Encode what only limits refuse: an encoder that is told those of its reader refuses it too."""
        frames = self._frames(replace(vector, limits={}), octets(vector.bytes))
        return tuple(self._encoded(vector, frame) for frame in frames)

    def _of_frames(self, vector: Valid | Invalid, size: int) -> Iterator[View]:
        for place, frame in enumerate(self._frames(vector, octets(vector.bytes))):
            if size > _LARGE:
                yield View(vector.id, size, f"encoded {place}", partial(self._again, vector, place))
                continue
            yield View(vector.id, size, f"encoded {place}", partial(self._encoded, vector, frame))
            for spoilt in self._spoilt(vector.variant, frame) if size < _LONGEST_BYTEWISE else ():
                yield View(vector.id, size + 50, f"encoded {place}", partial(self._refused, vector, spoilt))

    def _again(self, vector: Valid | Invalid, place: int) -> Outcome:
        frames = self._frames(vector, octets(vector.bytes))
        return self._encoded(vector, frames[place]) if place < len(frames) else ()

    def _streamed(
        self, vector: Valid | Invalid, cut: Callable[[bytes], Sequence[bytes]], call: Mapping[str, bool]
    ) -> Outcome:
        chunks = cut(octets(vector.bytes))
        items: list[Any] = []
        try:
            decoder = self._decoder(vector, call)
            for chunk in chunks:
                items += [plain(item) for item in decoder.feed(chunk)]
            decoder.finish()
        except Exception as error:  # noqa: BLE001 - mutants raise anything
            items.append(raised(error))
        return (items,)

    def _messages(self, vector: Valid | Invalid, call: Mapping[str, bool]) -> Outcome:
        """Test messages without frames around them."""
        data = octets(vector.bytes)
        try:
            return ([plain(item) for item in self._decoder(vector, call).messages(data)],)
        except Exception as error:  # noqa: BLE001 - mutants raise anything
            return (raised(error),)

    def _decoder(self, vector: Valid | Invalid, call: Mapping[str, bool]) -> Any:
        options = self._options(self.module.Decoder, vector, call)
        return self._prepared(vector, options)

    def _prepared(self, vector: Valid | Invalid | Unwritable, options: Mapping[str, Any]) -> Any:
        """Return the decoder of the vector's role, after all that was sent before."""
        decoders: dict[str | None, Any] = {}
        for role, data in (
            *((sent.from_role, octets(sent.bytes)) for sent in vector.before),
            (vector.from_role, b""),
        ):
            if role not in decoders:
                decoders[role] = self.module.Decoder(role, **options)
            list(decoders[role].feed(data))
        return decoders[vector.from_role]

    def _let_know(self, vector: Valid | Invalid | Unwritable, options: Mapping[str, Any]) -> None:
        """Update a context with the earlier messages; functions without a context do not need them."""
        if "context" in options and vector.before:
            known = self._options(self.module.Decoder, vector, {}) | {"context": options["context"]}
            self._prepared(vector, known)

    def _options(self, function: Callable[..., Any], vector: Any, call: Mapping[str, bool]) -> dict[str, Any]:
        taken = _taken(function)
        limits = getattr(vector, "limits", {})
        options: dict[str, Any] = {}
        if limits or call.get("bounded"):
            options["limits"] = self.module.Limits(**limits)
        if getattr(vector, "strict", False) or call.get("strict"):
            options["strict"] = True
        if self._has_context and not call.get("alone"):
            options["context"] = self.module.Context(limits=options.get("limits"))
        if vector.variant is not None:
            options["variant"] = vector.variant
        return {name: value for name, value in options.items() if name in taken}

    def _whole(
        self, vector: Valid | Invalid, change: Callable[[bytes], Any], call: Mapping[str, bool]
    ) -> Outcome:
        data = change(octets(vector.bytes))
        return (
            self._called("decode", vector, data, call),
            self._called("decode_message", vector, data, call),
        )

    def _called(
        self, name: str, vector: Valid | Invalid, data: bytes | memoryview, call: Mapping[str, bool]
    ) -> Outcome:
        function = getattr(self.module, name)
        options = self._options(function, vector, call)
        if call.get("alone") and name == "decode_message":
            options.pop("variant", None)  # with one, a message is that of its frame
        try:
            self._let_know(vector, options)
            role = "stranger" if call.get("stranger") else vector.from_role
            found = plain(function(data, from_role=role, **options))
            return (found, repr(getattr(options.get("context"), "entries", None)))
        except Exception as error:  # noqa: BLE001 - mutants raise anything
            return (raised(error),)

    # ---- values ----

    def _of_values(self, vector: Unwritable) -> Iterator[View]:
        for place in range(len(vector.frames)):
            size = len(str(vector.frames[place])) + (1 << 16 if "'*'" in str(vector.frames[place]) else 0)
            yield View(vector.id, size, "unwritable", partial(self._unwritten, vector, place))

    def _unwritten(self, vector: Unwritable, place: int) -> Outcome:
        if (vector.id, place) not in self._built:
            if len(self._built) > _KEPT:
                self._built.clear()  # some are large
            self._built[vector.id, place] = self._object(vector, place)
        frame = self._built[vector.id, place]
        return () if frame is None else self._encoded(vector, frame)

    def _object(self, vector: Unwritable, place: int) -> Any:
        """Return a frame's object, or None if an object cannot be made of the JSON."""
        long: list[int] = []
        line = with_short_lists(vector.frames[place], long)
        record = {
            key: expanded(value)
            for key, value in line.items()
            if key in ("message", "header", "fields", "code")
        }
        try:
            value = frame_from_record(self.schema, record, role=vector.from_role, variant=vector.variant)
        except EncodeError:
            return None
        return with_long_lists(build(self.schema, value, vars(self.module)), long)

    def _frames(self, vector: Valid | Invalid, data: bytes) -> list[Any]:
        found: list[Any] = []
        try:
            found.extend(self._decoder(vector, {}).feed(data))
        except Exception:  # noqa: BLE001 - mutants raise anything
            return found
        return found

    def _spoilt(self, variant: str | None, frame: Any) -> Iterator[Spoilt]:
        """Yield a caller's mistakes in each field of each class below each message, where vectors show it first."""
        for way, holder, inner in parts(frame, ()):
            site = (variant, type(getattr(frame, "message", frame)), type(holder), way[-1], type(inner))
            self._spoilt_sites[site] += 1
            if self._spoilt_sites[site] > _SHOWN:
                continue
            for other in (*OTHER_TYPES, *_OTHER_NUMBERS.get(way[-1], ())):
                yield Spoilt(frame, way, partial(given, other))
            for make in (
                OTHER_LISTS if isinstance(inner, list) else (twin,) if hasattr(inner, "__slots__") else ()
            ):
                yield Spoilt(frame, way, make)

    def _refused(self, vector: Valid | Invalid, spoilt: Spoilt) -> Outcome:
        return self._encoded(vector, spoilt.made())

    def _encoded(self, vector: Valid | Invalid | Unwritable, frame: Any) -> Outcome:
        """Return the results of encoding a frame in every way: the function, the frame's method, and that
        of the message.
        """
        found = [
            self._written(vector, frame, encoder, {}) for encoder in (self.module.encode, type(frame).encode)
        ]
        if self._has_context:
            found.append(self._written(vector, frame, self.module.encode, {}, alone=True))
        message = getattr(frame, "message", None)
        own = getattr(type(message), "encode", None)
        if own is not None:
            found.append(self._written(vector, message, own, _header_of(frame)))
        return tuple(found)

    def _written(
        self,
        vector: Valid | Invalid | Unwritable,
        value: Any,
        encoder: Callable[..., Any],
        header: Mapping[str, Any],
        *,
        alone: bool = False,
    ) -> Outcome:
        taken = _taken(encoder)
        options = self._options(encoder, vector, {"alone": alone})
        options |= {name: part for name, part in header.items() if name in taken}
        if "from_role" in taken:
            options["from_role"] = vector.from_role
        return tuple(
            self._tried(vector, value, encoder, options | more)
            for more in (({}, {"compression": 0}) if "compression" in taken else ({},))
        )

    def _tried(
        self,
        vector: Valid | Invalid | Unwritable,
        value: Any,
        encoder: Callable[..., Any],
        options: dict[str, Any],
    ) -> Outcome:
        try:
            self._let_know(vector, options)
            return (plain(encoder(value, **options)),)
        except Exception as error:  # noqa: BLE001 - mutants raise anything
            return (raised(error),)


@cache
def _taken(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names that a function takes; its code may be another's now, its signature is not."""
    return frozenset(inspect.signature(function).parameters)


def _size(data: Octets) -> int:
    if isinstance(data, str):
        return len(data) // 2
    return sum(
        len(piece.hex) // 2 if isinstance(piece, Hex) else len(piece.repeat) // 2 * piece.count
        for piece in data
    )


def _at_once(data: bytes) -> list[bytes]:
    return [data]


def _twice(data: bytes) -> list[bytes]:
    return [data + data]


def _bytewise(data: bytes) -> list[bytes]:
    return [data[place : place + 1] for place in range(len(data))]


def _as_it_is(data: bytes) -> bytes:
    return data


def _with_more(data: bytes) -> bytes:
    return data + b"\0"


def _header_of(frame: Any) -> dict[str, Any]:
    return {name: getattr(frame, name) for name in type(frame).__match_args__ if name != "message"}
