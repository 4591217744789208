"""`vectors run`: programs in any language are asked over stdin and stdout, and whatever they do is a verdict."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from tests.conformance.converted import converted
from tests.ending import wait_for_end
from tests.unit.conformance.test_vectors_verifying import VECTORS, WIRE
from tests.unit.implementations import reference_implementation
from tests.unit.tools.test_cli_decode import LUMBERJACK, check_refused, run

from wiregen.conformance.judge import judge
from wiregen.conformance.vectors.adapters import AdapterBounds, AdapterProgram, StartError
from wiregen.conformance.vectors.adapters.exchange import schemas
from wiregen.conformance.vectors.adapters.process import Process
from wiregen.conformance.vectors.adapters.serve import answers
from wiregen.conformance.vectors.format import read_vectors, write_vectors
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.views import json_view
from wiregen.tools.cli.vectors_testee import _serializations

ROOT = Path(__file__).resolve().parents[3]
CODEC = WIRE.with_name("codec.py")
NODE = ROOT / "examples" / "lumberjack_testee"
FILE = read_vectors(VECTORS.read_bytes())
ONE = "import sys\nfor line in sys.stdin: print({!r}, flush=True)\n"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


def run_echo(*arguments: str | Path, command: tuple[str | Path, ...]) -> Result:
    return run("vectors", "run", WIRE, VECTORS, *arguments, "--", *command)


def echo(how: str, n_good: int = 0) -> tuple[str | Path, ...]:
    return sys.executable, CODEC, how, str(n_good)


# ---- verdicts


def test_a_right_implementation_passes() -> None:
    result = run_echo(command=echo("good"))
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout == "skipped 2: it does not trace\nCodec: 14 vectors, 12 passed, 0 failed, 2 skipped\n"
    )


@pytest.mark.parametrize(
    ("mistake", "caught"),
    [
        ("wrong byte order", "pong"),
        ("ignored limit", "too-long"),
        ("off by one", "two"),
        ("lenient text", "no-text"),
    ],
)
def test_a_mistake_is_named(mistake: str, caught: str) -> None:
    result = run_echo(command=echo(mistake))
    assert result.exit_code == 1
    assert f"failed: {caught}\n  decoded whole: expected " in result.stdout


def test_a_program_may_tell_no_codes() -> None:
    assert run_echo(command=echo("one error")).exit_code == 0
    result = run_echo(command=echo("one error, lenient text"))
    assert result.exit_code == 1
    assert "failed: no-text\n" in result.stdout and "1 failed" in result.stdout


def test_an_error_without_a_code_is_no_answer_of_a_program_that_tells_codes(tmp_path: Path) -> None:
    script = tmp_path / "codeless.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    said = {'name': 'Hasty'} if asked['do'] == 'hello' else {'frames': [], 'error': {}}\n"
        "    print(json.dumps({'id': asked['id'], **said}), flush=True)\n"
    )
    result = run_echo("--only", "no-text", command=(sys.executable, script))
    assert result.exit_code == 1
    assert "garbage: an error without a code, though `tells` has `code`" in result.stdout


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("hangs", "hung: no answer within 0.4 s"),
        ("drips", "hung: no answer within 0.4 s"),
        ("crashes", "crashed: it ended with code 3: out of cheese"),
        ("prints garbage", "garbage: not JSON: 'Hello, world'"),
        ("answers another", "garbage: the id is 77, and "),
        ("prints no frames", "garbage: an answer to decode without frames"),
    ],
)
def test_whatever_a_program_does_is_a_verdict(how: str, told: str) -> None:
    """Each process answers the hello and nothing more; the vector that was asked is named, and the next one is asked too."""
    # Only programs that never answer are waited for in vain.
    seconds = "0.4" if told.startswith("hung") else "60"
    result = run_echo("--timeout", seconds, "--only", "ping", "--only", "pong", command=echo(how, 1))
    assert result.exit_code == 1
    for id_ in ("ping", "pong"):
        assert f"failed: {id_}\n  decoded whole: expected an answer, found {told}" in result.stdout
    assert result.stdout.endswith("Codec: 2 vectors, 0 passed, 2 failed\n")


def test_an_endless_line_is_garbage_and_no_more_than_the_bound_is_kept() -> None:
    bounds = AdapterBounds(n_bytes=1 << 20)
    with AdapterProgram(tuple(map(str, echo("prints on and on", 1))), "echo", bounds) as implementation:
        finding, *_ = judge(FILE.vectors[0], implementation).findings
    assert finding.found == "garbage: an answer of more than 1048576 bytes"


def test_one_that_breaks_is_started_again() -> None:
    """Each process answers a hello and three questions."""
    result = run_echo("--only", "ping", "--only", "pong", command=echo("crashes", 4))
    assert "failed: ping\n  split at 2: expected an answer, found crashed" in result.stdout
    assert "failed: pong\n  split at 1: expected an answer, found crashed" in result.stdout


def wait_long_until(n_answered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a program a long time for each question that it answers: how fast it is depends on the machine."""
    ask = Process.ask
    asked: Counter[Process] = Counter()

    def patiently(process: Process, line: bytes, seconds: float) -> bytes:
        asked[process] += 1
        return ask(process, line, 300.0 if asked[process] <= n_answered else seconds)

    monkeypatch.setattr(Process, "ask", patiently)


def test_one_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    wait_long_until(1, monkeypatch)
    bounds = AdapterBounds(seconds=0.5, most_troubles=2)
    with AdapterProgram(tuple(map(str, echo("hangs", 1))), "echo", bounds) as implementation:
        verdicts = [judge(vector, implementation) for vector in FILE.vectors]
    assert {verdict.outcome for verdict in verdicts} == {"failed", "skipped"}
    last = next(verdict for verdict in verdicts if verdict.id == "cut")
    assert last.findings[0].found == "failed: not asked: no answer came 2 times in a row"


def test_one_that_is_late_now_and_then_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process answers a hello and two questions, so that no two answers in a row are missing."""
    wait_long_until(3, monkeypatch)
    bounds = AdapterBounds(seconds=0.5, most_late=2)
    with AdapterProgram(tuple(map(str, echo("hangs", 3))), "echo", bounds) as implementation:
        found = [
            finding.found for vector in FILE.vectors for finding in judge(vector, implementation).findings
        ]
    assert sum(each.startswith("hung: ") for each in found) == 2
    assert found[-1] == "failed: not asked: 2 answers never came in time"


def test_failures_without_an_answer_are_counted() -> None:
    result = run_echo("--only", "ping", "--only", "pong", command=echo("crashes", 1))
    assert "failed without an answer: 2 crashed\n" in result.stdout


def test_a_program_that_gives_back_what_it_is_asked_is_none() -> None:
    cat = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n"
    check_refused(run_echo(command=(sys.executable, "-c", cat)), "the request, given back")


def test_files_without_vectors_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text('{"schema": 1, "protocol": "echo", "vectors": []}')
    check_refused(run("vectors", "run", WIRE, empty, "--", *echo("good")), "there are no vectors in ")
    check_refused(run("vectors", "verify", WIRE, empty), "there are no vectors in ")


def test_a_program_that_was_ended_takes_what_it_started_along(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "sys.stdin.readline(); print('{\"id\": 1}', flush=True)\n"
        "time.sleep(600)\n"
    )
    with AdapterProgram((sys.executable, str(script)), "echo", AdapterBounds(seconds=0.1)) as implementation:
        assert judge(FILE.vectors[0], implementation).outcome == "failed"
    wait_for_end(int((tmp_path / "pid").read_text()))


# ---- what is expected to fail


def test_known_failures_are_no_findings_until_they_pass(tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("no-text # replaces what is no text\n")
    result = run_echo("--expected-failures", known, command=echo("lenient text"))
    assert result.exit_code == 0
    assert "1 failed as expected" in result.stdout
    result = run_echo("--expected-failures", known, command=echo("good"))
    assert result.exit_code == 1
    assert "passed, although expected to fail: no-text (replaces what is no text)" in result.stdout
    known.write_text("no-such-vector\n")
    result = run_echo("--expected-failures", known, command=echo("good"))
    assert (result.exit_code, "not among the vectors: no-such-vector" in result.stdout) == (1, True)
    assert run_echo("--expected-failures", known, "--only", "ping", command=echo("good")).exit_code == 0


@pytest.mark.parametrize("format_", ["json", "junit"])
def test_reports_for_programs_name_the_implementation(format_: str) -> None:
    result = run_echo("--format", format_, command=echo("ignored limit"))
    assert result.exit_code == 1
    assert "too-long-here" in result.stdout and "Codec" in result.stdout


# ---- starting


def test_what_cannot_be_asked_is_refused_with_a_way_out() -> None:
    check_refused(run_echo(command=("no-such-program",)), "`no-such-program` cannot be started: no such file")
    check_refused(run("vectors", "run", WIRE, VECTORS), "the implementation is missing")
    check_refused(run_echo(command=(sys.executable, "-c", "raise SystemExit('no')")), "crashed", "code 1: no")
    check_refused(run_echo(command=(sys.executable, "-c", ONE.format("hello"))), "garbage: not JSON")
    check_refused(run_echo(command=(sys.executable, "-c", ONE.format('{"id": 1, "can": 7}'))), "garbage: can")


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with pytest.raises(StartError):
        AdapterProgram((f"true; touch {mark}",), "echo")
    assert not mark.exists()


def test_an_implementation_may_skip_and_say_why(tmp_path: Path) -> None:
    script = tmp_path / "skips.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    said = {'name': 'Lazy'} if asked['do'] == 'hello' else {'skip': 'not today'}\n"
        "    print(json.dumps({'id': asked['id'], **said}), flush=True)\n"
    )
    result = run_echo(command=(sys.executable, script))
    assert result.exit_code == 0
    assert "skipped 12: not today\n" in result.stdout


# ---- the other side


def test_a_line_that_is_no_request_is_answered_all_the_same() -> None:
    lines = [b"{}\n", b'{"id": 4, "do": "hello", "protocol": "lumberjack"}\n']
    failed, hello = (json.loads(line) for line in answers(reference_implementation("lumberjack"), lines))
    assert failed["id"] == 0 and "do" in failed["failed"]
    assert hello == {
        "id": 4,
        "name": "the reference codec",
        "can": ["decode", "encode", "trace"],
        "tells": ["at", "code", "recoverable"],
        "serializations": ["native"],
    }


@pytest.mark.parametrize("options", [(), ("--careful",)], ids=["generated", "careful"])
def test_generated_code_answers_as_a_program(options: tuple[str, ...]) -> None:
    command = (sys.executable, "-c", TESTEE, "vectors", "testee", str(WIRE), *options)
    result = run_echo(command=command)
    assert result.exit_code == 0
    assert "skipped" not in result.stdout


TESTEE = (
    f"import sys; sys.path.insert(0, {str(ROOT / 'generator')!r}); from wiregen.tools.cli import main; main()"
)


def test_the_published_schemas_are_those_of_the_exchange() -> None:
    for name, text in schemas().items():
        assert (ROOT / "docs" / "schemas" / name).read_text(encoding="utf-8") == text


# ---- Lumberjack in another language


@pytest.fixture(scope="module")
def lumberjack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("vectors") / "lumberjack.json"
    path.write_text(write_vectors(converted("lumberjack")))
    yield path


def run_node(vectors: Path, script: Path, *options: str) -> Result:
    return run("vectors", "run", LUMBERJACK, vectors, *options, "--", "node", script)


@needs_node
def test_lumberjack_in_node_holds_to_the_vectors(lumberjack: Path) -> None:
    result = run_node(lumberjack, NODE / "testee.mjs")
    assert result.exit_code == 0, result.stdout
    assert "Lumberjack in Node" in result.stdout and " 0 failed" in result.stdout


MUTANTS = {
    "byte order": ("readUInt32BE", "readUInt32LE", "window"),
    "limit": ("+ size > this.budget.limits.frame", "+ size > Infinity", "length-of-no-frame"),
    "count": ("count > limits.count", "count > Infinity", "pairs-over-a-lower-limit"),
    "length": ("this.position += size;", "this.position += size + 1;", "event-as-json"),
    "text": ("fatal: true", "fatal: false", "event-that-is-no-text"),
    "tail": ("bytesWritten < body.length", "bytesWritten > body.length", "bytes-behind-the-stream"),
    "written order": ("writeUInt32BE", "writeUInt32LE", "window"),
}


@needs_node
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mistake_in_node_is_caught(lumberjack: Path, tmp_path: Path, mutant: str) -> None:
    before, after, caught = MUTANTS[mutant]
    shutil.copytree(NODE, tmp_path / "broken")
    source = (NODE / "lumberjack.mjs").read_text()
    assert source.count(before) >= 1
    (tmp_path / "broken" / "lumberjack.mjs").write_text(source.replace(before, after))
    result = run_node(lumberjack, tmp_path / "broken" / "testee.mjs", "--only", caught)
    assert result.exit_code == 1
    assert f"failed: {caught}\n" in result.stdout


def test_the_end_of_a_program_is_told_with_the_lines_of_its_message() -> None:
    code = "import sys; sys.stderr.write('error: no codec\\n  install it\\n'); sys.exit(2)"
    result = run("vectors", "run", WIRE, VECTORS, "--", sys.executable, "-c", code)
    assert "it ended with code 2: error: no codec; install it" in result.stderr


def test_the_testee_needs_only_what_the_configuration_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wiregen.toml").write_text('backends = ["native"]\n')
    monkeypatch.chdir(tmp_path)
    assert _serializations() == ()


def test_a_text_that_is_not_json_is_told_with_its_place() -> None:
    with pytest.raises(DecodeError) as caught:
        json_view('{"a":\n x}', "M.document")
    assert caught.value.found == "text that is not JSON at line 2 column 2"
