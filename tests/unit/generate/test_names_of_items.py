"""Names in generated code: one item of a list is called by the singular of its name, and imports have one order."""

from __future__ import annotations

from itertools import permutations

import pytest

from wiregen.generate.views.python.names import caseless, singular


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("entries", "entry"),
        ("map_entries", "map_entry"),
        ("pairs", "pair"),
        ("keys", "key"),
        ("addresses", "address"),
        ("boxes", "box"),
        ("branches", "branch"),
        ("sizes", "size"),
        ("cookies", "cookie"),
        ("properties", "property"),
        ("series", "series_item"),
        ("status", "status_item"),
        ("data", "data_item"),
        ("s", "s_item"),
    ],
)
def test_an_item_has_the_singular_of_its_list(name: str, item: str) -> None:
    assert singular(name) == item


def test_names_that_differ_in_case_only_have_one_order() -> None:
    orders = {tuple(sorted(names, key=caseless)) for names in permutations(("Ab", "AB", "aB", "ab", "Frame"))}
    assert orders == {("AB", "Ab", "aB", "ab", "Frame")}
