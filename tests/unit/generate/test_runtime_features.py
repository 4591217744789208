"""The tables of features name every node and every optional module, and unneeded modules are not reached."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from wiregen import runtime
from wiregen.generate.runtime_features import FEATURE_OF, MODULES, Feature
from wiregen.generate.runtime_files import runtime_files
from wiregen.runtime.schema.notation import CLASSES

RUNTIME = Path(runtime.__file__).parent
OPTIONAL = {module for modules in MODULES.values() for module in modules}


@cache
def lazy_names() -> frozenset[tuple[str, str]]:
    """Return module and name of each `Lazy` of the runtime."""
    return frozenset(name for path in RUNTIME.rglob("*.py") for name in lazy_names_in(path))


def lazy_names_in(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Lazy":
            module, name = node.args
            assert isinstance(module, ast.Constant) and isinstance(name, ast.Constant), path
            yield str(module.value), str(name.value)


def test_every_kind_of_node_has_a_line() -> None:
    assert FEATURE_OF.keys() == set(CLASSES.values())


def test_every_feature_has_its_modules() -> None:
    assert MODULES.keys() == set(Feature)
    assert len(OPTIONAL) == sum(len(modules) for modules in MODULES.values())


@pytest.mark.parametrize(("module", "name"), sorted(lazy_names()))
def test_what_is_loaded_by_name_is_public_and_belongs_to_a_feature(module: str, name: str) -> None:
    assert name in import_module(f"wiregen.runtime.{module}").__all__
    assert module in OPTIONAL


def test_every_optional_module_is_loaded_by_name() -> None:
    assert {module for module, _ in lazy_names()} == OPTIONAL


def test_modules_that_every_tree_holds_import_no_optional_ones() -> None:
    core = modules_of(frozenset())
    assert "reference.reading.frames" in core
    assert not core & OPTIONAL


@pytest.mark.parametrize("feature", Feature)
def test_a_feature_brings_no_feature_that_it_does_not_build_upon(feature: Feature) -> None:
    upon = {
        Feature.CHUNKS: {Feature.LISTS},
        Feature.FRAGMENTS: {Feature.CONTEXTS},
    }
    others = OPTIONAL & modules_of(frozenset((feature,))) - set(MODULES[feature])
    assert others <= {module for each in upon.get(feature, ()) for module in MODULES[each]}


def modules_of(features: frozenset[Feature]) -> set[str]:
    """Return the modules that a decoder and the reference codec bring along."""
    text = "from .._runtime.stream.decoder import A\nfrom .._runtime.reference.handover import B\n"
    files = runtime_files([text], features, has_columns=False)
    return {path.with_suffix("").as_posix().replace("/", ".") for path, _ in files}
