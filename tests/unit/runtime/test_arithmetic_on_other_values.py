"""Python multiplies and fills in texts too: an encoder refuses a value that is not a number before it makes one."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from tests.property.schemas import built

TEXT = """wire 1
protocol p {
  source "no document: arithmetic on the fields of a message"
  endian big
  roles  a, b
}
message Product 1 { n : u32  k : u32 where n * k < 10 }
message Constant 2 { n : u32 where n * 1000000 < 10 }
message Sum 3 { n : u32  k : u32  m : u32 where (n + k) * m < 10 }
message Rest 4 { n : u32  k : u32 where n % k < 10 }
message Length 5 { n : u32  k : u32  data : bytes[n * k] }
message Derived 6 { n : u32  data : bytes[u8]  k : u64 := n * size(data) }
message Told 7 { n : u32  k : u32 }
message Filled 8 { n : u32  k : u32 }
frame Frame { type : u8 := code(body)  length : u16 := size(body)  body : match type in length }
session S {
  var total : u64 = 0
  state open {
    a Told when n * k < 100 => { total = n * k }
    a Filled when n % k < 100 => { total = n % k }
    a Product, Constant, Sum, Rest, Length, Derived => {}
    a Told, Filled violates too_many
  }
}
"""
LONG = "x" * 1_000_000


@pytest.fixture(scope="module")
def p(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with built(TEXT, tmp_path_factory.mktemp("arithmetic"), "arithmetic_wire") as codecs:
        yield codecs.module


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Product", {"n": LONG, "k": 1_000}),
        ("Product", {"n": 1_000, "k": [1] * 100_000}),
        ("Product", {"n": LONG, "k": 1 << 60}),
        ("Constant", {"n": b"x" * 1_000}),
        ("Sum", {"n": LONG, "k": LONG, "m": 1_000}),
        ("Rest", {"n": "%400000000d", "k": 3}),
        ("Rest", {"n": b"%400000000d", "k": 3}),
        ("Length", {"n": LONG, "k": 1_000, "data": b""}),
        ("Derived", {"n": LONG, "data": bytes(200)}),
    ],
)
def test_a_text_for_a_number_is_refused_before_it_is_multiplied(
    p: ModuleType, name: str, values: dict[str, Any]
) -> None:
    message = getattr(p, name)(**values)
    tracemalloc.start()
    try:
        with pytest.raises(p.EncodeError):
            message.encode()
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "values"),
    [("Told", (LONG, 1_000)), ("Told", (1_000, [1] * 100_000)), ("Filled", ("%400000000d", 3))],
)
def test_sessions_multiply_no_text_that_is_sent(p: ModuleType, name: str, values: tuple[Any, Any]) -> None:
    connection = p.Connection("a")
    assert connection.send(getattr(p, name)(7, 9))[-1] == 9
    tracemalloc.start()
    try:
        with pytest.raises((p.EncodeError, p.SessionError)):
            connection.send(getattr(p, name)(*values))
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_numbers_are_written_and_judged_as_before(p: ModuleType) -> None:
    assert p.Product(2, 4).encode() == bytes.fromhex("01 0008 00000002 00000004")
    assert p.Derived(3, b"ab").encode() == bytes.fromhex("06 000f 00000003 02 6162 0000000000000009")
    assert p.Rest(-1 % 2**32, 10).encode()[-4:] == bytes.fromhex("0000000a")
    for message in (p.Product(5, 2), p.Constant(1), p.Sum(1, 1, 5), p.Rest(10, 11)):
        with pytest.raises(p.EncodeError):
            message.encode()
