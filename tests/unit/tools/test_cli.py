"""The command itself: verbs, exit codes, messages with a way out, and its behaviour when interrupted."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner, Result

from wiregen import __version__
from wiregen.language.diagnostics import OUTPUT_FORMATS, known_codes
from wiregen.language.linter import RULES
from wiregen.tools.cli import command, wiregen

GENERATOR = Path(__file__).resolve().parents[3] / "generator"
VERBS = (
    "build",
    "check",
    "completion",
    "decode",
    "encode",
    "explain",
    "ir",
    "lint",
    "new",
    "replay",
    "transcode",
)

TIDE = """\
protocol tide { source "Tide protocol" endian big roles client, server port tcp 7007 }
/// Everything.
frame Frame {
  type   : u8 := code(body)
  length : u16 := size(body)
  body   : match type in length
}
message Ask 1 from client { number : u32 }
message Answer 2 from server { text : utf8[u8] }
"""


def run(*arguments: str | Path, data: bytes = b"") -> Result:
    return CliRunner().invoke(wiregen, [str(argument) for argument in arguments], input=data)


def start(*arguments: str, python: Sequence[str] = (), **options: object) -> "subprocess.Popen[bytes]":
    """Start the command as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(GENERATOR)}
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [sys.executable, *python, "-m", "wiregen", *arguments], env=environment, **options
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one small protocol, which is the working folder."""
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "tide.wire").write_text(TIDE)
    (tmp_path / "wiregen.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check_refused(result: Result, *parts: str, code: int = 2) -> None:
    """Check that a refusal names the error, and the way out below it."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "= help: " in result.stderr
    for part in parts:
        assert part in result.stderr


# ---- the group ----


def test_the_version_is_printed() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"wiregen {__version__}\n")


def test_the_help_lists_every_verb_without_importing_one() -> None:
    code = "import sys; from wiregen.tools.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    environment = {**os.environ, "PYTHONPATH": str(GENERATOR)}
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], env=environment, capture_output=True, text=True, check=True
    )
    assert all(f"\n  {verb} " in done.stdout for verb in VERBS)
    loaded = set(done.stderr.split())
    assert not loaded & {"lark", "rich", "pydantic", "jinja2", "wiregen.language.diagnostics"}


@pytest.mark.parametrize(("limit", "said"), [("64", "KiB"), ("4 MiB", "MiB")])
def test_check_tells_the_memory_of_a_message_in_a_unit_that_fits(
    tmp_path: Path, limit: str, said: str
) -> None:
    wire = tmp_path / "small.wire"
    wire.write_text(
        'wire 1\n/// A test.\nprotocol small { source "A test" endian big roles client, server }\n'
        f"limits {{ frame = {limit} }}\n"
        "frame F { length : u32 := size(body) type : u8 := code(body) body : match type in length }\n"
        "message M 1 from client { data : bytes[u32] }\n"
    )
    result = run("check", str(wire), "--verbose")
    assert re.search(rf"small: one M takes at most about [1-9]\d* {said}\n", result.stderr), result.stderr


@pytest.mark.parametrize("arguments", [("decode", "lumberjack", "--hex", "3257"), ("check", "lumberjack")])
def test_a_verb_loads_nothing_of_another(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """Nor pydantic, without a configuration to check."""
    code = "import sys; from wiregen.tools.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    environment = {**os.environ, "PYTHONPATH": str(GENERATOR)}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    loaded = set(done.stderr.split())
    assert "wiregen.generate.frontend" in loaded
    assert not loaded & {
        "rich",
        "pydantic",
        "jinja2",
        "ruff",
        "wiregen.generate.emitter",
        "wiregen.generate.views",
    }


def test_the_version_comes_quickly() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    n_runs = 3
    for _ in range(n_runs):
        assert start("--version", stdout=subprocess.DEVNULL).wait() == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used / n_runs < 0.15


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str) -> None:
    result = run(verb, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: wiregen {verb}") or f" {verb} " in result.stdout


def test_check_reads_stdin(project: Path) -> None:
    assert run("check", "-", data=f"wire 1\n{TIDE}".encode()).stderr == "1 protocol, no errors\n"
    wrong = run("check", "-", data=f"wire 1\n{TIDE}".replace("u32", "Odd").encode())
    assert wrong.exit_code == 1
    assert "--> <stdin>:9:" in wrong.stdout
    check_refused(run("check", "-", "tide"), "`-` means stdin")
    assert "WG1006" in run("check", "-", data=b" " * (4 << 20) + b"\n").stdout


def test_an_unknown_verb_is_answered_with_the_nearest() -> None:
    check_refused(run("decdoe"), "there is no command `decdoe`", "did you mean `decode`?")


def test_a_verb_like_no_other_is_answered_with_the_list() -> None:
    check_refused(run("zzzzzzzz"), "the commands are breaking, build, check")


def test_an_unknown_option_is_answered_with_the_way_to_the_help() -> None:
    check_refused(run("decode", "--formt", "tree", "tide"), "--formt", "`wiregen decode --help`")


def test_no_verb_shows_the_help_and_is_a_usage_error() -> None:
    result = run()
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr


def test_escapes_in_a_name_never_reach_the_terminal() -> None:
    result = run("\x1b[31mred\u202e")
    assert "\x1b" not in result.stderr
    assert "\\x1b[31mred\\u202e" in result.stderr


# ---- ends ----


def _fail(report: object) -> NoReturn:
    raise KeyError("payload")


def test_a_bug_of_ours_asks_for_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_VERBS", {"check": ""})
    monkeypatch.setattr("wiregen.tools.cli.check.configuration", _fail)
    monkeypatch.delenv("WIREGEN_DEBUG", raising=False)
    result = run("check")
    check_refused(result, "a bug in wiregen", "KeyError", "please report it", code=3)
    assert "payload" not in result.stderr


def test_the_traceback_of_a_bug_is_there_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiregen.tools.cli.check.configuration", _fail)
    monkeypatch.setenv("WIREGEN_DEBUG", "1")
    result = run("check")
    assert result.exit_code == 3
    assert "Traceback" in result.stderr and "KeyError" in result.stderr


def test_a_reader_that_leaves_ends_the_command_quietly(project: Path) -> None:
    (project / "long.bin").write_bytes(bytes.fromhex("01 0004 00000001") * 20_000)
    process = start(
        "decode", "tide", "long.bin", "--from", "client", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    with process.stderr as errors:
        said = errors.read()
    assert (process.wait(), said) == (141, b"")


def _heed_interrupts() -> None:
    # Who runs the tests may ignore the signal, and children inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_ends_the_command_quietly(project: Path) -> None:
    process = start("decode", "tide", "-", "--from", "client", "--format", "jsonl", stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_heed_interrupts)  # fmt: skip
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdin.write(bytes.fromhex("01 0004 00000001"))
    process.stdin.flush()
    assert process.stdout.readline()  # shown while more may come
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert (process.returncode, said.strip()) == (130, b"")


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-"])
def test_a_closed_stream_is_no_bug(project: Path, closed: str) -> None:
    shell = f'"{sys.executable}" -m wiregen decode tide --from client --hex 01000400000001 {closed}'
    environment = {**os.environ, "PYTHONPATH": str(GENERATOR)}
    done = subprocess.run(["sh", "-c", shell], env=environment, capture_output=True, check=False)
    assert done.returncode == 0
    assert b"bug" not in done.stderr


# ---- check ----


def test_check_counts_what_it_looked_at(project: Path) -> None:
    (project / "idl" / "other.wire").write_text(TIDE.replace("tide", "other"))
    result = run("check")
    assert (result.exit_code, result.stderr) == (0, "2 protocols, no errors\n")
    assert (run("check", "tide").stderr, run("check", "idl/tide.wire").stderr) == (
        "1 protocol, no errors\n",
    ) * 2


def test_check_shows_what_is_wrong_with_the_path_as_one_would_type_it(project: Path) -> None:
    (project / "idl" / "tide.wire").write_text(TIDE.replace("u32", "u33"))
    result = run("check")
    assert result.exit_code == 1
    assert " --> idl/tide.wire:" in result.stdout
    assert (result.stdout.splitlines()[-1], result.stderr) == ("1 error", "")
    assert run("check", "--output-format", "concise").stderr == "1 protocol, 1 error\n"


def test_check_of_a_missing_file_tells_what_its_folder_has(project: Path) -> None:
    near, far = run("check", "idl/tied.wire"), run("check", "idl/nope.wire")
    assert (near.exit_code, far.exit_code) == (2, 2)
    assert "= help: did you mean `tide.wire`? the folder has: tide.wire\n" in near.stdout
    assert "= help: the folder has: tide.wire\n" in far.stdout
    assert "there is no folder `none` either" in run("check", "none/tide.wire").stdout
    (project / "empty").mkdir()
    assert "the folder has no .wire file" in run("check", "empty/tide.wire").stdout


def test_check_of_a_folder_asks_for_files_or_names(project: Path) -> None:
    result = run("check", "idl")
    assert result.exit_code == 2
    assert "`idl` is a folder, not a protocol\n  = help: give files or names: tide\n" in result.stdout


@pytest.mark.parametrize("output_format", ["full", "concise", "json", "github", "sarif"])
def test_check_has_five_formats(project: Path, output_format: str) -> None:
    (project / "idl" / "tide.wire").write_text(TIDE.replace("u32", "u33"))
    result = run("check", "--output-format", output_format)
    assert result.exit_code == 1
    assert "idl/tide.wire" in result.stdout
    if output_format in ("json", "sarif"):
        json.loads(result.stdout)


def test_a_file_that_is_not_there_is_a_usage_error(project: Path) -> None:
    result = run("check", "idl/tied.wire")
    assert result.exit_code == 2
    assert "there is no file `idl/tied.wire`" in result.stdout


def test_a_wrong_configuration_is_a_usage_error(project: Path) -> None:
    (project / "wiregen.toml").write_text("ouptut = 'x'")
    check_refused(run("check"), "unknown key `ouptut`", "did you mean `output`?")


# ---- lint ----

LISTED = """\
/// Heights.
protocol tide { source "Tide protocol" endian big roles client, server }
limits { frame = 64 KiB @assumed("no bound is given") }
/// Everything.
frame Frame @source("Framing") {
  /// What follows.
  type : u8 := code(body)
  /// It.
  body : match type
}
/// A height.
message Height 1 @source("Heights") {
  /// Above the mean.
  metres : i16 @errata("feet")
}
"""


def test_lint_lists_and_is_content(project: Path) -> None:
    (project / "idl" / "tide.wire").write_text(LISTED)
    result = run("lint", "--output-format", "concise")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "idl/tide.wire:3:10: note[WG7001] limit `frame` is assumed: no bound is given",
        "idl/tide.wire:14:3: note[WG7002] field `Height.metres` departs from the document: feet",
    ]
    assert result.stderr == "tide: 1 assumed, 1 errata, 0 deprecated, 0 untied-rule, no findings\n"


def test_lint_ends_with_1_where_it_finds_something(project: Path) -> None:
    result = run("lint", "tide")
    assert result.exit_code == 1
    assert "warning[WG7011]: frame `Frame` has no source\n --> idl/tide.wire:3:7\n" in result.stdout
    assert result.stderr == "tide: 0 assumed, 0 errata, 0 deprecated, 0 untied-rule, 10 findings\n"


@pytest.mark.parametrize("rule", ["no-doc", "NO-DOC", "WG7012", "wg7012"])
def test_lint_may_be_held_to_one_rule(project: Path, rule: str) -> None:
    result = run("lint", "--rule", rule, "--output-format", "concise", "idl/tide.wire")
    assert result.exit_code == 1
    assert {line.partition("[")[2][:6] for line in result.stdout.splitlines()} == {"WG7012"}
    assert result.stderr == "tide: 2 findings\n"


def test_lint_counts_only_what_it_was_asked_for(project: Path) -> None:
    result = run("lint", "--rule", "errata", "--rule", "assumed")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "tide: 0 assumed, 0 errata\n")


def test_lint_says_that_it_did_not_count_everything(project: Path) -> None:
    members = "".join(f'  M{n} = {n} @assumed("why {n}")\n' for n in range(1_234))
    text = f'{LISTED}/// Many.\nopen enum Many : u16 @source("Many") {{\n{members}}}\n'
    (project / "idl" / "tide.wire").write_text(text)
    assert run("lint", "--rule", "assumed").stderr == "tide: 1000 assumed; 235 more not counted\n"


def test_lint_of_an_unknown_rule_is_answered_with_the_nearest(project: Path) -> None:
    check_refused(
        run("lint", "--rule", "no-sorce"), "there is no rule `no-sorce`", "did you mean `no-source`?"
    )
    check_refused(run("lint", "--rule", "zzz"), "the rules are assumed, errata, deprecated")


@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_lint_has_the_formats_of_check(project: Path, output_format: str) -> None:
    result = run("lint", "--output-format", output_format)
    assert result.exit_code == 1
    assert "idl/tide.wire" in result.stdout and "WG7011" in result.stdout
    if output_format in ("json", "sarif"):
        json.loads(result.stdout)


def test_lint_of_a_wrong_file_shows_its_errors_and_lints_the_others(project: Path) -> None:
    (project / "idl" / "other.wire").write_text(LISTED.replace("i16", "i17").replace("tide", "other"))
    result = run("lint", "--output-format", "concise")
    assert result.exit_code == 1
    assert "error[WG2001] there is no type `i17`" in result.stdout
    assert "warning[WG7011] message `Ask` has no source" in result.stdout
    assert result.stderr.startswith("tide: ")
    assert run("lint", "nowhere").exit_code == 2


def test_what_is_imported_is_linted_where_it_is_written(project: Path) -> None:
    (project / "idl" / "more.wire").write_text(
        LISTED[: LISTED.index("/// Everything")].replace("tide", "more")
        + "import tide : Frame, Ask, Answer\n"
    )
    result = run("lint", "more", "--output-format", "concise")
    assert result.stdout == "idl/more.wire:3:10: note[WG7001] limit `frame` is assumed: no bound is given\n"
    assert result.exit_code == 0


@pytest.mark.parametrize(
    "path", sorted((GENERATOR.parent / "idl").glob("*.wire")), ids=lambda path: path.stem
)
def test_a_shipped_protocol_has_nothing_for_lint_to_find(path: Path) -> None:
    result = run(
        "lint", path, "--rule", "no-source", "--rule", "no-doc", "--rule", "no-field-doc", "--rule", "unused"
    )
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"{path.stem}: no findings\n"


# ---- explain, ir ----


@pytest.mark.parametrize("rule", RULES)
def test_explain_knows_the_rules_of_lint_by_name(rule: str) -> None:
    result = run("explain", rule)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"# {RULES[rule].code}: `{rule}`, ")
    assert run("explain", RULES[rule].code).stdout == result.stdout


def test_explain_prints_the_page_in_whatever_case() -> None:
    result = run("explain", "wg1001")
    assert result.exit_code == 0
    assert result.stdout.startswith("# WG1001: ")
    assert run("explain", "WG1001").stdout == result.stdout


def test_explain_offers_the_nearest_code() -> None:
    check_refused(run("explain", "WG10011"), "there is no code `WG10011`", "did you mean `WG1001")
    check_refused(run("explain", "trunkated"), "did you mean `truncated`?")


@pytest.mark.parametrize("code", ["WG9999", "nonsense"])
def test_explain_of_a_code_like_no_other_gives_a_short_list(code: str) -> None:
    result = run("explain", code)
    check_refused(result, "the codes are WG1001 to WG1120 (files and syntax), WG2001 to ", "truncated, ")
    covered = re.findall(r"(WG[0-9])[0-9]+ to ", result.stderr)
    assert set(covered) == {known[:3] for known in known_codes()}
    assert len(result.stderr) < 800


RULE = 'rule whole_number "Numbers are whole." { source "Numbers, 2" }\nrule no_rush "Slowly." @assumed("it says nothing")\n'


def test_explain_tells_the_text_and_the_source_of_a_rule_of_a_protocol(project: Path) -> None:
    path = project / "idl" / "tide.wire"
    path.write_text(TIDE.replace("number : u32", "number : u32 where number > 0 @rule(whole_number)") + RULE)
    assert run("explain", "whole_number", "tide").stdout == (
        "# `whole_number`: a rule of `tide`\n\nNumbers are whole.\n\nSource: Numbers, 2\n"
    )
    assert run("explain", "no_rush", str(path)).stdout.endswith("\n\nSlowly.\n\nAssumed: it says nothing\n")
    check_refused(run("explain", "whole", "tide"), "`tide` has no rule `whole`", "whole_number")
    check_refused(run("explain", "whole_number"), "there is no code `whole_number`")


def test_explain_knows_the_rules_of_shipped_protocols(project: Path) -> None:
    result = run("explain", "bad_version")
    assert result.exit_code == 0
    assert (
        "# `bad_version`: a rule of `lumberjack`\n\nA frame begins with the ASCII digit 1 or 2.\n"
        in result.stdout
    )


def test_ir_is_the_model_as_json(project: Path) -> None:
    result = run("ir", "tide")
    assert result.exit_code == 0
    model = json.loads(result.stdout)
    assert model["name"] == "tide"
    assert [message["name"] for message in model["messages"]] == ["Ask", "Answer"]
    assert result.stdout.isascii()


def test_the_schema_of_ir_names_every_part_of_the_model(project: Path) -> None:
    schema = json.loads(run("ir", "--schema").stdout)
    assert set(json.loads(run("ir", "tide").stdout)) <= set(schema["properties"])


def test_ir_without_a_name_says_how(project: Path) -> None:
    check_refused(run("ir"), "the name of the protocol is missing", "wiregen ir --schema")


# ---- build ----


@pytest.fixture
def buildable(project: Path) -> Path:
    """The project with a protocol that has a straight-line form."""
    (project / "idl" / "tide.wire").write_text(
        TIDE.replace("  length : u16 := size(body)\n", "").replace(" in length", "")
    )
    return project


def test_build_writes_checks_and_shows_differences(buildable: Path) -> None:
    assert run("build", "--check").exit_code == 1
    assert not (buildable / "generated").exists()
    built = run("build")
    assert (built.exit_code, built.stdout) == (0, "")
    assert re.fullmatch(r"generated: [0-9]+ files written, 0 deleted\n", built.stderr)
    assert run("build").stderr == "generated: up to date\n"
    assert (run("build", "--check").exit_code, run("build", "--diff").stdout) == (0, "")
    (buildable / "generated" / ".wiregen-staging").mkdir()
    checked = run("build", "--check")
    assert (checked.exit_code, checked.stdout) == (1, "")
    assert checked.stderr.startswith("generated: a build did not finish; the next one undoes its changes")


def test_build_check_lists_stale_missing_and_extra_files(buildable: Path) -> None:
    run("build")
    package = buildable / "generated" / "python" / "wireproto"
    (package / "tide" / "__init__.py").write_text("# changed\n")
    (package / "tide" / "_plan.py").unlink()
    (package / "tide" / "stranger.py").write_text("")
    listed = run("build", "--check")
    assert listed.exit_code == 1
    assert listed.stdout.splitlines() == [
        "stale generated/python/wireproto/tide/__init__.py",
        "missing generated/python/wireproto/tide/_plan.py",
        "extra generated/python/wireproto/tide/stranger.py",
    ]
    shown = run("build", "--diff")
    assert shown.exit_code == 1
    assert "\n-# changed\n" in shown.stdout
    assert "generated: 2 files not up to date; run `wiregen build`\n" in listed.stderr
    assert (package / "tide" / "stranger.py").exists()
    assert (package / "tide" / "__init__.py").read_text() == "# changed\n"


def test_build_diff_reads_no_pipes_or_links(buildable: Path) -> None:
    run("build")
    file = buildable / "generated" / "python" / "wireproto" / "tide" / "_plan.py"
    file.unlink()
    os.mkfifo(file)
    assert run("build", "--diff").exit_code == 2
    file.unlink()
    file.symlink_to("/dev/zero")
    assert run("build", "--diff").exit_code == 2


def test_build_diff_reads_no_file_far_larger_than_its_build(buildable: Path) -> None:
    run("build")
    path = Path("generated", "python", "wireproto", "tide", "_plan.py")
    with (buildable / path).open("wb") as file:
        file.truncate(1 << 40)  # as long as that, and empty on the disk
    shown = run("build", "--diff")
    assert shown.exit_code == 1
    assert shown.stdout == f"stale {path} (not a file that a build wrote)\n"


def test_build_check_and_diff_leave_extra_files_to_the_user(buildable: Path) -> None:
    run("build")
    ghost = buildable / "generated" / "python" / "wireproto" / "ghost" / "__init__.py"
    ghost.parent.mkdir()
    ghost.write_text("mine\n")
    for option in ("--check", "--diff"):
        result = run("build", option)
        assert (result.exit_code, result.stdout) == (
            1,
            "extra generated/python/wireproto/ghost/__init__.py\n",
        )
        assert result.stderr == "generated: 1 file extra; remove it, or move it out of generated\n"


def test_build_of_a_wrong_protocol_writes_nothing(project: Path) -> None:
    (project / "idl" / "tide.wire").write_text(TIDE.replace("u32", "u33"))
    result = run("build")
    assert (result.exit_code, result.stdout) == (1, "")
    assert " --> " in result.stderr
    assert not (project / "generated").exists()


def test_build_of_an_unknown_protocol_offers_the_nearest(project: Path) -> None:
    check_refused(run("build", "tied"), "there is no protocol `tied`", "did you mean `tide`?")


@pytest.mark.parametrize(
    "verb",
    [("build",), ("build", "--check"), ("check",), ("lint",), ("vectors", "build"), ("docs", "build")],
    ids=" ".join,
)
def test_a_folder_without_protocols_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refused(run(*verb), "no .wire file in `idl`", "wiregen new NAME", code=1)
    assert not list(tmp_path.iterdir())


def test_verbs_agree_about_shipped_and_unknown_protocols(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "wiregen.toml"
    file.write_text('protocols = ["lumberjack"]\n')
    for verb in (("check",), ("lint",), ("vectors", "build")):
        result = run(*verb)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "generated" / "vectors" / "lumberjack.json").is_file()
    file.write_text('protocols = ["nope"]\n')
    for verb in (("build",), ("check",), ("lint",), ("vectors", "build"), ("docs", "build")):
        check_refused(run(*verb), "there is no protocol `nope`")
    file.write_text('sources = ["nope"]\n')
    check_refused(run("check"), "no .wire file in `nope` (no such folder)", code=1)
    check_refused(run("build", "lumberjack"), 'protocols = ["lumberjack"]')


def test_a_configuration_chooses_at_least_one_protocol(project: Path) -> None:
    (project / "wiregen.toml").write_text("protocols = []\n")
    result = run("build")
    assert result.exit_code == 2 and "WG6004" in result.stderr and "a list of 1 to" in result.stderr


@pytest.mark.parametrize("job", [("convert", "in.pcap", "out"), ("check", "in.pcap")])
def test_spark_without_its_libraries_names_the_extra(
    job: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = (
        "import sys\nfor name in ('pyspark', 'pyarrow', 'pandas'): sys.modules[name] = None\n"
        "from wiregen.tools.cli import main\nmain()"
    )
    arguments = (sys.executable, "-c", program, "spark", *job, "--protocol", "lumberjack")
    done = subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(GENERATOR)},
    )
    assert done.returncode == 2 and "pip install 'wiregen[spark]'" in done.stderr, done.stderr
    assert "`pyspark`, `pyarrow`, `pandas`" in done.stderr


def test_build_leaves_what_it_did_not_write(buildable: Path) -> None:
    stranger = buildable / "generated" / "pyproject.toml"
    stranger.parent.mkdir()
    stranger.write_text("mine")
    check_refused(run("build"), "was not written by wiregen")
    assert stranger.read_text() == "mine"


def test_build_watches_or_compares(buildable: Path) -> None:
    check_refused(run("build", "--watch", "--check"), "--watch writes")
    check_refused(run("build", "--watch", "--diff"), "--watch writes")


@pytest.fixture
def watching(buildable: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """`build --watch` in the project, after its first build."""
    process = start("build", "--watch", cwd=buildable, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_for_build(process)
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_build(process: "subprocess.Popen[bytes]") -> str:
    """Return the output up to the end of the next build."""
    assert process.stderr is not None
    lines: list[str] = []
    while not lines or not lines[-1].startswith("waiting for changes"):
        line = process.stderr.readline().decode()
        assert line, "it has ended"
        lines.append(line)
    return "".join(lines)


def save(path: Path, text: str) -> None:
    """Replace a file at once, so that no look meets half of it."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text)
    os.replace(unfinished, path)


def test_watch_builds_what_is_saved(buildable: Path, watching: "subprocess.Popen[bytes]") -> None:
    packages = buildable / "generated" / "python"
    messages = packages / "wireproto" / "tide" / "messages.py"
    assert "class Tell" not in messages.read_text()
    wire = buildable / "idl" / "tide.wire"
    good = wire.read_text().replace("Ask", "Tell")
    save(wire, good)
    assert "files written" in wait_for_build(watching)
    assert "class Tell" in messages.read_text()
    save(wire, good.replace("u32", "u33"))
    assert "error[" in wait_for_build(watching)
    assert "class Tell" in messages.read_text()
    save(buildable / "wiregen.toml", 'package = "Other"\n')
    assert "error[WG6004]" in wait_for_build(watching)
    save(wire, good)
    assert "error[WG6004]" in wait_for_build(watching)
    save(buildable / "wiregen.toml", 'package = "other"\n')
    assert "files written" in wait_for_build(watching)
    assert (packages / "other" / "tide").is_dir() and not messages.exists()


def test_watch_ends_with_an_interrupt(buildable: Path, watching: "subprocess.Popen[bytes]") -> None:
    watching.send_signal(signal.SIGINT)
    _, told = watching.communicate(timeout=60)
    assert (watching.returncode, told) == (0, b"")


@pytest.mark.parametrize("job", ["convert", "decode", "check"])
def test_a_job_of_spark_names_the_extra_before_what_else_is_missing(
    job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wiregen.tools.cli.spark_session.find_spec", lambda name: None)
    for words in (("x.pcap",), (), ("--no-such-option",)):
        result = run("spark", job, *words)
        assert result.exit_code == 2, result.stderr
        assert "needs `pyspark`" in result.stderr and "wiregen[spark]" in result.stderr
    assert "--protocol" in run("spark", job, "--help").stdout
