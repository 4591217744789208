"""`wiregen vectors build` refuses a protocol of which no message can be written: its vectors would judge nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import called

HEAD = """wire 1
protocol tide { source "a document" endian big roles client, server }
frame Frame {
  type : u8 := code(body)
  length : u16 := size(body)
  body : match type in length
}
"""
NEVER = "message Never 1 { k : u8 where k * k == 7 }\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "idl").mkdir()
    (tmp_path / "wiregen.toml").write_text('backends = ["native"]\n', encoding="utf-8")
    return tmp_path


def test_a_protocol_without_a_message_that_can_be_written_is_refused(project: Path) -> None:
    (project / "idl" / "tide.wire").write_text(HEAD + NEVER, encoding="utf-8")
    done = called("vectors", "build", folder=project)
    assert done.exit_code == 1
    assert (
        "no message of tide can be written: Never.k is refused (constraint) (idl/tide.wire:8)" in done.stderr
    )
    assert "= help: check whether its `where` and `:=` contradict each other" in done.stderr
    assert not (project / "generated" / "vectors").exists()


def test_one_message_that_cannot_be_written_is_named_beside_the_others(project: Path) -> None:
    text = f"{HEAD}{NEVER}message Ever 2 {{ k : u8 }}\n"
    (project / "idl" / "tide.wire").write_text(text, encoding="utf-8")
    done = called("vectors", "build", folder=project)
    assert done.exit_code == 1
    assert "no vector shows fields: Never.k (idl/tide.wire:8)" in done.stdout
    assert (
        "error: no vector of tide shows message Never: Never.k is refused (constraint) (idl/tide.wire:8)"
        in done.stderr
    )
    assert (project / "generated" / "vectors" / "tide.json").exists()
    assert called("vectors", "build", "--check", folder=project).exit_code == 1


def test_a_message_without_any_value_is_named_with_its_sender(project: Path) -> None:
    never = (
        "message Never 1 from client { k : u32 where k > 70_000  data : bytes[k] where count(data) < 9 }\n"
    )
    text = f"{HEAD}{never}message Ever 2 {{ k : u8 }}\n"
    (project / "idl" / "tide.wire").write_text(text, encoding="utf-8")
    done = called("vectors", "build", folder=project)
    assert done.exit_code == 1
    assert "no vector of tide shows message Never from client: " in done.stderr
    assert "message Ever" not in done.stderr


def test_the_vectors_of_the_other_protocols_are_built(project: Path) -> None:
    """Before the refusal is reported; what an earlier run wrote for the refused protocol stays."""
    for name in ("alga", "tide", "wave"):
        text = f"{HEAD.replace('tide', name)}message Ever 2 {{ k : u8 }}\n"
        (project / "idl" / f"{name}.wire").write_text(text, encoding="utf-8")
    assert called("vectors", "build", folder=project).exit_code == 0
    vectors = project / "generated" / "vectors"
    before = (vectors / "tide.json").read_bytes()
    (vectors / "wave.json").unlink()
    (project / "idl" / "tide.wire").write_text(HEAD + NEVER, encoding="utf-8")
    checked = called("vectors", "build", "--check", folder=project)
    assert checked.exit_code == 1
    assert "missing generated/vectors/wave.json" in checked.stdout
    done = called("vectors", "build", folder=project)
    assert done.exit_code == 1
    assert [line.partition(":")[0] for line in done.stdout.splitlines() if not line.startswith(" ")] == [
        "alga",
        "wave",
    ]
    assert done.stderr.count("error:") == 1
    assert "error: no message of tide can be written: Never.k is refused" in done.stderr
    assert (vectors / "wave.json").exists()
    assert (vectors / "tide.json").read_bytes() == before
