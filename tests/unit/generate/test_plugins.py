"""Process plug-ins: their input, their output, and each way in which one can fail."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.ending import wait_for_end

from wiregen.generate.build import build
from wiregen.generate.frontend import load_protocol
from wiregen.generate.plugins import Plugin, PluginBounds
from wiregen.generate.plugins.exchange import read_answer, schemas, write_request
from wiregen.language.config import Config, load_config
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.tools.cli import wiregen

ROOT = Path(__file__).resolve().parents[3]
TIDE = """protocol tide { source "Tide" endian big  roles ship, port }
/// Everything.
frame Frame { type : u8 := code(body)  body : match type }
/// A question.
message Ask 1 from ship { depth : u16 }
"""
NOTHING = json.dumps({"files": []})
LISTS = """
import json, sys
asked = json.load(sys.stdin)
[protocol] = asked["protocols"]
names = " ".join(message["name"] for message in protocol["messages"])
content = f"{asked['version']} {asked['package']} {protocol['name']}: {names}\\n"
print("working", file=sys.stderr)
print(json.dumps({"files": [{"path": "lists/tide.txt", "content": content}]}))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "tide.wire").write_text(TIDE)
    (tmp_path / "wiregen.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command_of(project: Path, text: str) -> str:
    """Return the command line of a plug-in with this text."""
    path = project / "plug in.py"
    path.write_text(text)
    return shlex.join([sys.executable, "-S", str(path)])


def run(*arguments: str) -> Result:
    return CliRunner().invoke(wiregen, ["build", *arguments])


def findings(project: Path, command: str, bounds: PluginBounds | None = None) -> list[tuple[str, str, str]]:
    """Return code, message and help of the findings of a build with a plug-in."""
    report = Report()
    plugin = Plugin(command=command, folder=project, bounds=bounds or PluginBounds(seconds=90))
    build(load_config(project, report), (), Sources(), report, plugins=(plugin,))
    return [(one.code, one.message, one.help or "") for one in report.diagnostics]


def answering(project: Path, answer: object) -> str:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return command_of(project, f"import sys\nsys.stdin.read()\nprint({text!r})")


# ---- bounds


SLOW = "import time\ntime.sleep(60)"
LOUD = "print('x' * (3 << 10))"


@pytest.mark.parametrize(
    ("text", "bound", "said"),
    [
        pytest.param(SLOW, ("plugin_time", "300 ms"), "it took more than 0.3 s", id="time"),
        pytest.param(LOUD, ("plugin_output", "2 KiB"), "it wrote more than 2048 bytes", id="output"),
    ],
)
def test_bounds_are_given_by_the_command_line_or_the_configuration(
    project: Path, text: str, bound: tuple[str, str], said: str
) -> None:
    key, amount = bound
    option = f"--{key.replace('_', '-')}"
    for result in (
        run("--plugin", command_of(project, text), option, amount),
        run_configured(project, f'{key} = "{amount}"', "--plugin", command_of(project, text)),
    ):
        assert result.exit_code == 1
        assert "WG5022" in result.stderr and said in result.stderr and option in result.stderr


def run_configured(project: Path, line: str, *arguments: str) -> Result:
    (project / "wiregen.toml").write_text(line + "\n")
    return run(*arguments)


def test_the_command_line_wins(project: Path) -> None:
    arguments = ("--plugin", command_of(project, LISTS), "--plugin-time", "20 s")
    assert run_configured(project, 'plugin_time = "1 ms"', *arguments).exit_code == 0


@pytest.mark.parametrize("amount", ["", "60", "0 s", "-1 s", "5 h", "1e9 s", "s", "5 MiB"])
def test_what_is_no_time_is_refused(project: Path, amount: str) -> None:
    result = run("--plugin", command_of(project, LISTS), "--plugin-time", amount)
    assert result.exit_code == 2
    assert "is not a time: 500 ms, 90 s, 5 min" in result.stderr and "= help: " in result.stderr


# ---- what goes well


def test_its_files_are_part_of_the_tree(project: Path) -> None:
    command = command_of(project, LISTS)
    result = run("--plugin", command)
    assert result.exit_code == 0, result.stderr
    written = project / "generated" / "lists" / "tide.txt"
    assert written.read_text() == "1 wireproto tide: Ask\n"
    assert (project / "generated/python/wireproto/tide/messages.py").is_file()
    assert run("--plugin", command, "--check").exit_code == 0
    assert "extra generated/lists/tide.txt" in run("--check").stdout
    assert run().exit_code == 0
    assert not written.exists()


def test_text_of_a_protocol_that_is_no_utf8_reaches_it(project: Path) -> None:
    report = Report()
    subject = load_protocol(ROOT / "idl" / "lumberjack.wire", Sources(), report, ())
    assert subject is not None
    assert "\\udce9" in write_request("wireproto", (subject.protocol,)).decode("ascii")
    shutil.copy(ROOT / "idl" / "lumberjack.wire", project / "idl")
    assert run("--plugin", answering(project, {"files": []})).exit_code == 0


def test_a_build_with_one_is_never_taken_for_done(project: Path) -> None:
    command = command_of(project, LISTS)
    assert run().exit_code == run("--plugin", command).exit_code == 0
    command = command_of(project, LISTS.replace("working", "x").replace("}: {names}", "}; {names}"))
    assert run("--plugin", command).exit_code == 0
    assert (project / "generated/lists/tide.txt").read_text() == "1 wireproto tide; Ask\n"


def test_those_of_the_configuration_run_only_if_allowed(project: Path) -> None:
    command = command_of(project, f"open({str(project / 'ran')!r}, 'w')\n{LISTS}")
    (project / "wiregen.toml").write_text(f"plugins = [{json.dumps(command)}]\n")
    result = run()
    assert result.exit_code == 2
    assert "WG5020" in result.stderr and "--allow-plugins" in result.stderr
    assert not (project / "ran").exists() and not (project / "generated").exists()
    assert run("--check").exit_code == 2
    assert run("--allow-plugins").exit_code == 0
    assert (project / "ran").exists() and (project / "generated/lists/tide.txt").exists()


def test_the_schemas_are_those_that_are_published() -> None:
    for name, text in schemas().items():
        path = ROOT / "docs" / "schemas" / name
        if os.environ.get("UPDATE_CASES"):
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text, "UPDATE_CASES=1 writes them"


def test_the_model_is_that_of_the_verb_ir(project: Path) -> None:
    out = project / "request.json"
    text = f'import sys\nopen({str(out)!r}, "w").write(sys.stdin.read())\nprint({NOTHING!r})'
    assert run("--plugin", command_of(project, text)).exit_code == 0
    [protocol] = json.loads(out.read_text())["protocols"]
    assert protocol == json.loads(CliRunner().invoke(wiregen, ["ir", "tide"]).stdout)


def test_no_shell_reads_the_command(project: Path) -> None:
    command = command_of(
        project, 'import json, sys\nprint(json.dumps({"errors": [{"message": str(sys.argv[1:])}]}))'
    )
    [(code, message, _)] = findings(project, command + " '$HOME' `id` ; > x")
    assert code == "WG5026"
    assert message.endswith("refuses the protocol: ['$HOME', '`id`', ';', '>', 'x']")


# ---- what goes wrong


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        pytest.param("no-such-program-of-mine", "no such file or directory", id="not found"),
        pytest.param("./idl", "permission denied", id="not a program"),
        pytest.param("python 'x", "no closing quotation", id="an open quote"),
        pytest.param("", "the program is missing", id="empty"),
        pytest.param("a\0b", "the program is missing", id="a null"),
    ],
)
def test_one_that_cannot_be_started(project: Path, command: str, reason: str) -> None:
    [(code, message, _)] = findings(project, command)
    assert code == "WG5021" and message.endswith(reason)


def test_one_that_takes_too_long_is_ended_with_what_it_started(project: Path) -> None:
    pid = project / "pid"
    text = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
open({str(pid)!r}, "w").write(str(child.pid))
time.sleep(600)
"""
    [(code, message, _)] = findings(project, command_of(project, text), PluginBounds(seconds=3))
    assert (code, message.rpartition(": ")[2]) == ("WG5022", "it took more than 3 s")
    if pid.exists() and pid.read_text():  # a busy machine may not have come so far
        wait_for_end(int(pid.read_text()))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_one_that_writes_too_much(project: Path, stream: str) -> None:
    command = command_of(project, f"import sys\nwhile True: sys.{stream}.write('x' * 4096)")
    [(code, message, _)] = findings(project, command, PluginBounds(seconds=90, n_bytes=1 << 20))
    assert (code, message.rpartition(": ")[2]) == ("WG5022", "it wrote more than 1048576 bytes")


def test_one_that_fails_is_quoted(project: Path) -> None:
    found = findings(project, command_of(project, "import sys\nsys.exit('no such table')"))
    assert [(code, help_) for code, _, help_ in found] == [("WG5023", "it said: no such table")]
    [(_, message, help_)] = findings(project, command_of(project, "import os\nos.kill(os.getpid(), 9)"))
    assert message.endswith("ended with signal 9") and help_ == "it wrote nothing to stderr"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param("", "invalid json", id="nothing"),
        pytest.param("done", "invalid json", id="no JSON"),
        pytest.param([], "object", id="an array"),
        pytest.param({}, "neither `files` nor `errors`", id="empty"),
        pytest.param({"errors": []}, "neither `files` nor `errors`", id="no errors"),
        pytest.param({"file": []}, "file: unexpected", id="an unknown key"),
        pytest.param({"files": [{"path": "a"}]}, "files.0.content: field required", id="no content"),
        pytest.param({"files": [{"path": 1, "content": ""}]}, "files.0.path: input", id="a number"),
    ],
)
def test_an_answer_of_another_form(project: Path, answer: object, reason: str) -> None:
    [(code, message, _)] = findings(project, answering(project, answer))
    assert code == "WG5024" and reason in message.lower()


def test_an_answer_that_is_too_deep_or_no_text_is_refused() -> None:
    for data in (b"[" * 100_000, b"\xff", b'{"files": [{"path": "\xff", "content": ""}]}'):
        with pytest.raises(ValueError, match="."):
            read_answer(data)


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        pytest.param(["/etc/x"], "is absolute", id="absolute"),
        pytest.param(["a/../../x"], "leaves the output folder", id="climbs"),
        pytest.param([""], "is empty", id="empty"),
        pytest.param(["c:\\x"], "is not a valid path on every system", id="drive"),
        pytest.param([".wiregen-manifest.json"], "is a name that wiregen reserves", id="manifest"),
        pytest.param(["a/x", "A/x"], "the same path where case is ignored", id="twins"),
        pytest.param(["a", "a"], "already exists", id="twice"),
        pytest.param(["a", "a/b"], "would be a file and a folder", id="file and folder"),
        pytest.param(["pyproject.toml"], "already exists", id="one of the tree"),
        pytest.param(["PYTHON/x"], "the same path where case is ignored", id="twin of the tree"),
    ],
)
def test_a_path_that_cannot_be(project: Path, paths: list[str], reason: str) -> None:
    answer = {"files": [{"path": path, "content": ""} for path in paths]}
    [(code, message, _)] = findings(project, answering(project, answer))
    assert code == "WG5025" and reason in message
    assert run("--plugin", answering(project, answer)).exit_code == 1
    assert not (project / "generated").exists()


def test_two_plug_ins_may_not_give_the_same_file(project: Path) -> None:
    command = answering(project, {"files": [{"path": "a", "content": ""}]})
    result = run("--plugin", command, "--plugin", command)
    assert result.exit_code == 1 and "WG5025" in result.stderr


def test_an_error_of_its_own_is_shown_at_the_node_that_it_names(project: Path) -> None:
    answer = {"errors": [{"message": "no table for this\x1b[0m", "path": "tide.Ask.depth"}]}
    result = run("--plugin", answering(project, answer))
    assert result.exit_code == 1
    assert "WG5026" in result.stderr and "idl/tide.wire:5:" in result.stderr
    assert "\x1b" not in result.stderr
    assert not (project / "generated").exists()


def test_none_runs_where_a_protocol_is_wrong(project: Path) -> None:
    (project / "idl" / "tide.wire").write_text(TIDE + "message B 1 from ship {}")
    command = command_of(project, f"open({str(project / 'ran')!r}, 'w')")
    assert run("--plugin", command).exit_code == 1
    assert not (project / "ran").exists()


def test_a_configuration_is_without_plug_ins_unless_it_says_so(tmp_path: Path) -> None:
    config: Config = load_config(tmp_path, Report())
    assert config.plugins == ()
