"""`wiregen new`, and wiregen as somebody has it who installed it: a project, a build and a test with nothing of this repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from wiregen.tools.cli import wiregen

ROOT = Path(__file__).resolve().parents[3]
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that a wheel of wiregen was installed into."""
    pytest.importorskip("hatchling", reason="the wheel is built with hatchling")
    pytest.importorskip("pip", reason="the wheel is installed with pip")
    wheels, folder = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("installed")
    called(*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(ROOT))
    [wheel] = wheels.iterdir()
    called(*PIP, "install", "--no-deps", "--no-index", "--target", str(folder), str(wheel))
    return folder


def called(*command: str, folder: Path | None = None, path: str = "") -> str:
    """Return the output of a command on both streams; `path` comes first in its search of modules."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PY")}
    environment["PYTHONPATH"] = path
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def verb(installed: Path, folder: Path, *arguments: str) -> str:
    return called(sys.executable, "-m", "wiregen", *arguments, folder=folder, path=str(installed))


def test_an_installed_wiregen_makes_a_project_that_builds_and_passes_its_test(
    installed: Path, tmp_path: Path
) -> None:
    where = called(sys.executable, "-c", "import wiregen; print(wiregen.__file__)", path=str(installed))
    assert Path(where.strip()).is_relative_to(installed)
    verb(installed, tmp_path, "new", "demo")
    project = tmp_path / "demo"
    files = sorted(str(path.relative_to(project)) for path in project.rglob("*") if path.is_file())
    assert files == ["idl/demo.wire", "pytest.ini", "tests/test_demo.py", "wiregen.toml"]
    verb(installed, project, "build")
    verb(installed, project, "build", "--check")
    said = called(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder=project)
    assert "3 passed" in said


def test_the_repository_of_a_service_makes_its_own_package(installed: Path, tmp_path: Path) -> None:
    """Its name, its folders, its backends, and of its protocols those that it chooses."""
    (tmp_path / "protocols").mkdir()
    for name in ("lumberjack", "reactive_streams"):
        text = (ROOT / "idl" / f"{name}.wire").read_text(encoding="utf-8")
        (tmp_path / "protocols" / f"{name}.wire").write_text(text, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.wiregen]\nsources = ["protocols"]\noutput = "build/wire"\npackage = "acme_shipping"\n'
        'backends = ["native", "msgpack"]\nprotocols = ["lumberjack"]\n'
    )
    verb(installed, tmp_path, "build")
    tree = tmp_path / "build" / "wire"
    package = tree / "python" / "acme_shipping"
    assert sorted(path.name for path in package.iterdir()) == [
        "__init__.py",
        "_runtime",
        "lumberjack",
        "py.typed",
    ]
    assert sorted(path.name for path in (package / "lumberjack").iterdir()) == [
        "__init__.py",
        "_plan.py",
        "aio.py",
        "messages.py",
        "msgpack.py",
        "sessions.py",
    ]
    assert not (tmp_path / "generated").exists() and not list((tmp_path / "protocols").glob("*.lock"))
    metadata = (tree / "pyproject.toml").read_text()
    assert 'name = "acme_shipping"' in metadata and "msgpack = [" in metadata and "protobuf" not in metadata
    program = "from acme_shipping.lumberjack import Ack, msgpack as m; print(m.encode(Ack(3)).hex())"
    assert called(sys.executable, "-c", program, path=str(tree / "python")) == "93413203\n"


ALONE = """
import sys
sys.path = [{tree!r}, *(path for path in sys.path if "site-packages" not in path)]
from wireproto import {protocol} as package
assert package.Decoder and not {{"google", "msgspec", "wiregen"}} & set(sys.modules)
for name, distribution in (("protobuf", "protobuf"), ("msgpack", "msgspec")):
    try:
        __import__(f"wireproto.{protocol}.{{name}}")
    except ImportError as error:
        assert f"extra `{{name}}`" in str(error) and f"`pip install {{distribution}}`" in str(error), error
    else:
        raise AssertionError(name)
print("done")
"""


@pytest.mark.parametrize("protocol", ["lumberjack", "reactive_streams", "pravega", "geode"])
def test_a_package_needs_no_library_until_a_module_that_does_is_imported(protocol: str) -> None:
    """The interpreter is isolated, and without any site-packages: the libraries are not hidden but absent."""
    program = ALONE.format(tree=str(ROOT / "generated" / "python"), protocol=protocol)
    assert called(sys.executable, "-I", "-S", "-c", program) == "done\n"


# ---- refusals


@pytest.mark.parametrize(
    "name",
    ["Demo", "1st", "de-mo", "../demo", "de/mo", "", ".", "/tmp/demo", "d" * 41, "démo", "class", "lambda", "match", "where", "message", "con", "com1", "pytest"],
)  # fmt: skip
def test_a_name_that_no_protocol_can_have_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(wiregen, ["new", name])
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "help: " in result.stderr


def test_what_is_there_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    for name in ("link", "file", "full"):
        result = CliRunner().invoke(wiregen, ["new", name])
        assert result.exit_code == 2 and "already exists" in result.stderr
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]
    assert not list((tmp_path / "elsewhere").iterdir())
    (tmp_path / "bare").mkdir()
    assert CliRunner().invoke(wiregen, ["new", "bare"]).exit_code == 0


@pytest.mark.parametrize("name", ["demo", "frame", "frames", "wire", "print", "str", "json", "x"])
def test_whatever_its_name_it_builds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(wiregen, ["new", name]).exit_code == 0
    monkeypatch.chdir(tmp_path / name)
    result = CliRunner().invoke(wiregen, ["check"])
    assert (result.exit_code, result.stdout) == (0, ""), result.output
