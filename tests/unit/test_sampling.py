"""The cases that only a soak runs: each entry of the table is about tests that are there, and leaves some of them."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.conftest import SAMPLED, sampled

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("beginning", SAMPLED)
def test_an_entry_names_a_test_of_several_cases(beginning: str) -> None:
    path, _, name = beginning.partition("::")
    text = (TESTS / path).read_text(encoding="utf-8")
    assert re.search(rf"\ndef {name}\w*\(\s*\w", text), "no test with arguments has this name"


def test_every_nth_case_of_a_test_is_left_and_all_of_others() -> None:
    beginning = "unit/language/test_lexical.py::test_hostile_text_takes_linear_work"
    path, _, name = beginning.partition("::")
    names = [f"{each}[{case}]" for case in range(5) for each in (name, "test_another")]
    items = [SimpleNamespace(path=TESTS / path, name=each) for each in names]
    left = [item.name for item in sampled(items)]  # type: ignore[arg-type]
    assert SAMPLED[beginning] == 2
    assert [each for each in left if each.startswith(name)] == [f"{name}[0]", f"{name}[2]", f"{name}[4]"]
    assert sum(each.startswith("test_another") for each in left) == 5
