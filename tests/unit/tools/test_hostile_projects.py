"""Projects of strangers with odd contents, through every command: each works or ends with an error, without
writing outside.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from wiregen.tools.cli.command import wiregen

VERBS: Final = (("check",), ("lint",), ("build",), ("vectors", "build"), ("docs", "build"))
HEAD: Final = (
    "wire 1\nprotocol odd { endian big  roles client, server }\nframe Frame { type : u16 := code(body)  body : match type }\n"
)
GOOD: Final = HEAD + "message M 1 { x : u8 }\n"

Project = Callable[[Path], None]


def wire(text: str | bytes) -> Project:
    """Return a function that makes a project of one file."""

    def make(folder: Path) -> None:
        data = text if isinstance(text, bytes) else text.encode()
        (folder / "idl" / "odd.wire").write_bytes(data)

    return make


def toml(text: str) -> Project:
    """Return a function that makes a project of a valid file and a configuration."""

    def make(folder: Path) -> None:
        wire(GOOD)(folder)
        (folder / "wiregen.toml").write_text(text, encoding="utf-8")

    return make


def a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "idl" / "odd.wire")


def a_pipe_as_configuration(folder: Path) -> None:
    wire(GOOD)(folder)
    os.mkfifo(folder / "wiregen.toml")


def a_folder(folder: Path) -> None:
    (folder / "idl" / "odd.wire").mkdir()


def a_device(folder: Path) -> None:
    (folder / "idl" / "odd.wire").symlink_to("/dev/zero")


def links_in_a_ring(folder: Path) -> None:
    (folder / "idl" / "odd.wire").symlink_to("even.wire")
    (folder / "idl" / "even.wire").symlink_to("odd.wire")


def a_link_out(folder: Path) -> None:
    (folder.parent / "secret.wire").write_text(GOOD, encoding="utf-8")
    (folder / "idl" / "odd.wire").symlink_to("../../secret.wire")


def the_output_is_a_link_out(folder: Path) -> None:
    wire(GOOD)(folder)
    for name in ("generated", "site"):
        (folder / name).symlink_to(folder.parent / "outside")


def imports_in_a_ring(folder: Path) -> None:
    wire(f"{HEAD}import even : A\nstruct B {{ x : A }}\nmessage M 1 {{ x : u8 }}\n")(folder)
    other = f"{HEAD.replace('odd', 'even')}import odd : B\nstruct A {{ x : B }}\nmessage M 1 {{ x : u8 }}\n"
    (folder / "idl" / "even.wire").write_text(other, encoding="utf-8")


def fields(text: str) -> str:
    return f"{HEAD}message M 1 {{ {text} }}\n"


BRACES: Final = "{{ 7*7 }}{% raw %}{# <script>alert(1)</script> ]]> \\N{BELL} ''' \\\" \\\\"
PROJECTS: Final[dict[str, Project]] = {
    "empty file": wire(b""),
    "nulls": wire(b"\0" * 4096),
    "null in a comment": wire(f"{GOOD}// a\0b\n"),
    "byte order mark": wire(b"\xef\xbb\xbf" + GOOD.encode()),
    "not utf-8": wire(GOOD.encode() + b"// \xff\xfe\n"),
    "utf-16": wire(GOOD.encode("utf-16")),
    "huge number": wire(f"{HEAD}const C = {'9' * 100_000}\nmessage M 1 {{ x : u8 = C }}\n"),
    "huge power": wire(f"{HEAD}const C = 1 << 1 << 100 << 100\nmessage M 1 {{ x : u8 }}\n"),
    "huge length": wire(fields("x : bytes[999999999999999999999]")),
    "deep parentheses": wire(f"{HEAD}const C = {'(' * 50_000}1{')' * 50_000}\nmessage M 1 {{ x : u8 }}\n"),
    "deep lists": wire(fields(f"x : u8{'[u8]' * 5_000}")),
    "deep blocks": wire(fields("x : match y { 1 => { " * 20_000)),
    "long name": wire(fields(f"{'x' * 200_000} : u8")),
    "names of python": wire(fields(" ".join(f"{n} : u8" for n in ("def", "self", "None_", "__class__", "cls", "print")))),
    "message called object": wire(f"{HEAD}message Object 1 {{ encode : u8  decode : u8 }}\nmessage Frame2 2 {{ x : u8 }}\n"),
    "markup in texts": wire(f"{HEAD}/// {BRACES}\nmessage M 1 {{ /// {BRACES}\n  x : u8 }}\n"),
    "texts that end texts": wire(f'{HEAD}/// """ \'\'\' */ --> \u202e \x1b[31m\nmessage M 1 {{ x : u8 }}\n'),
    "500 imports of nothing": wire(HEAD + "".join(f"import p{i} : A\n" for i in range(500)) + "message M 1 { x : u8 }\n"),
    "import that climbs": wire(f"{HEAD}import ../../etc/passwd : A\nmessage M 1 {{ x : u8 }}\n"),
    "output outside": toml('output = "../outside"\n'),
    "output absolute": toml('output = "/tmp/wiregen-outside"\n'),
    "sources outside": toml('sources = ["../.."]\n'),
    "package climbs": toml('package = "../../outside"\n'),
    "package is a keyword": toml('package = "class"\n'),
    "protocols of odd names": toml('protocols = ["../odd", "{{ x }}", ""]\n'),
    "values of other types": toml("sources = 5\noutput = []\npackage = {}\nbackends = 1.5\n"),
    "not toml": toml("[[[[["),
    "deep toml": toml("x = " + "[" * 5_000),
    "a pipe": a_pipe,
    "a pipe as configuration": a_pipe_as_configuration,
    "a folder": a_folder,
    "a device": a_device,
    "links in a ring": links_in_a_ring,
    "a link out": a_link_out,
    "the output is a link out": the_output_is_a_link_out,
    "imports in a ring": imports_in_a_ring,
}  # fmt: skip


@pytest.mark.parametrize("name", PROJECTS)
def test_a_strangers_project_works_or_ends_with_an_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "project"
    (folder / "idl").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    PROJECTS[name](folder)
    before = _beside(tmp_path)
    monkeypatch.chdir(folder)
    for verb in VERBS:
        result = CliRunner().invoke(wiregen, list(verb))
        shown = f"{' '.join(verb)}: {result.exit_code} {result.output[:2_000]} {result.exception!r}"
        assert isinstance(result.exception, SystemExit | None), shown
        assert result.exit_code in (0, 1, 2), shown
        assert "Traceback" not in result.output and "bug" not in result.output, shown
    assert _beside(tmp_path) == before


def _beside(folder: Path) -> list[Path]:
    """Return the files beside the project, and those of the places that projects name."""
    inside = folder / "project"
    found = [path for path in folder.rglob("*") if path != inside and inside not in path.parents]
    return sorted((*found, *Path("/tmp").glob("wiregen-outside*")))


@pytest.mark.parametrize("name", ["a pipe", "a link to nothing"])
def test_a_source_that_cannot_be_read_is_an_error_of_every_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never left out: a build that left it out would delete what was made of it."""
    (tmp_path / "idl").mkdir()
    monkeypatch.chdir(tmp_path)
    wire(GOOD)(tmp_path)
    other = tmp_path / "idl" / "other.wire"
    other.write_text(GOOD.replace("odd", "other"), encoding="utf-8")
    assert CliRunner().invoke(wiregen, ["build"]).exit_code == 0
    before = sorted(tmp_path.glob("generated/**/*.py"))
    other.unlink()
    if name == "a pipe":
        os.mkfifo(other)
    else:
        other.symlink_to("nowhere.wire")
    for verb in VERBS:
        done = CliRunner().invoke(wiregen, [*verb])
        assert (done.exit_code, "other.wire" in done.output) == (2, True), (verb, done.output)
    assert sorted(tmp_path.glob("generated/**/*.py")) == before
