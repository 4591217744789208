"""Numbers in protobuf: from order and tags, kept by a lock, never moved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from wiregen.generate.build import build
from wiregen.language.config import Config
from wiregen.language.diagnostics import Report
from wiregen.language.locks import LockError, write_lock
from wiregen.language.source import Sources
from wiregen.schema.value_shapes.field_numbers import read_lock
from wiregen.tools.cli import wiregen

HEAD = """protocol tide { source "no document"  endian big  roles ship, port }
frame Frame { type : u8 := code(body)  body : match type }
"""
BEFORE = HEAD + "message Sounding 1 { depth : u16  sigma : u8 }\n"


class Project:
    """A folder with one protocol, built as often as wanted."""

    def __init__(self, folder: Path) -> None:
        self.lock = folder / "idl" / "tide.lock"
        (folder / "idl").mkdir()
        self._wire = folder / "idl" / "tide.wire"
        self._config = Config(
            root=folder,
            file=None,
            sources=(folder / "idl",),
            output=folder / "generated",
            package="wireproto",
            backends=("native", "protobuf"),
            protocols=None,
        )

    def rename(self, name: str) -> None:
        self._wire = self._wire.with_name(name)
        self.lock = self._wire.with_suffix(".lock")

    def build(self, text: str) -> list[str]:
        """Return the findings of a build; without one, the lock is written."""
        self._wire.write_text(text, encoding="utf-8")
        report, locks = Report(), dict[Path, bytes]()
        outputs = build(self._config, (), Sources(), report, at_lock=locks.__setitem__)
        for path, content in locks.items():
            assert outputs
            write_lock(path, content)
        self.files = {str(output.path): output.content.decode() for output in outputs}
        return [f"{each.code} {each.message}" for each in report.diagnostics if each.severity == "error"]

    def numbers(self) -> dict[str, int]:
        return read_lock(self.lock.read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_lock_of_a_file_that_is_not_called_as_its_protocol_stands_beside_that_file(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    project.rename("file.wire")
    assert project.build(BEFORE) == []
    assert project.numbers()["Sounding.sigma"] == 2
    moved = project.build(BEFORE.replace("depth : u16  sigma : u8", "sigma : u8  depth : u16"))
    assert [finding.split()[0] for finding in moved] == ["WG5010", "WG5010"], "the lock is read again"
    assert project.build(BEFORE) == []
    assert "Codecs of tide:" in project.files["python/wireproto/__init__.py"]


def test_numbers_follow_the_order_and_stand_in_the_lock(project: Project) -> None:
    assert project.build(BEFORE) == []
    assert project.numbers() == {"Frame.Sounding": 1, "Sounding.depth": 1, "Sounding.sigma": 2}
    assert "uint32 sigma = 2;" in project.files["proto/tide.proto"]


@pytest.mark.parametrize(
    ("fields", "finding"),
    [
        pytest.param(
            "flags : u8  depth : u16  sigma : u8",
            "WG5010 the protobuf number of `Sounding.depth` would change from 1 to 2",
            id="before",
        ),
        pytest.param(
            "depth : u16  accuracy : u8",
            "WG5010 `Sounding.accuracy` would get the protobuf number 2, which belongs to `Sounding.sigma`",
            id="in the place of another",
        ),
        pytest.param(
            "depth : u16 @tag(3)  sigma : u8",
            "WG5010 the protobuf number of `Sounding.depth` would change from 1 to 3",
            id="by tag",
        ),
        pytest.param(
            "depth : u16  sigma : u8 @tag(1)",
            "WG5011 `Sounding.sigma` has the protobuf number 1, which `Sounding.depth` already has",
            id="twice",
        ),
        pytest.param(
            "depth : u16  sigma : u8 @tag(19500)",
            "WG5011 `Sounding.sigma` cannot have the protobuf number 19500",
            id="protobuf's own",
        ),
    ],
)
def test_a_number_that_would_move_is_refused_and_named(project: Project, fields: str, finding: str) -> None:
    assert project.build(BEFORE) == []
    before = project.lock.read_bytes()
    assert finding in project.build(HEAD + f"message Sounding 1 {{ {fields} }}\n")
    assert project.files == {}
    assert project.lock.read_bytes() == before


def test_check_reports_a_number_that_a_build_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wiregen.toml").write_text('backends = ["native", "protobuf"]\n')
    file = tmp_path / "idl" / "tide.wire"
    file.parent.mkdir()
    file.write_text(BEFORE)
    assert CliRunner().invoke(wiregen, ["build"]).exit_code == 0
    file.write_text(BEFORE.replace("depth", "fathoms"))
    for verb in ("check", "build"):
        result = CliRunner().invoke(wiregen, [verb])
        assert result.exit_code == 1
        assert "WG5010" in result.output and "idl/tide.wire:3:22" in result.output


def test_what_is_added_before_keeps_the_others_by_tag(project: Project) -> None:
    assert project.build(BEFORE) == []
    text = HEAD + "message Sounding 1 { flags : u8 @tag(3)  depth : u16 @tag(1)  sigma : u8 @tag(2) }\n"
    assert project.build(text) == []
    assert project.numbers()["Sounding.flags"] == 3


def test_the_number_of_what_was_removed_stays_taken(project: Project) -> None:
    assert project.build(BEFORE) == []
    assert project.build(HEAD + "message Sounding 1 { depth : u16 }\n") == []
    assert project.numbers()["Sounding.sigma"] == 2
    assert "reserved 2;" in project.files["proto/tide.proto"]
    assert project.build(HEAD + "message Sounding 1 { depth : u16  later : u8 @tag(3) }\n") == []
    assert project.build(HEAD + "message Sounding 1 { depth : u16  later : u8 }\n") != []


def damaged(lock: Path) -> None:
    lock.write_text("Sounding.depth ? 1\n", encoding="utf-8")


def linked(lock: Path) -> None:
    lock.unlink()
    lock.symlink_to("/etc/hostname")


def emptied(lock: Path) -> None:
    lock.write_text("\n")


def binary(lock: Path) -> None:
    lock.write_bytes(b"\xff\xfe")


@pytest.mark.parametrize("spoil", [damaged, linked, binary, emptied], ids=lambda spoil: spoil.__name__)
def test_a_lock_that_cannot_be_read_stops_the_build(project: Project, spoil: Callable[[Path], None]) -> None:
    assert project.build(BEFORE) == []
    spoil(project.lock)
    assert [finding.split()[0] for finding in project.build(BEFORE)] == ["WG5012"]


def test_no_lock_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine")
    (tmp_path / "tide.lock").symlink_to(tmp_path / "other")
    with pytest.raises(LockError, match="not a regular file"):
        write_lock(tmp_path / "tide.lock", b"")
    assert (tmp_path / "other").read_text() == "mine"


def test_docs_are_comments_whatever_they_say(project: Project) -> None:
    text = BEFORE.replace("depth :", "\n/// */ first\n/// \n/// option x = 1; // second\ndepth :")
    assert project.build(text) == []
    proto = project.files["proto/tide.proto"]
    lines = [line.strip() for line in proto.splitlines() if "first" in line or "second" in line]
    assert lines and all(line.startswith("//") for line in lines)
