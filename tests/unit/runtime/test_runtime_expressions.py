"""The values of expressions, and that no value on the wire makes the work large."""

from __future__ import annotations

import operator
import zlib
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.runtime.reference.expressions import Incalculable, Undefined, checksum, evaluate
from wiregen.runtime.reference.tree import Variety

from ..schema_notation import expression as expression_of

INTEGERS = st.integers(-(2**127), 2**127)


def _evaluated(parts: Any, scope: Any) -> Any:
    return evaluate(expression_of(parts), scope)


class Names:
    """A scope of given fields and variables."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def field(self, path: tuple[str, ...], scope: str) -> Any:
        if path[0] not in self.fields:
            raise Undefined("field", path[0])
        return self.fields[path[0]]

    def limit(self, name: str) -> int:
        return {"frame": 100}[name]

    def context(self, name: str, keys: tuple[Any, ...]) -> Any:
        return (name, keys)

    def variable(self, name: str) -> Any:
        return {"sender": "client", "credit": 5}[name]

    def remaining(self) -> int:
        return 12

    def offset(self) -> int:
        return 7

    def size(self, path: tuple[str, ...]) -> int:
        return 10 * len(path)

    def count(self, path: tuple[str, ...]) -> int | None:
        return len(self.fields[path[0]])

    def present(self, path: tuple[str, ...]) -> bool:
        return path[0] in self.fields

    def code(self, path: tuple[str, ...]) -> int:
        return 68

    def checksum(self, algorithm: str, first: str, last: str) -> int:
        return checksum(algorithm, f"{first}{last}".encode())


def n(value: int) -> tuple[Any, ...]:
    return ("number", value)


def f(name: str) -> tuple[Any, ...]:
    return ("field", (name,), "own")


def op(symbol: str, left: Any, right: Any) -> tuple[Any, ...]:
    return ("operation", symbol, left, right)


def call(name: str, *arguments: Any) -> tuple[Any, ...]:
    return ("call", name, arguments)


LIST = ("list", (n(0), ("range", n(4), n(7))))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (("truth", True), True),
        (("text", "k"), "k"),
        (("octets", "0aff"), b"\x0a\xff"),
        (("null",), None),
        (("limit", "frame"), 100),
        (("role", "sender"), "client"),
        (("role", "server"), "server"),
        (("variable", "credit"), 5),
        (("context", "api", (n(3), f("a"))), ("api", (3, 4))),
        (("position", "remaining"), 12),
        (op("%", ("negation", "-", ("position", "offset")), n(4)), 1),
        (("checksum", "crc32", "a", "b"), zlib.crc32(b"ab")),
        (("item", f("q"), n(1)), 8),
        (("negation", "not", ("truth", False)), True),
        (op("in", n(4), LIST), True),
        (op("in", n(7), LIST), True),
        (op("not in", n(8), LIST), True),
        (op("in", n(3), LIST), False),
        (op("in", n(8), f("q")), True),
        (op("in", f("a"), ("range", n(4), n(4))), True),
        (op("==", f("id"), ("octets", "00" * 15 + "01")), True),
        (op("!=", ("null",), n(0)), True),
        (op("==", f("q"), ("list", (n(9), n(8), n(9)))), True),
        (op("/", n(-7), n(2)), -4),
        (op("%", n(-7), n(2)), 1),
        (op("**", n(2), n(63)), 2**63),
        (op("**", n(-1), n(2**100)), 1),
        (op("**", n(-1), n(2**100 + 1)), -1),
        (op("**", n(0), n(0)), 1),
        (op("**", n(0), n(2**100)), 0),
        (op("and", ("truth", False), f("missing")), False),
        (op("or", ("truth", True), f("missing")), True),
        (call("size", f("q")), 10),
        (call("size", ("join", "Element")), 10),
        (call("count", f("q")), 3),
        (call("count", ("list", (n(1), n(2)))), 2),
        (call("present", f("q")), True),
        (call("code", f("body")), 68),
        (call("distinct", f("q")), False),
        (call("distinct", f("notes")), False),
        (call("distinct", ("list", (n(1), n(2)))), True),
        (call("min", n(3), n(-1)), -1),
        (call("max", n(3), n(-1)), 3),
        (call("push", f("q"), n(1)), [9, 8, 9, 1]),
        (call("drop", f("q"), n(2)), [9]),
        (call("drop", f("q"), n(-1)), [9, 8, 9]),
        (call("remove", f("q"), n(9)), [8, 9]),
        (call("remove", f("q"), n(1)), [9, 8, 9]),
        (call("index", f("q"), n(8)), 1),
        (call("index", f("q"), n(1)), 3),
    ],
)
def test_values(expression: Any, value: Any) -> None:
    notes = [Variety("N", "A", {"value": 1}, 1), Variety("N", "A", {"value": 2}, 1)]
    found = _evaluated(expression, Names(a=4, q=[9, 8, 9], id=UUID(int=1), notes=notes))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("algorithm", "value"), [("crc32", 0xCBF43926), ("adler32", 0x091E01DE), ("crc16", 0x31C3)]
)
def test_checksums_of_the_usual_nine_digits(algorithm: str, value: int) -> None:
    assert checksum(algorithm, b"123456789") == value


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param(op("/", n(1), n(0)), id="division by zero"),
        pytest.param(op("%", n(1), n(0)), id="rest by zero"),
        pytest.param(op("**", n(2), n(2**40)), id="power too large"),
        pytest.param(op("**", n(2), n(-1)), id="negative exponent"),
        pytest.param(op("*", f("huge"), f("huge")), id="product too large"),
        pytest.param(op("+", n(1), f("text")), id="text is no number"),
        pytest.param(op("<", n(1), ("null",)), id="null has no order"),
        pytest.param(op("and", n(1), f("text")), id="text is no Boolean"),
        pytest.param(op("in", n(1), n(2)), id="a number is no list"),
    ],
)
def test_what_has_no_value(expression: Any) -> None:
    with pytest.raises(Incalculable):
        _evaluated(expression, Names(huge=2**4000, text="1"))


@pytest.mark.parametrize("index", [3, -1, 10**30])
def test_items_outside_a_list(index: int) -> None:
    with pytest.raises(Undefined) as caught:
        _evaluated(("item", f("q"), n(index)), Names(q=[9, 8, 9]))
    assert caught.value.what == "item"


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(Undefined) as caught:
        _evaluated(op("+", n(1), f("gone")), Names())
    assert (caught.value.what, caught.value.name) == ("field", "gone")


@given(INTEGERS, INTEGERS)
def test_integers_are_exact(left: int, right: int) -> None:
    for symbol, function in (("+", operator.add), ("-", operator.sub), ("*", operator.mul)):
        assert _evaluated(op(symbol, n(left), n(right)), Names()) == function(left, right)
    for symbol, compare in (("<", operator.lt), (">=", operator.ge), ("==", operator.eq)):
        assert _evaluated(op(symbol, n(left), n(right)), Names()) is compare(left, right)
    if right:
        rest = _evaluated(op("%", n(left), n(right)), Names())
        assert _evaluated(op("/", n(left), n(right)), Names()) * right + rest == left
        assert 0 <= rest * (1 if right > 0 else -1) < abs(right)
