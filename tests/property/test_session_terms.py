"""Expressions of rows: the closures that sessions run, and the reference evaluation of the same expression, say the same."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.schema_notation import expression as expression_of

from wiregen.runtime.reference.expressions import Undefined, evaluate
from wiregen.runtime.sessions.closures import NOTHING, Term, compile_term

NUMBERS = ("a", "b", "small")
TRUTHS = ("yes", "no")
LISTS = ("queue", "empty")
BYTES = ("data",)
SLOTS = {name: slot for slot, name in enumerate((*NUMBERS, *TRUTHS, *LISTS, *BYTES))}
LIMITS = {"most": 5}


class Words:
    """Variables, and one field that is there."""

    slots: Mapping[str, int] = SLOTS

    def field(self, path: tuple[str, ...], scope: str) -> Term:
        def field(m: Any, f: Any, v: list[Any], x: Any) -> Any:
            if path != ("there",):
                raise Undefined("field", path[0])
            return m

        return field

    def is_number(self, path: tuple[str, ...]) -> bool:
        return path == ("there",)

    def frame_number(self, path: tuple[str, ...]) -> Any:
        return (lambda frame: frame) if path == ("there",) else None

    def about(self, function: str, path: tuple[str, ...]) -> Term:
        raise AssertionError("nothing asks")

    def joined(self, name: str) -> Term:
        raise AssertionError("nothing asks")


class Scope:
    """The same for the reference evaluation."""

    def __init__(self, values: list[Any], there: int) -> None:
        self._values = values
        self._there = there

    def field(self, path: tuple[str, ...], scope: str) -> Any:
        if path != ("there",):
            raise Undefined("field", path[0])
        return self._there

    def variable(self, name: str) -> Any:
        return self._values[SLOTS[name]]

    def limit(self, name: str) -> int:
        return LIMITS[name]


def operations(symbols: tuple[str, ...], left: Any, right: Any) -> Any:
    return st.tuples(st.just("operation"), st.sampled_from(symbols), left, right)


def calls(functions: tuple[str, ...], *arguments: Any) -> Any:
    return st.tuples(st.just("call"), st.sampled_from(functions), st.tuples(*arguments))


numbers: Any = st.deferred(lambda: _numbers)
lists: Any = st.deferred(lambda: _lists)
truths: Any = st.deferred(lambda: _truths)
ranges = st.tuples(st.just("range"), numbers, numbers)
_numbers: Any = st.one_of(
    st.tuples(st.just("number"), st.integers(-3, 6)),
    st.tuples(st.just("variable"), st.sampled_from(NUMBERS)),
    st.tuples(st.just("limit"), st.just("most")),
    st.tuples(st.just("field"), st.sampled_from([("there",), ("gone",)]), st.just("own")),
    operations(("+", "-", "*", "/", "%", "**"), numbers, numbers),
    st.tuples(st.just("negation"), st.just("-"), numbers),
    calls(("min", "max"), numbers, numbers),
    calls(("count",), lists),
    calls(("index", "rank"), lists, numbers),
    st.tuples(st.just("item"), lists, numbers),
    st.tuples(st.just("item"), st.tuples(st.just("variable"), st.sampled_from(BYTES)), numbers),
)
_lists: Any = st.one_of(
    st.tuples(st.just("variable"), st.sampled_from(LISTS)),
    st.tuples(st.just("list"), st.lists(numbers, max_size=3).map(tuple)),
    calls(("push", "drop", "remove"), lists, numbers),
)
_truths: Any = st.one_of(
    st.tuples(st.just("truth"), st.booleans()),
    st.tuples(st.just("variable"), st.sampled_from(TRUTHS)),
    operations(("==", "!=", "<", "<=", ">", ">="), numbers, numbers),
    operations(("==", "!="), lists, lists),
    operations(("in", "not in"), numbers, ranges),
    operations(("in", "not in"), numbers, lists),
    operations(
        ("in", "not in"),
        numbers,
        st.tuples(st.just("list"), st.lists(st.one_of(numbers, ranges), max_size=3).map(tuple)),
    ),
    operations(("and", "or"), truths, truths),
    st.tuples(st.just("negation"), st.just("not"), truths),
    calls(("distinct",), lists),
)
VALUES = st.tuples(
    *(st.integers(-2, 6) for _ in NUMBERS),
    *(st.booleans() for _ in TRUTHS),
    st.lists(st.integers(-1, 4), max_size=4),
    st.binary(max_size=4),
).map(lambda drawn: [*drawn[:-1], [], drawn[-1]])
NOT_THERE = object()


def compiled(expression: Any, values: list[Any], there: int) -> Any:
    moment = SimpleNamespace(limits=LIMITS)
    term: Any = expression_of(expression)
    try:
        return plain(compile_term(term, Words())(there, None, values, moment))
    except NOTHING:
        return NOT_THERE


def reference(expression: Any, values: list[Any], there: int) -> Any:
    try:
        return plain(evaluate(expression_of(expression), Scope(values, there)))  # type: ignore[arg-type]
    except Undefined:
        return NOT_THERE


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else value


@settings(max_examples=400)
@given(expression=st.one_of(numbers, lists, truths), values=VALUES, there=st.integers(0, 5))
def test_closures_and_the_reference_evaluation_say_the_same(
    expression: Any, values: list[Any], there: int
) -> None:
    before = [plain(value) for value in values]
    assert compiled(expression, values, there) == reference(expression, values, there)
    assert values == before
