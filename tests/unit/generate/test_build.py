"""The generated tree: the same wherever and whenever it is built, clean, and without wiregen at run time."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from tests.once import mypy_cache

from wiregen.generate import build
from wiregen.language.config import load_config
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

ROOT = Path(__file__).resolve().parents[3]
IS_SOAK = settings.get_current_profile_name() == "soak"
GENERATED = ROOT / "generated" / "python"
LUMBERJACK = ROOT / "idl" / "lumberjack.wire"


def run(*command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator"), **variables}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def wiregen(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return run("-m", "wiregen", *arguments, folder=folder, **variables)


def project(folder: Path, text: str | None = None) -> Path:
    """Make a project of Lumberjack, or of another text under its name."""
    (folder / "idl").mkdir(parents=True)
    content = LUMBERJACK.read_bytes() if text is None else text.encode()
    (folder / "idl" / "lumberjack.wire").write_bytes(content)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below, by path."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project(tmp_path_factory.mktemp("project"))
    done = wiregen("build", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


# ---- the same bytes


def test_two_builds_are_equal_in_every_byte(built: Path, tmp_path: Path) -> None:
    other = project(tmp_path / "elsewhere" / "with a blank")
    os.utime(other / "idl" / "lumberjack.wire", (1, 1))
    done = wiregen("build", folder=other, PYTHONHASHSEED="7", TZ="Asia/Tokyo", LC_ALL="C", COLUMNS="40")
    assert done.returncode == 0, done.stderr
    assert tree(other / "generated") == tree(built / "generated")


def test_a_tree_names_no_place_and_no_date(built: Path) -> None:
    for content in tree(built / "generated").values():
        assert str(built).encode() not in content
        assert str(ROOT).encode() not in content


def test_the_committed_tree_is_what_a_build_writes() -> None:
    done = wiregen("build", "--check", folder=ROOT)
    assert done.returncode == 0, f"run `wiregen build`: {done.stdout}"


# ---- --check


@pytest.fixture
def stale(built: Path, tmp_path: Path) -> Path:
    """Return a project whose generated tree can be spoiled."""
    folder = project(tmp_path / "stale")
    for name, content in tree(built / "generated").items():
        path = folder / "generated" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def test_check_says_nothing_of_a_fresh_tree(stale: Path) -> None:
    done = wiregen("build", "--check", folder=stale)
    assert (done.returncode, done.stdout) == (0, "")


def test_check_names_what_is_changed_missing_and_extra(stale: Path) -> None:
    package = stale / "generated" / "python" / "wireproto" / "lumberjack"
    with (package / "messages.py").open("a", encoding="utf-8") as file:
        file.write("# by hand\n")
    (package / "_plan.py").unlink()
    (package / "extra.py").touch()
    before = tree(stale)
    done = wiregen("build", "--check", folder=stale)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "stale generated/python/wireproto/lumberjack/messages.py",
        "missing generated/python/wireproto/lumberjack/_plan.py",
        "extra generated/python/wireproto/lumberjack/extra.py",
    ]
    assert tree(stale) == before


def test_check_notices_a_changed_protocol(stale: Path) -> None:
    wire = stale / "idl" / "lumberjack.wire"
    text = wire.read_text(encoding="utf-8")
    assert "frame    = 16 MiB" in text
    wire.write_text(text.replace("frame    = 16 MiB", "frame    = 17 MiB"), encoding="utf-8")
    done = wiregen("build", "--check", folder=stale)
    assert done.returncode == 1
    assert "stale generated/python/wireproto/lumberjack/_plan.py" in done.stdout


# ---- a wrong file


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("protocol lumberjack {", "WG11", id="syntax"),
        pytest.param('protocol lumberjack {\n  source "d"\n  roles a, b\n}\nstruct S { a : nothing }\n', "WG", id="name"),
        pytest.param(LUMBERJACK.read_text("utf-8").replace("= x\"32 57 0000000a\"", '= x"32 57 0000000b"'), "WG5004", id="example"),
    ],
)  # fmt: skip
def test_a_wrong_file_leaves_no_output(text: str, code: str, tmp_path: Path) -> None:
    folder = project(tmp_path / "wrong", text)
    done = wiregen("build", folder=folder)
    assert done.returncode == 1
    assert f"error[{code}" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["idl"]


def test_declarations_without_a_frame_are_for_others_to_import(tmp_path: Path) -> None:
    head = 'protocol NAME { source "d" endian big roles one, other }\n'
    folder = project(tmp_path, f"{head.replace('NAME', 'lumberjack')}struct Pair {{ a : u8  b : u8 }}\n")
    frame = "frame Frame { code : u8 := code(body)  body : match code }\nmessage Two 2 { pair : Pair }\n"
    text = f"{head.replace('NAME', 'user')}import lumberjack : Pair\n{frame}"
    (folder / "idl" / "user.wire").write_text(text, encoding="utf-8")
    done = wiregen("build", folder=folder)
    assert (done.returncode, (folder / "generated/python/wireproto/lumberjack").exists()) == (
        0,
        False,
    ), done.stderr
    read = "from wireproto import user; print(user.decode(bytes([2, 3, 4])))"
    shown = run("-c", read, folder=folder, PYTHONPATH="generated/python")
    assert shown.stdout == "Frame(Two(pair=Pair(a=3, b=4)))\n", shown.stderr
    decoded = wiregen("decode", "lumberjack", "--hex", "00", folder=folder)
    assert (decoded.returncode, decoded.stdout) == (2, "")
    assert "`lumberjack` has no frame" in decoded.stderr


def test_a_package_below_another_is_a_folder_below_another(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "wiregen.toml").write_text('package = "acme.wire"')
    done = wiregen("build", folder=folder)
    assert done.returncode == 0, done.stderr
    code = "from acme.wire import lumberjack; print(lumberjack.Ack(7).encode().hex())"
    shown = run("-c", code, folder=tmp_path, PYTHONPATH=str(folder / "generated" / "python"))
    assert shown.stdout == "324100000007\n", shown.stderr


def test_a_shipped_protocol_needs_no_file_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "wiregen.toml").write_text('protocols = ["lumberjack"]')
    done = wiregen("build", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    ours = (GENERATED / "wireproto" / "lumberjack" / "messages.py").read_bytes()
    assert (tmp_path / "generated/python/wireproto/lumberjack/messages.py").read_bytes() == ours


def test_a_wrong_file_leaves_the_old_tree(stale: Path) -> None:
    before = tree(stale / "generated")
    (stale / "idl" / "lumberjack.wire").write_text("protocol lumberjack {", encoding="utf-8")
    assert wiregen("build", folder=stale).returncode == 1
    assert tree(stale / "generated") == before


# ---- what the tree is


def test_the_tree_is_formatted(built: Path) -> None:
    done = run("-m", "black", "--line-length", "110", "--check", "--quiet", ".", folder=built / "generated")
    assert done.returncode == 0, done.stderr


def test_black_lays_out_the_shipped_protocols_as_ruff_does(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "idl", tmp_path / "idl")
    settings = (ROOT / "wiregen.toml").read_text(encoding="utf-8")
    (tmp_path / "wiregen.toml").write_text(f'{settings}formatter = "black"\n', encoding="utf-8")
    names = () if IS_SOAK else ("lumberjack",)
    done = wiregen("build", *names, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for folder in [f"wireproto/{name}" for name in names] or ["wireproto"]:
        place = Path("generated", "python", folder)
        assert tree(tmp_path / place) == tree(ROOT / place)


def test_black_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "find_spec", lambda name: None)
    report = Report()
    config = replace(load_config(project(tmp_path), report), formatter="black")
    assert build.build(config, (), Sources(), report) == ()
    assert [(found.code, found.help) for found in report.diagnostics] == [
        ("WG6008", "run `pip install black`, or remove `formatter` from the configuration")
    ]


def test_docstrings_of_every_length_are_as_black_has_them(tmp_path: Path) -> None:
    """The last line and the quotes after it may be wider than a line."""
    texts = [f"/// First.\n///\n/// {('abcd ' * 40)[: size - 1]}x\n" for size in range(88, 118)]
    kinds = (
        "enum E{0} : u8 {{ A = 1 }}",
        "union U{0} : u8 {{ A 1 : u8 }}",
        "struct S{0} {{ a : u8 }}",
        "message M{0} {0} {{ a : u8 }}",
    )
    rows = (text + kind.format(index) for index, text in enumerate(texts, 1) for kind in kinds)
    head = 'wire 1\nprotocol long { source "no document" endian big roles a, b }\n'
    frame = "frame Frame { type : u8 := code(body)  body : match type }\n"
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "long.wire").write_text(head + frame + "\n".join(rows), encoding="utf-8")
    assert wiregen("build", folder=tmp_path).returncode == 0
    (page,) = (tmp_path / "generated" / "python").glob("*/long/messages.py")
    done = run("-m", "black", "--line-length", "110", "--check", "--diff", page.name, folder=page.parent)
    assert done.returncode == 0, done.stdout
    assert max(map(len, page.read_text(encoding="utf-8").splitlines())) > 110


def test_the_tree_has_no_findings_of_ruff(built: Path) -> None:
    done = run(
        "-m",
        "ruff",
        "check",
        "--no-cache",
        "--config",
        str(ROOT / "pyproject.toml"),
        ".",
        folder=built / "generated",
    )
    assert done.returncode == 0, done.stdout


def test_the_tree_is_typed(built: Path) -> None:
    place = built / "generated" / "python"
    done = run(
        "-m", "mypy", "--strict", "--cache-dir", mypy_cache(), "-p", "wireproto", folder=place, PYTHONPATH=""
    )
    assert done.returncode == 0, done.stdout


LIBRARIES = {"protobuf.py": {"google"}, "msgpack.py": {"msgspec"}, "columns.py": {"pyarrow"}}
"""The libraries of each serialization; other modules of a package do not import them."""


def imported(path: Path) -> set[str]:
    """Return the first names of all absolute imports of a module."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module or "")
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize(
    "path", sorted(GENERATED.rglob("*.py")), ids=lambda path: path.relative_to(GENERATED).as_posix()
)
def test_only_the_standard_library_is_imported(path: Path) -> None:
    assert imported(path) <= sys.stdlib_module_names | LIBRARIES.get(path.name, set())


ALONE = """
import sys
sys.path.insert(0, sys.argv[1])
from wireproto import lumberjack as lj
data = lj.Compressed([lj.Frame(lj.Data(1, [lj.Pair("k", "v")]))]).encode()
assert lj.decode(data).encode() == data
assert lj.Data.from_dict(lj.Data(1, []).to_dict()) == lj.Data(1, [])
try:
    lj.decode(data[:-1])
except lj.NeedMoreData as error:
    print(error.needed)
assert not [name for name in sys.modules if name.split(".")[0] not in {*sys.stdlib_module_names, "wireproto", "__main__"}]
"""


def test_the_tree_works_alone(built: Path, tmp_path: Path) -> None:
    """Without site-packages, without the user's folders, without this repository."""
    done = run("-I", "-S", "-c", ALONE, str(built / "generated" / "python"), folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
