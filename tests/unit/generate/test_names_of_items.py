"""One item of a list is called by the singular of the list's name."""

from __future__ import annotations

import pytest

from wiregen.generate.views.python.names import singular


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
