"""Traces of messages from the wrong side: only if their bytes identify them."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.tracing import traces_of

SAME = """wire 1
protocol p { source "no document" endian big roles client, server }
limits { frame = 2 KiB }
frame F { type : u8 := code(body)  body : match type }
message Put 1 from client { seq : u32 }
message Ack %d from server { seq : u32 }
session Flow { state run { client Put => {}  server Ack => {} } }
"""


def wrong_roles(folder: Path, code: int) -> list[str]:
    path = folder / "p.wire"
    path.write_text(SAME % code, encoding="utf-8")
    return [goal.role for goal in traces_of(path).goals if goal.kind == "wrong_role"]


def test_a_code_that_both_sides_use_is_legal_for_each(tmp_path: Path) -> None:
    """A client's message with the code of a server's message is its own message of that code."""
    assert wrong_roles(tmp_path, 1) == []


def test_a_code_of_one_side_is_wrong_for_the_other(tmp_path: Path) -> None:
    assert sorted(wrong_roles(tmp_path, 2)) == ["client", "server"]
