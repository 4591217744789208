"""Vectors of content that fills a region of fixed size, and of lists that a value of an item ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.conformance.test_vectors_of_small_messages import built_of

FRAME = "frame F { code : u8 := code(body)  body : match code }  "
ITEMS = {"I": "struct I { x : u8  y : utf8[u8] }", "P": "struct P { x : u8  y : u16 }"}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param("t : utf8[] in 6  k : u8", id="text"),
        pytest.param("t : utf16[] in 6  k : u8", id="text of units"),
        pytest.param("t : bytes[] in 4  k : u8", id="bytes"),
        pytest.param('t : utf8[until x"00"] in 5  k : u8', id="delimited text"),
        pytest.param("s : { a : u8  t : utf8[u8] } in 6  k : u8", id="text with a prefix"),
        pytest.param("s : { t : bytes[remaining - 1]  a : u8 } in 4  k : u8", id="bytes before a last field"),
        pytest.param("t : utf8[remaining - 1] in 6 lenient  k : u8", id="text before what is left over"),
        pytest.param("l : u16[] in 6  k : u8", id="numbers"),
        pytest.param("l : I[] in 9  k : u8", id="items of several sizes"),
        pytest.param("l : P[until x == 0]  k : u8", id="until an item's field"),
        pytest.param("l : P[until x == 0] in 15  k : u8", id="until an item's field, of fixed size"),
        pytest.param("l : I[until x == 0] in 11  k : u8", id="until an item's field, of several sizes"),
        pytest.param("l : u8[until value == 0] in 5  k : u8", id="until an item"),
    ],
)
def test_content_of_a_fixed_size_has_vectors(fields: str, tmp_path: Path) -> None:
    items = " ".join(text for name, text in ITEMS.items() if f"{name}[" in fields)
    found = built_of(f"{FRAME}message M 1 {{ {fields} }} {items}", tmp_path)
    assert found.unheld() == ()
    assert found.coverage.measures[0].missing == ()
    assert found.kinds["valid"] > 2 and found.kinds["invalid"] > 2 and found.kinds["unwritable"] > 1


def test_what_does_not_fill_a_region_is_refused(tmp_path: Path) -> None:
    found = built_of(f"{FRAME}message M 1 {{ t : bytes[] in 4  l : u16[] in 6 }}", tmp_path)
    ids = {vector.id for vector in found.file.vectors if vector.kind == "unwritable"}
    for name in ("t", "l"):
        assert {each for each in ids if f"m-{name}-more-than" in each}
        assert {each for each in ids if f"m-{name}-less-than" in each}
