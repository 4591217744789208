"""`offset` means the same to those who write and to those who read: the end of the field for `where`, `until` and `:=`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.property.schemas import built

from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.writing.frames import write_frame

TEXT = """wire 1
protocol p { source "no document: offsets" endian big roles a, b }
limits { frame = 4096  inflated = 4096 }
type Apart = u8 where value != offset
struct Item { v : u8 where v != offset }
frame Frame {
  type : u8 := code(body)
  length : u16 := size(body)
  body : match type {
    11 .. 15 => match type in zlib[u16]
    _ => match type
  } in length
}
message Numbers 1 { first : u8  at : u8 := offset  items : Item[u8]  rest : Apart[u8] }
message Until 2 { ends : Item[until v > offset] }
message Ahead 3 { name : utf8[u8]  end : u16 := offset + size(data)  data : bytes[u8] }
message Bits 4 { first : u8  a : u3  b : u5 where b != offset  c : u4 := offset  d : u4 where d != offset }
message DeflatedNumbers 11 { first : u8  at : u8 := offset  items : Item[u8]  rest : Apart[u8] }
message DeflatedUntil 12 { ends : Item[until v > offset] }
message DeflatedAhead 13 { name : utf8[u8]  end : u16 := offset + size(data)  data : bytes[u8] }
message DeflatedBits 14 { first : u8  a : u3  b : u5 where b != offset  c : u4 := offset  d : u4 where d != offset }
"""


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with built(TEXT, tmp_path_factory.mktemp("offsets"), "of_offsets", ("native",)) as codecs:
        yield codecs


def outcome(write: Callable[[Any], bytes], message: Any) -> bytes | str:
    try:
        return write(message)
    except ValueError as error:
        return str(error)


def check(codecs: Any, message: Any) -> bool:
    """Check that both codecs write a message alike and read it back; return whether it was written."""
    module = codecs.module
    written = outcome(module.encode, message)
    assert outcome(lambda each: write_frame(codecs.schema, each, Options()), module.Frame(message)) == written
    if isinstance(written, str):
        return False
    assert module.decode(written).message == message
    assert explain(codecs.schema, written, 0, len(written), Options()).size == len(written)
    return True


@pytest.mark.parametrize(("prefix", "start"), [("", 3), ("Deflated", 0)], ids=["in-the-frame", "inflated"])
def test_what_is_written_is_read_and_the_offset_is_that_of_the_end(
    codecs: Any, prefix: str, start: int
) -> None:
    module = codecs.module
    numbers, until, bits = (getattr(module, f"{prefix}{name}") for name in ("Numbers", "Until", "Bits"))
    each = range(start, start + 12)
    refused = [v for v in each if not check(codecs, numbers(first=0, items=[module.Item(v)], rest=[]))]
    assert refused == [start + 4]
    refused = [v for v in each if not check(codecs, numbers(first=0, items=[], rest=[v, v]))]
    assert refused == [start + 5, start + 6]
    assert [v for v in each if check(codecs, until(ends=[module.Item(v)]))] == [*each][2:]
    assert [v for v in each if not check(codecs, bits(first=0, a=0, b=v, d=0))] == [start + 3]
    assert [v for v in each if not check(codecs, bits(first=0, a=0, b=0, d=v))] == [start + 3]


@pytest.mark.parametrize(("prefix", "start"), [("", 3), ("Deflated", 0)], ids=["in-the-frame", "inflated"])
def test_an_offset_beside_what_comes_later_is_that_of_its_own_field(
    codecs: Any, prefix: str, start: int
) -> None:
    ahead = getattr(codecs.module, f"{prefix}Ahead")
    for size in (0, 1, 7):
        message = ahead(name="abc", data=bytes(size))
        assert check(codecs, message)
        data = codecs.module.encode(message)
        root = explain(codecs.schema, data, 0, len(data), Options())
        assert [node.value for node in root.walk() if node.name == "end"] == [start + 6 + 1 + size]
