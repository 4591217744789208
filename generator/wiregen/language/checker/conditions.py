"""Which conditions can hold: whether some of them can hold together, and which numbers they allow.

A condition becomes cases. Each case bounds some sums of subjects by sets of numbers; a case is impossible when one of
these sets is empty. An expression that is not an integer (a text, a list, a limit) is a subject that is true or false.
The answer may be "unknown" and is never wrong: a condition that is said never to hold does not hold for any bytes, and
reading an absent value only ever makes a condition false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from wiregen.language.checker.intervals import (
    FAR,
    TRUTHS,
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
from wiregen.language.checker.value_ranges import Subjects, numbers_of
from wiregen.schema.model import (
    Call,
    Expression,
    ListOf,
    Negation,
    Number,
    Operation,
    Range,
    RoleReference,
    Span,
    Truth,
)
from wiregen.schema.values import number_of
from wiregen.schema.walk import inner_expressions, nested_expressions

__all__ = ["CheckBudget", "are_there", "is_same_number", "never", "read_by"]

_Sum: TypeAlias = tuple[tuple[Expression, int], ...]
"""Subjects with their factors, in the order of their texts; the first factor is positive."""
_Case: TypeAlias = Mapping[_Sum, Numbers]

_MAX_CASES = 64
_MAX_PARTS = 400
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class CheckBudget:
    """A budget: how often a costly check is made before it is skipped."""

    def __init__(self, times: int) -> None:
        self._left = times

    @property
    def is_left(self) -> bool:
        return self._left > 0

    def lasts(self) -> bool:
        """Use one unit of the budget, and return whether one was left."""
        self._left -= 1
        return self._left >= 0


class _TooManyError(Exception):
    """There are more cases than the bound allows."""


def never(parts: Sequence[tuple[Expression, bool]], subjects: Subjects) -> bool:
    """Return whether these conditions, each with its truth value, certainly never hold together."""
    expressions = [expression for expression, _ in parts]
    if sum(1 for _ in islice(nested_expressions(*expressions), _MAX_PARTS + 1)) > _MAX_PARTS:
        return False
    try:
        return not _Cases(subjects).of_all(parts)
    except _TooManyError:
        return False


def are_there(expressions: Iterable[Expression], subjects: Subjects, read: frozenset[Expression]) -> bool:
    """Return whether all expressions certainly have values, given that those in `read` have."""
    return all(_is_there(each, subjects, read) for each in expressions)


def read_by(condition: Expression, *, holds: bool = True) -> Iterator[Expression]:
    """Yield the expressions that were read and had values after a condition was evaluated (and `holds`)."""
    yield condition
    match condition:
        case Operation(operator="and", left=left, right=right) if holds:
            yield from read_by(left)
            yield from read_by(right)
        case Operation(operator="and" | "or", left=left):
            yield from read_by(left, holds=False)
        case Call(function="present"):
            return
        case _:
            for inner in inner_expressions(condition):
                yield from read_by(inner, holds=False)


def _is_there(expression: Expression, subjects: Subjects, read: frozenset[Expression]) -> bool:
    if expression in read:
        return True
    match expression:
        case Number() | Truth() | RoleReference():
            return True
        case Operation(operator="**"):
            return False
        case Operation(operator="/" | "%", right=right) if not _is_nonzero(right, subjects):
            return False
        case (
            Operation()
            | Negation()
            | Range()
            | ListOf()
            | Call(function="count" | "min" | "max" | "index" | "rank")
        ):
            return all(_is_there(each, subjects, read) for each in inner_expressions(expression))
        case _:
            return subjects.is_there(expression)


def _is_nonzero(expression: Expression, subjects: Subjects) -> bool:
    numbers = numbers_of(expression, subjects)
    return numbers is not None and not intersected(numbers, (Span(low=0, high=0),))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Linear:
    """A linear combination of subjects, and a constant."""

    terms: Mapping[Expression, int]
    rest: int

    def plus(self, other: _Linear, factor: int) -> _Linear:
        terms = dict(self.terms)
        for subject, count in other.terms.items():
            terms[subject] = terms.get(subject, 0) + count * factor
        return _Linear(terms=terms, rest=self.rest + other.rest * factor)


def _linear(expression: Expression) -> _Linear:
    """Return an integer as a linear combination; a part that is not linear is a subject of its own."""
    nothing = _Linear(terms={}, rest=0)
    match expression:
        case Number(value=value):
            return _Linear(terms={}, rest=value)
        case Truth(value=truth):
            return _Linear(terms={}, rest=int(truth))
        case Negation(operator="-", operand=operand):
            return nothing.plus(_linear(operand), -1)
        case Operation(operator="+" | "-" as operator, left=left, right=right):
            return _linear(left).plus(_linear(right), 1 if operator == "+" else -1)
        case Operation(operator="*", left=left, right=right):
            first, second = _linear(left), _linear(right)
            if not any(first.terms.values()):
                return nothing.plus(second, first.rest)
            if not any(second.terms.values()):
                return nothing.plus(first, second.rest)
    return _Linear(terms={expression: 1}, rest=0)


def is_same_number(left: Expression, right: Expression) -> bool:
    """Return whether two integers are equal for all values of their subjects, as `n + 0` and `n` are."""
    difference = _linear(left).plus(_linear(right), -1)
    return not difference.rest and not any(difference.terms.values())


class _Cases:
    """Conditions as cases, over given subjects."""

    def __init__(self, subjects: Subjects) -> None:
        self._subjects = subjects

    def of_all(self, parts: Iterable[tuple[Expression, bool]]) -> list[_Case]:
        cases: list[_Case] = [{}]
        for condition, truth in parts:
            cases = self._both(cases, self._of(condition, truth))
        return cases

    def _of(self, condition: Expression, truth: bool) -> list[_Case]:
        match condition:
            case Truth(value=value):
                return [{}] if value is truth else []
            case Negation(operator="not", operand=operand):
                return self._of(operand, not truth)
            case Operation(operator="and" | "or" as operator, left=left, right=right):
                found = self._of(left, truth), self._of(right, truth)
                return self._both(*found) if (operator == "and") is truth else _either(found)
            case Operation(
                operator="in" | "not in" as operator, left=left, right=Range() | ListOf() as items
            ):
                return self._member(left, items, truth is (operator == "in"))
            case Operation(operator="not in", left=left, right=right):
                inside = Operation(operator="in", left=left, right=right)
                return self._lies(((inside, 1),), _is(not truth))
            case Operation(operator=operator, left=left, right=right) if operator in _OPPOSITES:
                return self._compared(operator, left, right, truth)
            case _:
                return self._lies(((condition, 1),), without(_is(False)) if truth else _is(False))

    def _member(self, value: Expression, items: Range | ListOf, truth: bool) -> list[_Case]:
        listed = _listed(items)
        if listed is not None and numbers_of(value, self._subjects) is not None:
            return self._sum_lies(_linear(value), listed if truth else without(listed))
        if isinstance(items, Range):
            ends = (
                self._compared("<=", items.low, value, truth),
                self._compared("<=", value, items.high, truth),
            )
            return self._both(*ends) if truth else _either(ends)
        cases: list[_Case] = [] if truth else [{}]
        for item in items.items:
            if isinstance(item, Range):
                found = self._member(value, item, truth)
            else:
                found = self._compared("==", value, item, truth)
            cases = _either((cases, found)) if truth else self._both(cases, found)
        return cases

    def _compared(self, operator: str, left: Expression, right: Expression, truth: bool) -> list[_Case]:
        if None in (numbers_of(left, self._subjects), numbers_of(right, self._subjects)):
            return self._unlike(operator, left, right, truth)
        difference = _linear(left).plus(_linear(right), -1)
        return self._sum_lies(difference, _compared_with(operator if truth else _OPPOSITES[operator], 0))

    def _sum_lies(self, whole: _Linear, numbers: Numbers) -> list[_Case]:
        """Return the cases in which a sum has one of some numbers."""
        settled = self._settled(whole)
        numbers = moved(numbers, -settled.rest)
        ordered = [(subject, factor) for subject, factor in settled.terms.items() if factor]
        if not ordered:
            return [{}] if holds(numbers, 0) else []
        if len(ordered) > 1:
            ordered.sort(key=lambda term: repr(term[0]))
        if ordered[0][1] < 0:
            ordered = [(subject, -factor) for subject, factor in ordered]
            numbers = negated(numbers)
        if len(ordered) == 1:
            subject, factor = ordered[0]
            return self._lies(((subject, 1),), scaled(numbers, factor))
        return self._lies(tuple(ordered), numbers)

    def _settled(self, sum_: _Linear) -> _Linear:
        """Return a sum with each subject that has one possible number replaced by that number."""
        rest, terms = sum_.rest, {}
        for subject, factor in sum_.terms.items():
            numbers = self._domain(subject)
            if len(numbers) == 1 and numbers[0].low == numbers[0].high:
                rest += factor * numbers[0].low
            else:
                terms[subject] = factor
        return _Linear(terms=terms, rest=rest)

    def _unlike(self, operator: str, left: Expression, right: Expression, truth: bool) -> list[_Case]:
        """Return the cases of a comparison of operands that are not integers: it holds, or it does not."""
        if operator in ("==", "!="):
            left, right = sorted((left, right), key=repr)
            truth = truth is (operator == "==")
            operator = "=="
        compared = Operation(operator=operator, left=left, right=right)  # type: ignore[arg-type]
        return self._lies(((compared, 1),), _is(truth))

    def _lies(self, sum_: _Sum, numbers: Numbers) -> list[_Case]:
        return self._both([{}], [{sum_: numbers}])

    def _both(self, left: Iterable[_Case], right: Iterable[_Case]) -> list[_Case]:
        right = list(right)
        found: list[_Case] = []
        for one in left:
            for other in right:
                case = self._joined(one, other)
                if case is not None:
                    found.append(case)
                if len(found) > _MAX_CASES:
                    raise _TooManyError
        return found

    def _joined(self, one: _Case, other: _Case) -> _Case | None:
        """Return the case in which both hold, or None if they exclude each other."""
        case = dict(one)
        for sum_, numbers in other.items():
            case[sum_] = intersected(case.get(sum_) or self._possible(sum_, {}), numbers)
        for sum_ in [each for each in case if len(each) > 1]:
            case[sum_] = intersected(case[sum_], self._possible(sum_, case))
        return case if all(case.values()) else None

    def _possible(self, sum_: _Sum, case: _Case) -> Numbers:
        """Return the numbers that a sum can have, given those of its subjects."""
        total: Numbers | None = _exactly(0)
        for subject, factor in sum_:
            numbers = case.get(((subject, 1),)) or self._domain(subject)
            if sum_ == ((subject, 1),):
                return numbers
            product = computed("*", numbers, _exactly(factor))
            total = None if total is None or product is None else computed("+", total, product)
        return total if total is not None else (Span(low=-FAR, high=FAR),)

    def _domain(self, subject: Expression) -> Numbers:
        return numbers_of(subject, self._subjects) or TRUTHS


def _either(parts: Iterable[Iterable[_Case]]) -> list[_Case]:
    found = [case for cases in parts for case in cases]
    if len(found) > _MAX_CASES:
        raise _TooManyError
    return found


def _listed(items: Range | ListOf) -> Numbers | None:
    """Return the numbers of a list that holds only numbers and ranges of them."""
    spans = []
    for item in items.items if isinstance(items, ListOf) else (items,):
        ends = (item.low, item.high) if isinstance(item, Range) else (item, item)
        low, high = number_of(ends[0]), number_of(ends[1])
        if low is None or high is None:
            return None
        if low <= high:
            spans.append(Span(low=low, high=high))
    return normal(spans)


def _compared_with(operator: str, number: int) -> Numbers:
    """Return the numbers that satisfy a comparison with `number`."""
    match operator:
        case "==":
            return _exactly(number)
        case "!=":
            return without(_exactly(number))
        case "<" | "<=":
            return (Span(low=-FAR, high=number - (operator == "<")),)
        case _:
            return (Span(low=number + (operator == ">"), high=FAR),)


def _is(truth: bool) -> Numbers:
    return _exactly(int(truth))


def _exactly(number: int) -> Numbers:
    return normal((Span(low=number, high=number),))
