"""Where the command's bytes go: beside stdout whatever a user names with `-o`."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from wiregen.tools.cli.output import destination


def write(path: Path, content: bytes) -> None:
    with destination(str(path)) as file:
        file.write(content)


def test_a_new_file_has_the_rights_that_any_program_gives(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    write(tmp_path / "new", b"new")
    assert (tmp_path / "new").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_file_that_is_there_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write(pipe, b"through")
    reader.join(60)
    assert read == [b"through"] and stat.S_ISFIFO(pipe.lstat().st_mode)


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="half"), destination(str(path)) as file:
        file.write(b"new")
        raise ValueError("half way")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("there", b"old")]
