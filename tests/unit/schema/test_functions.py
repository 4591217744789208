"""Functions of expressions: the arguments of each, and its effect on values or fields."""

from __future__ import annotations

from typing import get_args

import pytest

from wiregen.language.resolver import functions
from wiregen.runtime.reference.functions import FUNCTIONS, function_of
from wiregen.runtime.schema.literals import ChecksumAlgorithm, Function

OF_FIELDS = {"size", "present", "code"}
"""Those that are about a field: the scope of an expression answers them."""


def test_each_function_is_of_values_or_of_a_field() -> None:
    named = set(get_args(Function))
    assert (
        set(FUNCTIONS) | OF_FIELDS == named
    ), "runtime/reference/functions.py and runtime/schema/literals.py"


def test_each_function_has_its_form_in_the_language() -> None:
    named = {*get_args(Function), *get_args(ChecksumAlgorithm)}
    assert set(functions.FUNCTIONS) == named, "language/resolver/functions.py and runtime/schema/literals.py"


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("count", ([1, 2],), 2),
        ("min", (3, 1, 2), 1),
        ("max", (3, 1, 2), 3),
        ("max", (3,), 3),
        ("distinct", ([1, 2, 1],), False),
        ("push", ((1,), 2), [1, 2]),
        ("drop", ([1, 2, 3], 2), [3]),
        ("drop", ([1], -1), [1]),
        ("remove", ([1, 2, 1], 1), [2, 1]),
        ("index", ([1, 2], 2), 1),
        ("index", ([1, 2], 3), 2),
        ("rank", ([1, 2, 5, 3], 3), 2),
    ],
)
def test_a_function_of_values(name: str, values: tuple[object, ...], found: object) -> None:
    assert function_of(name)(*values) == found
