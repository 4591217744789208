"""Trees with the setting `runtime` use one installed runtime, which a project of its own builds."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.commands import called
from tests.once import mypy_cache

from wiregen.generate.build import build
from wiregen.generate.writer import write
from wiregen.language.config import load_config
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.runtime.schema import version
from wiregen.runtime.schema.notation import CLASSES

WIREPROTO = Path(__file__).resolve().parents[3] / "generated" / "python" / "wireproto"
IMPORTED = re.compile(r"^ *from \.\._runtime\.([\w.]+) import (\w+)", re.MULTILINE)
TEXT = """
protocol {name} {{ source "document" endian big roles a, b }}
limits {{ frame = 1 KiB }}
frame F {{ type : u8 := code(body)  length : u16 := size(body)  body : match type in length }}
message M 1 {{ k : u8  v : utf8[u8] }}
"""
USE = """
import acme.one.first as first, acme.two.second as second
import acme_runtime, sys
assert first.DecodeError is second.DecodeError is acme_runtime.DecodeError
assert first.EncodeError is second.EncodeError is acme_runtime.EncodeError
assert not [name for name in sys.modules if "._runtime" in name]
for package in (first, second):
    data = package.F(package.M(k=1, v="x")).encode()
    assert data == bytes.fromhex("0100030101") + b"x" and package.decode(data).message == package.M(1, "x")
    from_dict = package.M.from_dict(package.M(1, "x").to_dict())
    assert from_dict == package.M(1, "x") and len(list(package.Decoder().feed(data + data))) == 2
    package.Connection("a")
    try:
        package.decode(data[:-1] + b"\\xff")
    except acme_runtime.DecodeError as error:
        assert (error.code, error.path) == ("invalid_text", "M.v")
    else:
        raise AssertionError
    try:
        package.F(package.M(k=256, v="")).encode()
    except acme_runtime.EncodeError as error:
        assert error.path == "M.k"
    else:
        raise AssertionError
from acme.one.first import msgpack
assert msgpack.decode(msgpack.encode(first.F(first.M(1, "x")))).message == first.M(1, "x")
"""


def built(folder: Path, settings: str, protocol: str | None = None) -> Path:
    """Build a project and return the folder that its packages are imported from."""
    folder.mkdir()
    if protocol is not None:
        (folder / "idl").mkdir()
        (folder / "idl" / f"{protocol}.wire").write_text(TEXT.format(name=protocol), encoding="utf-8")
    (folder / "wiregen.toml").write_text(f"{settings}\n", encoding="utf-8")
    report = Report()
    config = load_config(folder, report)
    outputs = build(config, (), Sources(), report)
    assert not report.has_errors, report.diagnostics
    write(outputs, config.output)
    return config.output / "python"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    folder = tmp_path_factory.mktemp("shared")
    shared = 'runtime = "acme_runtime"\nbackends = ["msgpack", "protobuf", "columns"]'
    return (
        built(folder / "runtime", 'runtime_package = "acme_runtime"'),
        built(folder / "one", f'package = "acme.one"\n{shared}', "first"),
        built(folder / "two", f'package = "acme.two"\n{shared}', "second"),
    )


def environment(places: tuple[Path, ...]) -> dict[str, str]:
    """Return an environment in which the trees are found, one `acme` over two folders."""
    path = os.pathsep.join(map(str, places))
    return os.environ | {"PYTHONPATH": path, "MYPYPATH": path}


def test_two_trees_share_a_runtime_and_its_classes(places: tuple[Path, ...]) -> None:
    subprocess.run([sys.executable, "-c", USE], env=environment(places), check=True, timeout=120)


def test_a_tree_on_a_shared_runtime_has_no_copy_and_depends_on_it(places: tuple[Path, ...]) -> None:
    runtime, one, _ = places
    texts = [path.read_text(encoding="utf-8") for path in one.rglob("*.py")]
    assert texts and not [text for text in texts if "_runtime." in text.replace("acme_runtime.", "")]
    assert 'dependencies = ["acme_runtime"]' in (one.parent / "pyproject.toml").read_text(encoding="utf-8")
    project = (runtime.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert 'name = "acme_runtime"' in project and "dependencies" not in project
    assert (runtime / "acme_runtime" / "py.typed").is_file()


def test_a_project_of_a_runtime_is_built_without_sources(tmp_path: Path) -> None:
    (tmp_path / "wiregen.toml").write_text('runtime_package = "acme_runtime"\n', encoding="utf-8")
    assert called("build", folder=tmp_path).exit_code == 0
    assert called("build", "--check", folder=tmp_path).exit_code == 0
    assert "WG5003" in called("build", "tide", folder=tmp_path).output


def test_the_pipeline_finds_the_runtime_that_trees_share(places: tuple[Path, ...]) -> None:
    lines = (
        "from wirespark.packages import package_of",
        "package = package_of('acme.one.first')",
        "assert package.runtime('codec.options').__name__ == 'acme_runtime.codec.options'",
        "assert isinstance(package.schema.frames['F'], package.nodes.Frame)",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], env=environment(places), check=True, timeout=120)


def test_trees_on_a_shared_runtime_are_typed(places: tuple[Path, ...]) -> None:
    packages = ("-p", "acme_runtime", "-p", "acme.one", "-p", "acme.two")
    typed = (sys.executable, "-m", "mypy", "--strict", "--cache-dir", mypy_cache(), *packages)
    done = subprocess.run(
        typed,
        env=environment(places),
        cwd=places[0],
        check=False,
        timeout=600,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("theirs", "way_out"),
    [
        pytest.param(
            1, "build acme.one.first again with the wiregen that acme_runtime comes from", id="newer"
        ),
        pytest.param(-1, "install a newer acme_runtime", id="older"),
    ],
)
def test_another_version_is_an_import_error_that_names_both(
    places: tuple[Path, ...], theirs: int, way_out: str
) -> None:
    other = version.SCHEMA_VERSION + theirs
    lines = (
        "import acme_runtime.schema.version as version",
        f"version.SCHEMA_VERSION = {other}",
        "import acme.one.first",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env=environment(places), check=False, timeout=120, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: acme.one.first was built for version {version.SCHEMA_VERSION} of the runtime's schema, "
        f"and acme_runtime has version {other}: {way_out}"
    )


DIGESTS = {1: "c153e5905d7f2298"}
"""Each version, and the digest of its interface: the fields of nodes, and the parameters of functions that packages call."""


def digest_of_interface() -> str:
    fields = [
        (name, kind._fields, sorted(map(repr, kind._defaults.items())))
        for name, kind in sorted(CLASSES.items())
    ]
    names = {
        found for path in sorted(WIREPROTO.glob("*/*.py")) for found in IMPORTED.findall(path.read_text())
    }
    assert len(names) > 50
    called = [(name, parameters_of(*name)) for name in sorted(names)]
    return hashlib.sha256(repr((fields, called)).encode()).hexdigest()[:16]


def parameters_of(module: str, name: str) -> object:
    """Return names and kinds of the parameters of a function, or of the methods that a class defines."""
    found = getattr(importlib.import_module(f"wiregen.runtime.{module}"), name)
    functions = vars(found) if isinstance(found, type) else {name: found}
    return [
        (key, [(each.name, each.kind.name) for each in inspect.signature(value).parameters.values()])
        for key, value in sorted(functions.items())
        if inspect.isfunction(value)
    ]


def test_a_change_of_nodes_or_of_what_generated_code_calls_raises_the_version() -> None:
    found = digest_of_interface()
    assert DIGESTS[version.SCHEMA_VERSION] == found, "raise SCHEMA_VERSION, and note its digest here"
