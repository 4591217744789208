"""Long lists of small structs take the memory that `wiregen check --verbose` promises; with an error at the end, at most twice as much."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.peaks import peak_of
from tests.property.codecs import Codecs
from tests.property.schemas import built

from wiregen.generate.frontend import load_protocol
from wiregen.language.checker import largest_memory
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

N_ITEMS = 3_000
LIMITS = {"messages": N_ITEMS + 8}
SMALL = 1 << 18
"""Bytes that are promised to nobody: an error and its text, the tables of a codec."""

HEAD = 'wire 1\nprotocol p { source "no document" endian big bits msb roles client, server }\n'
FILTERS = """
limits { frame = 128 KiB }
frame Frame { kind : u4 := code(body)  flags : u4 = 2  length : varint := size(body)  body : match kind in length }
message Subscribe 8 { packet_id : u16 where packet_id > 0  topics : Topic[]  }
struct Topic { filter : utf8[u16] where count(filter) > 0  _ : u6 == 0  qos : u2 where qos <= 2 }
"""
"""A condition on bits behind other bits."""
NAMES = """
limits { frame = 128 KiB }
frame Frame { kind : u8 := code(body)  length : u24 := size(body)  body : match kind in length }
message Query 1 { names : Name[u16]  last : u8 where last < 200 }
struct Name { labels : Label[until n == 0] }
struct Label { n : u8 := count(text) where n < 64  text : ascii[n] }
"""
"""Lists in a list, each up to its last item."""
INTERPRETED = """
limits { frame = 128 KiB }
frame Frame { kind : u8 := code(body)  length : u24 := size(body)  body : match kind in length }
message Titles 1 { titles : Title[u16]  last : u8 where last < 200 }
struct Title { text : utf16[until x"0000"]  n : u8 }
"""
"""Wide text up to a delimiter has no straight-line form, so that the reference codec reads it."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A protocol, the beginning of the body of its message with many items, and two last bytes: a good and a bad one."""

    text: str
    body: bytes
    good: bytes
    bad: bytes

    def frame(self, last: bytes) -> bytes:
        body = self.body + last
        if self.text is FILTERS:
            return b"\x82" + _varint(len(body)) + body
        return b"\1" + len(body).to_bytes(3, "big") + body


def _varint(number: int) -> bytes:
    more = number >> 7
    return bytes([number & 127 | (128 if more else 0)]) + (_varint(more) if more else b"")


SUBJECTS = {
    "filters": Subject(
        text=FILTERS, body=b"\0\1" + b"\0\1a\1" * (N_ITEMS - 1) + b"\0\1a", good=b"\1", bad=b"\3"
    ),
    "names": Subject(
        text=NAMES,
        body=(N_ITEMS // 5).to_bytes(2, "big") + b"\1a\1b\1c\0" * (N_ITEMS // 5),
        good=b"\1",
        bad=b"\xff",
    ),
    "one long name": Subject(
        text=NAMES, body=b"\0\1" + b"\1a" * (N_ITEMS - 2) + b"\0", good=b"\1", bad=b"\xff"
    ),
    "titles": Subject(
        text=INTERPRETED, body=N_ITEMS.to_bytes(2, "big") + b"\0a\0\0\1" * N_ITEMS, good=b"\1", bad=b"\xff"
    ),
}


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    return SUBJECTS[request.param]


@pytest.fixture(scope="module")
def codecs(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    folder = tmp_path_factory.mktemp("long_lists")
    with built(HEAD + subject.text, folder, "long_lists", ("native", "protobuf", "msgpack")) as codecs:
        yield codecs


@pytest.fixture(scope="module", autouse=True)
def _loaded(subject: Subject, codecs: Codecs) -> None:
    """Read a frame and refuse one, so that what is loaded once is not measured."""
    for read in _readers(codecs.module).values():
        read(subject.frame(subject.good))
        with pytest.raises(codecs.module.DecodeError):
            read(subject.frame(subject.bad))


@pytest.fixture(scope="module")
def promise(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> int:
    path = tmp_path_factory.mktemp("promised") / "p.wire"
    path.write_text(HEAD + subject.text)
    loaded = load_protocol(path, Sources(), Report(), (path.parent,))
    assert loaded is not None
    return max(size for _, size in largest_memory(loaded.protocol, LIMITS))


@pytest.mark.parametrize("reader", ["lenient", "strict", "stream"])
def test_many_items_take_what_is_promised(
    reader: str, subject: Subject, codecs: Codecs, promise: int
) -> None:
    read = _readers(codecs.module)[reader]
    good, error = _peak(read, subject.frame(subject.good))
    assert error is None
    assert good < promise
    bad, error = _peak(read, subject.frame(subject.bad), 2 * good + SMALL)
    assert isinstance(error, codecs.module.DecodeError)
    assert bad < 2 * good + SMALL, (bad, good)


@pytest.mark.parametrize("form", ["protobuf", "msgpack"])
def test_many_items_of_a_serialization_take_at_most_twice_what_is_promised(
    form: str, subject: Subject, codecs: Codecs, promise: int
) -> None:
    module = importlib.import_module(f"{codecs.module.__name__}.{form}")
    limits = codecs.module.Limits(**LIMITS)
    data = module.encode(codecs.module.decode(subject.frame(subject.good)))

    def read(data: bytes) -> object:
        return module.decode(data, limits=limits)

    good, error = _peak(read, data)
    assert error is None
    assert good < 2 * promise
    bad, error = _peak(read, data[:-1], 2 * good + SMALL)
    assert isinstance(error, codecs.module.DecodeError)
    assert bad < 2 * good + SMALL, (bad, good)


def _readers(module: ModuleType) -> dict[str, Callable[[bytes], object]]:
    limits = module.Limits(**LIMITS)

    def stream(data: bytes) -> list[Any]:
        decoder, found = module.Decoder("client", limits=limits), []
        for at in range(0, len(data), 1448):
            found += decoder.feed(data[at : at + 1448])
        return found

    return {
        "lenient": lambda data: module.decode(data, limits=limits),
        "strict": lambda data: module.decode(data, limits=limits, strict=True),
        "stream": stream,
    }


def _peak(read: Callable[[bytes], object], data: bytes, allowed: float = inf) -> tuple[int, Exception | None]:
    """Return the most bytes that reading took, those of the frame included, and its error."""
    most, error = peak_of(lambda: read(data), allowed - len(data))
    return most + len(data), error


def test_a_condition_on_bits_has_a_straight_line_form(tmp_path: Path) -> None:
    with built(HEAD + FILTERS, tmp_path, "conditions_on_bits") as codecs:
        text = (tmp_path / "generated/python/conditions_on_bits/p/messages.py").read_text()
        assert "the reference codec reads it" not in text
        message = codecs.module.Subscribe(1, [codecs.module.Topic("a", 2)])
        assert codecs.module.decode(codecs.module.encode(message)).message == message
        with pytest.raises(codecs.module.EncodeError, match="qos"):
            codecs.module.encode(codecs.module.Subscribe(1, [codecs.module.Topic("a", 3)]))
