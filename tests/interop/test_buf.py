"""The .proto files as buf sees them, which is stricter than protoc about what it takes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.npm import npm_modules

from wiregen.generate.build import build
from wiregen.language.config import load_config
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

PROTO = Path(__file__).resolve().parents[2] / "generated" / "proto"
ALLOWED = {
    "DIRECTORY_SAME_PACKAGE": "a repository may keep one folder of schemas",
    "ENUM_ZERO_VALUE_SUFFIX": "members have their protocol's names",
    "PACKAGE_DIRECTORY_MATCH": "a repository may keep one folder of schemas",
    "PACKAGE_VERSION_SUFFIX": "a protocol's version is its own affair",
}
"""Rules of style that the schemas do not keep, and why."""


@pytest.fixture(scope="module")
def buf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    modules = npm_modules(tmp_path_factory.mktemp("buf"), "@bufbuild/buf@1")
    return modules / ".bin" / "buf"


def run(buf: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([buf, *arguments], cwd=PROTO, capture_output=True, text=True, check=False)


def test_buf_takes_every_schema(buf: Path) -> None:
    assert list(PROTO.glob("*.proto"))
    done = run(buf, "build", "-o", "/dev/null")
    assert done.returncode == 0, done.stdout + done.stderr


def test_buf_takes_options_with_any_text(buf: Path, tmp_path: Path) -> None:
    text = r"""backends = ["protobuf"]
protocols = ["lumberjack"]
[protobuf.options]
go_package = "example.com/{protocol}\"; option deprecated = true; //\\\u0001\n"
optimize_for = "SPEED"
"""
    (tmp_path / "wiregen.toml").write_text(text)
    report = Report()
    outputs = build(load_config(tmp_path, report), (), Sources(), report)
    [schema] = [output.content for output in outputs if output.path.suffix == ".proto"]
    (tmp_path / "lumberjack.proto").write_bytes(schema)
    done = run(buf, "build", str(tmp_path), "-o", "-#format=json")
    assert done.returncode == 0, done.stdout + done.stderr
    [file] = json.loads(done.stdout)["file"]
    assert file["options"] == {
        "goPackage": 'example.com/lumberjack"; option deprecated = true; //\\\x01\n',
        "optimizeFor": "SPEED",
    }


def test_what_buf_says_of_style_is_what_is_left_on_purpose(buf: Path) -> None:
    lines = run(buf, "lint", "--error-format", "json").stdout.splitlines()
    assert {json.loads(line)["type"] for line in lines} == set(ALLOWED)
