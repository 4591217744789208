"""What was decoded within limits wider than the protocol's own is encoded and sent within them, whatever it has.

An encoder reads back what it wrote where a condition depends on all bytes, a connection divides blocks and measures
fields in bytes: each time the limits are the caller's.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from tests.property.codecs import Codecs
from tests.property.schemas import built
from tests.property.test_serialization_constructs import ALL, serializations

TEXT = """
wire 1
protocol p { source "no document: small limits" endian big roles a, b }
limits { frame = 64  count = 4  messages = 8  depth = 3  inflated = 40  most = 5 }
frame F {
  type  : u8 := code(body)
  more  : bool = false
  block : { body : match type } in u16
}
join Part : F.block { part F.block when more last F.block when not more }
union T : u8 { Leaf 0  Node 1 : T  Many 2 : { items : u8[u16] } }
message Tree 1 { t : T }
message TreeRest 2 { t : T  rest : bytes[remaining] }
message ListRest 3 { items : u8[u16]  rest : bytes[remaining] }
message ListEmpty 4 { items : u8[u16]  rest : bytes[] where remaining == 0 }
message Until 5 { items : u8[until value == 0 or remaining == 0] }
message Choice 6 { n : u8  t : match n { 0 => T  1 => { items : u8[u16]  rest : bytes[remaining] } _ => bytes[] } }
message Packed 7 { inside : { items : u8[u16]  rest : bytes[remaining] } in zlib[u16] }
message Told 8 from a { items : u8[u16] }
message Small 10 from a { n : u8 where n <= limits.most  items : u8[u16] }
message Check 9 { items : u8[u16]  sum : u32 := crc32(items .. items) }
session Talk {
  var most : u32 = 0
  state open {
    a Told => { most = size(items) }
    a Small when size(items) > 3 => { most = size(items) }
    any any => {}
  }
}
"""
WIDE = {"frame": 4096, "count": 1000, "messages": 1000, "depth": 20, "inflated": 4096, "most": 9}


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(TEXT, tmp_path_factory.mktemp("wider"), "wider_limits", ALL) as found:
        yield found


def tree(module: Any, levels: int) -> Any:
    value = module.T.Leaf()
    for _ in range(levels):
        value = module.T.Node(value)
    return value


def large(module: Any) -> list[Any]:
    """Return a message of each kind, past one of the protocol's limits."""
    many = list(range(1, 101))
    return [
        module.Tree(tree(module, 9)),
        module.Tree(module.T.Many(many)),
        module.TreeRest(tree(module, 9), b""),
        module.TreeRest(module.T.Many(many), b"xyz"),
        module.ListRest(many, b""),
        module.ListRest([1], bytes(200)),
        module.ListEmpty(many, b""),
        module.Until(many),
        module.Until([*many, 0]),
        module.Choice(0, tree(module, 9)),
        module.Choice(1, items=many, rest=b"rest"),
        module.Packed(many, bytes(100)),
        module.Told(many),
        module.Check(many),
        module.Small(7, [1, 2]),
    ]


N_LARGE = 15


@pytest.mark.parametrize("number", range(N_LARGE))
def test_every_serialization_takes_it_within_wider_limits(codecs: Codecs, number: int) -> None:
    native = codecs.module
    wide = native.Limits(**WIDE)
    message = large(native)[number]
    octets = native.encode(message, limits=wide)
    frame = native.decode(octets, limits=wide)
    assert frame.message == message
    for module in (native, *serializations("wider_limits")):
        data = module.encode(frame, limits=wide)
        assert module.decode(data, limits=wide) == frame
        with pytest.raises(native.EncodeError):
            module.encode(frame)
        with pytest.raises(native.EncodeError):
            module.encode(frame, limits=native.Limits())


def test_all_of_them_are_tried(codecs: Codecs) -> None:
    assert len(large(codecs.module)) == N_LARGE


@pytest.mark.parametrize("number", range(N_LARGE))
@pytest.mark.parametrize("split", [None, 30])
def test_a_connection_sends_and_receives_it(codecs: Codecs, number: int, split: int | None) -> None:
    sessions = importlib.import_module("wider_limits.p.sessions")
    wide = codecs.module.Limits(**WIDE)
    one, other = (sessions.Connection(role, limits=wide) for role in ("a", "b"))
    message = large(codecs.module)[number]
    data = one.send(message, **({} if split is None else {"split": split}))
    received = [each.frame.message for each in other.receive(data)]
    assert received == [message]
    if isinstance(message, codecs.module.Told):
        assert one.talk.most == other.talk.most == 102
    if isinstance(message, codecs.module.Small):
        assert one.talk.most == other.talk.most == 4
