"""Names of classes: each stands for one thing in the generator and the pipeline."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
STAGES: Final = (
    "generator/wiregen/language/syntax/",
    "generator/wiregen/schema/model/",
    "generator/wiregen/runtime/schema/",
)
"""A declaration has one name as syntax, in the model and as a node: the same thing at three stages."""
MOST: Final = 90
"""How many names stand for several things: a lower figure is put here as soon as it is reached."""
TAKEN: Final = {
    "Fault": {"runtime/sessions/events.py", "conformance/vectors/vector.py"},  # both names are published
    "Entry": set[str](),
    "Piece": set[str](),
}
"""Names that stood for many things, and the modules that have them."""


@cache
def homes() -> Mapping[str, frozenset[str]]:
    """Return the modules that define each class, its stages as one."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for root in ("generator", "pipeline"):
        for path in (ROOT / root).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            home = "a stage" if name.startswith(STAGES) else name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].add(home)
    return {name: frozenset(places) for name, places in found.items()}


def test_no_further_name_stands_for_several_things() -> None:
    shared = {name: sorted(places) for name, places in homes().items() if len(places) > 1}
    assert len(shared) == MOST, f"MOST is not {len(shared)}: {shared}"


def test_names_that_stood_for_many_things_are_not_taken_again() -> None:
    for name, places in TAKEN.items():
        assert {each.removeprefix("generator/wiregen/") for each in homes().get(name, ())} <= places, name
