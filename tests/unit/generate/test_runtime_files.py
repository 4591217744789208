"""A generated tree holds those modules of the runtime that it needs, and works with them alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.once import mypy_cache

from wiregen.generate.build import build
from wiregen.generate.writer import write
from wiregen.language.config import load_config
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

TEXT = """
protocol two { source "document" endian big roles a, b }
limits { frame = 1 KiB }
frame F { type : u8 := code(body)  length : u16 := size(body)  body : match type in length }
message M 1 { k : u8  v : utf8[u8] }
message N 2 { k : u8 }
"""
USE = """
import twow.two as two
data = two.F(two.M(k=1, v="x")).encode()
assert data == bytes.fromhex("0100030101") + b"x" and two.decode(data).message == two.M(1, "x")
assert two.M.from_dict(two.M(1, "x").to_dict()) == two.M(1, "x")
assert len(list(two.Decoder().feed(data + data))) == 2
try:
    two.decode(data[:-1] + b"\\xff")
except two.DecodeError as error:
    assert (error.code, error.path) == ("invalid_text", "M.v")
else:
    raise AssertionError
try:
    two.F(two.M(k=256, v="")).encode()
except two.EncodeError as error:
    assert error.path == "M.k"
else:
    raise AssertionError
"""


def built(folder: Path, settings: str) -> Path:
    (folder / "idl").mkdir()
    (folder / "idl" / "two.wire").write_text(TEXT, encoding="utf-8")
    (folder / "wiregen.toml").write_text(f'package = "twow"\n{settings}\n', encoding="utf-8")
    report = Report()
    config = load_config(folder, report)
    outputs = build(config, (), Sources(), report)
    assert not report.has_errors
    write(outputs, config.output)
    return config.output / "python"


def n_lines(place: Path) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in (place / "twow" / "_runtime").rglob("*.py"))


def folders_of(place: Path) -> set[str]:
    runtime = place / "twow" / "_runtime"
    return {path.relative_to(runtime).as_posix() for path in runtime.rglob("*.py")}


def test_a_native_package_without_sessions_has_neither_sessions_nor_serializations(tmp_path: Path) -> None:
    place = built(tmp_path, "sessions = false")
    names = folders_of(place)
    unwanted = ("aio", "connection", "engine", "msgpack", "protobuf", "serial", "timers")
    assert not [
        name for name in names if name.rpartition("/")[2].rpartition("_")[2].removesuffix(".py") in unwanted
    ]
    assert not (place / "twow" / "two" / "sessions.py").exists()
    assert 5_000 < n_lines(place) <= 9_400
    subprocess.run([sys.executable, "-c", USE], cwd=place, check=True, timeout=120)
    typed = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", mypy_cache(), "-p", "twow"]
    subprocess.run(typed, cwd=place, check=True, timeout=600)


@pytest.mark.parametrize("backend", ["protobuf", "msgpack", "columns"])
def test_a_tree_has_what_its_backends_need(tmp_path: Path, backend: str) -> None:
    place = built(tmp_path, f'backends = ["{backend}"]')
    own = "from twow.two import Connection, Session" + ("" if backend == "columns" else f", {backend}")
    subprocess.run([sys.executable, "-c", f"{USE}\n{own}"], cwd=place, check=True, timeout=120)
    is_serial = any("serial" in name for name in folders_of(place))
    assert is_serial is (backend != "columns")


def test_a_package_without_sessions_offers_no_names_of_theirs(tmp_path: Path) -> None:
    place = built(tmp_path, "sessions = false")
    check = "import twow.two as two; assert not {'Connection', 'Session'} & set(two.__all__); assert not hasattr(two, 'Connection')"
    subprocess.run([sys.executable, "-c", check], cwd=place, check=True, timeout=120)
