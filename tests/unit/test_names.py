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
SAME: Final = {
    "a declaration, and what a connection keeps of it or decodes by it": {
        "Context",
        "Row",
        "Session",
        "Timer",
        "Variety",
    },
    "a type, and its form in a value or in generated code": {
        "Member",
        "Number",
        "Octets",
        "String",
        "Until",
        "Uuid",
    },
    "a construct for which a target has no code": {"Unsupported"},
    "a declaration with fields: as rules, codecs and serializations see it": {"Record"},
    "the meaning of names at a place: to the resolver, the reference codec and the kernels": {"Scope"},
    "the generated package of a protocol: its module, its table of sessions, as Spark finds it": {"Package"},
    "a class and the interface by which others know it": {"Extent", "StreamDecoder"},
    "a conversation in a file, in a vector, and in a request to an adapter": {"Step", "Trace"},
    "a fragment: the statement about it, and its place among the others": {"Part"},
}
"""Names of one meaning: what each stands for, wherever it is defined."""
DIFFERENT: Final = {
    "published in a JSON Schema of plug-ins, adapters or vectors": {"Answer", "AnsweredError", "Fault"},
    "called by generated code: another name needs another version of the runtime": {"Notes", "View"},
    "used by fifty files or more": {"Node", "Span"},
}
"""Names of two meanings, and why they stay. No name is added."""
PLACES: Final = 62
"""How many places define the names of both: a lower figure is put here as soon as it is reached."""
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


def test_no_name_stands_for_several_things_without_a_reason() -> None:
    shared = {name: sorted(places) for name, places in homes().items() if len(places) > 1}
    known = [name for group in (*SAME.values(), *DIFFERENT.values()) for name in group]
    assert sorted(shared) == sorted(known), {name: shared.get(name) for name in shared.keys() ^ set(known)}
    assert sum(map(len, shared.values())) == PLACES, shared


def test_names_that_stood_for_many_things_are_not_taken_again() -> None:
    for name, places in TAKEN.items():
        assert {each.removeprefix("generator/wiregen/") for each in homes().get(name, ())} <= places, name
