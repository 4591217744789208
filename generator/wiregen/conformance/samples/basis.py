"""The input of the sample generator: the schema of a protocol, its loosened copy, and the options of its declarations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, assert_never

from wiregen.conformance.samples.boundary_values import int_options, near_options, varint_options
from wiregen.conformance.samples.choices import SHARED, Option
from wiregen.conformance.samples.compared_numbers import Mentions, mentions_of
from wiregen.conformance.samples.condition_solving import Fitting, wheres_of
from wiregen.conformance.samples.unconstrained import loosened
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.schema.declarations import Default, Field, Trailing, is_code
from wiregen.runtime.schema.expressions import FieldReference, Number
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.protocol import Schema, Variant
from wiregen.runtime.schema.shapes import every_field
from wiregen.runtime.schema.types import (
    Bits,
    Boolean,
    Bytes,
    Carrier,
    CodingReference,
    Computed,
    Counted,
    Delimited,
    EnumReference,
    Integer,
    Length,
    Prefix,
    StructReference,
    Text,
    ToEnd,
    Type,
    UnionReference,
    Until,
    Varint,
)

__all__ = ["SampleBasis", "Site", "references", "rows_of", "shape_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A place in the .wire file: `name` is the field's, `is_hidden` says that values do not have it."""

    path: str
    name: str
    is_hidden: bool


@dataclass(frozen=True, kw_only=True)
class SampleBasis:
    """A schema, and the facts that are derived from it once."""

    schema: Schema

    @cached_property
    def too_large(self) -> list[str]:
        """Sites where values were given up because they had too many parts."""
        return []

    @cached_property
    def long_lists(self) -> Counter[str]:
        """The number of long lists that were made up, by site."""
        return Counter()

    @cached_property
    def loose(self) -> Schema:
        return loosened(self.schema)

    @cached_property
    def mentions(self) -> Mentions:
        return mentions_of(self.schema)

    @cached_property
    def measured(self) -> dict[str, tuple[str, Text | Bytes]]:
        """The name and type of the texts and bytes whose size is a field of their own declaration, by the site of that field."""
        found: dict[str, tuple[str, Text | Bytes]] = {}
        for owner, fields in rows_of(self.schema):
            for field in every_field(fields):
                match field.type:
                    case Text(length=Computed(FieldReference((name,), "own"))) as type_:
                        found[f"{owner}.{name}"] = (field.name, type_)
                    case Bytes(length=Computed(FieldReference((name,), "own"))) as type_:
                        found[f"{owner}.{name}"] = (field.name, type_)
        return found

    @cached_property
    def fitting(self) -> Fitting:
        """The conditions of fields, which decide which options are allowed."""
        found = (
            where for owner, fields in rows_of(self.schema) for where in wheres_of(owner, every_field(fields))
        )
        return Fitting(dict(found))

    @cached_property
    def hidden(self) -> dict[str, frozenset[str]]:
        """The fields that do not appear in values, by declaration."""
        found: dict[str, frozenset[str]] = {}
        for owner, fields in rows_of(self.schema):
            names = {field.name for field in every_field(fields) if field.is_hidden}
            found[owner] = found.get(owner, frozenset()) | names
        return found

    @cached_property
    def types(self) -> dict[str, Type]:
        """The types of fields by site."""
        return {
            f"{owner}.{field.name}": field.type
            for owner, fields in rows_of(self.schema)
            for field in every_field(fields)
        }

    @cached_property
    def code_sites(self) -> tuple[str, ...]:
        """The fields of frames that say which message they carry."""
        found = [
            f"{owner}.{field.name}"
            for owner, fields in rows_of(self.schema)
            for field in every_field(fields)
            if owner in self.schema.frames and is_code(field)
        ]
        return tuple(dict.fromkeys(found))

    @cached_property
    def trailing(self) -> dict[str, int]:
        """How many fields may be absent at the end, by declaration."""
        found: dict[str, int] = {}
        for owner, fields in rows_of(self.schema):
            count = sum(isinstance(field.value, Trailing) for field in every_field(fields))
            found[owner] = max(found.get(owner, 0), count)
        return found

    @cached_property
    def defaults(self) -> dict[str, int]:
        """The defaults that are plain numbers, by site."""
        found: dict[str, int] = {}
        for owner, fields in rows_of(self.schema):
            for field in every_field(fields):
                match field.value:
                    case Default(Number(number)) | Trailing(Number(number)):
                        found[f"{owner}.{field.name}"] = number
        return found

    @cached_property
    def shallow(self) -> dict[str, frozenset[str]]:
        """The alternatives of each union that do not hold the same union."""
        return {
            name: frozenset(
                each.name
                for each in union.varieties
                if ("union", name) not in self._inside(each.fields, set())
            )
            for name, union in self.schema.unions.items()
        }

    def site(self, owner: str, inside: str) -> Site:
        """Return the site of a path without indexes in a declaration."""
        key = (owner, inside)
        if key not in self._sites:  # asked for several times at each place of each value
            name = inside.split(".")[0].split("[")[0]
            self._sites[key] = Site(
                path=f"{owner}.{inside}", name=name, is_hidden=name in self.hidden.get(owner, ())
            )
        return self._sites[key]

    @cached_property
    def _sites(self) -> dict[tuple[str, str], Site]:
        return {}

    def codes(self, enum: str, sender: str | None, only: tuple[str, ...] | None) -> tuple[Option, ...]:
        """Return the messages that `sender` (None: anyone) may send, by their codes in an enum of codes; with
        `only`, no others than those.
        """
        key = (enum, sender, only)
        if key not in self._codes:
            senders = list(self.loose.codes) if sender is None else [sender]
            options: list[Option] = []
            for member in self.loose.enums[enum].members:
                named = (self.loose.codes.get(each, {}).get(member.value) for each in senders)
                name = next((name for name in named if name is not None), None)
                if name is not None and (only is None or name in only):
                    options.append((name, member.value))
            self._codes[key] = tuple(options)
        return self._codes[key]

    @cached_property
    def _codes(self) -> dict[tuple[str, str | None, tuple[str, ...] | None], tuple[Option, ...]]:
        return {}

    def varieties(
        self, name: str, only: tuple[str, ...] | None, *, is_deep: bool, can_reach_end: bool
    ) -> tuple[Option, ...]:
        """Return the alternatives that are allowed in a place, by their codes; if the place is deep in its
        own union, those that end it.
        """
        key = (name, only, is_deep, can_reach_end)
        if key not in self._varieties:
            layout = Layout(self.schema, Options())
            self._varieties[key] = tuple(
                (each.name if len(edges) == 1 else f"{each.name} {code}", code)
                for each in self.schema.unions[name].varieties
                if only is None or each.name in only
                if can_reach_end or not layout.fields_reach_end(each.fields)
                if not is_deep or each.name in self.shallow[name]
                for edges in (dict.fromkeys(code for span in each.spans for code in (span.low, span.high)),)
                for code in edges
            )
        return self._varieties[key]

    @cached_property
    def _varieties(self) -> dict[Any, tuple[Option, ...]]:
        return {}

    def _inside(self, part: Any, seen: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return the structs and unions that something can hold."""
        for kind, name in references(part):
            if (kind, name) in seen:
                continue
            seen.add((kind, name))
            if kind == "struct":
                self._inside(self.schema.structs[name], seen)
            else:
                self._inside(self.schema.unions[name].varieties, seen)
        return seen

    def only_name(self, only: tuple[str, ...]) -> str:
        return ", ".join(only) if len(only) < 3 else f"{only[0]} to {only[-1]}"

    def entry_options(self, name: str) -> tuple[Option, ...]:
        """Return the values that an entry of a context may have."""
        match self.schema.contexts[name].type:
            case EnumReference(enum):
                return tuple((member.name, member.value) for member in self.schema.enums[enum].members)
            case Boolean():
                return (("true", True), ("false", False))
            case _:
                return (("three", 3), ("zero", 0), ("one", 1))

    def int_options(self, site: str, name: str, type_: Integer | Varint | Bits) -> tuple[Option, ...]:
        """Return the numbers that a field called `name` may have."""
        key = (site, name, type_)
        if key not in self._numbers:  # asked for each item of a list
            is_small, mentioned = name in self.mentions.measuring, self.mentions.numbers.get(name, ())
            self._numbers[key] = (
                varint_options(site, type_, mentioned, is_small=is_small)
                if isinstance(type_, Varint)
                else int_options(site, *type_.bounds, mentioned, is_small=is_small)
            )
        return self._numbers[key]

    @cached_property
    def _numbers(self) -> dict[Any, tuple[Option, ...]]:
        return {}

    def most_in(self, owner: str, name: str) -> int | None:
        """Return the largest number that an integer field can hold, or None if it is not an integer or no
        layout has it.
        """
        return self._largest.get((owner, name))

    @cached_property
    def _largest(self) -> dict[tuple[str, str], int | None]:
        found: dict[tuple[str, str], int | None] = {}
        for owner, fields in rows_of(self.schema):
            for field in every_field(fields):
                most = field.type.bounds[1] if isinstance(field.type, Integer) else None
                known = found.get((owner, field.name), most)
                found[owner, field.name] = None if most is None or known is None else max(most, known)
        return found

    def most_said(self, length: Length | Carrier) -> int | None:
        """Return the largest number that a prefix can hold, or None if the length is not a prefix or
        practically unbounded.
        """
        match length:
            case Prefix(Integer() as type_):
                return type_.bounds[1]
            case Prefix(CodingReference(name)):
                widths = [each for each in self.schema.codings[name].widths if not each.is_null]
                return max(each.high if each.wide is None else each.wide.bounds[1] for each in widths)
            case _:
                return None

    def can_be_null(self, length: Length) -> bool:
        """Return whether a prefix can encode null."""
        match length:
            case Prefix(CodingReference(name)):
                return any(each.is_null for each in self.schema.codings[name].widths)
            case _:
                return False

    def coding_options(self, name: str, field: str, *, is_small: bool) -> tuple[Option, ...]:
        """Return the numbers at the edges of each width of a variable-width integer, and those that `field` is
        compared with.
        """
        options: list[Option] = [("two", 2)] if is_small else []
        widths = self.schema.codings[name].widths
        for each in widths:
            if each.is_null:
                options.append((f"{SHARED}{name} null", None))
            elif each.wide is None:
                options += [(f"{SHARED}{name} {number}", number) for number in (each.low, each.high)]
            else:
                first = 1 + max((number for _, number in options if number is not None), default=-1)
                last = each.wide.bounds[1]
                options += [(f"{SHARED}{name} {number}", number) for number in (first, last)]
        near = near_options(self.mentions.numbers.get(field, ()))
        options += [each for each in near if self.holds(name, each[1])]
        known: dict[Any, str] = {}
        for label, number in options:
            known.setdefault(number, label)
        return tuple((label, number) for number, label in known.items())

    def holds(self, coding: str, number: int) -> bool:
        """Return whether a variable-width integer can encode a number."""
        widths = [each for each in self.schema.codings[coding].widths if not each.is_null]
        spans = (each.wide.bounds if each.wide else (each.low, each.high) for each in widths)
        return any(low <= number <= high for low, high in spans)


def shape_of(type_: Counted) -> str:
    """Return the name of a type with a length, for uses where its field does not matter."""
    kind = type_.encoding if isinstance(type_, Text) else "bytes" if isinstance(type_, Bytes) else "list"
    return f"{kind}[{_shape_of_length(type_.length)}]"


def _shape_of_length(length: Length) -> str:
    match length.type if isinstance(length, Prefix) else length:
        case Integer(size, is_signed):
            return f"{'i' if is_signed else 'u'}{8 * size}"
        case Varint():
            return "varint"
        case CodingReference(name):
            return name
        case Computed():
            return "computed"
        case ToEnd():
            return "end"
        case Delimited():
            return "delimited"
        case Until():
            return "until"
        case other:
            assert_never(other)


def rows_of(schema: Schema) -> Iterator[tuple[str, tuple[Field, ...]]]:
    """Yield every declaration that has fields, with its fields; those of layout variants too."""
    owners: tuple[Schema | Variant, ...] = (schema, *schema.variants.values())
    for layouts in owners:
        yield from layouts.structs.items()
        for declared in (layouts.messages, layouts.frames, layouts.preambles):
            yield from ((name, each.fields) for name, each in declared.items())
    for union, declaration in schema.unions.items():
        yield from ((f"{union}.{each.name}", each.fields) for each in declaration.varieties)


def references(part: object) -> Iterator[tuple[str, str]]:
    """Yield the structs and unions that a part of a schema names."""
    for node in nodes_in(part):
        match node:
            case StructReference(name):
                yield "struct", name
            case UnionReference(name):
                yield "union", name
