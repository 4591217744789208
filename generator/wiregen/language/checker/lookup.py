"""Finding the declarations that expressions name: the field of a path, the numbers of a type or a subject."""

from __future__ import annotations

from collections.abc import Mapping

from wiregen.runtime.schema.shapes import content
from wiregen.schema.model import (
    Block,
    Boolean,
    CodingReference,
    ContextReference,
    EnumReference,
    Expression,
    Field,
    FieldReference,
    Protocol,
    Region,
    Span,
    StructReference,
    Type,
    WholeNumber,
)
from wiregen.schema.values import coding_span, span_of
from wiregen.schema.walk import every_field

__all__ = ["Declared", "is_visible"]


class Declared:
    """The declarations of one protocol that types refer to."""

    def __init__(self, protocol: Protocol) -> None:
        self.enums = {enum.name: enum for enum in protocol.enums}
        self.unions = {union.name: union for union in protocol.unions}
        self._codings = {coding.name: coding for coding in protocol.codings}
        self._structs = {struct.name: struct for struct in protocol.structs}
        self._contexts = {context.name: context for context in protocol.contexts}

    def type_of(self, expression: Expression, fields: Mapping[str, Field]) -> Type | None:
        """Return the type of the field or context that a subject names, or None for other subjects."""
        match expression:
            case FieldReference(path=(name, *rest), scope="own"):
                field = fields.get(name)
                for inner in rest:
                    here = () if field is None else every_field(self.fields_of(field.type))
                    field = next((each for each in here if each.name == inner), None)
                return None if field is None else field.type
            case ContextReference(context=name) if name in self._contexts:
                return self._contexts[name].type
            case _:
                return None

    def numbers_in(self, type_: Type) -> Span | None:
        """Return the numbers of an integer, an enum's type or a variable-width integer, or None for other types."""
        match type_:
            case Boolean():
                return Span(low=0, high=1)
            case EnumReference(name=name) if name in self.enums:
                return span_of(self.enums[name].type)
            case CodingReference(name=name) if name in self._codings:
                return coding_span(self._codings[name])
            case _:
                return span_of(type_) if isinstance(type_, WholeNumber) else None

    def choices_in(self, type_: Type) -> tuple[Span, ...] | None:
        """Return every number that is read as a value of the type, or None for types without numbers.

        They are the members of a closed enum, those that `only` lists, or else all that fit. A `coding` gives None: it leaves
        gaps and may have null.
        """
        match type_:
            case EnumReference(name=name, only=only, is_lenient=False) if self._is_closed(name) or (
                only is not None and name in self.enums
            ):
                members = (
                    member for member in self.enums[name].members if only is None or member.name in only
                )
                return tuple(Span(low=member.value, high=member.value) for member in members)
            case CodingReference():
                return None
            case _:
                possible = self.numbers_in(type_)
                return None if possible is None else (possible,)

    def _is_closed(self, name: str) -> bool:
        return name in self.enums and not self.enums[name].is_open

    def fields_of(self, type_: Type) -> tuple[Field, ...]:
        match content(type_):
            case Block(fields=fields):
                return fields
            case StructReference(name=name) if name in self._structs:
                return self._structs[name].fields
            case _:
                return ()


def is_visible(field: Field) -> bool:
    """Return whether a field is part of the Python API: not derived, not constant, not `_`, not a block."""
    block = field.type.content if isinstance(field.type, Region) else field.type
    return not field.is_hidden and not isinstance(block, Block)
