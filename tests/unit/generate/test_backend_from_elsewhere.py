"""The example backend, installed as a package of its own: found by its entry point, built, and tested like the others."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.built_schema import schema_of
from tests.property.any_values import AnyValues
from tests.property.test_serializations import code_of

from wiregen.generate.backends import load_backends
from wiregen.generate.build import build
from wiregen.language.config import Config
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.tools.cli import wiregen

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "backend_jsonl"
PROTOCOLS = ("lumberjack", "reactive_streams", "pravega", "geode")
N_SEEDS = 20
TIDE = """protocol tide { source "Tide" endian big  roles ship, port }
frame Frame { type : u8 := code(body)  body : match type }
message Ask 1 from ship { depth : u16 }
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that pip installed the example into."""
    pytest.importorskip("hatchling", reason="the example is built with hatchling")
    pytest.importorskip("pip", reason="the example is installed with pip")
    folder = tmp_path_factory.mktemp("installed")
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder), str(EXAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def packages(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build every protocol with it; yield the name of the package, which can be imported."""
    root = tmp_path_factory.mktemp("project")
    config = Config(
        root=root,
        file=None,
        sources=(ROOT / "idl",),
        output=root / "generated",
        package="lines",
        backends=("native", "jsonl"),
        protocols=PROTOCOLS,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(installed))
        report = Report()
        outputs = build(config, (), Sources(), report)
        assert not report.has_errors
        for output in outputs:
            path = root / output.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(output.content)
        patch.syspath_prepend(str(root / "python"))
        yield "lines"


def test_it_is_small_enough_to_be_read_at_once() -> None:
    files = [path for path in EXAMPLE.rglob("*") if path.suffix in {".py", ".toml", ".jinja"}]
    assert sum(len(path.read_text().splitlines()) for path in files) < 150


def test_its_extra_is_in_the_package(packages: str) -> None:
    folder = Path(importlib.import_module(packages).__file__ or "").parents[2]
    assert 'jsonl = ["msgspec>=0.19"]' in (folder / "pyproject.toml").read_text()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_message_comes_back(packages: str, name: str) -> None:
    native: Any = importlib.import_module(f"{packages}.{name}")
    jsonl: Any = importlib.import_module(f"{packages}.{name}.jsonl")
    msgpack: Any = importlib.import_module(f"wireproto.{name}.msgpack")
    plan = schema_of(f"{packages}.{name}")
    seen = set()
    values = AnyValues(native, plan)
    for seed in range(N_SEEDS):
        for role, frame in values.frames(seed):
            octets = code_of(jsonl.encode, frame)
            if isinstance(octets, tuple):
                continue
            told = {"from_role": role} if len(plan.frames) > 1 else {}
            assert octets.endswith(b"\n") and octets.count(b"\n") == 1
            assert jsonl.decode(octets, **told) == frame
            seen.add(type(frame.message).__name__)
    assert len(seen) > 0.8 * len(plan.messages)
    assert set(jsonl.__all__) == set(msgpack.__all__)


def test_every_message_of_lumberjack_is_a_line_to_be_read(packages: str) -> None:
    lj: Any = importlib.import_module(f"{packages}.lumberjack")
    jsonl: Any = importlib.import_module(f"{packages}.lumberjack.jsonl")
    data = lj.Data(1, [lj.Pair("k", "v")])
    messages = (data, lj.Json(2, b"{}"), lj.Ack(3), lj.Window(4), lj.Compressed([lj.Frame(data)]))
    assert {type(message).__name__ for message in messages} == set(lj._plan.PLAN.messages)
    lines = [jsonl.encode(message) for message in messages]
    assert lines[1:3] == [b'[74,50,2,{"base64":"e30="}]\n', b"[65,50,3]\n"]
    assert [jsonl.decode_message(line) for line in lines] == list(messages)
    decoder = jsonl.Decoder()
    stream = b"".join(lines)
    found = [frame.message for octet in stream for frame in decoder.feed(bytes([octet]))]
    decoder.finish()
    assert found == list(messages)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(b"\n", "invalid_value", id="empty"),
        pytest.param(b"[65,50,3\n", "invalid_value", id="no JSON"),
        pytest.param(b'[65,50,"3"]\n', "invalid_value", id="text for a number"),
        pytest.param(b"[65,50,4294967296]\n", "invalid_value", id="beyond its range"),
        pytest.param(b"[65,51,3]\n", "invalid_enum", id="no version"),
        pytest.param(b"[7,50,3]\n", "unknown_code", id="unknown"),
        pytest.param(b"[65,50]\n", "truncated", id="a field too few"),
        pytest.param(b'[74,50,2,{"base64":"?"}]\n', "invalid_value", id="no base64"),
        pytest.param(b'[74,50,2,{"base64":"","x":1}]\n', "invalid_value", id="another object"),
        pytest.param(b"[" * 5000 + b"\n", "too_deep", id="deep"),
        pytest.param(b"\xff\n", "invalid_value", id="no UTF-8"),
    ],
)
def test_a_bad_line_is_one_fault_and_the_next_is_read(packages: str, line: bytes, code: str) -> None:
    lj: Any = importlib.import_module(f"{packages}.lumberjack")
    jsonl: Any = importlib.import_module(f"{packages}.lumberjack.jsonl")
    error, frame = jsonl.Decoder(errors="yield").feed(line + b"[65,50,3]\n")
    assert (error.code, error.end) == (code, len(line))
    assert frame.message == lj.Ack(3)


def test_a_line_without_end_is_given_up(packages: str) -> None:
    lj: Any = importlib.import_module(f"{packages}.lumberjack")
    jsonl: Any = importlib.import_module(f"{packages}.lumberjack.jsonl")
    decoder = jsonl.Decoder(limits=lj.Limits(frame=100, inflated=0))
    with pytest.raises(jsonl.DecodeError, match="limit_exceeded"):
        for _ in range(60):
            list(decoder.feed(b"  "))


# ---- the entry point


def offer(folder: Path, name: str, text: str) -> None:
    """Put a package into a folder as pip would have: a module and its entry point."""
    (folder / f"{name}_backend.py").write_text(text)
    info = folder / f"{name}_backend-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-backend\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[wiregen.backends]\n{name} = {name}_backend:Backend\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("raise SystemError('boom')", "SystemError: boom", id="raises"),
        pytest.param("import no_such_module", "ModuleNotFoundError", id="lacks something"),
        pytest.param("x = 1", "AttributeError", id="has no such class"),
        pytest.param("class Backend: pass", "AttributeError", id="is no backend"),
        pytest.param(
            "class Backend:\n name = 'other'; requires = ''\n def pages(self): ...",
            "calls itself `other`",
            id="has another name",
        ),
    ],
)
def test_what_cannot_be_loaded_is_a_diagnostic_and_only_if_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    offer(tmp_path, "odd", text)
    monkeypatch.syspath_prepend(str(tmp_path))
    report = Report()
    assert [backend.name for backend in load_backends(("native",), report)] == ["native"]
    assert "odd_backend" not in sys.modules and not report.diagnostics
    assert load_backends(("odd",), report) == ()
    [finding] = report.diagnostics
    assert finding.code == "WG5005" and reason in finding.message
    sys.modules.pop("odd_backend", None)


BROKEN = """
from pathlib import Path, PurePosixPath
from wiregen.backends import Page
class Backend:
    name = "odd"
    requires = ""
    def pages(self, subject, report):
        {body}
"""
TEMPLATE_FAILS = "return (Page(path=PurePosixPath('x.py'), template='x.py.jinja', view=1, templates=Path(__file__).parent),)"


@pytest.mark.parametrize(
    ("body", "reason", "place"),
    [
        pytest.param("return {}['x']", "tide: KeyError: 'x'", "in odd_backend.py:8, `return {}['x']`", id="raises"),
        pytest.param("raise SystemExit(0)", "tide: SystemExit: 0", "in odd_backend.py:8", id="exits"),
        pytest.param("yield 7", "tide: TypeError: `pages` gave a int that is not a Page", "", id="no page"),
        pytest.param("return None", "tide: TypeError: 'NoneType'", "", id="nothing"),
        pytest.param(TEMPLATE_FAILS, "x.py: jinja2.exceptions.UndefinedError", "in x.py.jinja:2", id="template"),
    ],
)  # fmt: skip
def test_a_backend_that_fails_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, reason: str, place: str
) -> None:
    offer(tmp_path, "odd", BROKEN.replace("{body}", body))
    (tmp_path / "x.py.jinja").write_text("x = 1\n{{ view.nothing.at_all }}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "tide.wire").write_text(TIDE)
    (tmp_path / "wiregen.toml").write_text('backends = ["native", "odd"]\n')
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(wiregen, ["build"])
    sys.modules.pop("odd_backend", None)
    assert result.exit_code == 1, result.output
    assert f"error[WG5006]: the backend `odd` failed at {reason}" in result.stderr
    assert place in result.stderr and "= help: report to its authors" in result.stderr
    assert not (tmp_path / "generated").exists()


PRINTS = TEMPLATE_FAILS.replace("'x.py'", "PurePosixPath(subject.protocol.name, 'odd.py')").replace(
    "PurePosixPath(PurePosixPath", "(PurePosixPath"
)


@pytest.mark.parametrize("verb", ["transcode", "decode", "encode"])
@pytest.mark.parametrize(
    ("template", "reason"),
    [
        pytest.param("x = 1\n{{ view.nothing.at_all }}\n", "tide/odd.py: jinja2.exceptions.UndefinedError", id="template"),
        pytest.param("x = 1 / 0\n", "the import of tide/odd.py: ZeroDivisionError", id="what it printed"),
        pytest.param("x = (\n", "tide/odd.py: ValueError: error: Failed to parse", id="no Python"),
    ],
)  # fmt: skip
def test_a_backend_that_fails_in_memory_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: str, reason: str, verb: str
) -> None:
    offer(tmp_path, "odd", BROKEN.replace("{body}", PRINTS))
    (tmp_path / "x.py.jinja").write_text(template)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "tide.wire").write_text(TIDE)
    monkeypatch.chdir(tmp_path)
    options = {"transcode": ["--from", "native", "--to", "odd"]}.get(verb, ["--backend", "odd"])
    result = CliRunner().invoke(wiregen, [verb, "./tide.wire", *options], input=b"")
    sys.modules.pop("odd_backend", None)
    assert result.exit_code == 1, result.output
    assert f"error[WG5006]: the backend `odd` failed at {reason}" in result.stderr
    assert "= help: report to its authors" in result.stderr


def test_a_fault_of_our_own_stays_a_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "tide.wire").write_text(TIDE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wiregen.generate.backends.native.NativeBackend.pages", lambda *_: int("x"))
    result = CliRunner().invoke(wiregen, ["build"])
    assert result.exit_code == 3 and "a bug in wiregen" in result.stderr


def test_the_built_in_ones_have_no_door_of_their_own() -> None:
    """Modules of wiregen do not import a backend's module, except other modules of backends."""
    names = ("native", "protobuf", "msgpack")
    modules = [path for path in (ROOT / "generator").rglob("*.py") if path.parent.name != "backends"]
    texts = {path: path.read_text(encoding="utf-8") for path in modules}
    assert len(texts) > 100
    assert [path for path, text in texts.items() if any(f"wiregen.backends.{n}" in text for n in names)] == []
