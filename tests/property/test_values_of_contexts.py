"""Contexts and sessions hold what the peer reads, whatever the sender was given: rounded floats, bytes, texts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from tests.property.schemas import HEAD, built
from tests.property.test_narrow_floats import ALMOST_1, BACKENDS, TINY, single

TEXT = HEAD + """
struct Point { kind : u8  x : match kind { 1 => f32  _ => f64 } }

context level : f32 per key { set SetLevel.level  clear Clear }
context named : u8 per name { set SetNamed.value  clear Forget }
context chosen : f64 per key { set SetChosen.x  clear Clear }
context stored : u8 per bytes_key { set SetData.value  clear ClearData }
context near : u8 per key { set SetNear.value when point.x < 1  clear Clear }
context worded : u8 per word { set SetWorded.value  clear ClearWorded }
context lists : f32[u8] per key { set SetList.items  clear Clear }


message SetLevel 1 { key : u8  level : f32 }
message Level 2 { key : u8  y : u8 if level[key] > 0 }
message SetNamed 3 { name : f32  value : u8 }
message Named 4 { name : f32  body : match named[name] { 1 => u8  _ => u16 } }
message SetChosen 5 { key : u8  kind : u8  x : match kind { 1 => f32  _ => f64 } }
message Chosen 6 { key : u8  y : u8 if chosen[key] > 0 }
message SetData 7 { bytes_key : bytes[u8]  value : u8 }
message Data 8 { bytes_key : bytes[u8]  body : match stored[bytes_key] { 1 => u8  _ => u16 } }
message SetNear 9 { key : u8  point : Point  value : u8 }
message Near 10 { key : u8  y : u8 if near[key] == 1 }
message SetWorded 11 { word : mutf8[u8]  value : u8 }
message Worded 12 { word : mutf8[u8]  body : match worded[word] { 1 => u8  _ => u16 } }
message SetList 13 { key : u8  items : f32[u8] }
message List 14 { key : u8  y : u8 if distinct(lists[key]) }
message Clear 20 { key : u8 }
message Forget 21 { name : f32 }
message ClearData 22 { bytes_key : bytes[u8] }
message ClearWorded 23 { word : mutf8[u8] }
message Open 30 { id : f32  data : bytes[u8] }
message Close 31 { id : f32  word : utf8[u8] lenient }
message Part 32 { id : f32  more : bool  data : bytes[u8] }

join Whole : bytes per id { part Part.data when more  last Part.data when not more }

session Talk per id {
  var kept : bytes = x""
  state idle { any Open => busy { kept = data }  any Part => {} }
  state busy {
    any Close when word == "é" => idle { kept = x"" }
    any Open when data != kept violates again
    any any => {}
  }
}

rule again "It was open." { source "a public document" }
"""
UUIDS = HEAD + """
context owned : uuid per owner_id { set SetOwner.owner  clear ClearOwner }
context owners : uuid[u8] per key { set SetOwners.owners  clear ClearOwners }

message SetOwner 1 { owner_id : uuid  owner : uuid }
message Owner 2 { owner_id : uuid  me : uuid  y : u8 if owned[owner_id] == me }
message ClearOwner 3 { owner_id : uuid }
message SetOwners 4 { key : u8  owners : uuid[u8] }
message Owners 5 { key : u8  me : uuid  y : u8 if me in owners[key] }
message ClearOwners 6 { key : u8 }
"""
"""Messages that compiled code alone reads: what it refuses wrongly is an error."""
PAIR = "\ud83d\ude00"
"""Two surrogates, whose bytes in mutf8 are those of one character."""
ESCAPED = "\udcc3\udca9"
"""Surrogates for the two bytes of é."""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with built(TEXT, tmp_path_factory.mktemp("contexts"), "values_of_contexts", BACKENDS) as codecs:
        yield codecs.module


class Peers:
    """Two sides of a connection, whose contexts must stay equal."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.client, self.server = module.Connection("client"), module.Connection("server")

    def tell(self, message: Any) -> Any:
        """Send a message; return the one that the peer reads."""
        (event,) = self.server.receive(self.client.send(message))
        self.check()
        return event.frame.message

    def check(self) -> None:
        known = [json.loads(json.dumps(side.context.snapshot(), allow_nan=False)) for side in self.sides]
        assert known[0] == known[1]
        for side, snapshot in zip(self.sides, known, strict=True):
            side.context.restore(snapshot)
            assert side.context.snapshot() == snapshot

    @property
    def sides(self) -> tuple[Any, Any]:
        return self.client, self.server


@pytest.fixture
def peers(module: ModuleType) -> Peers:
    return Peers(module)


@pytest.mark.parametrize("value", [TINY, 0.1, -0.0, 1, math.inf, -math.inf, math.nan])
def test_a_value_is_what_the_peer_reads(module: ModuleType, peers: Peers, value: float) -> None:
    peers.tell(module.SetLevel(1, value))
    y = 1 if single(value) > 0 else None
    assert peers.tell(module.Level(1, y)).y == y
    with pytest.raises(module.EncodeError):
        peers.client.send(module.Level(1, None if y else 1))


@pytest.mark.parametrize("name", [0.1, 1, 2**24 + 1, -0.0, TINY])
def test_a_key_is_what_the_peer_reads(module: ModuleType, peers: Peers, name: float) -> None:
    peers.tell(module.SetNamed(name, 1))
    assert peers.tell(module.Named(name, 7)).body == 7
    assert peers.tell(module.Named(single(name), 7)).body == 7
    peers.tell(module.SetNamed(single(name), 2))
    assert peers.tell(module.Named(name, 700)).body == 700
    peers.tell(module.Forget(name))
    with pytest.raises(module.EncodeError, match="missing_context"):
        peers.client.send(module.Named(name, 7))


def test_an_arm_is_what_the_peer_reads(module: ModuleType, peers: Peers) -> None:
    peers.tell(module.SetChosen(1, 1, TINY))
    peers.tell(module.Chosen(1, None))
    peers.tell(module.SetChosen(1, 2, TINY))
    peers.tell(module.Chosen(1, 1))


def test_a_condition_of_a_setting_is_of_what_the_peer_reads(module: ModuleType, peers: Peers) -> None:
    peers.tell(module.SetNear(1, module.Point(1, 0.5), 2))
    peers.tell(module.SetNear(1, module.Point(1, ALMOST_1), 1))
    peers.tell(module.Near(1, None))
    peers.tell(module.SetNear(1, module.Point(2, ALMOST_1), 1))
    peers.tell(module.Near(1, 1))


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
def test_bytes_of_any_class_are_keys(module: ModuleType, peers: Peers, make: Any) -> None:
    peers.tell(module.SetData(make(b"ab"), 1))
    assert peers.tell(module.Data(make(b"ab"), 7)).body == 7
    assert peers.tell(module.Data(b"ab", 7)).body == 7
    peers.tell(module.ClearData(make(b"ab")))
    with pytest.raises(module.EncodeError, match="missing_context"):
        peers.client.send(module.Data(b"ab", 7))


def test_texts_of_equal_bytes_are_one_key(module: ModuleType, peers: Peers) -> None:
    peers.tell(module.SetWorded(PAIR, 1))
    assert peers.tell(module.Worded(PAIR, 7)).body == 7
    assert peers.tell(module.Worded("😀", 7)).body == 7


@pytest.mark.parametrize("items", [[1.0, ALMOST_1], (0.1, 0.2), []])
def test_lists_are_what_the_peer_reads(module: ModuleType, peers: Peers, items: Any) -> None:
    peers.tell(module.SetList(1, items))
    y = None if 1.0 in items else 1
    peers.tell(module.List(1, y))
    with pytest.raises(module.EncodeError):
        peers.client.send(module.List(1, None if y else 1))


def test_a_list_is_not_the_one_that_the_caller_may_change(module: ModuleType, peers: Peers) -> None:
    items = [1.0]
    peers.tell(module.SetList(1, items))
    items.append(1.0)
    peers.check()


def test_sessions_hold_what_the_peer_reads(module: ModuleType, peers: Peers) -> None:
    peers.tell(module.Open(0.1, bytearray("é".encode())))
    assert peers.client.talk[single(0.1)].state == peers.server.talk[single(0.1)].state == "busy"
    with pytest.raises(module.SessionError):
        peers.client.send(module.Open(0.1, memoryview(b"e")))


def test_pieces_of_any_class_are_joined(module: ModuleType, peers: Peers) -> None:
    assert not peers.server.receive(peers.client.send(module.Part(0.1, True, bytearray(b"ab"))))
    peers.check()
    frame = peers.server.receive(peers.client.send(module.Part(0.1, False, memoryview(b"c"))))[0].frame
    assert frame.part.joined == b"abc"
    peers.check()


def test_a_uuid_is_a_key_and_a_value(tmp_path: Path) -> None:
    with built(UUIDS, tmp_path, "uuids_of_contexts", BACKENDS) as codecs:
        check_uuids(codecs.module, Peers(codecs.module))


def check_uuids(module: ModuleType, peers: Peers) -> None:
    key, me, other = (UUID(int=number << 100 | 7) for number in (1, 2, 3))
    peers.tell(module.SetOwner(key, me))
    assert peers.tell(module.Owner(key, me, 5)).y == 5
    assert peers.tell(module.Owner(key, other, None)).y is None
    with pytest.raises(module.EncodeError):
        peers.client.send(module.Owner(key, other, 5))
    with pytest.raises(module.EncodeError, match="missing_context"):
        peers.client.send(module.Owner(me, me, 5))
    peers.tell(module.SetOwners(1, [me, key]))
    assert peers.tell(module.Owners(1, key, 5)).y == 5
    assert peers.tell(module.Owners(1, other, None)).y is None
    peers.tell(module.ClearOwner(key))
    with pytest.raises(module.EncodeError, match="missing_context"):
        peers.client.send(module.Owner(key, me, 5))


EMBEDDED = """
protocol p { source "no document"  endian big  roles client, server }
limits { frame = 4 KiB  open = 9 }
frame Frame { type : u8 := code(body)  body : match type }
message Lone 1 { n : u8 }
message Kind 2 from client { id : u8  kind : u8 }
message Held 3 from server { id : u8  body : match kinds[id] only Lone }
context kinds : u8 per id from client { set Kind.kind  clear Held }
"""


def test_a_context_chooses_the_message_inside_another_one(tmp_path: Path) -> None:
    with built(EMBEDDED, tmp_path, "embedded_by_context", BACKENDS) as codecs:
        p, context = codecs.module, codecs.module.Context()
        p.decode(p.encode(p.Kind(7, 1)), from_role="client", context=context)
        data = p.encode(p.Held(7, p.Lone(5)), from_role="server", context=context)
        assert data == b"\3\7\5"
        assert p.decode(data, from_role="server", context=context).message == p.Held(7, p.Lone(5))
