"""Faults put into generated code are noticed by the vectors: a sample in each run of the tests, all of them in a soak."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator

import pytest

from .equivalents import holds_more
from .mutants import Mutant
from .running import PROTOCOLS, Hunt, sampled
from .survivors import KNOWN, why

IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
LEAST = 0.75
"""The share that has been reached; the aim is 0.95, and what lives is printed with what is known of it."""
SAMPLE = 300
SEED = 6


def survivors(protocol: str, chosen: list[Mutant]) -> Iterator[str]:
    for found in Hunt(protocol).run(chosen):
        if found.vector is None:
            yield found.mutant.id


def test_vectors_notice_what_is_wrong_with_a_codec(
    evidence: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    killed, missed, n_equivalent = 0, 0, 0
    for protocol, mutants in sampled(0 if IS_SOAK else SAMPLE, SEED).items():
        chosen = [mutant for mutant in mutants if not mutant.equivalent]
        alive = list(survivors(protocol, chosen))
        known = {name: why(name) for name in alive}
        equivalent = [name for name, each in known.items() if each is not None and each.is_equivalent]
        killed += len(chosen) - len(alive)
        missed += len(alive) - len(equivalent)
        n_equivalent += len(mutants) - len(chosen) + len(equivalent)
        with capsys.disabled():
            print(f"\n{protocol}: {len(chosen) - len(alive)} killed, {len(alive)} alive of {len(mutants)}")
            for name, each in known.items():
                print(f"  {name}: {'not looked into yet' if each is None else each.reason}")
    share = killed / (killed + missed)
    told = f"{killed} of {killed + missed} mutants killed ({share:.1%}), {n_equivalent} more are equivalent"
    with capsys.disabled():
        print(told)
    evidence("mutants", count=killed + missed, failures=missed, killed=killed, equivalent=n_equivalent)
    assert share >= LEAST, told


def test_a_sample_is_the_same_each_time_and_of_all_protocols() -> None:
    once, again = (sampled(SAMPLE, SEED) for _ in range(2))
    names = {protocol: [mutant.id for mutant in mutants] for protocol, mutants in once.items()}
    assert names == {protocol: [mutant.id for mutant in mutants] for protocol, mutants in again.items()}
    assert sum(map(len, names.values())) == SAMPLE
    assert all(names[protocol] for protocol in PROTOCOLS)


def test_ids_stand_once() -> None:
    for mutants in sampled(0).values():
        names = [mutant.id for mutant in mutants]
        assert len(names) == len(set(names))


def test_every_reason_is_one_of_some_mutant() -> None:
    names = [mutant.id for mutants in sampled(0).values() for mutant in mutants if not mutant.equivalent]
    for known in KNOWN:
        assert any(why(name) is known for name in names), known.ids


@pytest.mark.parametrize(
    ("before", "part", "after", "more"),
    [
        ("n > 5", "n > 5", "n >= 5", 1),
        ("n > 5", "5", "4", 1),
        ("n > 5", "5", "6", -1),
        ("n + 8 > end", "8", "9", 1),
        ("end - 8 < n", "8", "9", 1),
        ("not 0 <= n <= 5", "5", "4", 1),
        ("not 0 <= n <= 5", "5", "6", -1),
        ("not a and b", "not a and b", "not a or b", 1),
        ("a is None or n >= 5", "n >= 5", "n > 5", 0),
        ("f(5) > n", "5", "6", 0),
    ],
)
def test_what_makes_a_test_hold_more_often_is_known(before: str, part: str, after: str, more: int) -> None:
    test = ast.parse(before, mode="eval").body
    node = next(node for node in ast.walk(test) if isinstance(node, ast.expr) and ast.unparse(node) == part)
    assert holds_more(test, node, ast.parse(after, mode="eval").body) == more
