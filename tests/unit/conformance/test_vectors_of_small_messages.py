"""Vectors of many small messages, of messages without choices, and of fields that are called as parts of others are."""

from __future__ import annotations

from pathlib import Path

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
