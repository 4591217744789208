"""The marks and values that the expressions of one declaration need of its fields."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from wiregen.generate.steps.step import (
    Check,
    Mark,
)
from wiregen.runtime.schema.shapes import content
from wiregen.schema import model as m
from wiregen.schema.walk import (
    direct_expressions,
    every_field,
    field_expressions,
    nested_expressions,
    shapes,
)

__all__ = ["Asked", "derived_elsewhere"]


def derived_elsewhere(
    fields: tuple[m.Field, ...], structs: Mapping[str, m.Struct], called: Collection[str]
) -> m.FieldReference | None:
    """Return an expression's name for a derived field of a struct with functions of its own, or None.

    The objects of such a struct do not have the field.
    """
    known = {field.name: field for field in every_field(fields)}
    names = (
        each
        for field in known.values()
        for each in nested_expressions(*field_expressions(field), *_type_expressions(field.type))
        if isinstance(each, m.FieldReference) and each.scope == "own"
    )
    return next((each for each in names if _is_derived_elsewhere(known, each.path, structs, called)), None)


def _is_derived_elsewhere(
    known: Mapping[str, m.Field],
    path: tuple[str, ...],
    structs: Mapping[str, m.Struct],
    called: Collection[str],
) -> bool:
    is_elsewhere, field = False, known.get(path[0])
    for name in path[1:]:
        type_ = None if field is None else content(field.type)
        if not isinstance(type_, m.StructReference):
            return False
        is_elsewhere = is_elsewhere or type_.name in called
        field = next((each for each in every_field(structs[type_.name].fields) if each.name == name), None)
    return is_elsewhere and field is not None and field.is_hidden


class Asked:
    """The fields that the expressions of one declaration refer to, and those that have been read."""

    def __init__(self, fields: tuple[m.Field, ...]) -> None:
        self._fields = {field.name: field for field in every_field(fields) if field.name != "_"}
        self.seen: set[str] = set()
        self._order = [field.name for field in every_field(fields)]
        self._sized: dict[str, bool] = {}
        self._exact: set[str] = set()
        for field in every_field(fields):
            for expression in nested_expressions(*field_expressions(field), *_type_expressions(field.type)):
                self._note(expression, is_read=not self.is_certain(field))

    def _note(self, expression: m.Expression, *, is_read: bool) -> None:
        match expression:
            case m.Call(function="size", arguments=(m.FieldReference(path=(name,)),)):
                self._sized[name] = self._sized.get(name, False) or is_read
            case m.Checksum(first=first, last=last):
                self._exact.update((first, last))

    @property
    def fields(self) -> dict[str, m.Field]:
        """The fields of the declaration, by name."""
        return self._fields

    def mark(self, field: m.Field, key: str, edge: Literal["start", "end"]) -> Mark | None:
        """Return the mark of a field whose size or bytes an expression needs."""
        if field.name not in self._sized and field.name not in self._exact:
            return None
        is_exact = field.name in self._exact
        is_read = is_exact or self._sized[field.name]
        return Mark(key=key, edge=edge, is_exact=is_exact, is_read=is_read)

    def looks_ahead(self, check: Check) -> bool:
        """Return whether a check refers to fields that are not read yet."""
        names: set[str] = set()
        for expression in nested_expressions(check.expression):
            match expression:
                case m.FieldReference(path=path, scope="own") if path:
                    names.add(path[0])
                case m.Checksum(first=first, last=last):
                    names.update((first, last))
        return any(name in self._fields and name not in self.seen for name in names)

    def is_certain(self, field: m.Field) -> bool:
        """Return whether a derived field is always right, because the fields that it measures are laid out by it."""
        match field.value:
            case m.Derived(value=m.Call(function=function, arguments=(m.FieldReference(path=(name,)),))):
                other = self._fields.get(name)
                return other is not None and _is_laid_by(other, function, field.name)
            case _:
                return False


def _is_laid_by(field: m.Field, function: str, name: str) -> bool:
    own = m.FieldReference(path=(name,))
    match function, field.type:
        case "present", _:
            return field.condition == own
        case "code", type_:
            chosen = content(type_)
            return isinstance(chosen, m.MessageMatch) and chosen.subject == own
        case "size", m.Region(carrier=m.InSize(size=size)):
            return field.condition is None and size == own
        case ("size", m.Bytes() as counted) | ("count", counted) if isinstance(counted, m.Counted):
            return field.condition is None and counted.length == m.Computed(own)
        case _:
            return False


def _type_expressions(type_: m.Type) -> Iterator[m.Expression]:
    for shape in shapes(type_):
        yield from direct_expressions(shape)
