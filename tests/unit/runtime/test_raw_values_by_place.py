"""A value that a serialization carries as its native bytes is refused where these, without the frame, would be read as another."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest
from tests.property.schemas import built

TEXT = """wire 1
protocol p {
  source "no document: a layout that depends on the number of bytes that follow"
  endian big
  roles  a, b
}
struct Rest {
  few  : u8[remaining % 2]
  many : u8[7]
  _ : bytes[-offset % 4]
}
union Value : u8 @raw { Plain 1 : u16  Placed 2 : Rest  Listed 3 : Rest[u8] }
message Values 1 { values : Value[] }
frame Frame { type : u8 := code(body)  length : u16 := size(body)  body : match type in length }
"""


@pytest.fixture(scope="module")
def p(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("placed")
    with built(TEXT, folder, "placed_wire", ("native", "protobuf", "msgpack")) as codecs:
        yield codecs.module


@pytest.mark.parametrize("backend", ["protobuf", "msgpack"])
def test_every_value_is_read_as_it_was_or_not_written(p: ModuleType, backend: str) -> None:
    module = importlib.import_module(f"placed_wire.p.{backend}")
    written = refused = 0
    for first in ([], [65]):
        for count in range(5):
            rest = p.Rest(few=first, many=list(range(7)))
            values = [p.Value.Placed(rest), p.Value.Listed([rest]), *[p.Value.Plain(7)] * count]
            for frame in (p.Frame(p.Values([each, *values[2:]])) for each in values[:2]):
                try:
                    data = p.encode(frame)
                except p.EncodeError:
                    continue  # another number of bytes follows on the wire
                assert p.decode(data) == frame
                try:
                    octets = module.encode(frame)
                except p.EncodeError as error:
                    assert error.code == "unrepresentable"
                    refused += 1
                    continue
                assert module.decode(octets) == frame
                written += 1
    assert written
    assert refused
