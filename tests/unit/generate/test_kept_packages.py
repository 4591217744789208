"""Packages that large inputs need are kept for the next process; whatever is in their place, the output is the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.tools.test_cli_decode import run

from wiregen.generate import kept_packages, own_files
from wiregen.generate.backends import Subject
from wiregen.tools.cli import protocols

COMMON = """wire 1
/// Shared.
protocol common { source "A test" endian big roles client, server }
type Size = u16
"""
SMALL = """wire 1
/// A test.
protocol small { source "A test" endian big roles client, server port tcp 4000 }
import common: Size
frame F { type : u8 := code(body) body : match type }
message M 1 from client { size : Size }
"""
FRAME = bytes.fromhex("01 0102 01 0304")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a protocol and bytes of it, which are large here; the caches are empty."""
    monkeypatch.setenv("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(protocols, "_LARGE", 0)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "common.wire").write_text(COMMON)
    (folder / "small.wire").write_text(SMALL)
    (folder / "frames").write_bytes(FRAME)
    return folder


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the protocols that are read and checked."""
    names: list[str] = []
    plain = protocols.spoken

    def spoken(name: str) -> Subject:
        names.append(name)
        return plain(name)

    monkeypatch.setattr(protocols, "spoken", spoken)
    return names


def kept_files(folder: Path) -> list[Path]:
    return sorted((folder.parent / "caches" / "wiregen" / "packages").glob("*"))


def decoded(folder: Path) -> str:
    result = run("decode", folder / "small.wire", folder / "frames", "--format", "jsonl")
    assert result.stdout, result.stderr
    return result.stdout


def test_a_package_is_kept_and_used(folder: Path, made: list[str]) -> None:
    first = decoded(folder)
    (file,) = kept_files(folder)
    before = file.stat().st_ino
    assert first == decoded(folder)
    assert first.count("\n") == 2
    assert '"size":258' in first
    assert len(made) == 1
    assert [each.stat().st_ino for each in kept_files(folder)] == [before]  # it was not written again


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("small.wire", SMALL.replace("size : Size", "length : Size")),
        ("common.wire", COMMON.replace("u16", "u8")),
        ("other.wire", COMMON.replace("common", "other")),
    ],
)
def test_a_change_of_any_source_makes_it_anew(folder: Path, made: list[str], name: str, text: str) -> None:
    decoded(folder)
    (folder / name).write_text(text)
    again = decoded(folder)
    assert len(made) == 2
    assert ('"length":258' in again) == (name == "small.wire")
    assert ('"size":1}' in again) == (name == "common.wire")
    assert len(kept_files(folder)) == 1


def test_another_installation_makes_it_anew(
    folder: Path, made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    decoded(folder)
    other = tmp_path / "other"
    other.mkdir()
    (other / "module.py").write_text("")
    monkeypatch.setattr(kept_packages, "own_folder", lambda: other)
    decoded(folder)
    os.utime(other / "module.py", (1, 1))
    decoded(folder)
    decoded(folder)
    assert len(made) == 3
    assert own_files.own_folder() != other


@pytest.mark.parametrize(
    "damage",
    [lambda data: b"", lambda data: data[:-9], lambda data: data[:40] + b"\xff" + data[41:]],
    ids=["empty", "cut", "changed"],
)
def test_a_damaged_file_is_replaced(folder: Path, made: list[str], damage: Callable[[bytes], bytes]) -> None:
    first = decoded(folder)
    (file,) = kept_files(folder)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert decoded(folder) == first
    assert len(made) == 2
    assert decoded(folder) == first
    assert len(made) == 2


def test_a_protocol_with_an_error_is_told_each_time(folder: Path, made: list[str]) -> None:
    decoded(folder)
    (folder / "small.wire").write_text(SMALL.replace("Size }", "Sise }"))
    for _ in range(2):
        result = run("decode", folder / "small.wire", folder / "frames", "--format", "jsonl")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "Sise" in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_a_folder_that_others_can_write_is_not_used(folder: Path, made: list[str]) -> None:
    first = decoded(folder)
    (file,) = kept_files(folder)
    file.parent.chmod(0o777)
    assert decoded(folder) == first
    assert len(made) == 2


def test_no_folder_for_them_is_needed(folder: Path, made: list[str]) -> None:
    (folder.parent / "caches").write_text("a file where the folder would be")
    assert decoded(folder) == decoded(folder)
    assert len(made) == 2


@pytest.mark.parametrize("bound", ["MAX_LISTED", "_MOST_BYTES"])
def test_a_folder_with_too_many_sources_keeps_nothing(
    folder: Path, made: list[str], monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(kept_packages, bound, 1)
    assert decoded(folder) == decoded(folder)
    assert len(made) == 2
    assert kept_files(folder) == []


def test_a_protocol_from_stdin_is_compiled_and_not_kept(folder: Path) -> None:
    alone = SMALL.replace("import common: Size\n", "").replace("size : Size", "size : u16")
    result = run("decode", "-", folder / "frames", "--format", "jsonl", data=alone.encode())
    assert (result.exit_code, result.stdout) == (0, decoded(folder))
    assert len(kept_files(folder)) == 1


def test_replay_uses_the_package_that_decode_kept(folder: Path, made: list[str]) -> None:
    (folder / "small.wire").write_text(
        SMALL + "session S {\n  state idle { client M => open }\n  state open { client M => idle }\n}\n"
    )
    decoded(folder)
    result = run("replay", folder / "small.wire", folder / "frames", folder / "frames")
    assert "in 1 connection" in result.stdout, result.stderr
    assert len(made) == 1


def test_an_error_in_the_configuration_is_told_each_time(
    folder: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    first = decoded(folder)
    (folder / "idl").mkdir()
    (folder / "wiregen.toml").write_text('sources = ["idl"]\n')
    assert decoded(folder) == decoded(folder) == first
    assert len(made) == 2
    (folder / "wiregen.toml").write_text('sources = ["idl"]\nformatter = 3\n')
    for _ in range(2):
        result = run("decode", folder / "small.wire", folder / "frames", "--format", "jsonl")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "`formatter`" in result.stderr
    (folder / "wiregen.toml").write_text("sources = 3\n")
    assert run("decode", folder / "small.wire", folder / "frames").exit_code == 2
