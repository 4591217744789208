"""Good input never enters the reference codec: whole and in chunks, strict and lenient, decoded and encoded."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conformance.test_generated_vectors import Stand, vectors_of
from tests.property.test_serializations import Package

from wiregen.conformance.vectors.format import Valid, octets
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.reference.writing.frames import write_frame
from wireproto import geode, pravega
from wireproto import lumberjack as lj
from wireproto._runtime.codec.errors import DecodeError

VECTORS: Final = Path(__file__).resolve().parents[2] / "generated" / "vectors"
PROTOCOLS: Final = (
    "geode",
    "lumberjack",
    "pravega",
    "pravega_documented",
    "pravega_proposal",
    "reactive_streams",
)
SIZES: Final = (1, 7)
"""Bytes of the chunks of streams."""
_LONGEST: Final = 600
"""Bytes of the longest vector that comes in chunks."""
_ENTRIES: Final = {
    "reading.frames": ("read_frame", "read_preamble", "read_type"),
    "writing.frames": ("write_frame", "write_message"),
    "explain": ("explain", "explain_type"),
}
"""The functions by which the reference codec is entered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """Valid input that the reference codec reads or writes.

    `way`: `decode` or `encode`; `messages`: the classes it happens with, by default any; `vector`: a part
    of the vector's name.
    """

    reason: str
    way: str
    messages: frozenset[str] = frozenset()
    vector: str = ""

    def covers(self, found: Found) -> bool:
        named = not self.messages or bool(self.messages & found.messages)
        return self.way == found.way and self.vector in found.vector and named


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An entry into the reference codec: in which vector, on which way, with which messages."""

    vector: str
    way: str
    messages: frozenset[str]


SCHEMA: Final = Package("pravega").schema
_PARTS: Final = frozenset(("RequestPart", "ResponsePart"))
KNOWN: Final = {
    "geode": (
        HandOver(reason="fragments of a block begin and end anywhere in it", way="decode", messages=_PARTS),
        HandOver(reason="fragments of a block begin and end anywhere in it", way="encode", messages=_PARTS),
    ),
}
"""All hand-overs of good input, by protocol; each happens with some vector."""


class Entries:
    """Counts how often the reference codec is entered, by function."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: Counter[str] = Counter()
        for module, names in _ENTRIES.items():
            defining = importlib.import_module(f"wireproto._runtime.reference.{module}")
            for name in names:
                self._replace(monkeypatch, getattr(defining, name))

    def _replace(self, monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any]) -> None:
        """Count the calls of a function under each name that the runtime has for it."""

        def counted(*arguments: Any, **wishes: Any) -> Any:
            self.seen[function.__name__] += 1
            return function(*arguments, **wishes)

        for module in [found for name, found in sys.modules.items() if name.startswith("wireproto.")]:
            for name, value in list(vars(module).items()):
                if value is function:
                    monkeypatch.setattr(module, name, counted)


def load_runtime() -> None:
    """Import every module of the runtime, so that each name of an entry is found."""
    root = Path(importlib.import_module("wireproto._runtime").__path__[0])
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        importlib.import_module(f"wireproto._runtime.{name}".rstrip("."))


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Entries:
    load_runtime()
    return Entries(monkeypatch)


def stands(protocol: str) -> Iterator[Stand]:
    """Yield each valid vector as its package is used: as it says, and strict and lenient where it is valid so."""
    module, vectors = vectors_of(VECTORS / f"{protocol}.json", Valid)
    for vector in vectors:
        for strict in (False, True):
            stand = Stand(module, replace(vector, strict=strict))
            try:
                frames = list(stand.decoder().feed(octets(vector.bytes)))
            except DecodeError:
                assert strict, vector.id
                continue
            if frames:
                yield stand


def chunks_of(stand: Stand) -> Iterator[list[bytes]]:
    data = octets(stand.vector.bytes)
    yield [data]
    for size in SIZES if len(data) <= _LONGEST else ():
        yield [data[start : start + size] for start in range(0, len(data), size)]


def name_of(frame: Any) -> str:
    return type(getattr(frame, "message", frame)).__name__


def decodings_of(stand: Stand, entries: Entries) -> Iterator[Found]:
    """Yield each way to decode a vector that enters the reference codec."""
    for chunks in chunks_of(stand):
        decoder = Stand(stand.module, stand.vector).decoder()
        entries.seen.clear()
        names = frozenset(name_of(frame) for chunk in chunks for frame in decoder.feed(chunk))
        if entries.seen:
            yield Found(vector=stand.vector.id, way="decode", messages=names)


def encodings_of(stand: Stand, entries: Entries) -> Iterator[Found]:
    """Yield each frame of a vector whose encoding enters the reference codec, in the context that it was read in."""
    stand = Stand(stand.module, stand.vector)
    frames, context = stand.decoder().feed(octets(stand.vector.bytes)), stand.wishes["context"]
    before = None if context is None else context.snapshot()
    for frame in frames:
        after = None if context is None else context.snapshot()
        if context is not None:
            context.restore(before)
        entries.seen.clear()
        stand.called(stand.module.encode, frame)
        if entries.seen:
            yield Found(vector=stand.vector.id, way="encode", messages=frozenset((name_of(frame),)))
        if context is not None:
            context.restore(after)
        before = after


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_good_input_is_handed_over_where_a_reason_is_known_and_nowhere_else(
    protocol: str, entries: Entries
) -> None:
    known = KNOWN.get(protocol, ())
    found = [
        each
        for stand in stands(protocol)
        for each in (*decodings_of(stand, entries), *encodings_of(stand, entries))
    ]
    assert not [each for each in found if not any(case.covers(each) for case in known)]
    assert not [case for case in known if not any(case.covers(each) for each in found)]


def test_an_entry_into_the_reference_codec_is_counted(entries: Entries) -> None:
    with pytest.raises(lj.EncodeError):
        lj.Ack(1 << 64).encode()
    with pytest.raises(DecodeError):
        lj.decode(b"2A")
    assert entries.seen["write_frame"] == entries.seen["read_frame"] == 1


@pytest.mark.parametrize("code", [7777, -5_000, 5, True, None, 1 << 31, "7777"])
@pytest.mark.parametrize("data", [b"", b"abc", bytearray(b"abc"), "abc"])
def test_an_unknown_message_is_written_as_by_the_reference_codec(code: Any, data: Any) -> None:
    def outcome(encode: Callable[[Any], bytes]) -> bytes | tuple[str, str]:
        try:
            return encode(pravega.Frame(pravega.Unknown(code, data)))
        except (pravega.EncodeError, EncodeError) as error:
            return error.code, error.path

    assert outcome(pravega.encode) == outcome(partial(write_frame, SCHEMA))


def test_a_preamble_is_refused_by_limits_that_it_exceeds() -> None:
    connect = geode.Connect(geode.Mode.WHOLE)
    assert connect.encode(limits=geode.Limits(frame=1)) == b"n"
    with pytest.raises(geode.EncodeError) as caught:
        connect.encode(limits=geode.Limits(frame=0))
    assert caught.value.code == "limit_exceeded"
