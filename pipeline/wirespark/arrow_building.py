"""Values of a generated package to Arrow arrays, a column at a time.

A filler takes the values of one field (None for absent ones) and returns the arrays of its columns: the main
one and its companions (`number`, `raw`). Fillers are made once from the schema of the protocol and the Arrow
schema, whose columns are in the order of the fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from wirespark.arrow_columns import column_groups, declared, wire_of
from wirespark.packages import Package
from wirespark.untyped import ArrowArray, ArrowField, ArrowType, Values

if TYPE_CHECKING:
    from wireproto._runtime.reference.layout import Fields
    from wireproto._runtime.schema.declarations import Field, Variety
    from wireproto._runtime.schema.literals import Encoding, Endian
    from wireproto._runtime.schema.types import (
        EnumReference,
        FrameReference,
        List,
        Match,
        MessageReference,
        StructReference,
        Text,
        Type,
        UnionReference,
    )

__all__ = ["Filler", "Fillers", "RecordFiller"]

Filler: TypeAlias = Callable[[Values], tuple[ArrowArray, ...]]
RecordFiller: TypeAlias = Callable[[Values], list[ArrowArray]]


class Fillers:
    """Makes the fillers of one protocol, in one variant."""

    def __init__(self, package: Package, variant: str | None = None) -> None:
        self._schema, self._nodes = package.schema, package.nodes
        options = package.runtime("codec.options").Options(variant=variant)
        self._layout = package.runtime("reference.layout").Layout(package.schema, options)
        self._types = package.runtime("records.types")
        self._arms = package.runtime("records.arms")
        self._encode_text = package.runtime("codec.text").encode_text
        self._value_record = package.runtime("records.frames").value_record
        self._declared_name, self._attribute_name = package.declared_name, package.attribute_name
        self._variant = variant

    # ---- records

    def record(
        self, fields: Fields, schema: Iterable[ArrowField], without: str | None = None
    ) -> RecordFiller:
        """Return the function that builds the columns of a declaration's fields from its records."""
        wanted = self._shown(fields, without)
        trailing = [field.name for field in wanted if self._types.is_trailing(field)]
        groups = list(column_groups(schema))
        assert len(groups) == len(wanted), "the columns are of another schema"
        fillers = [
            (field.name, self.of(field.type, group), _n_behind(trailing, field.name))
            for field, group in zip(wanted, groups, strict=True)
        ]

        def fill(records: Values) -> list[ArrowArray]:
            arrays: list[ArrowArray] = []
            for name, filler, n_behind in fillers:
                values = self._attributes(records, name)
                if n_behind is not None:
                    values = _without_absent(records, values, n_behind)
                arrays.extend(filler(values))
            return arrays

        return fill

    def _attributes(self, records: Values, name: str) -> Values:
        """Return a field of each record, by the attribute that its class has for it."""
        first = next((record for record in records if record is not None), None)
        if first is None:
            return [None] * len(records)
        get = attrgetter(self._attribute_name(type(first), name))
        return [None if record is None else get(record) for record in records]

    def _shown(self, fields: Fields, without: str | None) -> list[Field]:
        """Return the fields that have columns, one per name."""
        found: dict[str, Field] = {}
        for field in self._types.flat_fields(fields):
            if not field.is_hidden and field.name != without:
                found.setdefault(field.name, field)
        return list(found.values())

    def named(self, name: str, schema: Iterable[ArrowField]) -> RecordFiller:
        """Return such a function for a message, struct, preamble, or frame without a message, by its name."""
        declared = self._layout
        if name in declared.messages:
            return self.record(declared.messages[name].fields, schema)
        if name in declared.preambles:
            return self.record(declared.preambles[name].fields, schema)
        if name in declared.frames and declared.frames[name].message is None:
            return self.record(declared.frames[name].fields, schema)
        if name in declared.structs:
            return self.record(declared.structs[name], schema)
        return self._plain_record(schema)

    def header(self, frame: str, schema: Iterable[ArrowField]) -> RecordFiller:
        """Return such a function for the fields of a frame other than its message."""
        known = self._layout.frames[frame]
        return self.record(known.fields, schema, without=known.message)

    def _plain_record(self, schema: Iterable[ArrowField]) -> RecordFiller:
        """Return such a function for an undeclared record: a fragment, or a message of unknown layout."""
        columns = list(schema)
        return lambda records: [pa.array(self._attributes(records, each.name), each.type) for each in columns]

    # ---- values

    def of(self, type_: Type, columns: Sequence[ArrowField]) -> Filler:
        """Return the filler of a type, for its column and the companions."""
        type_ = self._nodes.content(type_)
        column = columns[0]
        if isinstance(type_, self._nodes.Match) and wire_of(column) not in ("choice", "json"):
            return self.of(next(self._arms.leaf_arms(type_)), columns)  # all arms have this column
        if pa.types.is_list(column.type) and isinstance(type_, self._nodes.List):
            return self._list(type_, columns)
        n = self._nodes
        match wire_of(column), type_:
            case "json", _:
                return self._json(type_)
            case "member", n.EnumReference():
                return self._member(type_, columns)
            case "uuid", _:
                return lambda values: (_strings([None if v is None else str(v) for v in values]),)
            case "nothing", _:
                return lambda values: (pa.array([None if v is None else True for v in values], pa.bool_()),)
            case "union", n.UnionReference():
                return self._union(type_, column)
            case "frame", n.FrameReference():
                return self._frame(type_, column)
            case "choice", n.MessageMatch():
                return self._messages(column)
            case "choice", n.Match():
                return self._choice(type_, column)
        return self._plain(type_, columns)

    def _plain(self, type_: Type, columns: Sequence[ArrowField]) -> Filler:
        column = columns[0]
        n = self._nodes
        if pa.types.is_struct(column.type) and isinstance(
            type_, n.StructReference | n.FrameReference | n.MessageReference
        ):
            return self._struct(type_, column)
        if len(columns) == 2 and isinstance(type_, self._nodes.Text):
            return self._text(type_)
        arrow = column.type
        return lambda values: (pa.array(values, arrow),)

    def _text(self, type_: Text) -> Filler:
        encoding, lenient, endian = type_.encoding, type_.is_lenient, type_.endian

        def fill(values: Values) -> tuple[ArrowArray, ...]:
            try:
                return _strings(values), pa.nulls(len(values), pa.binary())
            except UnicodeEncodeError:
                texts, raws = zip(*(self._halves(v, encoding, lenient, endian) for v in values), strict=True)
                return _strings(list(texts)), pa.array(raws, pa.binary())

        return fill

    def _halves(
        self, value: str | None, encoding: Encoding, lenient: bool, endian: Endian
    ) -> tuple[str | None, bytes | None]:
        """Return a text, or its encoded bytes if it is not valid Unicode."""
        try:
            return value, None if value is None else value.encode()[:0] or None
        except UnicodeEncodeError:
            return None, self._encode_text(value, encoding, lenient, endian)

    def _member(self, type_: EnumReference, columns: Sequence[ArrowField]) -> Filler:
        names: dict[int | None, str] = {
            each.value: each.name for each in self._schema.enums[type_.name].members
        }
        arrow = columns[1].type

        def fill(values: Values) -> tuple[ArrowArray, ...]:
            numbers = [None if value is None else int(value) for value in values]
            return _strings([names.get(number) for number in numbers]), pa.array(numbers, arrow)

        return fill

    def _json(self, type_: Type) -> Filler:
        def text(value: object) -> str | None:
            if value is None:
                return None
            record = self._value_record(self._schema, type_, value, variant=self._variant)
            return json.dumps(record, ensure_ascii=True, allow_nan=False)

        return lambda values: (_strings([text(value) for value in values]),)

    def _list(self, type_: List, columns: Sequence[ArrowField]) -> Filler:
        inner = self.of(type_.item, [_item(column) for column in columns])
        types = [column.type for column in columns]

        def fill(values: Values) -> tuple[ArrowArray, ...]:
            sizes = [0 if value is None else len(value) for value in values]
            offsets = pa.array(np.concatenate(([0], np.cumsum(sizes))).astype(np.int32))
            mask = _mask(values)
            arrays = inner([item for value in values if value is not None for item in value])
            return tuple(
                pa.ListArray.from_arrays(offsets, array, type=arrow, mask=mask)
                for array, arrow in zip(arrays, types, strict=True)
            )

        return fill

    # ---- structs

    def _struct(
        self, type_: StructReference | FrameReference | MessageReference, column: ArrowField
    ) -> Filler:
        fill = self.named(type_.name, column.type)
        return lambda values: (_struct_array(fill(values), column.type, values),)

    def _frame(self, type_: FrameReference, column: ArrowField) -> Filler:
        """Return the filler of frames inside a message: the name of the message, the header, each message."""
        frame = self._layout.frames[type_.name]
        if frame.message is None:
            return self._struct(type_, column)
        groups = list(column_groups(column.type))
        n_messages = 1 + len(self._shown(frame.fields, frame.message))
        header = self.header(type_.name, [each for group in groups[1:n_messages] for each in group])
        bodies = self._bodies(groups[n_messages:])

        def fill(values: Values) -> tuple[ArrowArray, ...]:
            messages = [None if value is None else getattr(value, "message", None) for value in values]
            arrays = [_strings(self._names(messages)), *header(values), *bodies(messages)]
            return (_struct_array(arrays, column.type, values),)

        return fill

    def _names(self, messages: Values) -> list[str | None]:
        """Return the names that the declarations of messages or alternatives have."""
        return [None if m is None else self._declared_name(m) for m in messages]

    def _messages(self, column: ArrowField) -> Filler:
        bodies = self._bodies(list(column_groups(column.type))[1:])
        return lambda values: (
            _struct_array([_strings(self._names(values)), *bodies(values)], column.type, values),
        )

    def _bodies(self, groups: Sequence[Sequence[ArrowField]]) -> RecordFiller:
        """Return the function that puts each message in the column of its name."""
        known = self._schema.messages
        fillers = [
            (name, self.of(self._nodes.MessageReference(name), group))
            for group in groups
            for name in [declared(group[0].name, known)]
        ]

        def fill(messages: Values) -> list[ArrowArray]:
            names = self._names(messages)
            return [
                array
                for own, filler in fillers
                for array in filler([m if n == own else None for m, n in zip(messages, names, strict=True)])
            ]

        return fill

    def _union(self, type_: UnionReference, column: ArrowField) -> Filler:
        """Return the filler of a union: the name of the alternative, its code, and each alternative."""
        groups = list(column_groups(column.type))[1:]
        code, rest = groups[0], groups[1:]
        varieties = [
            each
            for each in self._schema.unions[type_.name].varieties
            if type_.only is None or type_.is_lenient or each.name in type_.only
        ]
        fillers = [self._variety(each, group) for each, group in zip(varieties, rest, strict=True)]
        codes: dict[str | None, int] = {each.name: each.spans[0].low for each in varieties}
        own_names = {f"{type_.name}.{each.name}": each.name for each in varieties}

        def fill(values: Values) -> tuple[ArrowArray, ...]:
            names = [None if name is None else own_names[name] for name in self._names(values)]
            numbers = [
                None if v is None else getattr(v, "code", codes[n])
                for v, n in zip(values, names, strict=True)
            ]
            arrays = [_strings(names), pa.array(numbers, code[0].type)]
            for name, filler in fillers:
                arrays.extend(filler([v if n == name else None for v, n in zip(values, names, strict=True)]))
            return (_struct_array(arrays, column.type, values),)

        return fill

    def _variety(self, variety: Variety, group: Sequence[ArrowField]) -> tuple[str, Filler]:
        name, fields = variety.name, variety.fields
        shown = [field for field in self._types.flat_fields(fields) if not field.is_hidden]
        if variety.is_lone and shown:
            inner = self.of(shown[0].type, group)
            return name, lambda values: inner(self._attributes(values, shown[0].name))
        if wire_of(group[0]) == "nothing":
            return name, self.of(self._nodes.StructReference(name), group)
        record = self.record(fields, group[0].type)
        return name, lambda values: (_struct_array(record(values), group[0].type, values),)

    def _choice(self, type_: Match, column: ArrowField) -> Filler:
        """Return the filler of a choice of several types: a value goes to the first arm that accepts it."""
        groups = list(column_groups(column.type))
        arms = [first for first, *_ in self._arms.arms_of_columns(type_).values()]
        fillers = [(arm, self.of(arm, group)) for arm, group in zip(arms, groups, strict=True)]

        def fill(values: Values) -> tuple[ArrowArray, ...]:
            chosen = [self._index(arms, value) for value in values]
            arrays: list[ArrowArray] = []
            for n, (_, filler) in enumerate(fillers):
                arrays.extend(filler([v if c == n else None for v, c in zip(values, chosen, strict=True)]))
            return (_struct_array(arrays, column.type, values),)

        return fill

    def _index(self, arms: list[Type], value: object) -> int | None:
        if value is None:
            return None
        return next((arms.index(arm) for arm in self._arms.fitting(self._layout, arms, value)), None)


def _item(column: ArrowField) -> ArrowField:
    return pa.field(column.name, column.type.value_type, metadata=column.metadata)


def _strings(values: Values) -> ArrowArray:
    return pa.array(values, pa.string())


def _mask(values: Values) -> ArrowArray:
    """Return the mask of null values, or None if no value is null."""
    is_null = [value is None for value in values]
    return pa.array(is_null, pa.bool_()) if True in is_null else None


def _struct_array(arrays: list[ArrowArray], type_: ArrowType, values: Values) -> ArrowArray:
    return pa.StructArray.from_arrays(arrays, fields=list(type_), mask=_mask(values))


def _n_behind(trailing: list[str], name: str) -> int | None:
    """Return the number of trailing fields after this one, or None if it is not a trailing field."""
    return len(trailing) - trailing.index(name) - 1 if name in trailing else None


def _without_absent(records: Values, values: Values, n_behind: int) -> Values:
    if not any(record is not None and record.absent for record in records):
        return values
    pairs = zip(records, values, strict=True)
    return [None if record is None or record.absent > n_behind else value for record, value in pairs]
