"""Interleaved rounds: every candidate runs in each round, and only ratios inside a round are kept.

Time is the process's CPU time, so that a busy machine disturbs the figures little; garbage is collected between candidates
and not during them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One candidate: nanoseconds a call, and the ratio to the first candidate with its spread (quartiles of the rounds)."""

    name: str
    nanoseconds: float
    ratio: float
    low: float
    high: float


def compare(
    candidates: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 21,
    seconds: float = 0.02,
    clock: Callable[[], int] = process_time_ns,
) -> tuple[Result, ...]:
    """Return a result for each candidate, in order; the first is the base of comparison.

    `clock` returns nanoseconds of CPU, by default of this process.
    """
    calls = {name: _calibrate(candidate, seconds, clock) for name, candidate in candidates.items()}
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds):
        names = list(candidates)
        for name in names if number % 2 else reversed(names):
            times[name].append(_time(candidates[name], calls[name], clock) / calls[name])
    base = times[next(iter(candidates))]
    return tuple(_result(name, taken, base) for name, taken in times.items())


def _calibrate(candidate: Callable[[], object], seconds: float, clock: Callable[[], int]) -> int:
    calls = 1
    while (taken := _time(candidate, calls, clock)) < seconds * 1e8:
        calls *= 2
    return max(1, int(calls * seconds * 1e9 / taken))


def _time(candidate: Callable[[], object], calls: int, clock: Callable[[], int]) -> int:
    gc.collect()
    gc.disable()
    try:
        begin = clock()
        for _ in range(calls):
            candidate()
        return clock() - begin
    finally:
        gc.enable()


def _result(name: str, taken: list[float], base: list[float]) -> Result:
    ratios = sorted(one / other for one, other in zip(taken, base, strict=True))
    quarter = len(ratios) // 4
    return Result(
        name=name,
        nanoseconds=median(taken),
        ratio=median(ratios),
        low=ratios[quarter],
        high=ratios[-quarter - 1],
    )


def table(title: str, results: tuple[Result, ...]) -> str:
    """Return the results as lines of text."""
    lines = [title]
    lines += [
        f"  {result.name:<28} {result.nanoseconds:>10.0f} ns   {result.ratio:>6.2f} ×   ({result.low:.2f} … {result.high:.2f})"
        for result in results
    ]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A figure that is to stay at or below a bound."""

    what: str
    measured: float
    bound: float

    @property
    def is_met(self) -> bool:
        return self.measured <= self.bound


def goals_table(goals: tuple[Goal, ...]) -> str:
    """Return the goals as lines of text, and how many are met."""
    lines = ["goals"]
    lines += [
        f"  {goal.what:<44} {goal.measured:>9.2f}   ≤ {goal.bound:<7.2f} {'met' if goal.is_met else 'NOT MET'}"
        for goal in goals
    ]
    return "\n".join([*lines, f"  {sum(goal.is_met for goal in goals)} of {len(goals)} met"])


def told(goals: Sequence[Goal], *, is_quick: bool) -> int:
    """Print the goals; return the code to exit with: 1 where one is missed. A few short rounds measure nothing, and miss none."""
    print(goals_table(tuple(goals)))
    return int(not is_quick and not all(goal.is_met for goal in goals))
