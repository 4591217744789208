"""Vectors of lists whose items choose among many arms: as many branches as there are options, not as their orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wiregen.conformance.samples import (
    Choices,
    Exploration,
    SampleBasis,
    SampleValue,
    exploration,
    explore,
    grow,
)
from wiregen.conformance.vectors.building import build_vectors
from wiregen.conformance.vectors.drafts import Drafting
from wiregen.conformance.vectors.valid import Crop, valid_drafts
from wiregen.generate.frontend import load_protocol
from wiregen.generate.packages import make
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.runtime.schema.protocol import Schema

ARMS = 7
TEXT = f"""wire 1
protocol p {{ source "no document" endian big roles a, b }}
frame F {{ type : u8 := code(body)  length : u16 := size(body)  body : match type in length }}
struct Record {{
  kind : u8 where kind < {ARMS}
  size : u8 := size(data)
  data : match kind {{ {"  ".join(f"{n} => u8[{n}]" for n in range(ARMS - 1))}  _ => bytes[] }} in size
}}
message M 1 {{ n : u8 := count(first)  m : u8 := count(second)  first : Record[n]  second : Record[m] }}
"""


NAMES = """wire 1
protocol names { source "no document" endian big roles a, b }
limits { frame = 64 KiB }
frame F { length : u16 := size(body)  body : Query in length }
struct Label { n : u8 := count(text) where n < 64  text : ascii[n] }
struct Name { labels : Label[until LAST] }
struct Question { name : Name  type : u16 }
struct Record {
  name : Name
  type : u16
  ttl  : u32
  data : match type { 1 => { address : u32 }  2 => { host : Name }  16 => { texts : utf8[u8] }  _ => bytes[] } in u16
}
message Query {
  n_questions   : u16 := count(questions)
  n_answers     : u16 := count(answers)
  n_authorities : u16 := count(authorities)
  n_additionals : u16 := count(additionals)
  questions     : Question[n_questions]
  answers       : Record[n_answers]
  authorities   : Record[n_authorities]
  additionals   : Record[n_additionals]
}
"""


def schema_of(text: str, folder: Path) -> Schema:
    path = folder / "p.wire"
    path.write_text(text, encoding="utf-8")
    report = Report()
    subject = load_protocol(path, Sources(), report, (folder,))
    assert subject is not None
    package = make(subject, ("native",), report)
    assert package is not None
    return package.schema


def test_orders_of_the_arms_of_items_are_not_branches(tmp_path: Path) -> None:
    found, taken = Exploration(), 0

    def take(_: SampleValue) -> bool:
        nonlocal taken
        taken += 1
        return True

    explore(SampleBasis(schema=schema_of(TEXT, tmp_path)), take, found, role="a")
    assert {f"Record.data arm {n}" for n in range(1, ARMS + 1)} <= {*found.covered}
    assert taken < 300


@pytest.mark.parametrize("last", ["n == 0", "count(text) == 0"])
def test_labels_of_names_take_lengths_that_their_condition_allows(last: str, tmp_path: Path) -> None:
    built = build_vectors(schema_of(NAMES.replace("LAST", last), tmp_path))
    assert not built.unshown
    assert built.coverage.is_full, built.coverage
    assert {f"Record.data arm {n}" for n in range(1, 5)} <= {
        name for vector in built.file.vectors if vector.kind == "valid" for name in vector.covers
    }


COUNTS = """wire 1
protocol counts { source "no document" endian big roles a, b }
limits { frame = 64 KiB }
frame F { type : u8 := code(body)  body : match type in u16 }
message Prefixed 1 { items : u16[u8] where count(items) > 4 }
message Counted 2 { n : u8 := count(items)  items : u16[n] where count(items) > 4 }
message Distinct 3 { items : u16[u8] where distinct(items) and count(items) in [1, 5] }
message Rest 4 { items : u16[] where size(items) >= 10 }
message Ended 5 { items : u16[until value == 0] where count(items) >= 5 }
message Pairs 6 { items : Pair[u8] where count(items) > 4 }
struct Pair { key : utf8[u8]  values : u8[u8] }
message Sized 7 { word : ascii[6] where word == "HELLO!"  n : u8  mark : bytes[n] where mark == x"0a0b" }
message Long 8 { key : utf8[u8] where count(key) in [4, 8, 16]  wide : utf16[u8] where count(wide) == 9 }
"""


def test_values_are_as_long_as_their_condition_asks_for(tmp_path: Path) -> None:
    built = build_vectors(schema_of(COUNTS, tmp_path))
    assert not built.unshown
    assert built.coverage.is_full, built.coverage


DISTINCT = """wire 1
protocol p { source "no document" endian big roles a, b }

limits { frame = 4 KiB  joined = 8 KiB  open = 4 }

type Id = u16 where value > 0 and value % 2 == 1

struct Entry { id : Id  v : match id { 1 => { x : u8 } _ => { data : bytes[u8]  x : u8 } } }

frame F {
  h    : u8 := count(ids)
  ids  : Id[h] where distinct(ids)
  type : u8 := code(body)
  n    : u16 := size(body)
  body : match type in n
}

message Entries 1 { first : Entry  others : Entry[u8] ?= [] }
message Part 3 from b { key : u8  more : bool  data : bytes[] }

join Whole : F per key {
  part Part.data when more
  last Part.data when not more
}
"""


def test_items_that_must_differ_do_so_in_every_frame(tmp_path: Path) -> None:
    """In those, too, that show something else: a fragment, whose data has few values."""
    built = build_vectors(schema_of(DISTINCT, tmp_path))
    assert not built.unshown
    assert built.coverage.is_full, built.coverage


NUMBERS = """wire 1
protocol numbers { source "no document" endian big roles a, b }
limits { frame = 64 KiB }
coding Short : u8 { 0 .. 253  254 => u16 }
frame F { type : u8 := code(body)  body : match type in u16 }
message Width 1 { n : varint  x : match n { 1 => u8  77 => u16  _ => u32 } }
message Signed 2 { n : zigzag  x : match n { -5 => u8  _ => u32 } }
message Coded 3 { n : Short  x : match n { 1 => u8  300 => u16  _ => u32 }  y : u8 if n == 200 }
"""


def test_arms_of_variable_width_integers_are_taken(tmp_path: Path) -> None:
    crop = Crop(SampleBasis(schema=schema_of(NUMBERS, tmp_path)), Drafting(schema_of(NUMBERS, tmp_path)))
    valid_drafts(crop)
    arms = {"Width": 3, "Signed": 2, "Coded": 3}
    wanted = {f"{name}.x arm {n + 1}" for name, n_arms in arms.items() for n in range(n_arms)}
    assert wanted <= {*crop.found.covered}


def test_a_demand_that_is_refused_by_itself_is_tried_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of 65,535 records is refused, whatever the other options are."""
    schema, tried = schema_of(NAMES.replace(" where n < 64", "").replace("LAST", "n == 0"), tmp_path), 0

    def counted(basis: SampleBasis, choices: Choices, **given: Any) -> SampleValue:
        nonlocal tried
        tried += 1
        return grow(basis, choices, **given)

    monkeypatch.setattr(exploration, "grow", counted)
    valid_drafts(Crop(SampleBasis(schema=schema), Drafting(schema)))
    assert tried < 250
