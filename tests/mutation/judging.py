"""What a generated module makes of a vector: everything that a caller can see, and whether the fast code did it alone.

A fault in fast code that makes it give up is invisible to callers, for the careful codec then does the work; it would cost a user speed
and nothing else. `Outcome` tells such faults too, by counting how often the careful codec was asked.
"""

from __future__ import annotations

import copy
import inspect
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType, ModuleType
from typing import Any, Final, TypeAlias

from wiregen.vectors.format import Invalid, Sent, Trace, Unwritable, Valid, expanded, octets

__all__ = ["Hung", "Judge", "View", "in_time"]

Outcome: TypeAlias = tuple[Any, ...]
_LONGEST_BYTEWISE: Final = 600
_PREFIXES: Final = 24
_ROADS: Final[tuple[dict[str, bool], ...]] = ({}, {"bounded": True}, {"strict": True})


class Hung(BaseException):
    """No answer in time. No `Exception`: code that catches those must not catch this."""


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """Raise Hung in what takes longer; main thread only."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Hung

    kept = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, kept)


@dataclass(frozen=True, slots=True)
class View:
    """One way of looking at a vector."""

    vector: str
    size: int
    look: Callable[[], Outcome]


class Judge:
    """All views of all vectors of one protocol's module. The objects that are encoded are made before any fault is planted."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.careful = 0
        self._has_context = hasattr(module, "Context")
        for name in ("_encode_carefully", "_fault"):
            if hasattr(module, name):
                setattr(module, name, self._counted(getattr(module, name)))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.careful += 1
            return function(*arguments, **named)

        return counted

    @cached_property
    def plan(self) -> dict[str, Any]:
        plan: dict[str, Any] = self.module._load_plan()
        return plan

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

    # ---- bytes ----

    def _of_bytes(self, vector: Valid | Invalid) -> Iterator[View]:
        data = octets(vector.bytes)
        size = len(data)
        for road in _ROADS:
            yield View(vector.id, size, lambda road=road: self._streamed(vector, [data], road))  # type: ignore[misc]
            yield View(vector.id, size + 1, lambda road=road: self._whole(vector, data, road))  # type: ignore[misc]
        if size <= _LONGEST_BYTEWISE:
            bytewise = [data[place : place + 1] for place in range(size)]
            yield View(vector.id, size * 10, lambda: self._streamed(vector, bytewise, {}))
        yield View(vector.id, size * 2, lambda: self._streamed(vector, [data + data], {}))
        yield View(vector.id, size * 2, lambda: self._streamed(vector, [data + data], {"bounded": True}))
        yield View(vector.id, size + 4, lambda: self._messages(vector, data))
        yield View(vector.id, size + 4, lambda: self._whole(vector, memoryview(data), {}))
        yield View(vector.id, size + 4, lambda: self._whole(vector, data, {"stranger": True}))
        if isinstance(vector, Valid):
            step = max(1, size // _PREFIXES)
            if size <= 1 << 16:
                for cut in range(0, size, step):
                    yield View(vector.id, size + 2, lambda cut=cut: self._whole(vector, data[:cut], {}))  # type: ignore[misc]
            yield View(vector.id, size + 3, lambda: self._whole(vector, data + b"\0", {}))
            for frame in self._frames(vector, data):
                yield View(vector.id, size, lambda frame=frame: self._encoded(vector, frame))  # type: ignore[misc]
                for spoilt in _spoilt(frame) if size < _LONGEST_BYTEWISE else ():
                    yield View(vector.id, size * 9, lambda spoilt=spoilt: self._encoded(vector, spoilt))  # type: ignore[misc]

    def _streamed(
        self, vector: Valid | Invalid, chunks: Sequence[bytes], road: Mapping[str, bool]
    ) -> Outcome:
        items: list[Any] = []
        self.careful = 0
        try:
            decoder = self._decoder(vector, road)
            for chunk in chunks:
                items += [_plain(item) for item in decoder.feed(chunk)]
            decoder.finish()
        except Exception as error:
            items.append(_raised(error))
        return (self.careful, items)

    def _messages(self, vector: Valid | Invalid, data: bytes) -> Outcome:
        """Look at the road without frames around messages."""
        self.careful = 0
        try:
            return (self.careful, [_plain(item) for item in self._decoder(vector, {}).messages(data)])
        except Exception as error:
            return (self.careful, _raised(error))

    def _decoder(self, vector: Valid | Invalid, road: Mapping[str, bool]) -> Any:
        options = self._options(self.module.Decoder, vector, road)
        if "context" in options:
            self._prepare(options["context"], vector.before, options)
        return self.module.Decoder(vector.from_role, **options)

    def _prepare(self, context: Any, before: Sequence[Sent], options: Mapping[str, Any]) -> None:
        decoders: dict[str | None, Any] = {}
        for sent in before:
            if sent.from_role not in decoders:
                decoders[sent.from_role] = self.module.Decoder(sent.from_role, **options)
            list(decoders[sent.from_role].feed(octets(sent.bytes)))

    def _options(self, function: Callable[..., Any], vector: Any, road: Mapping[str, bool]) -> dict[str, Any]:
        taken = inspect.signature(function).parameters
        limits = getattr(vector, "limits", {})
        options: dict[str, Any] = {}
        if limits or road.get("bounded"):
            options["limits"] = self.module.Limits(**limits)
        if getattr(vector, "strict", False) or road.get("strict"):
            options["strict"] = True
        if self._has_context:
            options["context"] = self.module.Context(limits=options.get("limits"))
        if vector.variant is not None:
            options["variant"] = vector.variant
        return {name: value for name, value in options.items() if name in taken}

    def _whole(self, vector: Valid | Invalid, data: bytes | memoryview, road: Mapping[str, bool]) -> Outcome:
        return (
            self._called("decode", vector, data, road),
            self._called("decode_message", vector, data, road),
        )

    def _called(
        self, name: str, vector: Valid | Invalid, data: bytes | memoryview, road: Mapping[str, bool]
    ) -> Outcome:
        function = getattr(self.module, name)
        options = self._options(function, vector, road)
        self.careful = 0
        try:
            if "context" in options:
                self._prepare(options["context"], vector.before, options)
            role = "stranger" if road.get("stranger") else vector.from_role
            return (_plain(function(data, from_role=role, **options)), self.careful)
        except Exception as error:
            return (_raised(error), self.careful)

    # ---- values ----

    def _of_values(self, vector: Unwritable) -> Iterator[View]:
        from wiregen.runtime.built import build
        from wiregen.runtime.records import frame_from_record

        for line in vector.frames:
            record = {
                key: expanded(value)
                for key, value in line.items()
                if key in ("message", "header", "fields", "code")
            }
            try:
                value = frame_from_record(self.plan, record, role=vector.from_role, variant=vector.variant)
                frame = build(self.plan, value, vars(self.module))
            except Exception:  # what JSON says cannot even become an object
                continue
            yield View(vector.id, 1_000, lambda frame=frame: self._encoded(vector, frame))  # type: ignore[misc]

    def _frames(self, vector: Valid, data: bytes) -> list[Any]:
        try:
            return list(self._decoder(vector, {}).feed(data))
        except Exception:
            return []

    def _encoded(self, vector: Valid | Unwritable, frame: Any) -> Outcome:
        return tuple(
            self._written(vector, frame, function, compression)
            for function in (self.module.encode, type(frame).encode)
            for compression in (
                (None, 0) if "compression" in inspect.signature(function).parameters else (None,)
            )
        )

    def _written(
        self, vector: Valid | Unwritable, frame: Any, function: Callable[..., Any], compression: int | None
    ) -> Outcome:
        options = self._options(function, vector, {})
        taken = inspect.signature(function).parameters
        if compression is not None:
            options["compression"] = compression
        if "from_role" in taken:
            options["from_role"] = vector.from_role
        self.careful = 0
        try:
            if "context" in options:
                self._prepare(options["context"], vector.before, options)
            return (function(frame, **options), self.careful)
        except Exception as error:
            return (_raised(error), self.careful)

    # ---- which view runs which function ----

    def touched(self, view: View) -> tuple[Outcome, set[CodeType]]:
        """Return what a view shows now, and the code of this module that ran for it."""
        ran: set[CodeType] = set()
        file = self.module.__file__

        def note(frame: FrameType, event: str, _argument: Any) -> None:
            if event == "call" and frame.f_code.co_filename == file:
                ran.add(frame.f_code)

        sys.setprofile(note)
        try:
            outcome = view.look()
        finally:
            sys.setprofile(None)
        return outcome, ran


def _raised(error: Exception) -> tuple[Any, ...]:
    names = ("code", "rule", "path", "frame_offset", "at", "inner_at", "recoverable", "needed")
    return (type(error).__name__, *(getattr(error, name, None) for name in names))


def _plain(value: Any) -> Any:
    """Return a value as plain data that compares by all that it holds."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes | str | int | float | None):
        return repr(value) if isinstance(value, float) else (type(value).__name__, value)
    slots = [slot for class_ in type(value).__mro__ for slot in getattr(class_, "__slots__", ())]
    if not slots:
        return repr(value)
    return (type(value).__name__, [(slot, _plain(getattr(value, slot, None))) for slot in slots])


_OTHER_TYPES: Final = (None, "x", b"x", bytearray(b"x"), 1.5, (), {}, -1, 7, 1 << 70)


def _spoilt(value: Any) -> Iterator[Any]:
    """Yield copies of a frame with one value of it of another type: a caller's mistake, which must be an EncodeError."""
    for name, inner in _parts(value):
        for other in _OTHER_TYPES:
            twin = copy.deepcopy(value)
            _put(twin, name, other)
            yield twin
        for spoilt in _spoilt(inner):
            twin = copy.copy(value)
            _put(twin, name, spoilt)
            yield twin


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, list):
        yield from enumerate(value[:1])
    elif not isinstance(value, bytes | str | int | float | None):
        for class_ in type(value).__mro__:
            for slot in getattr(class_, "__slots__", ()):
                if hasattr(value, slot):
                    yield slot, getattr(value, slot)


def _put(value: Any, name: Any, other: Any) -> None:
    if isinstance(value, list):
        value[name] = other
    else:
        setattr(value, name, other)
