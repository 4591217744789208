"""The properties of reading and writing functions that follow from the place of a declaration in its protocol."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.schema import model as m
from wiregen.schema.circles import around_circular, circular, inside_circular
from wiregen.schema.field_facts import fields_reach_end
from wiregen.schema.walk import references

__all__ = ["Traits", "TraitsBuilder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The properties of a function that do not follow from its steps."""

    name: str
    is_frame: bool
    owner: str = ""
    has_last: bool = False
    must_be_last: bool = False
    is_heavy: bool = False
    """Whether it inflates, or is recursive, and therefore always needs a state."""
    enters: bool = False
    """Whether it counts as one level of nesting."""
    is_inside: bool = False
    """Whether it can be inside a declaration that counts as a level of nesting."""


class TraitsBuilder:
    """Determines the traits of the functions of one protocol."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._protocol = protocol
        self._circular = circular(protocol)
        self._inside_circular = inside_circular(protocol)
        self._around_circular = around_circular(protocol)

    def of(self, name: str, function: str, *, is_frame: bool = False, is_heavy: bool = False) -> Traits:
        """Return the traits of a function for the declaration `name`."""
        is_circular = name in self._circular
        return Traits(
            name=function,
            is_frame=is_frame,
            owner=name,
            is_heavy=is_heavy or is_circular,
            enters=is_circular,
            is_inside=name in self._inside_circular,
        )

    def of_variety(self, union: m.Union, variety: m.Variety, function: str) -> Traits:
        """Return the traits of an alternative.

        It enters its union only if it can contain a declaration that counts as a level.
        """
        named = {reference.name for reference in references(*(field.type for field in variety.fields))}
        enters = union.name in self._circular and not self._around_circular.isdisjoint(named)
        return Traits(
            name=function,
            is_frame=False,
            owner=union.name if enters else "",
            has_last=True,
            must_be_last=fields_reach_end(variety.fields, self._protocol),
            is_heavy=enters,
            enters=enters,
            is_inside=union.name in self._inside_circular,
        )

    def counted(self, traits: Traits) -> frozenset[str]:
        """Return the declarations that count as a level in a function, an empty set for an outermost one."""
        return self._circular if traits.is_inside else frozenset()
