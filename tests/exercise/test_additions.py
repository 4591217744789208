"""How much a scalar, function or carrier costs that the language does not have: in a copy of the tree each is added by hand, and all targets have it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings
from tests.exercise.edits import ABS, BFLOAT, CARRIER, U256, Edit
from tests.once import mypy_cache

ROOT: Final = Path(__file__).resolve().parents[2]
IS_SOAK: Final = settings.get_current_profile_name() == "soak"
MOST_FILES: Final = {"tensors": 2, "money": 4, "distance": 3, "radio": 3}
"""Of hand-written source, without tests, documentation, built files and those of one target."""

HEAD: Final = """protocol {name} {{ source "no document: an exercise" endian big roles a, b }}
limits {{ frame = 1 KiB }}
frame F {{ type : u8 := code(body)  length : u16 := size(body)  body : match type in length }}
"""
SCALARS: Final = """message One 1 {{ value : {word}  next : u8 }}
message Many 2 {{ values : {word}[u8]  small : {little}  pairs : Pair[u8] }}
message Option 3 {{ kind : u8  value : {word} if kind == 1  rest : {word} ?= 1 }}
struct Pair {{ x : {word}  y : {little} }}
"""
FUNCTION: Final = """
message Near 1 from a { x : i16  y : i16 where abs(x - y) < 10  extra : u8 if abs(x) > 100  d : u16 := abs(x - y) }
message Data 2 from b { n : i8 where abs(n) > 2  data : bytes[abs(n)] }
rule too_far "A step is short" { source "Rules, MUST" }
session Walk {
  var last : i16 = 0
  state going { a Near when abs(x - last) > 50 violates too_far  a Near => going { last = x }  b Data => going }
}
"""
CARRIED: Final = """message One 1 { data : Item[] in cobs[u16]  next : u8 }
message Sized 2 { size : u8 := size(data)  data : bytes[] in cobs[size] }
message Inner 3 { inner : { kind : u8  rest : bytes[] } in cobs[u16]  last : Deep in cobs[] }
message Option 4 { kind : u8  data : u16 in cobs[u8] if kind == 1  rest : bytes[u8] in cobs[u8] }
struct Item { x : i16  y : u8 }
struct Deep { items : Item[u8]  data : bytes[] in cobs[u16] }
"""
VERBS: Final = """
import sys
from wiregen.tools.cli import wiregen
for line in sys.argv[1:]:
    try:
        wiregen.main(line.split())
    except SystemExit as done:
        assert done.code == 0, line
"""
"""Several commands in one process, as each start of the command takes a second."""
USE: Final = {
    "tensors": """
import struct
from acme import tensors as t
for number, digits in (1.5, "3fc0"), (3.140625, "4049"), (1.00390625, "3f80"), (1.01171875, "3f82"), (-2.0, "c000"):
    data = t.F(t.One(value=number, next=7)).encode()
    assert data.hex() == f"010003{digits}07", data.hex()
many = t.F(t.Many(values=[1.5, -2.0], small=0.5, pairs=[t.Pair(x=1.0, y=2.0)]))
assert t.decode(many.encode()) == many
for bad in 3.4e38, "x":
    try:
        t.F(t.One(value=bad, next=7)).encode()
    except t.EncodeError as error:
        assert (error.code, error.path) == ("invalid_value", "One.value"), error
    else:
        raise AssertionError
""",
    "money": """
from acme import money as t
most = 2**256 - 1
data = t.F(t.One(value=most, next=7)).encode()
assert data.hex() == "010021" + "ff" * 32 + "07"
many = t.F(t.Many(values=[0, most], small=-(2**255), pairs=[t.Pair(x=2**200, y=-1)]))
assert t.decode(many.encode()) == many
try:
    t.F(t.One(value=most + 1, next=7)).encode()
except t.EncodeError as error:
    assert (error.code, error.path) == ("invalid_value", "One.value"), error
else:
    raise AssertionError
""",
    "distance": """
from acme import distance as t
near = t.F(t.Near(x=-150, y=-145, extra=7))
assert near.encode().hex() == "010007ff6aff6f070005", near.encode().hex()
assert t.decode(near.encode()) == near
assert t.decode(bytes.fromhex("020004fd616263")).message == t.Data(n=-3, data=b"abc")
peer = t.Connection("a")
peer.send(t.Near(x=40, y=40))
try:
    peer.send(t.Near(x=-20, y=-20))
except t.SessionError as error:
    assert error.violation == "too_far", error
else:
    raise AssertionError
""",
    "radio": """
from acme import radio as t
one = t.F(t.One(data=[t.Item(x=0, y=7), t.Item(x=-1, y=0)], next=9))
assert one.encode().hex() == "01000a" "0007" "01010407ffff01" "09", one.encode().hex()
assert t.decode(one.encode()) == one
long = t.F(t.One(data=[t.Item(x=0x0101, y=1)] * 85, next=9))
assert t.decode(long.encode()) == long and 0 not in long.encode()[5:-1]
for bad, at in (("00", 5), ("010103", 7), ("0401ff", 5), ("0501000101", 5)):
    data = bytes.fromhex(f"01{3 + len(bad) // 2:04x}{len(bad) // 2:04x}{bad}09")
    try:
        t.decode(data)
    except t.DecodeError as error:
        assert (error.code, error.path, error.at) == ("unstuff_failed", "One.data", at), error
    else:
        raise AssertionError
""",
}
CASES: Final = {
    "radio": (CARRIER, CARRIED, '["native", "protobuf", "msgpack", "columns"]'),
    "tensors": (
        BFLOAT,
        SCALARS.format(word="bf16", little="bf16le"),
        '["native", "protobuf", "msgpack", "columns", "wireshark", "kaitai"]',
    ),
    "money": (U256, SCALARS.format(word="u256", little="i256le"), '["native", "protobuf", "msgpack"]'),
    "distance": (ABS, FUNCTION, '["native", "protobuf", "msgpack", "columns"]'),
}


def copied(place: Path, edits: tuple[Edit, ...]) -> Path:
    """Copy the compiler and the files that it reads, and change the copy."""
    for name in ("generator", "templates", "docs/guide", "idl"):
        shutil.copytree(ROOT / name, place / name)  # with the bytecode: a changed file has another time
    for page in ROOT.glob("docs/*.md"):
        shutil.copy(page, place / "docs")
    shutil.copy(ROOT / "pyproject.toml", place)
    for edit in edits:
        edit.apply(place)
    return place


def ran(place: Path, *command: str, cwd: Path) -> str:
    """Run Python with the compiler of a copy; return its output."""
    run = tried(place, *command, cwd=cwd)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


def tried(place: Path, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with the compiler of a copy."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{place / 'generator'}:{cwd / 'generated/python'}",
        "HOME": str(cwd),
    }
    return subprocess.run(
        [sys.executable, *command],
        check=False,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.parametrize("name", CASES)
def test_an_addition_costs_few_files_and_is_in_all_targets(name: str, tmp_path: Path) -> None:
    edits, text, backends = CASES[name]
    assert len({edit.path for edit in edits if not edit.target}) <= MOST_FILES[name]
    assert len([edit for edit in edits if edit.target]) == len({edit.target for edit in edits if edit.target})
    place, project = copied(tmp_path / "tree", edits), tmp_path / "project"
    (project / "idl").mkdir(parents=True)
    (project / "idl" / f"{name}.wire").write_text(HEAD.format(name=name) + text)
    (project / "wiregen.toml").write_text(f'package = "acme"\nbackends = {backends}\n')
    verbs = ("build", "vectors build", f"vectors verify {name}", "docs build")
    assert "0 failed" in ran(place, "-c", VERBS, *verbs, cwd=project)
    (project / "saved.json").write_text(ran(place, "-m", "wiregen", "ir", name, cwd=project))
    ran(place, "-m", "wiregen", "breaking", "--against", "saved.json", cwd=project)
    ran(
        place,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        mypy_cache(),
        "generated/python",
        cwd=project,
    )
    ran(place, "-c", USE[name], cwd=project)


OMISSIONS: Final = [
    (name, edit) for name, (edits, *_) in CASES.items() for edit in edits if edit is not U256[0]
]
"""Two edits in `make test`, which tests of tables name; all in `make soak`. Without the first edit of `u256` the
type does not exist.
"""
TABLES: Final = (
    "tests/unit/schema/test_scalars.py",
    "tests/unit/schema/test_functions.py",
    "tests/unit/runtime/test_transforms.py",
)
"""Tests that hold the tables to be total."""


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        pytest.param(name, edit, id=f"{name} without {edit.path}")
        for name, edit in OMISSIONS
        if IS_SOAK or edit in (ABS[-1], CARRIER[-1])
    ],
)
def test_a_file_that_is_forgotten_is_named(name: str, left_out: Edit, tmp_path: Path) -> None:
    edits = tuple(edit for edit in CASES[name][0] if edit is not left_out)
    place = copied(tmp_path / "tree", edits)
    for table in TABLES:
        (place / table).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / table, place / table)
    checks: list[tuple[str, ...]] = [("-m", "pytest", "-q", "-p", "no:cacheprovider", *TABLES)]
    if name == "money":
        checks.append(("-m", "mypy", "--cache-dir", str(tmp_path / "mypy"), "generator/wiregen"))
    runs = [tried(place, *check, cwd=place) for check in checks]
    said = "".join(run.stdout + run.stderr for run in runs)
    assert any(run.returncode for run in runs), said
    assert Path(left_out.path).stem in said, said
