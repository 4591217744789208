"""The checker's analysis of conditions: over small domains, conditions that it calls always or never true
are so for every value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise, product
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, ne, sub

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiregen.language.checker.conditions import are_there, is_same_number, never, read_by
from wiregen.language.checker.intervals import (
    FAR,
    Numbers,
    computed,
    holds,
    intersected,
    moved,
    negated,
    normal,
    scaled,
    without,
)
from wiregen.language.checker.value_ranges import numbers_of
from wiregen.schema.model import (
    Call,
    Expression,
    FieldReference,
    ListOf,
    Negation,
    Number,
    Operation,
    Range,
    Span,
    Truth,
    VariableReference,
)

DOMAINS: Mapping[str, tuple[int, ...]] = {
    "small": (0, 1, 2, 3),
    "signed": (-2, -1, 0, 1),
    "member": (1, 4),
    "flag": (0, 1),
}
"""Fields and the numbers that they can be; `flag` is a Boolean."""
OPAQUE = "text"
"""Of two values that the checker takes for no numbers."""
MISSING = "missing"
"""May be there, as a number from 0 to 2, or not."""
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Missing(Exception):
    """A value in a condition is missing, so the condition is false."""


class Subjects:
    def numbers(self, subject: Expression) -> Numbers | None:
        match subject:
            case FieldReference(path=(name,)) if name in DOMAINS:
                return normal(Span(low=value, high=value) for value in DOMAINS[name])
            case FieldReference(path=("missing",)):
                return (Span(low=0, high=2),)
            case _:
                return None

    def is_there(self, subject: Expression) -> bool:
        return isinstance(subject, FieldReference) and subject.path != (MISSING,)


def field(name: str) -> FieldReference:
    return FieldReference(path=(name,))


def operation(operator: str, left: Expression, right: Expression) -> Operation:
    return Operation(operator=operator, left=left, right=right)  # type: ignore[arg-type]


small_numbers = st.integers(-5, 6).map(lambda value: Number(value=value))
leaves = small_numbers | st.sampled_from([field(name) for name in ("small", "signed", "member", MISSING)])
integers: st.SearchStrategy[Expression] = st.recursive(
    leaves,
    lambda inner: (
        st.builds(operation, st.sampled_from(["+", "-", "*", "/", "%"]), inner, inner)
        | inner.map(lambda operand: Negation(operator="-", operand=operand))
        | st.builds(
            lambda function, left, right: Call(function=function, arguments=(left, right)),
            st.sampled_from(["min", "max"]),
            inner,
            inner,
        )
    ),
    max_leaves=4,
)
ranges = st.builds(lambda low, high: Range(low=low, high=high), leaves, leaves)
listings = st.lists(leaves | ranges, min_size=1, max_size=3).map(lambda items: ListOf(items=tuple(items)))
simple: st.SearchStrategy[Expression] = (
    st.builds(operation, st.sampled_from(COMPARISONS), integers, integers)
    | st.builds(operation, st.sampled_from(["in", "not in"]), integers, ranges | listings)
    | st.builds(
        operation, st.sampled_from(["==", "!="]), st.just(field(OPAQUE)), st.just(VariableReference(name="v"))
    )
    | st.just(field("flag"))
    | st.booleans().map(lambda value: Truth(value=value))
    | st.just(Call(function="present", arguments=(field(MISSING),)))
)
conditions: st.SearchStrategy[Expression] = st.recursive(
    simple,
    lambda inner: (
        st.builds(operation, st.sampled_from(["and", "or"]), inner, inner)
        | inner.map(lambda operand: Negation(operator="not", operand=operand))
    ),
    max_leaves=5,
)

Values = Mapping[str, int | None]


def every_value() -> Iterator[Values]:
    names = (*DOMAINS, OPAQUE, MISSING)
    for values in product(*DOMAINS.values(), (0, 1), (None, 0, 1, 2)):
        yield dict(zip(names, values, strict=True))


EVERY = tuple(every_value())


def worth(expression: Expression, values: Values) -> int:
    """Compute an expression as a session does: operands that are not reached are not read, `text` is compared with 0."""
    match expression:
        case Number(value=number):
            return number
        case Truth(value=truth):
            return int(truth)
        case VariableReference():
            return 0
        case FieldReference(path=(name,)):
            value = values[name]
            if value is None:
                raise Missing
            return value
        case Negation(operator=operator, operand=operand):
            inner = worth(operand, values)
            return -inner if operator == "-" else int(not inner)
        case Call(function="present"):
            return int(values[MISSING] is not None)
        case Call(function=function, arguments=arguments):
            found = [worth(argument, values) for argument in arguments]
            return min(found) if function == "min" else max(found)
        case Operation(operator="and", left=left, right=right):
            return worth(left, values) and worth(right, values)
        case Operation(operator="or", left=left, right=right):
            return worth(left, values) or worth(right, values)
        case Operation(operator="in" | "not in" as operator, left=left, right=right):
            return int(is_in(worth(left, values), right, values) is (operator == "in"))
        case Operation(operator=operator, left=left, right=right):
            return reckoned(operator, worth(left, values), worth(right, values))
    raise TypeError(expression)


def is_in(value: int, items: Expression, values: Values) -> bool:
    if isinstance(items, Range):
        low, high = worth(items.low, values), worth(items.high, values)
        return low <= value <= high
    assert isinstance(items, ListOf)
    found = [
        is_in(value, item, values) if isinstance(item, Range) else worth(item, values) == value
        for item in items.items
    ]
    return any(found)


OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": add, "-": sub, "*": mul, "/": floordiv, "%": mod, "min": min, "max": max,
    "==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip


def reckoned(operator: str, left: int, right: int) -> int:
    if operator in "/%" and right == 0:
        raise Missing
    return int(OPERATORS[operator](left, right))


def is_true(condition: Expression, values: Values) -> bool:
    try:
        return bool(worth(condition, values))
    except Missing:
        return False


@settings(max_examples=400)
@given(condition=conditions)
def test_what_never_holds_holds_for_no_value(condition: Expression) -> None:
    if never([(condition, True)], Subjects()):
        assert not any(is_true(condition, values) for values in EVERY)


@settings(max_examples=400)
@given(condition=conditions)
def test_what_always_holds_holds_for_every_value(condition: Expression) -> None:
    if never([(condition, False)], Subjects()) and are_there((condition,), Subjects(), frozenset()):
        assert all(is_true(condition, values) for values in EVERY)


@settings(max_examples=400)
@given(first=conditions, second=conditions)
def test_what_an_earlier_condition_leaves_nothing_to_never_comes_behind_it(
    first: Expression, second: Expression
) -> None:
    is_implied = never([(second, True), (first, False)], Subjects())
    if is_implied and are_there((first,), Subjects(), frozenset(read_by(second))):
        assert all(is_true(first, values) for values in EVERY if is_true(second, values))


@settings(max_examples=200)
@given(condition=conditions)
def test_what_is_read_by_a_condition_is_there_where_it_holds(condition: Expression) -> None:
    for values in EVERY:
        if is_true(condition, values):
            for each in read_by(condition):
                if isinstance(each, FieldReference) and each.path == (MISSING,):
                    assert values[MISSING] is not None


@given(expression=integers)
def test_a_number_is_among_those_that_it_can_be(expression: Expression) -> None:
    numbers = numbers_of(expression, Subjects())
    for values in EVERY if numbers is not None else ():
        try:
            value = worth(expression, values)
        except Missing:
            continue
        assert numbers is not None
        assert holds(numbers, value)


@given(left=integers, right=integers)
def test_the_same_number_is_the_same_for_every_value(left: Expression, right: Expression) -> None:
    if is_same_number(left, right):
        for values in EVERY:
            try:
                assert worth(left, values) == worth(right, values)
            except Missing:
                continue


@pytest.mark.parametrize(
    ("condition", "is_never", "is_always"),
    [
        pytest.param(operation(">", field("small"), Number(value=3)), True, False, id="beyond the type"),
        pytest.param(operation("<=", field("small"), Number(value=3)), False, True, id="all of the type"),
        pytest.param(operation("==", field("member"), Number(value=2)), True, False, id="no member"),
        pytest.param(
            operation(
                "and",
                operation(">", field("small"), Number(value=2)),
                operation("<", field("small"), Number(value=2)),
            ),
            True,
            False,
            id="contradiction",
        ),
        pytest.param(
            operation(
                "or",
                operation(">", field("small"), Number(value=1)),
                operation("<", field("small"), Number(value=2)),
            ),
            False,
            True,
            id="all between them",
        ),
        pytest.param(
            operation(
                "and",
                operation("<", field("small"), field("signed")),
                operation("<", field("signed"), field("small")),
            ),
            True,
            False,
            id="two fields, each below the other",
        ),
        pytest.param(
            operation(
                "and",
                operation("<", field("small"), field("signed")),
                operation("==", field("small"), Number(value=1)),
            ),
            True,
            False,
            id="a bound that goes on",
        ),
        pytest.param(
            operation("==", operation("+", field("small"), Number(value=1)), field("small")),
            True,
            False,
            id="n + 1 is not n",
        ),
        pytest.param(
            operation(
                "and",
                operation("==", field(OPAQUE), VariableReference(name="v")),
                operation("!=", VariableReference(name="v"), field(OPAQUE)),
            ),
            True,
            False,
            id="a text",
        ),
        pytest.param(operation(">=", field(MISSING), Number(value=0)), False, False, id="may be missing"),
        pytest.param(operation("<", field(OPAQUE), Number(value=0)), False, False, id="not known"),
        pytest.param(
            operation("in", field("small"), Range(low=Number(value=3), high=Number(value=2))),
            True,
            False,
            id="empty",
        ),
    ],
)
def test_verdicts(condition: Expression, is_never: bool, is_always: bool) -> None:
    assert never([(condition, True)], Subjects()) is is_never
    surely = never([(condition, False)], Subjects()) and are_there((condition,), Subjects(), frozenset())
    assert surely is is_always


def test_what_is_too_large_is_not_known() -> None:
    each = operation(
        "or",
        operation("==", field("small"), Number(value=0)),
        operation("==", field("signed"), Number(value=0)),
    )
    other = operation("or", operation("==", field("member"), Number(value=1)), field("flag"))
    condition: Expression = operation("<", field("small"), Number(value=0))
    for _ in range(300):
        condition = operation("and", operation("and", each, other), condition)
    assert not never([(condition, True)], Subjects())


spans = st.builds(lambda low, size: Span(low=low, high=low + size), st.integers(-20, 20), st.integers(0, 6))
sets = st.lists(spans, max_size=4).map(normal)
SEEN = range(-60, 61)


def members(numbers: Numbers) -> set[int]:
    return {value for value in SEEN if holds(numbers, value)}


@given(left=sets, right=sets)
def test_sets_are_sets(left: Numbers, right: Numbers) -> None:
    assert members(intersected(left, right)) == members(left) & members(right)
    assert members(without(left)) == set(SEEN) - members(left)
    assert members(negated(left)) == {-value for value in members(left)}
    assert without(without(left)) == left
    assert all(one.high + 1 < other.low for one, other in pairwise(left))


@given(numbers=sets, by=st.integers(-9, 9))
def test_a_set_is_moved(numbers: Numbers, by: int) -> None:
    assert members(moved(numbers, by)) == {value for value in SEEN if holds(numbers, value - by)}
    assert without(moved(without(numbers), by)) == moved(numbers, by)


@given(numbers=sets, by=st.integers(1, 7))
def test_a_factor_is_taken_away(numbers: Numbers, by: int) -> None:
    assert members(scaled(numbers, by)) == {value for value in SEEN if holds(numbers, value * by)}


@given(operator=st.sampled_from(["+", "-", "*", "/", "%", "min", "max"]), left=spans, right=spans)
def test_arithmetic_is_never_too_narrow(operator: str, left: Span, right: Span) -> None:
    found = computed(operator, (left,), (right,))
    for one in range(left.low, left.high + 1) if found is not None else ():
        for other in range(right.low, right.high + 1):
            assert found is not None
            assert holds(found, reckoned(operator, one, other))


def test_what_is_far_away_is_not_known() -> None:
    far = (Span(low=0, high=FAR - 1),)
    assert computed("*", far, far) is None
    assert computed("+", far, (Span(low=1, high=1),)) is None
