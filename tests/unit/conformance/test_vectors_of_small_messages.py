"""Vectors of many small messages, of messages without choices, and of fields that are called as parts of others are."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiregen.conformance.vectors.building import Built, build_vectors
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema.lowering import lower

CASES = Path(__file__).resolve().parents[2] / "cases"
HEAD = 'protocol one { source "x" endian big roles a, b } limits { frame = 1 KiB }\n'


def built(path: Path) -> Built:
    report = Report()
    subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None and not report.has_errors
    return build_vectors(lower(subject.protocol))


def built_of(text: str, folder: Path) -> Built:
    path = folder / "one.wire"
    path.write_text(HEAD + text, encoding="utf-8")
    return built(path)


def test_many_small_messages_have_vectors_that_hold() -> None:
    found = built(CASES / "layout" / "many_small_messages.wire")
    assert found.unheld() == ()
    assert [measure.missing for measure in found.coverage.measures] == [(), (), ()]
    assert {"valid", "invalid", "unwritable"} <= set(found.kinds)


def test_a_field_called_count_is_a_field(tmp_path: Path) -> None:
    text = "frame F { m : M in u16 }  message M { NAME : u32 where NAME < 1000  other : u8[u8] }"
    ids = {
        name: [
            vector.id.replace(f"m-{name}", "m-field")
            for vector in built_of(text.replace("NAME", name), tmp_path).file.vectors
        ]
        for name in ("count", "kount", "code", "tail", "data")
    }
    assert all(sorted(each) == sorted(ids["kount"]) for each in ids.values())


def test_a_message_without_choices_has_a_vector(tmp_path: Path) -> None:
    found = built_of(
        "frame F { m : M in u16 }  message M { n : u8 := size(text)  text : utf8[n] if n > 0 }", tmp_path
    )
    ids = [vector.id for vector in found.file.vectors if vector.kind == "valid"]
    assert ids[:2] == ["m-which-is-always-the-same", "m-without-text"]
    assert found.unheld() == ()


def test_items_until_nothing_remains_have_vectors(tmp_path: Path) -> None:
    found = built_of("frame F { m : M in u8 }  message M { f : u8[until remaining == 0] }", tmp_path)
    assert found.kinds["valid"] > 2
    assert found.unheld() == ()


@pytest.mark.parametrize("where", ["r == remaining", "remaining == r", "r + 1 == remaining"])
def test_a_number_of_the_bytes_that_follow_it_is_found(where: str, tmp_path: Path) -> None:
    frame = "frame F { k : u8 := code(body)  n : u16 := size(body)  body : match k in n }"
    message = f"message M 1 {{ r : u8 where {where}  x : u16  t : utf8[u8] }}"
    found = built_of(f"{frame}  {message}", tmp_path)
    assert found.unheld() == ()
    assert found.coverage.measures[0].missing == ()
    assert found.kinds["valid"] > 2


def test_a_branch_without_a_value_keeps_no_other_from_being_shown(tmp_path: Path) -> None:
    """No value of the first arm is found, so that the plainest message has no items at all."""
    found = built_of(
        "open enum Kind : u8 { HARD = 1  NAME = 2  CLASS = 3 }"
        "  struct Hard { a : u16 where a % 7001 == 6999  b : u16 where b == a + 1 }"
        "  struct Item { kind : Kind  size : u8 := size(value)"
        "    value : match kind { HARD => Hard  NAME => utf8[]  CLASS => { number : u8 where number < 9 }  _ => bytes[] } in size }"
        "  frame F { k : u8 := code(body)  n : u16 := size(body)  body : match k in n }"
        "  message M 1 { items : Item[] }",
        tmp_path,
    )
    missing = {name for measure in found.coverage.measures for name in measure.missing}
    assert missing <= {"Hard.a", "Hard.b", "Item.value arm HARD"}
    assert found.unheld() == ()
