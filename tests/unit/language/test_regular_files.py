"""Files that a stranger placed are read where they are regular, of bounded size and inside the project; anything else is refused at once."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.generate.protocol_files import protocol_files
from wiregen.language.config import load_config
from wiregen.language.diagnostics import Report
from wiregen.language.locks import read_lock
from wiregen.language.regular_files import NotRegularError, TooLargeError, read_regular, read_regular_text
from wiregen.language.source import Sources

ROOT: Final = Path(__file__).resolve().parents[3]
WIRE: Final = (ROOT / "idl" / "lumberjack.wire").read_text(encoding="utf-8")
LIMIT: Final = 1000


def sparse(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 40)


def link_to_pipe(place: Path) -> None:
    os.mkfifo(f"{place}.pipe")
    place.symlink_to(f"{place}.pipe")


KINDS: Final[dict[str, Callable[[Path], object]]] = {
    "a pipe": os.mkfifo,
    "an endless device": lambda place: place.symlink_to("/dev/zero"),
    "a terminal": lambda place: place.symlink_to("/dev/tty"),
    "a folder": Path.mkdir,
    "a terabyte": sparse,
    "a link to itself": lambda place: place.symlink_to(place),
    "a link to a pipe": link_to_pipe,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("follow", [True, False])
def test_what_is_not_a_regular_file_of_bounded_size_is_refused(
    kind: str, follow: bool, tmp_path: Path
) -> None:
    place = tmp_path / "file"
    KINDS[kind](place)
    with pytest.raises(OSError):
        read_regular(place, LIMIT, follow_links=follow)


def test_errors_name_the_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    sparse(tmp_path / "sparse")
    with pytest.raises(NotRegularError, match="not a regular file"):
        read_regular(tmp_path / "pipe", LIMIT)
    with pytest.raises(TooLargeError, match="larger than 1000 bytes"):
        read_regular(tmp_path / "sparse", LIMIT)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none", LIMIT)


def test_a_file_of_the_largest_size_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * LIMIT)
    assert read_regular(tmp_path / "a", LIMIT) == b"x" * LIMIT
    (tmp_path / "a").write_bytes(b"x" * (LIMIT + 1))
    with pytest.raises(TooLargeError):
        read_regular(tmp_path / "a", LIMIT)


def test_text_has_one_kind_of_line_end(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\r\nb\rc\n")
    assert read_regular_text(tmp_path / "a", LIMIT) == "a\nb\nc\n"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system has no /proc")
def test_a_file_whose_system_gives_no_size_is_bounded_too() -> None:
    assert b"Name:" in read_regular(Path("/proc/self/status"), 1 << 16)
    with pytest.raises(TooLargeError):
        read_regular(Path("/proc/self/status"), 10)


# ---- every file of a project that a verb reads


def project(folder: Path) -> Path:
    (folder / "idl").mkdir(parents=True)
    (folder / "idl" / "p.wire").write_text(WIRE.replace("protocol lumberjack", "protocol p"))
    (folder / "wiregen.toml").write_text('backends = ["native", "protobuf"]\n')
    return folder


PLACES: Final = ("wiregen.toml", "pyproject.toml", "idl/p.wire", "idl/p.lock", "generated/vectors/p.json", "generated/.wiregen-manifest.json")  # fmt: skip


# The device is a link out of the project.
OF_SOURCES: Final[dict[str, set[str]]] = {
    "a pipe": {"WG1002"},
    "an endless device": {"WG1007"},
    "a terabyte": {"WG1006"},
    "a folder": {"WG1002"},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", OF_SOURCES)
def test_no_verb_waits_for_a_file_of_a_project_or_reads_it_without_end(
    place: str, kind: str, tmp_path: Path
) -> None:
    root = project(tmp_path / "project")
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    if place == "pyproject.toml":
        (root / "wiregen.toml").unlink()
    (root / place).unlink(missing_ok=True)
    KINDS[kind](root / place)
    report = Report()
    config = load_config(root, report)
    for path in protocol_files(config):
        load_protocol(path, Sources(), report, config.sources)
    read_lock(root / "idl" / "p.wire", report)
    codes = {diagnostic.code for diagnostic in report.diagnostics}
    expected = {"wiregen.toml": "WG6001", "idl/p.lock": "WG5012"}
    if place in expected:
        assert expected[place] in codes
    elif place == "idl/p.wire":
        assert codes == OF_SOURCES[kind]
    else:
        assert not report.has_errors


@pytest.mark.parametrize("place", ["generated/vectors/p.json", "generated/.wiregen-manifest.json"])
@pytest.mark.parametrize("kind", ["an endless device"])
def test_the_command_ends_whatever_lies_in_the_output(place: str, kind: str, tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    (root / place).parent.mkdir(parents=True)
    KINDS[kind](root / place)
    verb = "docs" if "vectors" in place else "build"
    arguments = ["docs", "build", "-o", "site"] if verb == "docs" else ["build", "--check"]
    done = subprocess.run(
        [sys.executable, "-m", "wiregen", *arguments],
        cwd=root, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "generator")},
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1, 2)


# ---- links out of the project

SECRET: Final = "top secret words"


def test_a_configuration_that_leads_out_of_the_project_is_refused_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f'backends = ["{SECRET}"]\n')
    root = project(tmp_path / "project")
    (root / "wiregen.toml").unlink()
    (root / "wiregen.toml").symlink_to(tmp_path / "secret")
    report = Report()
    config = load_config(root, report)
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["WG6007"]
    assert SECRET not in repr(report.diagnostics)
    assert config.backends == ("native",)


def test_a_configuration_may_be_a_link_within_the_project(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    (root / "wiregen.toml").rename(root / "idl" / "other.toml")
    (root / "wiregen.toml").symlink_to("idl/other.toml")
    report = Report()
    assert load_config(root, report).backends == ("native", "protobuf")
    assert not report.has_errors


def test_a_source_that_leads_out_of_the_project_is_refused_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    root = project(tmp_path / "project")
    (root / "idl" / "leak.wire").symlink_to(tmp_path / "secret")
    report = Report()
    config = load_config(root, report)
    for path in protocol_files(config):
        load_protocol(path, Sources(), report, config.sources)
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["WG1007"]
    assert SECRET not in repr(report.diagnostics)


def test_a_lock_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    root = project(tmp_path / "project")
    (root / "idl" / "p.lock").symlink_to(tmp_path / "secret")
    report = Report()
    assert read_lock(root / "idl" / "p.wire", report) == ""
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["WG5012"]


# ---- files that the user names


def wiregen(*arguments: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "wiregen", *arguments],
        capture_output=True, timeout=300, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "generator")},
    )  # fmt: skip


def test_a_pipe_is_decoded_as_stdin_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"printf '2W\\000\\000\\000\\001' > '{pipe}'"]):
        done = wiregen("decode", "lumberjack", str(pipe))
    assert done.returncode == 0, done.stderr
    assert b'"Window"' in done.stdout


@pytest.mark.parametrize("kind", ["an endless device"])
@pytest.mark.parametrize("option", ["--before", "--expected-failures"])
def test_a_named_file_without_end_is_refused(option: str, kind: str, tmp_path: Path) -> None:
    place = tmp_path / "file"
    KINDS[kind](place)
    arguments = {
        "--before": ("decode", "lumberjack", "--hex", "3257", "--before", f"writer:@{place}"),
        "--expected-failures": (
            "vectors",
            "run",
            "lumberjack",
            "--expected-failures",
            str(place),
            "--",
            "true",
        ),
    }[option]
    done = wiregen(*arguments)
    assert done.returncode != 0
    assert b"Traceback" not in done.stderr
    assert b"regular file" in done.stderr or b"larger than" in done.stderr
