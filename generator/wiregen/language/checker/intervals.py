"""Sets of integers as spans, and arithmetic on them.

Every result may be too wide and is never too narrow: a number that an expression can have is in its set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from wiregen.schema.model import Span

__all__ = [
    "FAR",
    "TRUTHS",
    "Numbers",
    "computed",
    "holds",
    "intersected",
    "negated",
    "normal",
    "scaled",
    "without",
]

Numbers: TypeAlias = tuple[Span, ...]
"""Spans in ascending order that neither overlap nor touch."""

FAR = 2**300
"""Greater than every number that a file can write and every bound that is computed here."""
TRUTHS: Numbers = (Span(low=0, high=1),)
_MAX_SPANS = 1000


def normal(spans: Iterable[Span]) -> Numbers:
    """Return the set of all numbers in some spans; for very many spans, the single span that encloses them."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.low, each.high)):
        if found and span.low <= found[-1].high + 1:
            found[-1] = Span(low=found[-1].low, high=max(found[-1].high, span.high))
        else:
            found.append(span)
    return tuple(found) if len(found) <= _MAX_SPANS else (_hull(found),)


def intersected(left: Numbers, right: Numbers) -> Numbers:
    """Return the numbers that are in both sets."""
    found: list[Span] = []
    first = second = 0
    while first < len(left) and second < len(right):
        low, high = max(left[first].low, right[second].low), min(left[first].high, right[second].high)
        if low <= high:
            found.append(Span(low=low, high=high))
        if left[first].high < right[second].high:
            first += 1
        else:
            second += 1
    return tuple(found)


def holds(numbers: Numbers, number: int) -> bool:
    return any(span.low <= number <= span.high for span in numbers)


def without(numbers: Numbers) -> Numbers:
    """Return the numbers within ±FAR that are not in a set."""
    found: list[Span] = []
    low = -FAR
    for span in numbers:
        if low < span.low:
            found.append(Span(low=low, high=span.low - 1))
        low = span.high + 1
    return (*found, Span(low=low, high=FAR)) if low <= FAR else tuple(found)


def negated(numbers: Numbers) -> Numbers:
    return tuple(Span(low=-span.high, high=-span.low) for span in reversed(numbers))


def moved(numbers: Numbers, by: int) -> Numbers:
    """Return a set with a number added to each element; spans that reach ±FAR still do."""
    return tuple(
        Span(
            low=span.low if span.low == -FAR else span.low + by,
            high=span.high if span.high == FAR else span.high + by,
        )
        for span in numbers
    )


def scaled(numbers: Numbers, by: int) -> Numbers:
    """Return the numbers that are in a set after they are multiplied by a positive factor."""
    spans = (Span(low=-(-span.low // by), high=span.high // by) for span in numbers)
    return normal(span for span in spans if span.low <= span.high)


def computed(operator: str, left: Numbers, right: Numbers) -> Numbers | None:
    """Return the possible values of `left operator right`, or None where they are unknown or out of bounds."""
    if not left or not right:
        return None
    first, second = _hull(left), _hull(right)
    match operator:
        case "+":
            return _near(first.low + second.low, first.high + second.high)
        case "-":
            return _near(first.low - second.high, first.high - second.low)
        case "*":
            return _near(*(one * other for one in _ends(first) for other in _ends(second)))
        case "/" if second.low > 0 or second.high < 0:
            return _near(*(one // other for one in _ends(first) for other in _ends(second)))
        case "%" if second.low > 0:
            return left if first.low >= 0 and first.high < second.low else _near(0, second.high - 1)
        case "min" | "max":
            pick = min if operator == "min" else max
            return _near(pick(first.low, second.low), pick(first.high, second.high))
        case _:
            return None


def _near(*corners: int) -> Numbers | None:
    low, high = min(corners), max(corners)
    return (Span(low=low, high=high),) if low > -FAR and high < FAR else None


def _ends(span: Span) -> tuple[int, int]:
    return span.low, span.high


def _hull(spans: Iterable[Span]) -> Span:
    spans = tuple(spans)
    return Span(low=spans[0].low, high=max(span.high for span in spans))
