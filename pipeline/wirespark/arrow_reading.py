"""Arrow arrays to values of a generated package, a column at a time: the inverse of `arrow_building`.

A taker takes the arrays of one field (its column and the companions) and returns a value for each row, None
for absent ones. The arrays have the package's own types: see `array_casting.fitted`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from enum import EnumType
from typing import TYPE_CHECKING
from uuid import UUID

import pyarrow as pa

from wirespark.array_casting import plain
from wirespark.arrow_columns import chosen, column_groups, declared, member_of, wire_of
from wirespark.arrow_records import Arrays, Taker, coded_taker, record_maker
from wirespark.packages import Package
from wirespark.untyped import ArrowField, Made, Values

if TYPE_CHECKING:
    from wireproto._runtime.reference.layout import Fields
    from wireproto._runtime.schema.declarations import Field, Variety
    from wireproto._runtime.schema.types import (
        EnumReference,
        FrameReference,
        List,
        Match,
        Text,
        Type,
        UnionReference,
    )

__all__ = ["Taker", "Takers"]


class Takers:
    """Makes the takers of one protocol, in one variant."""

    def __init__(self, package: Package, variant: str | None = None) -> None:
        self._schema, self._nodes = package.schema, package.nodes
        options = package.runtime("codec.options").Options(variant=variant)
        self._layout = package.runtime("reference.layout").Layout(package.schema, options)
        self._types = package.runtime("records.types")
        self._arms = package.runtime("records.arms")
        self._decode_text = package.runtime("codec.text").decode_text
        self._maker = package.runtime("records.values").ValueMaker(package.schema, options)
        self._typed = package.runtime("reference.objects").typed
        self._unknown = package.runtime("codec.unknown").Unknown
        self._argument = package.attribute_name
        self._namespace = vars(sys.modules[package.native.Decoder.__module__])

    def class_of(self, name: str, union: str = "") -> Made:
        """Return the class of a declaration, or of an alternative of a union.

        If the module or the union uses that name itself, the class is the one with an underscore.
        """
        names = vars(self.class_of(union)) if union else self._namespace
        declared = f"{union}.{name}" if union else name
        other = names.get(f"{name}_")
        return other if getattr(other, "_NAME", "") == declared or name not in names else names[name]

    # ---- records

    def named(self, name: str, schema: Iterable[ArrowField]) -> Taker:
        """Return the taker of a message, struct, preamble, fragment, or frame without a message, by its name."""
        known = self._layout
        if name == "Unknown" and name not in known.messages:
            return lambda arrays: list(map(self._unknown, *(plain(array) for array in arrays)))
        class_ = self.class_of(name)
        if name in known.messages:
            return self._record(class_, known.messages[name].fields, schema)
        if name in known.preambles:
            return self._record(class_, known.preambles[name].fields, schema)
        if name in known.frames:
            return self._record(class_, known.frames[name].fields, schema)
        if name in known.structs:
            return self._record(class_, known.structs[name], schema)
        return lambda arrays: list(map(class_, *(plain(array) for array in arrays)))

    def header(self, frame: str, schema: Iterable[ArrowField]) -> Callable[[Arrays], list[dict[str, object]]]:
        """Return the function that reads the arguments of a frame's class, without its message, from columns.

        Null is the default of a field; one with a condition is absent.
        """
        known = self._layout.frames[frame]
        class_ = self.class_of(frame)
        names, takers = self._fields(class_, known.fields, schema, known.message)
        conditional = {
            self._argument(class_, field.name)
            for field in self._types.flat_fields(known.fields)
            if field.condition is not None
        }

        def take(arrays: Arrays) -> list[dict[str, object]]:
            columns = _taken(takers, arrays)
            return [
                {
                    name: value
                    for name, value in zip(names, row, strict=True)
                    if value is not None or name in conditional
                }
                for row in zip(*columns, strict=True)
            ]

        return take

    def _fields(
        self, class_: Made, fields: Fields, schema: Iterable[ArrowField], without: str | None = None
    ) -> tuple[list[str], list[tuple[Taker, int]]]:
        """Return the names of a declaration's arguments, and the taker of each with its number of columns."""
        shown: dict[str, Field] = {}
        for field in self._types.flat_fields(fields):
            if not field.is_hidden and field.name != without:
                shown.setdefault(field.name, field)
        groups = list(column_groups(schema))
        assert len(groups) == len(shown), "the columns are of another schema"
        names = [self._argument(class_, name) for name in shown]
        takers = [
            (self.of(field.type, group), len(group))
            for field, group in zip(shown.values(), groups, strict=True)
        ]
        return names, takers

    def _record(self, class_: Made, fields: Fields, schema: Iterable[ArrowField]) -> Taker:
        names, takers = self._fields(class_, fields, schema)
        if not names:
            return lambda arrays: [class_() for _ in range(len(arrays[0]))] if arrays else []
        make = record_maker(class_, names, self._trailing(class_, fields))
        return lambda arrays: make(_taken(takers, arrays))

    def _trailing(self, class_: Made, fields: Fields) -> list[str]:
        """Return the arguments that may be omitted, the last one first."""
        return [
            self._argument(class_, field.name)
            for field in reversed(tuple(self._types.flat_fields(fields)))
            if not field.is_hidden and self._types.is_trailing(field)
        ]

    # ---- values

    def of(self, type_: Type, columns: Sequence[ArrowField]) -> Taker:
        """Return the taker of a type, for its column and the companions."""
        type_ = self._nodes.content(type_)
        column, wire = columns[0], wire_of(columns[0])
        if isinstance(type_, self._nodes.Match) and wire not in ("choice", "json"):
            return self.of(next(self._arms.leaf_arms(type_)), columns)  # all arms have this column
        if pa.types.is_list(column.type) and isinstance(type_, self._nodes.List):
            return self._list(type_, columns)
        n, is_struct = self._nodes, pa.types.is_struct(column.type)
        match wire, type_:
            case "json", _:
                return self._json(type_)
            case "member", n.EnumReference():
                return self._member(type_)
            case "uuid", _:
                return lambda arrays: [None if text is None else UUID(text) for text in plain(arrays[0])]
            case "nothing", n.StructReference(name) | n.MessageReference(name):
                class_ = self.class_of(name)
                return lambda arrays: [None if is_it is None else class_() for is_it in plain(arrays[0])]
            case "union", n.UnionReference():
                return self._union(type_, column)
            case "frame", n.FrameReference():
                return self._frame(type_, column)
            case "choice", n.MessageMatch():
                return self._messages(column)
            case "choice", n.Match():
                return self._choice(type_, column)
            case _, n.StructReference(name) | n.MessageReference(name) | n.FrameReference(name) if is_struct:
                return _where_set(self.named(name, column.type))
            case _, n.Text() if len(columns) == 2:
                return self._text(type_)
        return lambda arrays: plain(arrays[0])

    def _text(self, type_: Text) -> Taker:

        def take(arrays: Arrays) -> Values:
            texts = plain(arrays[0])
            if arrays[1].null_count == len(texts):
                return texts
            return [
                (
                    text
                    if raw is None
                    else self._decode_text(raw, type_.encoding, type_.is_lenient, type_.endian)
                )
                for text, raw in zip(texts, plain(arrays[1]), strict=True)
            ]

        return take

    def _member(self, type_: EnumReference) -> Taker:
        name = type_.name
        found = self._namespace.get(name)
        enum: Made = found if isinstance(found, EnumType) else self._namespace[f"{name}_"]
        known = self._schema.enums[name].members
        numbers = {each.value: enum(each.value) for each in known}
        members = {each.name: numbers[each.value] for each in known}

        def take(arrays: Arrays) -> Values:
            names, given = arrays[0], plain(arrays[1])
            if arrays[1].null_count == names.null_count:
                return [numbers.get(number, number) for number in given]
            return [
                (
                    numbers.get(number, number)
                    if number is not None or text is None
                    else member_of(members, text)
                )
                for text, number in zip(plain(names), given, strict=True)
            ]

        return take

    def _json(self, type_: Type) -> Taker:
        def value(text: str | None) -> object:
            if text is None:
                return None
            made = self._maker.value(type_, json.loads(text), "")
            return self._typed(self._schema, type_, made, self._namespace)

        return lambda arrays: [value(text) for text in plain(arrays[0])]

    def _list(self, type_: List, columns: Sequence[ArrowField]) -> Taker:
        items = [pa.field(each.name, each.type.value_type, metadata=each.metadata) for each in columns]
        inner = self.of(type_.item, items)

        def take(arrays: Arrays) -> Values:
            values = inner([array.flatten() for array in arrays])
            found, place = Values(), 0
            for size in plain(arrays[0].value_lengths()):
                found.append(None if size is None else values[place : place + size])
                place += size or 0
            return found

        return take

    # ---- structs of which one is set

    def _bodies(self, columns: Iterable[ArrowField]) -> dict[str, tuple[Taker, int, int]]:
        """Return the taker of each message by name, with the range of its columns."""
        known, place = self._schema.messages, 0
        found: dict[str, tuple[Taker, int, int]] = {}
        for group in column_groups(columns):
            name = declared(group[0].name, known)
            found[name] = (self.of(self._nodes.MessageReference(name), group), place, place + len(group))
            place += len(group)
        return found

    def _messages(self, column: ArrowField) -> Taker:
        bodies = self._bodies(list(column.type)[1:])

        def take(arrays: Arrays) -> Values:
            names, *rest = arrays[0].flatten()
            return chosen(plain(names), {name: take(rest[a:b]) for name, (take, a, b) in bodies.items()})

        return take

    def _frame(self, type_: FrameReference, column: ArrowField) -> Taker:
        """Return the taker of frames inside a message: the name of the message, the header, each message."""
        name = type_.name
        class_, frame = self.class_of(name), self._layout.frames[name]
        if frame.message is None:
            return _where_set(self.named(name, column.type))
        groups = list(column_groups(column.type))
        every = self._types.flat_fields(frame.fields)
        shown = {each.name for each in every if not each.is_hidden and each.name != frame.message}
        headers = [each for group in groups[1 : 1 + len(shown)] for each in group]
        header = self.header(name, headers)
        bodies = self._bodies([each for group in groups[1 + len(shown) :] for each in group])

        def take(arrays: Arrays) -> Values:
            names, *rest = arrays[0].flatten()
            own, inner = rest[: len(headers)], rest[len(headers) :]
            messages = chosen(plain(names), {n: take(inner[a:b]) for n, (take, a, b) in bodies.items()})
            given = header(own) if own else [{}] * len(messages)
            return [
                None if message is None else class_(message, **named)
                for message, named in zip(messages, given, strict=True)
            ]

        return take

    def _union(self, type_: UnionReference, column: ArrowField) -> Taker:
        """Return the taker of a union: the name of the alternative, its code, and each alternative."""
        groups = list(column_groups(column.type))[2:]
        varieties = [
            each
            for each in self._schema.unions[type_.name].varieties
            if type_.only is None or type_.is_lenient or each.name in type_.only
        ]
        takers, place = {}, 2
        for variety, group in zip(varieties, groups, strict=True):
            takers[variety.name] = (self._variety(variety, group, type_.name), place, place + len(group))
            place += len(group)

        def take(arrays: Arrays) -> Values:
            children = arrays[0].flatten()
            codes = plain(children[1])
            found = {name: take([*children[a:b], codes]) for name, (take, a, b) in takers.items()}
            return chosen(plain(children[0]), found)

        return take

    def _variety(self, variety: Variety, group: Sequence[ArrowField], union: str) -> Taker:
        """Return the taker of an alternative; the last of its arrays is the list of codes."""
        class_ = self.class_of(variety.name, union)
        shown = [field for field in self._types.flat_fields(variety.fields) if not field.is_hidden]
        has_code = "code" in class_.__slots__ and "code" not in class_.__match_args__

        if variety.is_lone and shown:
            argument, inner = self._argument(class_, shown[0].name), self.of(shown[0].type, group)
            return coded_taker(class_, [argument], lambda arrays: [inner(arrays)], has_code=has_code)
        if wire_of(group[0]) == "nothing":
            return coded_taker(class_, [], lambda arrays: [], has_code=has_code)
        names_, takers = self._fields(class_, variety.fields, group[0].type)
        trailing = self._trailing(class_, variety.fields)
        return coded_taker(
            class_, names_, lambda arrays: _taken(takers, arrays[0].flatten()), trailing, has_code=has_code
        )

    def _choice(self, type_: Match, column: ArrowField) -> Taker:
        """Return the taker of a choice of several types: the value is that of the first arm that is set."""
        arms = [first for first, *_ in self._arms.arms_of_columns(type_).values()]
        groups = list(column_groups(column.type))
        takers = [(self.of(arm, group), len(group)) for arm, group in zip(arms, groups, strict=True)]

        def take(arrays: Arrays) -> Values:
            columns = _taken(takers, arrays[0].flatten())
            return [
                next((value for value in row if value is not None), None)
                for row in zip(*columns, strict=True)
            ]

        return take


# ---- small things


def _taken(takers: Iterable[tuple[Taker, int]], arrays: Arrays) -> list[Values]:
    found, place = [], 0
    for take, size in takers:
        found.append(take(arrays[place : place + size]))
        place += size
    return found


def _where_set(take: Taker) -> Taker:
    """Return the taker of a struct's column, given the taker of the columns of its fields."""

    def taken(arrays: Arrays) -> Values:
        array = arrays[0]
        made = take(array.flatten())
        if not array.null_count:
            return made
        return [
            value if is_set else None for value, is_set in zip(made, plain(array.is_valid()), strict=True)
        ]

    return taken
