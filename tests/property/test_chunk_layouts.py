"""Chunks of any layout: whatever their bytes, all codecs write them, in one chunk where that can be the last one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.property.codecs import Codecs, Wishes
from tests.property.schemas import built
from tests.property.test_serialization_constructs import serializations

ALL = ("native", "protobuf", "msgpack")
TEXT = """
protocol p { source "no document"  endian big  roles a, b }
frame F { type : u8 := code(body)  body : match type in u16 }
struct Counted { fin : bit  n : u7 := count(data)  data : bytes[n] }
struct Given { fin : bit  n : u7  data : bytes[n] }
struct Plain { n : u8  data : bytes[n] }
struct Derived { n : u8 := count(data)  data : bytes[n] }
struct Kind { kind : u8  data : bytes[u8] }
struct More { more : bool  data : bytes[u8] }
message CountedBits 1 { x : bytes[] in Counted[until fin] }
message GivenBits 2 { x : bytes[] in Given[until fin] }
message EmptyLast 3 { x : bytes[] in Plain[until n == 0] }
message EmptyDerived 4 { x : bytes[] in Derived[until n == 0] }
message NotFull 5 { x : bytes[] in Derived[until count(data) < 255] }
message OfKind 6 { x : bytes[] in Kind[until kind == 77] }
message Flagged 7 { x : bytes[] in More[until not more] }
message Bits 8 { flag : bit  n : u7 := count(x)  x : bytes[n] }
message Sum 9 { flag : u4  n : u4 := other + 1  other : u8 }
"""


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(TEXT, tmp_path_factory.mktemp("chunks"), "chunk_layouts", ALL) as made:
        yield made


@pytest.mark.parametrize("size", [0, 1, 127, 128, 254, 255, 256, 600])
@pytest.mark.parametrize(
    "name", ["CountedBits", "GivenBits", "EmptyLast", "EmptyDerived", "NotFull", "OfKind", "Flagged"]
)
def test_bytes_of_any_size_are_laid_in_chunks(codecs: Codecs, name: str, size: int) -> None:
    p = codecs.module
    frame = p.F(getattr(p, name)(x=bytes(number % 251 for number in range(size))))
    data = p.encode(frame)
    assert data == codecs.reference_encode(frame)
    assert p.decode(data) == frame
    assert codecs.compiled(data, Wishes()) == codecs.reference(data, Wishes())
    for module in serializations("chunk_layouts"):
        assert module.decode(module.encode(frame)) == frame


@pytest.mark.parametrize(
    ("octets", "name"),
    [
        pytest.param("02 0005 02 0102 81 03", "GivenBits", id="a bit and a length set by hand"),
        pytest.param("03 0004 02 0102 00", "EmptyLast", id="the empty chunk is the last"),
        pytest.param("06 0004 4d 02 0102", "OfKind", id="a number other than 0 and 1"),
    ],
)
def test_what_was_read_of_chunks_is_written(codecs: Codecs, octets: str, name: str) -> None:
    p, data = codecs.module, bytes.fromhex(octets)
    assert codecs.compiled(data, Wishes()) == codecs.reference(data, Wishes())
    frame = p.decode(data)
    assert type(frame.message).__name__ == name
    assert p.decode(p.encode(frame)) == frame


def test_a_derived_part_of_a_byte_that_is_too_large_is_refused(codecs: Codecs) -> None:
    """It was written over the bits beside it."""
    p = codecs.module
    for message in (p.Bits(flag=False, x=bytes(200)), p.Sum(flag=0, other=20), p.Sum(flag=3, other=15)):
        frame = p.F(message)
        refused = codecs.reference_encode(frame)
        assert isinstance(refused, dict)
        assert codecs.compiled_encode(frame) == refused
    assert p.encode(p.Sum(flag=3, other=14)) == bytes.fromhex("09 0002 3f 0e")
