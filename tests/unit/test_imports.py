"""Which room of the house may import which: the table of ARCHITECTURE.md, held over the import graph."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "generator" / "wiregen"

_LANGUAGE = {"syntax", "model", "diagnostics"}
_PLAN = {"declared", "model", "plan", "graph", "runtime", "sizes", "values", "walk"}
# Room: the rooms it may import beside itself. A room that is not listed, or not yet there, is not held.
MAY_IMPORT: dict[str, set[str]] = {
    "diagnostics": set(),
    "model": set(),
    "naming": set(),
    "runtime": set(),
    "emitter": set(),
    "regular_files": set(),
    "writer": {"regular_files"},
    "config_defaults": set(),
    "settings": {"config_defaults"},
    "config": {"config_defaults", "diagnostics", "regular_files", "settings"},
    "locks": {"diagnostics", "regular_files"},
    "freshness": {"backends", "config", "emitter", "locks", "regular_files", "source", "writer"},
    "source": {"diagnostics", "regular_files"},
    "syntax": {"diagnostics", "source"},
    "parser": {"syntax", "diagnostics", "source"},
    "resolver": _LANGUAGE | {"naming", "source", "values", "walk", "parser"},
    "graph": {"model", "walk"},
    "sizes": {"model", "graph", "values", "walk"},
    "values": {"model"},
    "walk": {"model"},
    "declared": {"model"},
    "plan": _PLAN | {"naming"},
    "checker": _PLAN | _LANGUAGE | {"naming", "source", "resolver", "spelling", "carried"},
    "linter": {"model", "walk", "diagnostics"},
    "carried": {"declared", "model", "walk"},
    "views": _PLAN | {"naming", "carried"},
    "backends": _PLAN | {"carried", "diagnostics", "views", "naming", "emitter", "writer"},
    "plugins": {"model", "diagnostics", "backends", "writer"},
    "specimens": {"runtime"},
    "traces": {"model", "plan", "runtime", "diagnostics"},
    "vectors": _PLAN | {"runtime", "specimens", "jsonl", "made", "regular_files", "traces"},
    "fuzzing": {"regular_files", "runtime", "vectors"},
    "pytest_plugin": {"regular_files", "vectors"},
    "spelling": {"model"},
    "diagrams": {"model", "spelling", "runtime", "traces"},
    "constructs": {"model", "runtime", "walk"},
    "example_conversations": {"constructs", "diagnostics", "model", "plan", "runtime", "traces"},
    "docs": _PLAN
    | {
        "naming",
        "views",
        "spelling",
        "diagrams",
        "diagnostics",
        "constructs",
        "examples",
        "example_conversations",
        "traces",
        "runtime",
        "specimens",
        "vectors",
        "jsonl",
        "emitter",
        "writer",
    },
    "loopback": set(),
    "playground": _PLAN | {"runtime", "capture", "docs", "emitter", "inspect", "jsonl", "vectors"},
    "capture": set(),
    "jsonl": {"runtime"},
    "made": {"backends", "diagnostics", "emitter", "runtime"},
    "transcoding": {"made", "runtime"},
    "inspect": {"runtime", "jsonl", "diagnostics"},
}
NOBODY_IMPORTS = "cli"
PIPELINE = sorted((ROOT / "pipeline").rglob("*.py"))
ROOMS = sorted(
    {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
)


def modules(room: str) -> Iterator[Path]:
    alone = PACKAGE / f"{room}.py"
    yield from [alone] if alone.is_file() else sorted((PACKAGE / room).rglob("*.py"))


def imported_names(path: Path, package: tuple[str, ...]) -> Iterator[str]:
    """Each dotted name that a module imports, relative ones made absolute; `package` is the one it lies in."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *filter(None, [node.module])))
            yield from (f"{base}.{alias.name}" for alias in node.names)


def package_of(path: Path) -> tuple[str, ...]:
    return path.relative_to(PACKAGE.parent).parent.parts


def rooms_imported(path: Path) -> set[str]:
    names = (name.split(".") for name in imported_names(path, package_of(path)))
    return {parts[1] for parts in names if parts[0] == "wiregen" and len(parts) > 1} & set(ROOMS)


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    assert room in ROOMS
    allowed = MAY_IMPORT[room] | {room}
    found = {str(path.relative_to(ROOT)): rooms_imported(path) - allowed for path in modules(room)}
    assert {path: rooms for path, rooms in found.items() if rooms} == {}


@pytest.mark.parametrize(
    "room", [room for room in ROOMS if room not in {NOBODY_IMPORTS, "__init__", "__main__"}]
)
def test_nothing_imports_the_command(room: str) -> None:
    assert [str(path) for path in modules(room) if NOBODY_IMPORTS in rooms_imported(path)] == []


@pytest.mark.parametrize("path", PIPELINE, ids=lambda path: str(path.relative_to(ROOT / "pipeline")))
def test_the_pipeline_knows_of_captures_only(path: Path) -> None:
    """What it imports travels to Spark's workers."""
    package = path.relative_to(ROOT / "pipeline").parent.parts
    assert {name for name in imported_names(path, package) if name.startswith("wiregen.")} <= {
        name for name in imported_names(path, package) if name.startswith("wiregen.capture.")
    }


def foreign_imports(path: Path) -> set[str]:
    """What a module of the runtime imports from elsewhere than itself and the standard library."""
    tree = ast.walk(ast.parse(path.read_bytes()))
    absolute = [node for node in tree if not (isinstance(node, ast.ImportFrom) and node.level)]
    depth = len(path.relative_to(PACKAGE / "runtime").parts)
    climbing = {
        n.level
        for n in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(n, ast.ImportFrom) and n.level > depth
    }
    names = {alias.name for node in absolute if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in absolute if isinstance(node, ast.ImportFrom)}
    return {name for name in names if name.split(".")[0] not in sys.stdlib_module_names} | {
        "." * n for n in climbing
    }


def test_the_runtime_imports_the_standard_library_and_itself_relatively() -> None:
    found = {path.name: foreign_imports(path) for path in modules("runtime")}
    assert {name: names for name, names in found.items() if names} == {}


TEMPLATES = sorted((ROOT / "templates").rglob("*.jinja"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_a_template_sees_only_its_view(template: Path) -> None:
    """Everything a template computes belongs into its view; another template's macros are what it may import."""
    text = template.read_text(encoding="utf-8")
    assert re.findall(r"\{%-?\s*(?:set|do|call)\b", text) == []
    imports = re.findall(r"\{%-?\s*(?:import|from|include|extends)\s+(\S+)", text)
    assert [name for name in imports if not re.fullmatch(r"""["'][\w./-]+["']""", name)] == []


def write_room(folder: Path, text: str) -> Path:
    path = folder / "x.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("import wiregen.model", {"wiregen.model"}, id="import"),
        pytest.param("from wiregen import model", {"wiregen.model"}, id="from"),
        pytest.param("from . import model", {"wiregen.views.model"}, id="relative"),
        pytest.param("from ..model import Type", {"wiregen.model.Type"}, id="relative, up"),
        pytest.param("def f():\n    import wiregen.cli", {"wiregen.cli"}, id="inside a function"),
    ],
)
def test_every_way_to_import_is_seen(tmp_path: Path, text: str, expected: set[str]) -> None:
    assert set(imported_names(write_room(tmp_path, text), ("wiregen", "views"))) == expected
