"""A float of 32 bits is judged as the wire holds it, in encoders, decoders and sessions: not as the caller's double."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from tests.property.schemas import HEAD, built

TEXT = HEAD + """
struct Point { a : f32  b : f64 }
type Below1 = f32 where value < 1
struct Inner { point : Point }

message Conditional 1 from client { x : f32  y : u8 if x > 0 }
message Bounded 2 from client { x : f32 where x < 1 }
message Distinct 3 from client { x : f32[u8] where distinct(x) }
message Nested 4 from client { inner : Inner  y : u8 if inner.point.a > 0 }
message Points 5 from client { x : Point[u8] where distinct(x) }
message Optional 6 from client { is_there : bool  x : f32 if is_there  y : u8 if is_there and x > 0 }
message Two 7 from client { x : f32  y : f32le  z : u8 if x > y }
message Wide 8 from client { x : f64  y : u8 if x > 0 }
message Chosen 9 from client { is_one : bool := x >= 1  x : f32  y : match is_one { true => u8  false => u16 } }
message Items 10 from client { x : Point[until a > 1]  y : u8 }
message Told 11 from client { x : f32 }
message Below 13 from client { one : Below1  all : Below1[u8] }
message Until 14 from client { x : f32[until value > 1]  y : u8 }
message Summed 12 from client { n : f64  x : f32 where x == n }

session Levels {
  var top : u8 = 0
  state low {
    client Told when x < 1 => {}
    client Told => high
  }
  state high {
    client Told violates too_high
    server any => {}
  }
}

rule too_high "It was high." { source "a public document" }
"""

BACKENDS = ("native", "protobuf", "msgpack")
TINY = 1e-50
"""Nothing in 32 bits."""
ALMOST_1 = 0.99999999999
"""1 in 32 bits."""


def single(value: float) -> float:
    return float(struct.unpack(">f", struct.pack(">f", value))[0])


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with built(TEXT, tmp_path_factory.mktemp("floats"), "narrow_floats", BACKENDS) as codecs:
        yield codecs.module


def backends(module: ModuleType) -> Iterator[Any]:
    import importlib

    yield module
    for name in BACKENDS[1:]:
        yield importlib.import_module(f"{module.__name__}.{name}")


def encoders(module: ModuleType, message: Any) -> Iterator[Any]:
    """Yield functions that encode a message: compiled, by the reference codec, and the other serializations."""
    yield lambda: module.encode(message)
    yield message.encode
    limits = module.Limits(frame=60_000)
    yield lambda: module.encode(message, limits=limits)
    from importlib import import_module

    yield lambda: module.messages._encode_by_reference(module.Frame(message))
    for name in BACKENDS[1:]:
        yield lambda name=name: import_module(f"{module.__name__}.{name}").encode(message)


def refused(module: ModuleType, message: Any, code: str = "constraint") -> None:
    for encode in encoders(module, message):
        with pytest.raises(module.EncodeError) as refusal:
            encode()
        assert refusal.value.code == code, encode


def carried(module: ModuleType, message: Any, expected: Any, elsewhere: Any = None) -> None:
    """A message is encoded by all codecs and decoded as another one, with what the wire holds.

    `elsewhere`: what other serializations carry, if that is not the same.
    """
    datas = [encode() for encode in encoders(module, message)]
    assert len(set(datas[:4])) == 1
    assert module.decode(datas[0]).message == expected
    for backend, data in zip(list(backends(module))[1:], datas[4:], strict=True):
        assert backend.decode(data).message == (expected if elsewhere is None else elsewhere)
        assert module.encode(backend.decode(data).message) == datas[0]


def test_presence_depends_on_what_the_wire_holds(module: ModuleType) -> None:
    carried(module, module.Conditional(TINY, None), module.Conditional(0.0, None))
    refused(module, module.Conditional(TINY, 1))
    carried(module, module.Conditional(0.1, 1), module.Conditional(single(0.1), 1))
    refused(module, module.Conditional(0.1, None), "invalid_value")


def test_a_condition_holds_for_what_the_wire_holds(module: ModuleType) -> None:
    refused(module, module.Bounded(ALMOST_1))
    carried(module, module.Bounded(0.9), module.Bounded(single(0.9)))
    carried(module, module.Bounded(-0.0), module.Bounded(-0.0))
    carried(module, module.Bounded(-math.inf), module.Bounded(-math.inf))
    refused(module, module.Bounded(math.nan))
    refused(module, module.Bounded(-1e300), "invalid_value")
    refused(module, module.Bounded("0.5"), "invalid_value")
    refused(module, module.Bounded(None), "invalid_value")


def test_items_are_distinct_on_the_wire(module: ModuleType) -> None:
    refused(module, module.Distinct([1.0, ALMOST_1]))
    carried(module, module.Distinct([1.0, 0.1]), module.Distinct([1.0, single(0.1)]))
    refused(module, module.Points([module.Point(1.0, 2.0), module.Point(ALMOST_1, 2.0)]))
    carried(
        module,
        module.Points([module.Point(1.0, 2.0), module.Point(1.0, 2.5)]),
        module.Points([module.Point(1.0, 2.0), module.Point(1.0, 2.5)]),
    )


def test_a_float_of_a_struct_is_rounded(module: ModuleType) -> None:
    def nested(a: float, y: int | None) -> Any:
        return module.Nested(module.Inner(module.Point(a, TINY)), y)

    carried(module, nested(TINY, None), nested(0.0, None))
    refused(module, nested(TINY, 1))


def test_an_optional_float_is_rounded(module: ModuleType) -> None:
    carried(module, module.Optional(True, TINY, None), module.Optional(True, 0.0, None))
    refused(module, module.Optional(True, TINY, 1))
    carried(module, module.Optional(False, None, None), module.Optional(False, None, None))


def test_both_sides_of_a_comparison_are_rounded(module: ModuleType) -> None:
    carried(module, module.Two(1.0, ALMOST_1, None), module.Two(1.0, 1.0, None))
    refused(module, module.Two(1.0, ALMOST_1, 1))
    carried(module, module.Two(1.0, 0.5, 1), module.Two(1.0, 0.5, 1))


def test_a_wide_float_is_as_it_is(module: ModuleType) -> None:
    carried(module, module.Wide(TINY, 1), module.Wide(TINY, 1))


def test_a_choice_is_made_by_what_the_wire_holds(module: ModuleType) -> None:
    carried(module, module.Chosen(ALMOST_1, 7), module.Chosen(1.0, 7))
    refused(module, module.Chosen(ALMOST_1, 700), "invalid_value")


def test_the_end_of_a_list_is_what_the_wire_holds(module: ModuleType) -> None:
    def items(*values: float) -> Any:
        return module.Items([module.Point(value, 0.0) for value in values], 1)

    carried(module, items(0.5, 1.5), items(0.5, 1.5))
    refused(module, items(0.5, 1.00000000001))


def test_the_conditions_of_a_type_hold_for_what_the_wire_holds(module: ModuleType) -> None:
    carried(module, module.Below(0.5, [0.1]), module.Below(0.5, [single(0.1)]))
    refused(module, module.Below(ALMOST_1, []))
    refused(module, module.Below(0.5, [0.5, ALMOST_1]))


def test_items_end_a_list_as_the_wire_holds_them(module: ModuleType) -> None:
    carried(module, module.Until([0.5, 1.5], 1), module.Until([0.5, 1.5], 1))
    refused(module, module.Until([0.5, 1.00000000001], 1))


def test_two_floats_are_equal_as_the_wire_holds_them(module: ModuleType) -> None:
    carried(module, module.Summed(0.5, 0.5), module.Summed(0.5, 0.5))
    refused(module, module.Summed(0.1, 0.1))


def test_sessions_judge_what_the_peer_will_read(module: ModuleType) -> None:
    client, server = module.Connection("client"), module.Connection("server")
    for value in (0.5, ALMOST_1):
        server.receive(client.send(module.Told(value)))
    assert client.levels.state == server.levels.state == "high"
