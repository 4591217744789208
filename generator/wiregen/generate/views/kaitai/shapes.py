"""Types of a schema as entries of an attribute of Kaitai Struct."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from wiregen.generate.views.kaitai.expressions import KaitaiExpressions, KaitaiScope
from wiregen.generate.views.kaitai.parts import (
    Identifiers,
    KaitaiAttribute,
    KaitaiEntry,
    KaitaiInstance,
    KaitaiSwitch,
    valid,
)
from wiregen.runtime.schema.node import nodes_in
from wiregen.schema import model as m

__all__ = [
    "TO_THE_END", "KaitaiCut", "KaitaiLevel", "KaitaiShape", "has_position", "name_of", "validity",
]  # fmt: skip

TO_THE_END: Final = (KaitaiEntry(key="size-eos", value="true"),)
"""The entries for all bytes up to the end of the region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KaitaiShape:
    """A type as the entries of an attribute, after the attributes `before`.

    `checks`: conditions on its value. `membership`: that it is a member of its enum, or "".

    `is_cut`: Kaitai cannot say where it ends, so that all bytes up to the end are shown.
    """

    entries: tuple[KaitaiEntry, ...] = ()
    switch: KaitaiSwitch | None = None
    before: tuple[KaitaiAttribute, ...] = ()
    checks: tuple[str, ...] = ()
    membership: str = ""
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KaitaiCut:
    """A field of a declaration whose bytes Kaitai shows up to the end of the region, and the construct that it lacks."""

    owner: str
    field: str
    construct: str


@dataclass(slots=True)
class KaitaiLevel:
    """A type that is being written: a declaration, or a part of one.

    `ends_region`: its last field ends a region within a frame. `is_last`: the last field is being written.
    """

    name: str
    identifiers: Identifiers
    spell: KaitaiExpressions
    scope: KaitaiScope
    instances: list[KaitaiInstance] = field(default_factory=list)
    ends_region: bool = False
    is_last: bool = True


def has_position(condition: m.Expression | None) -> bool:
    """Return whether a condition depends on where in its region a field begins."""
    return any(isinstance(each, m.Position) for each in nodes_in(condition))


def name_of(shape: KaitaiShape) -> str:
    """Return the type of a shape that has one."""
    return shape.entries[0].value


def validity(shape: KaitaiShape, checks: Iterable[str]) -> tuple[KaitaiEntry, ...]:
    """Return the entry for all conditions on a value, if there are any."""
    conditions = (*shape.checks, *checks)
    if conditions:
        return (valid((*conditions, shape.membership) if shape.membership else conditions),)
    return (KaitaiEntry(key="valid", value="{in-enum: true}"),) if shape.membership else ()
