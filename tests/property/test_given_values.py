"""A value that the wire holds otherwise than it was given is judged as the peer reads it, or refused."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from tests.property.schemas import HEAD, built
from tests.property.test_narrow_floats import BACKENDS, backends, encoders

TEXT = HEAD + """
enum Kind : u8 { ONE = 1  TWO = 2 }
struct Point { x : u8  t : mutf8[u8] }

message Mutf8 1 { x : mutf8[u8]  y : u8 if x == "😀" }
message Utf16 2 { x : utf16[u8]  y : u8 if x == "😀" }
message Lenient 3 { x : utf8[u8] lenient  y : u8 if x == "é" }
message Plain 4 { x : utf8[u8]  y : u8 if x == "é" }
message Latin 5 { x : latin1[u8]  y : u8 if x == "é" }
message Texts 6 { x : mutf8[u8]  z : mutf8[u8]  y : u8 if x == z }
message Mixed 7 { x : mutf8[u8]  z : utf16[u8]  y : u8 if x == z }
message TextList 8 { n : u8  x : Point[n] where distinct(x) }
message Bytes 9 { x : bytes[u8]  y : u8 if x == x"61" }
message ByteList 10 { x : bytes[u8]  z : bytes[u8]  y : u8 if x == z or x[0] > 97 }
message Number 11 { x : u8  y : u8 if x == 1 }
message Truth 12 { x : bool  y : u8 if x }
message Enum 13 { x : Kind  y : u8 if x == ONE }
message Wide 14 { x : f64  y : u8 if x == 9007199254740992 }
message Wides 15 { x : f64  z : u64  y : u8 if x == z }
message WideList 16 { x : f64[u8]  y : u8 if distinct(x) }
message Zero 17 { x : f32  y : u8 if x < 0 or x == 0 }
message Uuid 18 { x : uuid  y : u8 if x == x"00112233445566778899aabbccddeeff" }
message Numbers 19 { x : u8[u8]  y : u8 if distinct(x) and 3 not in x }
message Arm 20 { k : u8  x : match k { 1 => mutf8[u8]  _ => utf8[u8] }  y : u8 if x == "😀" }
message Lists 21 { x : u8[u8]  z : u8[u8]  y : u8 if x == z }
message ListOfLists 22 { x : u8[u8][u8]  z : u8[u8]  y : u8 if z in x }
message Told 23 { x : u8[u8]  y : u8 if x == [1, 2] }
struct Pair { xs : u8[u8]  real : f32 }
union Real : u8 { Some 1 : f32  Many 2 : u8[u8] }
message Structs 24 { x : Pair  z : Pair  y : u8 if x == z }
message Unions 25 { x : Real  z : Real  y : u8 if x == z }
message UnionLists 26 { x : Real[u8]  z : Real[u8]  y : u8 if x == z }
"""
PAIR, ESCAPED = "\ud83d\ude00", "\udcc3\udca9"


class One(enum.IntEnum):
    ONE = 1


class Odd(int):
    """An integer that is not what it says."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


class Half:
    def __float__(self) -> float:
        return 0.5


class Index:
    def __index__(self) -> int:
        return 1


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with built(TEXT, tmp_path_factory.mktemp("given"), "given_values", BACKENDS) as codecs:
        yield codecs.module


ID = UUID("00112233-4455-6677-8899-aabbccddeeff")
GIVEN: dict[str, list[Any]] = {
    "Mutf8": ["😀", PAIR, "a", "\0", "\ud83d", "😀" + PAIR],
    "Utf16": ["😀", PAIR, "a", "\ud83d", "\udc00"],
    "Lenient": ["é", ESCAPED, "\udcc3", "e\u0301", PAIR],
    "Plain": ["é", ESCAPED, "e\u0301"],
    "Latin": ["é", "\u0101", "e"],
    "Texts": [("😀", PAIR), (PAIR, PAIR), ("a", "b")],
    "Mixed": [("😀", PAIR), (PAIR, PAIR), (PAIR, "😀")],
    "Arm": [(1, PAIR), (1, "😀"), (2, "😀"), (2, PAIR)],
    "Bytes": [b"a", bytearray(b"a"), memoryview(b"a"), [97], "a", memoryview(b"ab")[::2]],
    "ByteList": [(b"a", bytearray(b"a")), (memoryview(b"b"), b"a"), (bytearray(b""), b"")],
    "Number": [1, True, One.ONE, 1.0, "1", 256, 2],
    "Truth": [True, 1, 0, 2, "", Odd(1), Index(), 0.0],
    "Enum": [1, One.ONE, True, Odd(1), 2, 3, "ONE"],
    "Wide": [2**53 + 1, 2.0**53, Half(), Decimal(2**53 + 1), Fraction(2**54 + 1, 2), True, 10**400, "1"],
    "Wides": [(2**53 + 1, 2**53 + 1), (2**53 + 1, 2**53), (1, True)],
    "WideList": [([2**53 + 1, 2**53],), ((1, 1.0),), ([0.0, -0.0],), ([math.nan, math.nan],), ((1, 2),)],
    "Zero": [-0.0, 0, False, -1e-60, math.nan, Decimal("1e-60"), 1e-3],
    "Uuid": [ID, str(ID), ID.bytes, ID.int],
    "Numbers": [([1, True],), ((1, 2),), ([Odd(3)],), (b"\1\2",), (range(2),), ([One.ONE, 1],)],
    "Lists": [((1, 2), [1, 2]), ([1, 2], [1, 2]), ((1, 2), (1, 3))],
    "ListOfLists": [([(1, 2)], [1, 2]), ([[1]], (1,))],
    "Told": [((1, 2),), ([1, 2],), ([1],)],
}
"""The values given for all fields but the last one; several in a tuple."""


def check(module: ModuleType, make: Callable[[int | None], Any]) -> None:
    """Check that all encoders write the same bytes or refuse; what they write is read, and written again as the same bytes."""
    for y in (None, 7):
        message = make(y)
        outcomes = [outcome(module, encode) for encode in encoders(module, message)]
        assert len(set(outcomes[:4])) == 1, outcomes
        written = outcomes[0]
        if isinstance(written, bytes):
            assert module.encode(module.decode(written).message) == written
        for other, data in zip([*backends(module)][1:], outcomes[4:], strict=True):
            if isinstance(data, bytes):
                assert module.encode(other.decode(data).message) == written
            else:
                assert not isinstance(written, bytes) or data[0] in ("unrepresentable", "invalid_value")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        pytest.param(name, each, id=f"{name}-{number}-{type(each).__name__}")
        for name, values in GIVEN.items()
        for number, each in enumerate(values)
    ],
)
def test_an_encoder_writes_what_a_reader_accepts(module: ModuleType, name: str, given: Any) -> None:
    arguments = given if isinstance(given, tuple) else (given,)
    check(module, lambda y: getattr(module, name)(*arguments, y))


@pytest.mark.parametrize(("one", "other"), [("😀", PAIR), ("a", PAIR), ("b", "b")])
def test_texts_in_structs_are_what_a_reader_has(module: ModuleType, one: str, other: str) -> None:
    p = module
    check(p, lambda _: p.TextList(2, [p.Point(1, one), p.Point(1, other)]))


@pytest.mark.parametrize("xs", [(1,), [1], bytearray(b"1")])
@pytest.mark.parametrize("real", [1e-50, 0.0, 1])
def test_structs_and_alternatives_are_compared_as_a_reader_has_them(
    module: ModuleType, xs: Any, real: float
) -> None:
    p = module
    check(p, lambda y: p.Structs(p.Pair(xs, real), p.Pair([1], 0.0), y))
    check(p, lambda y: p.Unions(p.Real.Many(xs), p.Real.Many([1]), y))
    check(p, lambda y: p.Unions(p.Real.Some(real), p.Real.Some(0.0), y))
    check(p, lambda y: p.UnionLists([p.Real.Some(real)], (p.Real.Some(0.0),), y))


def outcome(module: ModuleType, encode: Callable[[], bytes]) -> bytes | tuple[str, str]:
    try:
        return bytes(encode())
    except module.EncodeError as error:
        return error.code, error.path
