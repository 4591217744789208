"""A float of one arm of a choice, of a derived field, or of a struct in a list is judged as its own bytes hold it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import ModuleType

import pytest
from tests.property.schemas import HEAD, built
from tests.property.test_narrow_floats import ALMOST_1, BACKENDS, TINY, carried, refused, single

TEXT = HEAD + """
struct Chosen { kind : u8  x : match kind { 1 => f32  _ => f64 } }
struct Deep { xs : f32[u8]  inner : Chosen }
struct Filled { n : u8  x : f32 = 1  xs : f32[u8] }

message Value 1 from client { kind : u8  x : match kind { 1 => f32  2 => f64  3 => u8  _ => match kind { 4 => f32 in 4  _ => f64 } }  y : u8 if x > 0 }
message Where 2 from client { kind : u8  x : match kind { 1 => f32  _ => f64 } where x < 1 }
message Inside 3 from client { chosen : Chosen  y : u8 if chosen.x > 0 }
message Lists 4 from client { kind : u8  x : match kind { 1 => f32[u8]  _ => f64[u8] } where distinct(x) }
message Structs 5 from client { x : Chosen[u8] where distinct(x) }
message Deeper 6 from client { x : Deep[u8] where distinct(x) }
message Sized 7 from client { n : u8 := size(x)  x : match n { 4 => f32  _ => f64 }  y : u8 if x > 0 }
message Framed 8 from client { x : f32 in 4  y : u8 if x > 0 }
message Items 9 from client { kind : u8  x : match kind { 1 => f32[u8]  _ => f64[u8] }  y : u8 if x[0] > 0 }
message Last 10 from client { items : Chosen[until x > 1] }
message Defaults 11 from client { x : Filled[u8] where distinct(x) }
message Made 20 from client { n : u32  x : f32 := n }
message Narrowed 21 from client { n : f64  x : f32 := n }
message Wide 22 from client { n : u64  x : f64 := n }
message Equal 23 from client { n : u32  x : f32 where x == n }
message Told 24 from client { kind : u8  x : match kind { 1 => f32  _ => f64 } }

session Levels {
  state low {
    client Told when x < 1 => {}
    client Told => high
  }
  state high { client any => {} }
}
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with built(TEXT, tmp_path_factory.mktemp("floats"), "chosen_floats", BACKENDS) as codecs:
        yield codecs.module


@pytest.mark.parametrize(("kind", "is_narrow"), [(1, True), (2, False), (4, True), (5, False)])
def test_a_value_is_as_wide_as_its_arm(module: ModuleType, kind: int, *, is_narrow: bool) -> None:
    given = module.Value(kind, 0.1, 1)
    carried(module, given, module.Value(kind, single(0.1) if is_narrow else 0.1, 1), given)
    if is_narrow:
        refused(module, module.Value(kind, TINY, 1))
    else:
        carried(module, module.Value(kind, TINY, 1), module.Value(kind, TINY, 1))
        refused(module, module.Value(kind, TINY, None), "invalid_value")


def test_other_kinds_of_arms_are_judged_by_their_value(module: ModuleType) -> None:
    carried(module, module.Value(3, 7, 1), module.Value(3, 7, 1))
    carried(module, module.Value(3, 0, None), module.Value(3, 0, None))
    refused(module, module.Value(3, 0.5, 1), "invalid_value")
    refused(module, module.Value(1, "0.5", 1), "invalid_value")
    refused(module, module.Value(1, 1e300, 1), "invalid_value")


def test_a_condition_holds_for_the_arm(module: ModuleType) -> None:
    refused(module, module.Where(1, ALMOST_1))
    carried(module, module.Where(2, ALMOST_1), module.Where(2, ALMOST_1))
    refused(module, module.Where(2, math.nan))


def test_an_arm_of_a_struct(module: ModuleType) -> None:
    p = module
    given = p.Inside(p.Chosen(1, TINY), None)
    carried(p, given, p.Inside(p.Chosen(1, 0.0), None), given)
    refused(p, p.Inside(p.Chosen(1, TINY), 1))
    carried(p, p.Inside(p.Chosen(2, TINY), 1), p.Inside(p.Chosen(2, TINY), 1))


def test_lists_in_arms(module: ModuleType) -> None:
    p = module
    refused(p, p.Lists(1, [1.0, ALMOST_1]))
    carried(p, p.Lists(2, [1.0, ALMOST_1]), p.Lists(2, [1.0, ALMOST_1]))
    given = p.Lists(1, [1.0, 0.1])
    carried(p, given, p.Lists(1, [1.0, single(0.1)]), given)
    refused(p, p.Items(1, [TINY], 1))
    given = p.Items(1, [TINY], None)
    carried(p, given, p.Items(1, [0.0], None), given)
    carried(p, p.Items(2, [TINY], 1), p.Items(2, [TINY], 1))


def test_lists_of_structs(module: ModuleType) -> None:
    p = module
    refused(p, p.Structs([p.Chosen(1, 1.0), p.Chosen(1, ALMOST_1)]))
    for x in (
        [p.Chosen(2, 1.0), p.Chosen(2, ALMOST_1)],
        [p.Chosen(1, 1.0), p.Chosen(2, 1.0)],
        [p.Chosen(2, TINY)],
    ):
        carried(p, p.Structs(x), p.Structs(x))


def test_lists_in_structs_of_lists(module: ModuleType) -> None:
    p = module
    refused(
        p, p.Deeper([p.Deep([1.0, 1.0], p.Chosen(1, 1.0)), p.Deep((1.0, ALMOST_1), p.Chosen(1, ALMOST_1))])
    )
    x = [p.Deep([1.0], p.Chosen(2, 1.0)), p.Deep([1.0], p.Chosen(2, ALMOST_1)), p.Deep([], p.Chosen(2, 1.0))]
    carried(p, p.Deeper(x), p.Deeper(x))


def test_defaults_in_lists_are_compared(module: ModuleType) -> None:
    p = module
    refused(p, p.Defaults([p.Filled(1, x=1.0, xs=[]), p.Filled(1, xs=())]))
    carried(
        p,
        p.Defaults([p.Filled(1, xs=[0.5]), p.Filled(1, xs=[])]),
        p.Defaults([p.Filled(1, xs=[0.5]), p.Filled(1, xs=[])]),
    )


def test_the_end_of_a_list_of_structs(module: ModuleType) -> None:
    p = module
    refused(p, p.Last([p.Chosen(1, 1.00000000001)]))
    carried(p, p.Last([p.Chosen(2, 1.00000000001)]), p.Last([p.Chosen(2, 1.00000000001)]))


def test_a_region_of_a_float(module: ModuleType) -> None:
    carried(module, module.Framed(TINY, None), module.Framed(0.0, None))
    refused(module, module.Framed(TINY, 1))


@pytest.mark.parametrize("x", [0.5, -2.0, 0.0])
def test_a_width_that_the_size_says_is_the_first_that_holds_the_value(module: ModuleType, x: float) -> None:
    y = 1 if x > 0 else None
    carried(module, module.Sized(x, y), module.Sized(x, y))
    assert len(module.encode(module.Sized(x, y))) == 3 + 1 + 4 + (x > 0)


@pytest.mark.parametrize("x", [0.1, TINY, 1e300])
def test_a_width_that_the_size_says_keeps_the_value(module: ModuleType, x: float) -> None:
    carried(module, module.Sized(x, 1), module.Sized(x, 1))
    assert len(module.encode(module.Sized(x, 1))) == 3 + 1 + 8 + 1


@pytest.mark.parametrize("n", [0, 1, 2**24, 2**24 + 1, 2**32 - 1])
def test_a_derived_float_is_the_number_as_its_bytes_hold_it(module: ModuleType, n: int) -> None:
    carried(module, module.Made(n), module.Made(n))


@pytest.mark.parametrize("n", [0.5, 0.1, TINY, -0.0, math.inf])
def test_a_derived_float_is_the_other_as_its_bytes_hold_it(module: ModuleType, n: float) -> None:
    carried(module, module.Narrowed(n), module.Narrowed(n))


def test_a_derived_float_that_its_bytes_cannot_hold(module: ModuleType) -> None:
    refused(module, module.Narrowed(1e300), "invalid_value")
    for n in (0, 2**53 + 1, 2**64 - 1):
        carried(module, module.Wide(n), module.Wide(n))


def test_another_value_of_a_derived_float_is_refused(module: ModuleType) -> None:
    data = bytearray(module.encode(module.Made(2**24 + 1)))
    data[-1] ^= 1
    with pytest.raises(module.DecodeError) as refusal:
        module.decode(bytes(data))
    assert (refusal.value.code, refusal.value.path) == ("constraint", "Made.x")


def test_a_number_is_not_equal_to_a_rounded_one(module: ModuleType) -> None:
    carried(module, module.Equal(2**24, 2**24), module.Equal(2**24, float(2**24)))
    refused(module, module.Equal(2**24 + 1, 2**24 + 1))


def test_sessions_judge_the_arm(module: ModuleType) -> None:
    for kind, state in ((1, "high"), (2, "low")):
        client, server = module.Connection("client"), module.Connection("server")
        server.receive(client.send(module.Told(kind, ALMOST_1)))
        assert client.levels.state == server.levels.state == state
