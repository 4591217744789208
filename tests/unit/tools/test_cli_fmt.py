"""`wiregen fmt`: which files it reads and writes, and how it ends."""

import os
from pathlib import Path

import pytest
from tests.commands import called

UGLY = 'wire 1\nprotocol  tide{source "Tide" }\n'
PRETTY = 'wire 1\nprotocol tide { source "Tide" }\n'
WRONG = 'wire 1\nprotocol tide { sorce "Tide" }\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "idl").mkdir()
    (tmp_path / "wiregen.toml").write_text("")
    (tmp_path / "idl" / "tide.wire").write_text(UGLY)
    return tmp_path


def test_without_names_it_formats_the_sources(project: Path) -> None:
    done = called("fmt", folder=project)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "1 file, 1 formatted\n")
    assert (project / "idl" / "tide.wire").read_text() == PRETTY


def test_a_canonical_file_is_not_written(project: Path) -> None:
    path = project / "idl" / "tide.wire"
    path.write_text(PRETTY)
    before = path.stat()
    done = called("fmt", folder=project)
    assert (done.exit_code, done.stderr) == (0, "1 file, all formatted before\n")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_check_lists_and_writes_nothing(project: Path) -> None:
    (project / "idl" / "other.wire").write_text(PRETTY)
    done = called("fmt", "--check", folder=project)
    assert (done.exit_code, done.stdout) == (1, "idl/tide.wire\n")
    assert done.stderr == "2 files, 1 to be formatted\n"
    assert (project / "idl" / "tide.wire").read_text() == UGLY
    called("fmt", folder=project)
    assert called("fmt", "--check", folder=project).exit_code == 0


def test_diff_shows_and_writes_nothing(project: Path) -> None:
    done = called("fmt", "--diff", "idl/tide.wire", folder=project)
    assert done.exit_code == 1
    assert '-protocol  tide{source "Tide" }\n+protocol tide { source "Tide" }\n' in done.stdout
    assert (project / "idl" / "tide.wire").read_text() == UGLY


def test_diff_shows_a_missing_line_end(project: Path) -> None:
    (project / "idl" / "tide.wire").write_text(PRETTY.rstrip())
    done = called("fmt", "--diff", folder=project)
    assert "\n\\ No newline at end of file\n" in done.stdout


def test_stdin_goes_to_stdout(tmp_path: Path) -> None:
    done = called("fmt", "-", folder=tmp_path, data=UGLY.encode())
    assert (done.exit_code, done.stdout, done.stderr) == (0, PRETTY, "")
    done = called("fmt", "-", "--check", folder=tmp_path, data=UGLY.encode())
    assert (done.exit_code, done.stdout) == (1, "<stdin>\n")


def test_line_ends_of_windows_stay_on_stdin(tmp_path: Path) -> None:
    done = called("fmt", "-", folder=tmp_path, data=UGLY.replace("\n", "\r\n").encode())
    assert done.stdout_bytes == PRETTY.replace("\n", "\r\n").encode()


def test_stdin_that_does_not_parse_gives_nothing(tmp_path: Path) -> None:
    done = called("fmt", "-", folder=tmp_path, data=WRONG.encode())
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error[WG1111]")
    assert "--> <stdin>:2:17" in done.stderr


def test_stdin_of_more_than_4_mib_is_refused(tmp_path: Path) -> None:
    done = called("fmt", "-", folder=tmp_path, data=b" " * (4 * 1024 * 1024 + 1))
    assert done.exit_code == 1
    assert "WG1006" in done.stderr


def test_stdin_goes_with_no_file(project: Path) -> None:
    done = called("fmt", "-", "idl/tide.wire", folder=project)
    assert done.exit_code == 2
    assert (project / "idl" / "tide.wire").read_text() == UGLY


def test_a_folder_is_searched_but_no_hidden_one(project: Path) -> None:
    for name in ("idl/deeper/a.wire", "idl/.venv/b.wire"):
        (project / name).parent.mkdir()
        (project / name).write_text(UGLY)
    done = called("fmt", "idl", folder=project)
    assert (done.exit_code, done.stderr) == (0, "2 files, 2 formatted\n")
    assert (project / "idl" / "deeper" / "a.wire").read_text() == PRETTY
    assert (project / "idl" / ".venv" / "b.wire").read_text() == UGLY


def test_a_folder_without_files_is_refused(project: Path) -> None:
    (project / "empty").mkdir()
    done = called("fmt", "empty", folder=project)
    assert done.exit_code == 1
    assert "there is no .wire file in `empty`" in done.stderr


def test_other_files_are_formatted_if_one_does_not_parse(project: Path) -> None:
    (project / "idl" / "wrong.wire").write_text(WRONG)
    done = called("fmt", folder=project)
    assert done.exit_code == 1
    assert "WG1111" in done.stderr
    assert (project / "idl" / "tide.wire").read_text() == PRETTY
    assert (project / "idl" / "wrong.wire").read_text() == WRONG


def test_a_missing_file_is_an_error_of_usage(project: Path) -> None:
    done = called("fmt", "idl/none.wire", folder=project)
    assert done.exit_code == 2
    assert "there is no file `idl/none.wire`" in done.stderr


def test_a_pipe_is_refused(project: Path) -> None:
    os.mkfifo(project / "idl" / "pipe.wire")
    done = called("fmt", "idl/pipe.wire", folder=project)
    assert done.exit_code == 2
    assert "is not a regular file" in done.stderr


def test_links_and_permissions_are_kept(project: Path) -> None:
    target, link = project / "target.wire", project / "idl" / "link.wire"
    target.write_text(UGLY)
    target.chmod(0o640)
    link.symlink_to(target)
    assert called("fmt", "idl/link.wire", folder=project).exit_code == 0
    assert link.is_symlink()
    assert target.read_text() == PRETTY
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(UGLY.replace("\n", "\r\n"), PRETTY.replace("\n", "\r\n"), id="ugly"),
        pytest.param(PRETTY.replace("\n", "\r\n"), PRETTY.replace("\n", "\r\n"), id="canonical"),
    ],
)
def test_line_ends_of_windows_stay(project: Path, before: str, after: str) -> None:
    path = project / "idl" / "tide.wire"
    path.write_bytes(before.encode())
    assert called("fmt", folder=project).exit_code == 0
    assert path.read_bytes() == after.encode()


def test_a_byte_order_mark_is_refused(project: Path) -> None:
    path = project / "idl" / "tide.wire"
    path.write_bytes(b"\xef\xbb\xbf" + UGLY.encode())
    done = called("fmt", folder=project)
    assert done.exit_code == 1
    assert "WG1004" in done.stderr


def test_a_new_project_is_canonical(tmp_path: Path) -> None:
    called("new", "demo", folder=tmp_path)
    done = called("fmt", "--check", "demo", folder=tmp_path)
    assert (done.exit_code, done.stdout) == (0, "")
