"""Which package may import which (ARCHITECTURE.md), held over the real imports: those inside functions count too."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "generator" / "wiregen"
RUNTIME = PACKAGE / "runtime"

MAY_IMPORT: dict[str, set[str]] = {
    "runtime": set(),
    "schema": {"runtime"},
    "language": {"runtime", "schema"},
    "generate": {"runtime", "schema", "language"},
    "formats": {"runtime", "schema", "language"},
    "conformance": {"runtime", "schema", "language", "generate", "formats"},
    "site": {"runtime", "schema", "language", "generate", "formats", "conformance"},
    "tools": {"runtime", "schema", "language", "generate", "formats", "conformance", "site"},
}
"""Package: the packages that it may import besides itself."""
RUNTIME_MAY_IMPORT: dict[str, set[str]] = {
    "schema": set(),
    "codec": {
        "records",
        "reference",
    },  # inside functions: where compiled code hands over to the reference codec
    "records": {"schema", "codec", "reference"},
    "reference": {"schema", "codec", "records", "stream"},
    "stream": {"schema", "codec", "reference"},
    "sessions": {"schema", "codec", "records", "reference", "stream"},
    "serial": {"schema", "codec", "reference"},
    "aio": {"codec", "sessions"},
}
"""The same of the packages of the runtime. `reference` and `stream` import each other's modules, never in a circle."""
ALONE = {"__init__", "__main__", "backends"}
"""Modules beside the packages: the version, the command, and the API of backends that other distributions bring."""
MUTUALLY_RECURSIVE = {
    # A shape holds lengths, carriers and fields, and these hold shapes, as in the grammar.
    frozenset(
        f"wiregen.language.resolver.{name}" for name in ("carriers", "fields", "lengths", "types", "views")
    ),
    # The same of expressions and the arguments of functions.
    frozenset(f"wiregen.language.resolver.{name}" for name in ("expressions", "functions")),
}
PIPELINE_RUNTIME = {
    "codec.options", "codec.text", "codec.unknown", "codec.values", "records.arms", "records.frames", "records.types", "records.values", "reference.access", "reference.explain",
    "reference.layout", "reference.objects", "sessions.engine", "sessions.events", "sessions.table",
}  # fmt: skip
"""Modules of a generated tree's runtime that the pipeline looks up by name."""
PIPELINE = sorted((ROOT / "pipeline").rglob("*.py"))


def modules_of(package: str) -> list[Path]:
    return sorted((PACKAGE / package).rglob("*.py"))


def is_for_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports_in(tree: ast.AST, *, with_typing: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements of a module, those inside functions too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif with_typing or not is_for_typing(node):
            yield from imports_in(node, with_typing=with_typing)


def imported_names(path: Path, package: tuple[str, ...], *, with_typing: bool = True) -> Iterator[str]:
    """Yield each dotted name that a module imports, relative ones made absolute; `package` is the one it lies in."""
    for node in imports_in(ast.parse(path.read_bytes()), with_typing=with_typing):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *filter(None, [node.module])))
            yield from (f"{base}.{alias.name}" for alias in node.names)


def package_of(path: Path) -> tuple[str, ...]:
    return path.relative_to(PACKAGE.parent).parent.parts


def packages_imported(path: Path, below: str, known: Mapping[str, object]) -> set[str]:
    """Return the packages right below `below` that a module imports from."""
    depth = below.count(".") + 1
    names = (
        name.split(".") for name in imported_names(path, package_of(path)) if name.startswith(f"{below}.")
    )
    return {parts[depth] for parts in names if len(parts) > depth} & known.keys()


def test_every_package_is_named_by_the_law() -> None:
    found = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert found == MAY_IMPORT.keys()
    assert {path.stem for path in PACKAGE.glob("*.py")} == ALONE
    assert {path.name for path in RUNTIME.iterdir() if path.is_dir() and path.name != "__pycache__"} == (
        RUNTIME_MAY_IMPORT.keys()
    )


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_it_may(package: str) -> None:
    allowed = MAY_IMPORT[package] | {package}
    found = {
        str(path.relative_to(ROOT)): packages_imported(path, "wiregen", MAY_IMPORT) - allowed
        for path in modules_of(package)
    }
    assert len(found) > 10
    assert {path: packages for path, packages in found.items() if packages} == {}


@pytest.mark.parametrize("package", RUNTIME_MAY_IMPORT)
def test_a_package_of_the_runtime_imports_only_what_it_may(package: str) -> None:
    allowed = RUNTIME_MAY_IMPORT[package] | {package}
    found = {
        str(path.relative_to(ROOT)): packages_imported(path, "wiregen.runtime", RUNTIME_MAY_IMPORT) - allowed
        for path in modules_of(f"runtime/{package}")
        if not is_for_typing_only(path, allowed)
    }
    assert {path: packages for path, packages in found.items() if packages} == {}


def is_for_typing_only(path: Path, allowed: set[str]) -> bool:
    """Return whether all that a module imports against the law is there for type checkers alone."""
    names = imported_names(path, package_of(path), with_typing=False)
    real = {name.split(".")[2] for name in names if name.startswith("wiregen.runtime.")}
    return not (real & RUNTIME_MAY_IMPORT.keys()) - allowed


@cache
def import_graph() -> dict[str, frozenset[str]]:
    """Return which modules of wiregen each module imports, those for type checkers alone left out."""
    known = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        known[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph = {}
    for name, path in known.items():
        found = set()
        for imported in imported_names(path, package_of(path), with_typing=False):
            found.add(imported if imported in known else imported.rpartition(".")[0])
        graph[name] = frozenset(found & known.keys() - {name})
    return graph


def circles(graph: Mapping[str, frozenset[str]]) -> set[frozenset[str]]:
    """Return the groups of modules that reach each other."""
    reached = {name: reachable(graph, name) for name in graph}
    groups = {
        frozenset({name, *(other for other in reached[name] if name in reached[other])}) for name in graph
    }
    return {group for group in groups if len(group) > 1}


def reachable(graph: Mapping[str, frozenset[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_modules_import_each_other_in_no_circle() -> None:
    graph = import_graph()
    assert len(graph) > 500
    assert circles(graph) == MUTUALLY_RECURSIVE


def test_a_circle_is_found() -> None:
    graph = {"a": frozenset({"b"}), "b": frozenset({"c"}), "c": frozenset({"b"}), "d": frozenset({"a"})}
    assert circles(graph) == {frozenset({"b", "c"})}


@pytest.mark.parametrize("path", PIPELINE, ids=lambda path: str(path.relative_to(ROOT / "pipeline")))
def test_the_pipeline_knows_of_captures_only(path: Path) -> None:
    """Modules that it imports travel to Spark's workers."""
    package = path.relative_to(ROOT / "pipeline").parent.parts
    names = {name for name in imported_names(path, package) if name.startswith("wiregen.")}
    assert {name for name in names if not name.startswith("wiregen.formats.capture.")} == set()


def test_modules_that_the_pipeline_looks_up_by_name_are_there() -> None:
    texts = [path.read_text(encoding="utf-8") for path in PIPELINE]
    assert {
        name for text in texts for name in re.findall(r'\.runtime\("([\w.]+)"\)', text)
    } == PIPELINE_RUNTIME
    assert [
        name
        for name in PIPELINE_RUNTIME
        if not RUNTIME.joinpath(*name.split(".")).with_suffix(".py").is_file()
    ] == []


def foreign_imports(path: Path) -> set[str]:
    """Return the modules that a module of the runtime imports, apart from itself and the standard library."""
    depth = len(path.relative_to(RUNTIME).parts)
    nodes = list(imports_in(ast.parse(path.read_bytes()), with_typing=True))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    climbing = {"." * node.level for node in nodes if isinstance(node, ast.ImportFrom) and node.level > depth}
    return {name for name in names if name.split(".")[0] not in sys.stdlib_module_names} | climbing


def test_the_runtime_imports_the_standard_library_and_itself_relatively() -> None:
    found = {str(path.relative_to(RUNTIME)): foreign_imports(path) for path in modules_of("runtime")}
    assert {name: names for name, names in found.items() if names} == {}


TEMPLATES = sorted((ROOT / "templates").rglob("*.jinja"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_a_template_sees_only_its_view(template: Path) -> None:
    """Everything a template computes belongs into its view; another template's macros are what it may import."""
    text = template.read_text(encoding="utf-8")
    assert re.findall(r"\{%-?\s*(?:set|do|call)\b", text) == []
    imports = re.findall(r"\{%-?\s*(?:import|from|include|extends)\s+(\S+)", text)
    assert [name for name in imports if not re.fullmatch(r"""["'][\w./-]+["']""", name)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("import wiregen.schema", {"wiregen.schema"}, id="import"),
        pytest.param("from wiregen import schema", {"wiregen.schema"}, id="from"),
        pytest.param("from . import model", {"wiregen.views.model"}, id="relative"),
        pytest.param("from ..model import Type", {"wiregen.model.Type"}, id="relative, up"),
        pytest.param("def f():\n    import wiregen.tools", {"wiregen.tools"}, id="inside a function"),
    ],
)
def test_every_way_to_import_is_seen(tmp_path: Path, text: str, expected: set[str]) -> None:
    path = tmp_path / "x.py"
    path.write_text(text)
    assert set(imported_names(path, ("wiregen", "views"))) == expected
