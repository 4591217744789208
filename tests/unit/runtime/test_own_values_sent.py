"""A connection judges a message by the values that are written, whatever the methods of the given ones answer."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, NoReturn

import pytest
from tests.property.schemas import built

TEXT = """wire 1
protocol p {
  source "no document: sessions that ask for the values of messages"
  endian big
  roles  a, b
}
struct Inner { n : u32 }
message Open 1 { key : u32 }
message Put 2 { key : u32  n : u32  inner : Inner }
message Close 3 { key : u32 }
frame Frame { type : u8 := code(body)  length : u16 := size(body)  body : match type in length }
session S per key {
  var total : u32 = 0
  state closed {
    a Open => open
    a Put, Close violates not_open
  }
  state open {
    a Put when n < 10 and inner.n != 7 => { total = total + n }
    a Put violates too_much
    a Open violates is_open
    a Close when total == 5 => over
    a Close violates wrong_total
  }
  state over { a any violates is_over }
}
"""


@pytest.fixture(scope="module")
def p(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with built(TEXT, tmp_path_factory.mktemp("own_values"), "own_values_wire") as codecs:
        yield codecs.module


class OwnError(Exception):
    """An error that no handler knows by name."""


def _refuse(*_: object) -> NoReturn:
    raise OwnError


_QUESTIONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__radd__", "__and__", "__hash__", "__bool__")  # fmt: skip


def _kind(answer: Any) -> Any:
    return type("Odd", (int,), dict.fromkeys(_QUESTIONS, lambda *_: answer()))


KINDS = [_kind(answer) for answer in (_refuse, lambda: True, lambda: False, lambda: 1)]


class Indexed:
    def __init__(self, number: int) -> None:
        self._number = number

    def __index__(self) -> int:
        return self._number


@pytest.mark.parametrize("odd", [*KINDS, Indexed])
def test_keys_conditions_and_variables_are_of_the_written_values(p: ModuleType, odd: Any) -> None:
    side = p.Connection("a")
    side.send(p.Open(odd(1)))
    _refused(p, side, "is_open", p.Open(1))
    _refused(p, side, "not_open", p.Put(odd(2), 1, p.Inner(1)))
    _refused(p, side, "too_much", p.Put(1, odd(10), p.Inner(1)))
    _refused(p, side, "too_much", p.Put(1, 1, p.Inner(odd(7))))
    side.send(p.Put(odd(1), odd(5), p.Inner(odd(1))))
    side.send(p.Close(odd(1)))
    _refused(p, side, "is_over", p.Close(1))


def _refused(p: ModuleType, side: Any, name: str, message: object) -> None:
    with pytest.raises(p.SessionError) as caught:
        side.send(message)
    assert caught.value.violation == name


class RefusesAttributes:
    def __getattribute__(self, name: str) -> NoReturn:
        raise OwnError


class RefusesIndex:
    __index__ = _refuse


@pytest.mark.parametrize("odd", [RefusesAttributes, RefusesIndex])
def test_what_cannot_be_written_is_an_encode_error(p: ModuleType, odd: Any) -> None:
    side = p.Connection("a")
    side.send(p.Open(1))
    puts = (p.Put(1, odd(), p.Inner(1)), p.Put(1, 1, p.Inner(odd())), p.Put(1, 1, odd()))
    for message in (p.Open(odd()), *puts, odd()):
        with pytest.raises(p.EncodeError):
            side.send(message)
    side.send(p.Put(1, 5, p.Inner(1)))
    side.send(p.Close(1))


def test_a_property_of_a_subclass_is_read_once(p: ModuleType) -> None:
    numbers = iter((1, 2, 1, 2, 1, 2))

    turning: Any = type("Turning", (p.Open,), {"key": property(lambda _: next(numbers), lambda *_: None)})
    side = p.Connection("a")
    written = p.decode(side.send(turning(0))).message.key
    _refused(p, side, "is_open", p.Open(written))
    _refused(p, side, "not_open", p.Close(3 - written))


def test_a_struct_that_holds_itself_is_an_encode_error(p: ModuleType) -> None:
    inner = p.Inner(1)
    inner.n = [inner, inner]
    with pytest.raises(p.EncodeError):
        p.Connection("a").send(p.Put(1, 1, inner))
