"""When a build says at once that there is nothing to do: only where a whole one would write the same."""

import os
import shutil
from collections.abc import Callable
from importlib.metadata import EntryPoint, version
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wiregen.generate import freshness
from wiregen.generate.freshness import built_code, inputs_of, is_fresh
from wiregen.generate.own_files import own_folder, templates_folder
from wiregen.language.config import Config, load_config
from wiregen.language.diagnostics import Report
from wiregen.tools.cli import wiregen

TIDE = """\
protocol tide { source "Tide protocol" endian big roles client, server port tcp 7007 }
/// Everything.
frame Frame {
  type : u8 := code(body)
  body : match type
}
message Ask 1 from client { number : u32 }
"""
WARNED = TIDE.replace("number : u32", "Number : u32")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one protocol, built, with caches of its own."""
    folder = tmp_path / "project"
    (folder / "idl").mkdir(parents=True)
    (folder / "idl" / "tide.wire").write_text(TIDE)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert run().exit_code == 0
    return folder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(wiregen, ["build", *arguments])


def config_of(project: Path) -> Config:
    return load_config(project, Report())


def check_not_fresh(project: Path) -> None:
    """It is told that something changed, and a build makes the tree what `--check` wants."""
    config = config_of(project)
    assert not is_fresh(built_code(config), inputs_of(config))
    assert run().exit_code == 0
    assert run("--check").exit_code == 0
    assert is_fresh(built_code(config), inputs_of(config))


def package(project: Path) -> Path:
    return project / "generated" / "python" / "wireproto"


def test_nothing_is_built_where_nothing_changed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiregen.generate.build.build", lambda *_, **__: pytest.fail("built again"))
    assert (run().exit_code, run().stderr) == (0, "generated: up to date\n")


def test_times_do_not_count(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (project / "idl" / "tide.wire", package(project) / "py.typed"):
        os.utime(path, (1, 1))
    test_nothing_is_built_where_nothing_changed(project, monkeypatch)


def rename_message(project: Path) -> None:
    (project / "idl" / "tide.wire").write_text(TIDE.replace("Ask", "Tell"))


def add_protocol(project: Path) -> None:
    (project / "idl" / "ebb.wire").write_text(TIDE.replace("tide", "ebb"))


def link_source(project: Path) -> None:
    os.replace(project / "idl" / "tide.wire", project / "tide.wire")
    (project / "idl" / "tide.wire").symlink_to(project / "tide.wire")


def change_output(project: Path) -> None:
    (package(project) / "tide" / "messages.py").write_text("# by hand\n")


def delete_output(project: Path) -> None:
    (package(project) / "py.typed").unlink()


def change_manifest(project: Path) -> None:
    path = project / "generated" / ".wiregen-manifest.json"
    path.write_text(path.read_text().replace('"wiregen"', '"wiregem"'))


def delete_manifest(project: Path) -> None:
    (project / "generated" / ".wiregen-manifest.json").unlink()


def delete_tree(project: Path) -> None:
    shutil.rmtree(project / "generated")


def leave_a_broken_build(project: Path) -> None:
    (project / "generated" / ".wiregen-staging").mkdir()


def spoil_the_note(project: Path) -> None:
    (note,) = (project.parent / "caches" / "wiregen").iterdir()
    note.write_bytes(b"\xff")


CHANGES: list[Callable[[Path], None]] = [
    rename_message,
    add_protocol,
    change_output,
    delete_output,
    change_manifest,
    delete_manifest,
    delete_tree,
    leave_a_broken_build,
    spoil_the_note,
]


def test_a_changed_option_of_a_proto_file_is_built(project: Path) -> None:
    for prefix in ("A", "B"):
        settings = f'backends = ["protobuf"]\nprotobuf.options.swift_prefix = "{prefix}"\n'
        (project / "wiregen.toml").write_text(settings)
        check_not_fresh(project)
        text = (project / "generated" / "proto" / "tide.proto").read_text()
        assert f'option swift_prefix = "{prefix}";' in text


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_changed_is_built(project: Path, change: Callable[[Path], None]) -> None:
    change(project)
    check_not_fresh(project)


def test_another_configuration_is_built(project: Path) -> None:
    (project / "wiregen.toml").write_text('package = "other"\n')
    check_not_fresh(project)
    assert (project / "generated" / "python" / "other" / "tide").is_dir()


def test_an_output_behind_a_link_is_not_fresh(project: Path) -> None:
    path = package(project) / "py.typed"
    os.replace(path, project / "elsewhere")
    path.symlink_to(project / "elsewhere")
    assert not is_fresh(built_code(config_of(project)), inputs_of(config_of(project)))


def test_templates_count(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = inputs_of(config_of(project))
    copy = shutil.copytree(templates_folder(), tmp_path / "templates")
    monkeypatch.setattr(freshness, "templates_folder", lambda: copy)
    assert inputs_of(config_of(project)) == before
    with next(copy.rglob("messages.py.jinja")).open("a") as file:
        file.write("# more\n")
    assert inputs_of(config_of(project)) not in {before, None}


def test_the_generator_counts(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = inputs_of(config_of(project))
    copy = shutil.copytree(own_folder(), tmp_path / "wiregen", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(freshness, "own_folder", lambda: copy)
    assert inputs_of(config_of(project)) == before
    (copy / "runtime" / "more.py").touch()
    assert inputs_of(config_of(project)) not in {before, None}


@pytest.mark.parametrize("name", ["jinja2", "lark", "markupsafe", "ruff"])
def test_what_the_output_comes_through_counts(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = inputs_of(config_of(project))
    monkeypatch.setattr(freshness, "version", lambda each: "0" if each == name else version(each))
    assert inputs_of(config_of(project)) not in {before, None}


def test_anothers_backend_is_always_built(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(name="native", value="elsewhere.native:Backend", group="wiregen.backends")
    monkeypatch.setattr(freshness, "entry_points", lambda group: (point,))
    assert inputs_of(config_of(project)) is None
    assert not is_fresh(built_code(config_of(project)), None)


def test_a_linked_source_is_always_built(project: Path) -> None:
    link_source(project)
    assert inputs_of(config_of(project)) is None


def test_warnings_are_said_every_time(project: Path) -> None:
    (project / "idl" / "tide.wire").write_text(WARNED)
    first, second = run(), run()
    warning, _, told = first.stderr.rpartition("\n\n")
    assert warning.startswith("warning[") and "written" in told
    assert second.stderr.startswith(warning) and second.stderr.endswith("generated: up to date\n")


def test_a_build_of_some_protocols_remembers_nothing(project: Path) -> None:
    rename_message(project)
    assert run("tide").exit_code == 0
    assert not is_fresh(built_code(config_of(project)), inputs_of(config_of(project)))


def test_check_asks_for_no_note(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "is_fresh", lambda *_: True)
    change_output(project)
    assert run("--check").exit_code == 1


def test_without_a_place_for_notes_all_is_built(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / "idl" / "tide.wire"))
    assert (run().exit_code, run().stderr) == (0, "generated: up to date\n")
    assert not is_fresh(built_code(config_of(project)), inputs_of(config_of(project)))
