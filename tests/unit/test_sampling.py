"""The cases that only a soak runs: each entry of the table is about a test that is there, and leaves some of its cases."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.sampling import MOST, SECONDS, sampled

TESTS = Path(__file__).resolve().parents[1]
NAME = "unit/test_sampling.py::test_of_five"


@pytest.mark.parametrize("name", SECONDS)
def test_an_entry_names_a_test_of_several_cases(name: str) -> None:
    path, _, function = name.partition("::")
    text = (TESTS / path).read_text(encoding="utf-8")
    assert re.search(rf"\ndef {function}\(\s*\w", text), "no test with arguments has this name"


def left_of(seconds: float) -> list[str]:
    """Return the cases that are left of two tests with five, of which one takes so many seconds a case."""
    names = [f"{test}[{case}]" for case in range(5) for test in ("test_of_five", "test_another")]
    items = [SimpleNamespace(path=Path(__file__), name=each) for each in names]
    return [item.name for item in sampled(items, {NAME: seconds})]  # type: ignore[arg-type]


def test_every_nth_case_of_a_long_test_is_left_and_all_of_others() -> None:
    left = left_of(MOST / 3)
    cases = [int(each[-2]) for each in left if each.startswith("test_of_five")]
    assert len(left) == 5 + len(cases) and 2 <= len(cases) <= 3
    assert cases == list(range(cases[0], 5, 2))


@pytest.mark.parametrize("seconds", [MOST / 5, 0.0])
def test_all_cases_are_left_that_take_no_longer_than_they_may(seconds: float) -> None:
    assert len(left_of(seconds)) == 10


def test_one_case_is_left_however_long_it_takes() -> None:
    assert len(left_of(100 * MOST)) == 6
