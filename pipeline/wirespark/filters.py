"""Pushdown of filters on message, code and offset to a read; Spark applies all of them again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from wirespark.packages import Package

__all__ = ["Pushed", "pushed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """The wanted rows.

    Their message is in `messages` (None: any), their offset from `low` to `high` inclusive.
    """

    messages: tuple[str, ...] | None = None
    low: int = 0
    high: int | None = None


def pushed(filters: Iterable[Filter], package: Package) -> Pushed:
    """Return the conjunction of the filters."""
    found = Pushed()
    for each in filters:
        found = _narrowed(found, each, package)
    return found


def _narrowed(found: Pushed, each: Filter, package: Package) -> Pushed:
    match each:
        case EqualTo(attribute=("_message",), value=value):
            return _among(found, {value})
        case In(attribute=("_message",), value=values):
            return _among(found, set(values))
        case IsNotNull(attribute=(name,)) if name in package.messages:
            return _among(found, {name})
        case EqualTo(attribute=("_code",), value=value):
            return _among(found, _of_codes(package, {value}))
        case In(attribute=("_code",), value=values):
            return _among(found, _of_codes(package, set(values)))
        case EqualTo(attribute=("_offset",), value=value):
            return _between(found, value, value)
        case GreaterThan(attribute=("_offset",), value=value):
            return _between(found, value + 1, None)
        case GreaterThanOrEqual(attribute=("_offset",), value=value):
            return _between(found, value, None)
        case LessThan(attribute=("_offset",), value=value):
            return _between(found, 0, value - 1)
        case LessThanOrEqual(attribute=("_offset",), value=value):
            return _between(found, 0, value)
        case _:
            return found


def _among(found: Pushed, names: set[str]) -> Pushed:
    known = names if found.messages is None else names & set(found.messages)
    return replace(found, messages=tuple(sorted(known)))


def _between(found: Pushed, low: int, high: int | None) -> Pushed:
    highs = [each for each in (found.high, high) if each is not None]
    return replace(found, low=max(found.low, low), high=min(highs) if highs else None)


def _of_codes(package: Package, codes: set[int | None]) -> set[str]:
    """Return the messages that may have one of these codes. Unknown messages have only a number."""
    messages = package.schema.messages
    return {name for name, message in messages.items() if message.code in codes} | {"Unknown"}
