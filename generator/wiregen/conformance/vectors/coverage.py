"""The coverage of a protocol by its vectors: the goals that its schema has, and the ones that were reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from wiregen.conformance.samples.basis import rows_of
from wiregen.conformance.vectors.drafts import Draft
from wiregen.conformance.vectors.frame_parts import owner_of
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.declarations import Constant
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.shapes import every_field

__all__ = [
    "Coverage",
    "Measure",
    "Unshown",
    "fields_of",
    "fields_shown",
    "limits_shown",
    "measure",
    "messages_unshown",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Of one kind of goals, their number, and the names of those that no vector shows."""

    what: str
    n_all: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unshown:
    """A message with a code that no valid vector shows, and the error that refused a value of it, if a value was found."""

    message: str
    role: str | None
    error: EncodeError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    measures: tuple[Measure, ...]

    @property
    def is_full(self) -> bool:
        return not any(each.missing for each in self.measures)


def measure(what: str, goals: Iterable[str], shown: Iterable[str] | Mapping[str, object]) -> Measure:
    """Return how much of the goals is shown."""
    every, known = tuple(dict.fromkeys(goals)), frozenset(shown)
    return Measure(what=what, n_all=len(every), missing=tuple(goal for goal in every if goal not in known))


def fields_of(schema: Schema) -> Iterator[str]:
    """Yield every field that has a name, in text order, and every reserved field with a constant."""
    for owner, fields in rows_of(schema):
        for field in every_field(fields):
            if field.name != "_" or isinstance(field.value, Constant):
                yield f"{owner}.{field.name}"


def fields_shown(drafts: Iterable[Draft]) -> set[str]:
    """Return the fields that have a place in some frame; an unnamed field counts if a wrong value of it is refused."""
    found: set[str] = set()
    for draft in drafts:
        for tree in draft.trees:
            _note(tree, "", found)
        if draft.error is not None and draft.error.code == "wrong_constant":
            # The name for a frame's own field may include the message: `M in F._ reserved: …`.
            sites = (name.partition(" reserved")[0] for name in draft.covers if "._ reserved" in name)
            found.update(site.rpartition(" in ")[2] for site in sites)
    return found


def messages_unshown(
    schema: Schema, drafts: Iterable[Draft], refused: Mapping[str, EncodeError]
) -> Iterator[Unshown]:
    """Yield the messages with a code that no valid frame holds; `refused`: the errors of their values, by name."""
    trees = (tree for draft in drafts if draft.error is None for tree in draft.trees)
    shown = {owner_of(node) for tree in trees for node in tree.walk()}
    for name, message in schema.messages.items():
        if message.code is not None and name not in shown:
            yield Unshown(message=name, role=message.role, error=refused.get(name))


def _note(node: Node, owner: str, found: set[str]) -> None:
    owner = owner_of(node) or owner
    for child in node.children:
        if child.note != "absent" and child.name != "_":
            found.add(f"{owner}.{child.name}")
        _note(child, owner, found)


def limits_shown(drafts: Iterable[Draft]) -> set[str]:
    """Return the limits that a vector exceeds."""
    found: set[str] = set()
    for draft in drafts:
        code = "" if draft.error is None else draft.error.code
        if code == "too_deep":
            found.add("depth")
        elif code == "limit_exceeded":
            found.update(draft.scene.limits or ("frame", "count"))
    return found
