"""A preamble may have a field called `part`: it is no fragment of a join, and is received as any other."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from tests.property.schemas import built

TEXT = """/// P.
protocol p { source "None"  endian big  roles client, server }
limits { joined = 64 KiB }
preamble Hello from client { part : bool  version : u7  _ : u1 == 0 }
frame Frame {
  type : u8 := code(body)
  length : u16 := size(body)
  body : match type in length
}
message Piece 1 { id : u8  data : bytes[u8] }
message Last 2 { id : u8  data : bytes[u8] }
join Whole : bytes per id { part Piece.data  last Last.data }
session Talk {
  state begin { client Hello => open }
  state open { any Piece, Last => {} }
}
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with built(TEXT, tmp_path_factory.mktemp("part"), "with_part", ("native",)) as codecs:
        yield codecs.module


@pytest.mark.parametrize("part", [False, True])
def test_the_preamble_is_received(package: Any, part: bool) -> None:
    sessions = importlib.import_module(f"{package.__name__}.sessions")
    hello = package.Hello(part=part, version=3)
    sender, receiver = sessions.Connection("client"), sessions.Connection("server")
    events = receiver.receive(sender.send(hello))
    assert [event.frame for event in events] == [hello]
