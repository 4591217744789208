"""`wiregen docs build`: the site in a folder, and nothing else touched."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.tools.test_cli_decode import run

from wiregen.site.pages.guide_files import handbook_folder

WIRE = """
protocol p { source "None" endian big roles a, b }
limits { frame = 1 KiB }
frame Frame {
  type : u8 := code(body)
  body : match type
}
/// One number.
message Count 1 from a { value : u8 }
message Total 2 from b { sum : u32 }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "p.wire").write_text(WIRE)
    (tmp_path / "wiregen.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path


def test_the_site_is_written_and_written_once(project: Path) -> None:
    first = run("docs", "build")
    assert (first.exit_code, "files written, 0 deleted" in first.stderr) == (0, True), first.output
    assert (project / "site" / "p" / "Count.html").is_file()
    assert "One number." in (project / "site" / "p" / "Count.md").read_text()
    assert "site: up to date" in run("docs", "build").stderr


def test_nothing_is_made_where_nothing_changed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("docs", "build")
    monkeypatch.setattr("wiregen.site.pages.site.build_site", lambda *_, **__: pytest.fail("made again"))
    again = run("docs", "build")
    assert (again.exit_code, again.stderr) == (0, "site: up to date\n")


def rename_message(project: Path) -> None:
    (project / "idl" / "p.wire").write_text(WIRE.replace("Count", "Number"))


def write_vectors(project: Path) -> None:
    assert run("vectors", "build").exit_code == 0


def change_page(project: Path) -> None:
    (project / "site" / "p" / "Count.html").write_text("by hand")


def delete_page(project: Path) -> None:
    (project / "site" / "index.html").unlink()


def delete_site(project: Path) -> None:
    shutil.rmtree(project / "site")


def choose_package(project: Path) -> None:
    (project / "wiregen.toml").write_text('package = "other"')


@pytest.mark.parametrize(
    "change",
    [rename_message, write_vectors, change_page, delete_page, delete_site, choose_package],
    ids=lambda change: change.__name__,
)
def test_what_changed_is_made(project: Path, change: Callable[[Path], None]) -> None:
    run("docs", "build")
    change(project)
    assert "files written" in run("docs", "build").stderr
    here = {path.relative_to(project / "site"): path.read_bytes() for path in files_of(project / "site")}
    run("docs", "build", "-o", "fresh")
    assert here == {
        path.relative_to(project / "fresh"): path.read_bytes() for path in files_of(project / "fresh")
    }


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_texts_of_the_guide_count(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = shutil.copytree(
        handbook_folder(), tmp_path / "docs", ignore=shutil.ignore_patterns("adr", "evidence")
    )
    monkeypatch.setattr("wiregen.site.pages.guide_files.handbook_folder", lambda: copy)
    run("docs", "build")
    assert run("docs", "build").stderr == "site: up to date\n"
    with (copy / "glossary.md").open("a") as file:
        file.write("More.\n")
    assert "files written" in run("docs", "build").stderr
    assert "More." in (project / "site" / "wiregen-guide" / "glossary.html").read_text()


def test_locks_count(project: Path) -> None:
    (project / "wiregen.toml").write_text('backends = ["native", "protobuf"]')
    assert run("build").exit_code == 0
    run("docs", "build")
    assert run("docs", "build").stderr == "site: up to date\n"
    lock = project / "idl" / "p.lock"
    lock.write_text(lock.read_text().replace(" = 1\n", " = 7\n", 1))
    assert "WG5010" in run("docs", "build").stderr


def test_a_site_of_some_protocols_is_not_remembered(project: Path) -> None:
    run("docs", "build")
    assert "deleted" in run("docs", "build", "lumberjack").stderr
    assert "deleted" in run("docs", "build").stderr
    assert not (project / "site" / "lumberjack").exists()


def test_vectors_that_are_left_out_are_named_every_time(project: Path) -> None:
    write_vectors(project)
    (project / "generated" / "vectors" / "p.json").write_text("{}")
    run("docs", "build")
    again = run("docs", "build").stderr
    assert "left out" in again and again.endswith("site: up to date\n")


def test_what_is_gone_from_the_protocol_is_gone_from_the_site(project: Path) -> None:
    run("docs", "build", "-o", "web")
    (project / "idl" / "p.wire").write_text(WIRE.replace("Total", "Sum"))
    done = run("docs", "build", "-o", "web")
    assert done.exit_code == 0 and "3 deleted" in done.stderr
    assert not (project / "web" / "p" / "Total.html").exists()
    assert (project / "web" / "p" / "Sum.html").exists()
    assert not (project / "site").exists()


def test_files_of_others_are_left_alone(project: Path) -> None:
    (project / "site").mkdir()
    (project / "site" / "index.html").write_text("mine")
    done = run("docs", "build")
    assert done.exit_code == 2 and "was not written by wiregen" in done.stderr
    assert (project / "site" / "index.html").read_text() == "mine"
    assert not (project / "site" / "p").exists()


def test_a_protocol_that_is_shipped_can_be_named(project: Path) -> None:
    done = run("docs", "build", "lumberjack")
    assert done.exit_code == 0
    assert (project / "site" / "lumberjack" / "Data.html").is_file()
    assert not (project / "site" / "p").exists()


def test_a_wrong_file_stops_it(project: Path) -> None:
    (project / "idl" / "p.wire").write_text("protocol p { }")
    assert run("docs", "build").exit_code == 1
    assert not (project / "site").exists()


@pytest.mark.parametrize(
    "arguments", [("docs", "bild"), ("docs", "build", "q"), ("docs", "build", "--quick")]
)
def test_what_is_mistyped_has_a_way_out(project: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.exit_code == 2 and "help:" in done.stderr


def test_the_other_serializations_are_shown(project: Path) -> None:
    pytest.importorskip("msgspec")
    pytest.importorskip("google.protobuf")
    (project / "wiregen.toml").write_text('backends = ["native", "protobuf", "msgpack"]')
    assert run("docs", "build").exit_code == 0
    page = (project / "site" / "p" / "Count.html").read_text()
    assert 'data-carried="protobuf"' in page and 'data-carried="msgpack"' in page
    assert "<code>9201" in page.replace("92 01", "9201")


def test_a_file_of_vectors_that_is_none_is_said_and_left_out(project: Path) -> None:
    (project / "generated" / "vectors").mkdir(parents=True)
    (project / "generated" / "vectors" / "p.json").write_text("{}")
    done = run("docs", "build")
    assert done.exit_code == 0 and "not a valid file of vectors" in done.stderr
    assert not (project / "site" / "p" / "vectors.json").exists()


def test_vectors_that_were_built_are_there_to_take(project: Path) -> None:
    assert run("vectors", "build").exit_code == 0
    assert run("docs", "build").exit_code == 0
    built = (project / "generated" / "vectors" / "p.json").read_bytes()
    assert (project / "site" / "p" / "vectors.json").read_bytes() == built
    assert "vectors.json" in (project / "site" / "p" / "index.html").read_text()


@pytest.mark.parametrize("command", [("vectors", "build"), ("docs", "build")])
def test_a_backend_that_encodes_nothing_is_passed_over(project: Path, command: tuple[str, ...]) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("msgspec")
    (project / "wiregen.toml").write_text('backends = ["native", "columns", "msgpack"]')
    done = run(*command)
    assert done.exit_code == 0, done.output
    written = project / ("generated/vectors/p.json" if command[0] == "vectors" else "site/p/Count.html")
    assert "msgpack" in written.read_text() and "columns" not in written.read_text()
