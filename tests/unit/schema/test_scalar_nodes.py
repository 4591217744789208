"""Scalars that are nodes of their own: a module that tells them apart names each of them, so a new one is missed nowhere."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Final, get_args

import pytest

from wiregen.runtime.schema.types import FixedSize

ROOT: Final = Path(__file__).resolve().parents[3]
NODES: Final = sorted({each.__name__ for each in get_args(FixedSize)} - {"Bits"})
"""Without bits, which are read in runs."""
LEFT_OUT: Final = {
    "wiregen/conformance/samples/random_choices.py": {"Boolean"},  # samples have both values
    "wiregen/generate/views/python/frames.py": {"Boolean"},  # it has a check, so its bytes are read
    "wiregen/generate/views/python/writing/names.py": {"Boolean", "Integer"},  # a reader has the same value
    "wiregen/generate/views/python/writing/runs.py": {"Integer"},  # struct packs the value as it is
    "wiregen/runtime/reference/reading/records.py": {"Boolean", "Integer"},  # a reader has the same value
    "wiregen/runtime/stream/header_extents.py": {"Boolean"},  # stream/number_steps.py has it
}
"""Nodes that a module treats as other values, with the reason."""


@cache
def modules() -> dict[str, frozenset[str]]:
    """Return the names in each module that tells floats and UUIDs apart."""
    found = {}
    for root in ("generator", "pipeline"):
        for path in (ROOT / root).rglob("*.py"):
            names = {
                each.id if isinstance(each, ast.Name) else each.attr
                for each in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(each, ast.Name | ast.Attribute)
            }
            if {"Float", "Uuid"} <= names:
                found[path.relative_to(ROOT / root).as_posix()] = frozenset(names)
    return found


def without(node: str) -> set[str]:
    """Return the modules that do not name a node and should."""
    return {
        path for path, names in modules().items() if node not in names and node not in LEFT_OUT.get(path, ())
    }


@pytest.mark.parametrize("node", NODES)
def test_each_module_that_tells_scalars_apart_names_a_node(node: str) -> None:
    assert without(node) == set(), f"{node} is missed"


def test_a_new_node_is_asked_for_by_codecs_language_targets_and_samples() -> None:
    assert {
        "wiregen/conformance/samples/chosen_types.py",
        "wiregen/generate/views/arrow/types.py",
        "wiregen/generate/views/wireshark/types.py",
        "wiregen/language/resolver/builtin_types.py",
        "wiregen/runtime/records/scalars.py",
        "wiregen/runtime/reference/reading/frames.py",
        "wiregen/runtime/stream/header_extents.py",
        "wirespark/kernels/values.py",
    } <= without("Fixed")


def test_what_is_left_out_is_not_named() -> None:
    named = {(path, node) for path, nodes in LEFT_OUT.items() for node in nodes if node in modules()[path]}
    assert named == set()
