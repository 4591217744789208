"""Commands and programs of the guide's other chapters: they run unchanged, by the shell, in an empty folder."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.docs_sites import ROOT
from tests.unit.tools.test_cli_decode import GENERATOR, run

from wiregen.generate.backends import Backend
from wiregen.generate.plugins.exchange import read_answer
from wiregen.site.pages.guide_files import handbook_folder

OF_SPARK = [handbook_folder() / f"{name}.md" for name in ("pipeline", "recipes", "operations")]
"""Not in the site; tests/pipeline runs what they say."""
CHAPTERS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in (*handbook_folder().glob("guide/*.md"), *handbook_folder().glob("*.md"))
    if path not in OF_SPARK
}
MAIN = "import sys; from wiregen.tools.cli import main; main()"
TIDE = """protocol tide { source "Tide" endian big  roles ship, port }
frame Frame { type : u8 := code(body)  body : match type }
message Ask 1 from ship { depth : u16 }
"""


def blocks(chapter: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", CHAPTERS[chapter], re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which a shell finds the commands of the guide."""
    (tmp_path / "bin").mkdir()
    for name, arguments in (
        ("wiregen", ("-c", MAIN)),
        ("pytest", ("-m", "pytest", "-p", "no:cacheprovider")),
        ("python", ()),
    ):
        file = tmp_path / "bin" / name
        file.write_text(f'#!/bin/sh\nexec {shlex.join((sys.executable, *arguments))} "$@"\n')
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(GENERATOR))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sh(text: str) -> str:
    """Return the output of a shell that runs a text and stops at the first command that fails."""
    done = subprocess.run(["sh", "-e", "-c", text], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_five_minutes_are_as_they_are_told(folder: Path) -> None:
    (making, looking), [program] = blocks("start", "sh"), blocks("start", "python")
    project = folder / "demo"
    assert " passed" in sh(making)
    assert (project / "generated" / "python" / "demo_wire" / "demo").is_dir()
    lines = [json.loads(line) for line in sh(f"cd demo\n{looking}").splitlines() if line.startswith("{")]
    assert [line["message"] for line in lines] == ["Reading", "Window"]
    (project / "program.py").write_text(program)
    sh("cd demo && PYTHONPATH=generated/python python program.py")
    assert "no findings" in sh("cd demo && wiregen lint")


def test_a_message_is_added_and_a_mistake_is_shown_as_the_guide_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("new", "demo").exit_code == 0
    monkeypatch.chdir(tmp_path / "demo")
    path, [added], [shown] = Path("idl", "demo.wire"), blocks("start", "wire"), blocks("start", "console")
    before = path.read_text()
    path.write_text(f"{before}\n{added}")
    assert run("build").exit_code == run("lint").exit_code == 0
    path.write_text(f"{before}\n{added.replace('utf8[u8]', 'Txet')}")
    result = run("build")
    assert result.exit_code == 1 and shown in result.stderr, result.stderr


def test_commands_of_the_serializations_run(folder: Path) -> None:
    from wireproto import lumberjack as lj

    frames = [lj.encode(lj.Window(2)), lj.encode(lj.Json(1, b'{"a": 1}')), lj.encode(lj.Ack(1))]
    (folder / "events.bin").write_bytes(b"".join(frames[:2]))
    [block] = blocks("serializations", "sh")
    [first] = [line for line in block.splitlines() if " transcode " in line]
    sh(first)
    made = (folder / "events.pb").read_bytes()
    (folder / "events.jsonl").write_text(sh("wiregen decode lumberjack --from writer events.bin"))
    lines = [json.loads(line) for line in sh(block).splitlines() if line.startswith("{")]
    assert [line["message"] for line in lines] == ["Window", "Json"]
    assert made and (folder / "events.pb").read_bytes() == made
    assert (folder / "events.mp").read_bytes()


def test_python_of_the_serializations_runs() -> None:
    [program] = blocks("serializations", "python")
    assert "assert " in program
    exec(compile(program, "serializations.md", "exec"), {})  # noqa: S102 - that it runs is the point


def test_the_backend_of_the_page_has_what_a_backend_has() -> None:
    [program] = blocks("plugins", "python")
    place: dict[str, type] = {}
    exec(  # noqa: S102 - that it runs is the point
        compile(f"from __future__ import annotations\n{program}", "plugins.md", "exec"), place
    )
    made = place["TablesBackend"]
    asked = {name for name in (*vars(Backend), *Backend.__annotations__) if not name.startswith("_")}
    assert asked and {name for name in asked if not hasattr(made, name)} == set()


def test_a_plug_in_is_called_and_answers_as_the_page_says(folder: Path) -> None:
    [command] = [
        line for block in blocks("plugins", "sh") for line in block.splitlines() if "--plugin" in line
    ]
    answers = [line for block in blocks("plugins", "json") for line in block.splitlines()]
    assert len(answers) == 2 and all(read_answer(each.encode()) for each in answers)
    (folder / "idl").mkdir()
    (folder / "idl" / "tide.wire").write_text(TIDE)
    (folder / "wiregen.toml").write_text('sources = ["idl"]\noutput = "out"\n')
    (folder / "tools").mkdir()
    (folder / "tools" / "tables.py").write_text(f"import sys\nsys.stdin.read()\nprint({answers[0]!r})\n")
    sh(command)
    content = json.loads(answers[0])["files"][0]
    assert (folder / "out" / content["path"]).read_text() == content["content"]
    (folder / "tools" / "tables.py").write_text(f"import sys\nsys.stdin.read()\nprint({answers[1]!r})\n")
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
    assert (
        done.returncode == 1 and "two fields have one column" in done.stderr and "tide.wire:3" in done.stderr
    )


def test_a_package_that_is_to_be_installed_is_there() -> None:
    [place] = re.findall(r"^pip install (\./\S+)", "\n".join(blocks("plugins", "sh")), re.MULTILINE)
    assert (ROOT / place / "pyproject.toml").exists()  # installed by test_backend_from_elsewhere.py


def test_fields_of_the_recipes_are_laid_out_as_they_say(tmp_path: Path) -> None:
    from tests.unit.docs_sites import loaded

    from wiregen.generate.packages import make
    from wiregen.language.diagnostics import Report

    spans = re.findall(r"`([^`\n]+)`", CHAPTERS["recipes"])
    flag, name = (
        next(each for each in spans if each.startswith(start)) for start in ("has_name :", "name : utf8")
    )
    length, body = (
        next(each for each in spans if each.startswith(start)) for start in ("length :", "in length")
    )
    text = f"""protocol p {{ source "P" endian big  roles a, b }}
limits {{ frame = 1 KiB }}
struct Header {{ kind : u8 }}
frame Frame {{ {length}  header : Header  body : match header.kind {{ 1 => Said  _ => Rest }} {body} }}
message Said from a {{ {flag}  {name}  more : u8 ?= 7 }}
message Rest from a {{ data : bytes[] }}
"""
    path = tmp_path / "p.wire"
    path.write_text(text, encoding="utf-8")
    report = Report()
    assert make(loaded(path)[0], ("native",), report) is not None
    assert not report.has_errors, [each.message for each in report.diagnostics]
    assert "name : type ?= value" in spans


# ---- what is only named


def named() -> list[tuple[str, str]]:
    """Return each command that a chapter names, in a text or a block, with the chapter."""
    found: dict[tuple[str, str], None] = {}
    for chapter, text in CHAPTERS.items():
        spans = re.findall(r"`(wiregen [^`\n]+)`", text)
        spans += [part for block in blocks(chapter, "sh") for part in re.findall(r"wiregen [^|&#\n]+", block)]
        found |= {(chapter, each.strip()): None for each in spans}
    return list(found)


@pytest.mark.parametrize(("chapter", "command"), named())
def test_a_command_that_is_named_is_there_with_its_options(chapter: str, command: str) -> None:
    words = shlex.split(command.split(" -- ")[0])[1:]
    verbs = [word for word in words if re.fullmatch(r"[a-z]+", word)]
    shown = run(*verbs[:1], "--help")
    if re.search(r"(VERB|JOB) \[ARGUMENTS\]", shown.output):
        shown = run(*verbs[:2], "--help")
    assert shown.exit_code == 0, shown.output
    for option in (word for word in words if word.startswith("--")):
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", shown.output), option


def test_names_of_python_in_the_chapters_are_there() -> None:
    known = {"wirespark", "wireproto"}
    for text in CHAPTERS.values():
        for module, name in re.findall(r"`(wirespark|wireproto)\.([a-z_]+)", text):
            assert module in known
            if module == "wireproto":
                assert importlib.util.find_spec(f"wireproto.{name}"), name
            else:
                text_of = "".join(
                    path.read_text() for path in (ROOT / "pipeline" / "wirespark").glob("__init__.py")
                )
                assert f'"{name}"' in text_of, name
