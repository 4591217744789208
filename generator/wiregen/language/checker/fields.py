"""Rules about single fields: bits that fill bytes, values that fit their type, lengths that cover what they measure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import dropwhile, groupby, takewhile

from wiregen.language.checker.inspection import Inspection, Record, numbers_text
from wiregen.language.checker.lookup import Declared
from wiregen.runtime.records.types import is_nullable
from wiregen.runtime.schema.shapes import content
from wiregen.schema.model import (
    Bits,
    Block,
    BuiltIn,
    Bytes,
    Call,
    Computed,
    Constant,
    Counted,
    Default,
    Derived,
    EnumReference,
    Expression,
    Field,
    FieldReference,
    Float,
    List,
    ListOf,
    Match,
    MessageMatch,
    Null,
    Octets,
    Position,
    Range,
    RecordReference,
    Trailing,
    Type,
    UnionReference,
)
from wiregen.schema.values import number_of
from wiregen.schema.walk import direct_expressions, nested_expressions, shapes

__all__ = ["RULES", "fault_of_value"]


def _bits_fill_bytes(inspection: Inspection) -> None:
    for record in inspection.records:
        for fields in record.blocks:
            for run in _runs(fields):
                n_bits = sum(_bits(field) for field in run)
                if n_bits % 8:
                    _report_run(inspection, run, n_bits)


def _bits_inside_types(inspection: Inspection) -> None:
    for record in inspection.records:
        for field, type_ in record.shapes:
            if isinstance(type_, Bits) and type_ is not field.type:
                inspection.error(
                    "WG3030",
                    f"`{field.name}` contains a part of a byte, which no other bits follow",
                    inspection.place(field.path, "type"),
                    "does not fill a byte",
                    help_="put all bits of the byte into a block or a struct, and use that here",
                )


def _report_run(inspection: Inspection, run: tuple[Field, ...], n_bits: int) -> None:
    missing = -n_bits % 8
    inspection.error(
        "WG3030",
        f"{n_bits} {'bit does' if n_bits == 1 else 'bits do'} not fill whole bytes",
        inspection.place(run[-1].path),
        f"{missing} missing after this",
        inspection.also(run[0].path, "the run begins here") if len(run) > 1 else None,
        help_=(
            f"add `_ : u{missing} == 0` to fill the byte"
            if missing > 1
            else "add `_ : bit == false` to fill the byte"
        ),
    )


def _bits_always_there(inspection: Inspection) -> None:
    for record in inspection.records:
        for field in record.flat:
            if isinstance(field.type, Bits) and (field.condition is not None or _is_trailing(field)):
                inspection.error(
                    "WG3031",
                    f"`{field.name}` is a part of a byte, so it cannot be optional",
                    inspection.place(field.path, "if" if field.condition is not None else "value"),
                    "optional",
                    help_="put the bits of the byte into a struct, and make the struct optional",
                )


def _one_row_of_trailing(inspection: Inspection) -> None:
    for record in inspection.records:
        row = next((fields for fields in _certain_rows(record.fields) if any(map(_is_trailing, fields))), ())
        run = list(takewhile(_is_trailing, dropwhile(lambda field: not _is_trailing(field), row)))
        for field in filter(_is_trailing, record.flat):
            if field.path not in {each.path for each in run}:
                inspection.error(
                    "WG3039",
                    f"`{field.name}` is in a second or an optional group of `?=` fields",
                    inspection.place(field.path, "value"),
                    "`absent` could not count it",
                    inspection.also(run[0].path, "the group is here") if run else None,
                    help_="put the fields of the block or group into a struct, which has a group of its own",
                )


def _values_of_blocks(inspection: Inspection) -> None:
    """Check that fields with a value have no block: its fields belong to the declaration, and it has no value of its own."""
    for record in inspection.records:
        for field in (each for each in record.flat if each.value is not None):
            if any(isinstance(each, Block) for each in shapes(field.type)):
                inspection.error(
                    "WG3083",
                    f"`{field.name}` contains a block, and a block cannot have a value",
                    inspection.place(field.path, "value"),
                    "not possible for a block",
                    help_="put the fields of the block into a struct, and give the field or the arm that type",
                )


def _nameless_trailing(inspection: Inspection) -> None:
    for record in inspection.records:
        for field in record.flat:
            if field.name == "_" and _is_trailing(field):
                inspection.error(
                    "WG3086",
                    "a field that may be absent needs a name",
                    inspection.place(field.path, "name"),
                    "no attribute or column would show whether it is present",
                    help_="give it a name, or a value that is always there: `_ : u8 = 3`",
                )


def _certain_rows(fields: tuple[Field, ...]) -> Iterator[tuple[Field, ...]]:
    """Yield the fields of a declaration, then those of each block that is always there."""
    rows = [fields]
    while rows:
        row = rows.pop(0)
        yield row
        certain = (content(field.type) for field in row if field.condition is None)
        rows[:0] = [type_.fields for type_ in certain if isinstance(type_, Block)]


def _value_outside_type(inspection: Inspection) -> None:
    for record in inspection.records:
        for field in record.flat:
            if field.value is None or isinstance(field.value, Derived):
                continue
            fault = _fault_of_null(field) or _fault_of_values(field, field.value, inspection.declared)
            if fault is not None:
                inspection.error(
                    "WG3032",
                    f"the type of `{field.name}` cannot hold its value",
                    inspection.place(field.path, "value"),
                    fault,
                    help_="use a value of the type, or a wider type; instead of null, say with `if` when it is present",
                )


def _fault_of_null(field: Field) -> str | None:
    """Return why null cannot be the value of a field, or None; with `?=` it may mean an absent struct, frame or union."""
    if field.value is None or not isinstance(field.value.value, Null) or is_nullable(field.type):
        return None
    may_be_absent = _is_trailing(field) and isinstance(content(field.type), RecordReference | UnionReference)
    has_block = any(isinstance(each, Block) for each in shapes(field.type))  # an error of its own
    return None if may_be_absent or has_block else "the type has no null"


def _fault_of_values(field: Field, value: Default | Trailing | Constant, declared: Declared) -> str | None:
    others = value.others if isinstance(value, Default) else ()
    values = (value.value, *(each.value for each in others))
    faults = (fault_of_value(each, field.type, declared) for each in values)
    return next((fault for fault in faults if fault is not None), None)


def fault_of_value(value: Expression, type_: Type, declared: Declared) -> str | None:
    """Return why a constant cannot be a value of its type, or None."""
    type_ = content(type_)
    if isinstance(value, ListOf) and isinstance(type_, List):
        return _fault_of_items(value, type_, declared)
    number = number_of(value)
    if number is not None:
        return _fault_of_number(number, type_, declared)
    if isinstance(value, Octets) and isinstance(type_, Bytes) and isinstance(type_.length, Computed):
        size = number_of(type_.length.value)
        has_size = len(value.hex) // 2
        return None if size in (None, has_size) else f"{has_size} bytes, and the type has {size}"
    return None


def _fault_of_items(value: ListOf, type_: List, declared: Declared) -> str | None:
    count = number_of(type_.length.value) if isinstance(type_.length, Computed) else None
    if count is not None and count != len(value.items):
        return f"{len(value.items)} items, and the type has {count}"
    for each in value.items:
        if isinstance(each, Range):
            return "a range is not an item"
        if isinstance(each, Null) and not is_nullable(type_.item):
            return "an item has no null"
        fault = fault_of_value(each, type_.item, declared)
        if fault is not None:
            return fault
    return None


def _fault_of_number(number: int, type_: Type, declared: Declared) -> str | None:
    if isinstance(type_, Float):
        return _fault_of_float(number, type_)
    if isinstance(type_, EnumReference):
        fault = _fault_of_member(number, type_, declared)
        if fault is not None:
            return fault
    possible = declared.numbers_in(type_)
    if possible is None or possible.low <= number <= possible.high:
        return None
    return f"{number} is not in {numbers_text(possible)}"


def _fault_of_float(number: int, type_: Float) -> str | None:
    try:
        held = type_.decode(type_.encode(number))
    except OverflowError:
        return f"{number} is too large for `{type_.format}`"
    return None if held == number else f"`{type_.format}` holds {held:.0f} and not {number}"


def _fault_of_member(number: int, reference: EnumReference, declared: Declared) -> str | None:
    enum = declared.enums.get(reference.name)
    if enum is None or enum.is_open:
        return None
    members = [member for member in enum.members if member.value == number]
    if not members:
        return f"{number} is not a member of `{enum.name}`"
    is_allowed = reference.only is None or reference.is_lenient or members[0].name in reference.only
    return None if is_allowed else f"`only` excludes `{members[0].name}`"


def _discriminator_set_twice(inspection: Inspection) -> None:
    for record in inspection.records:
        for field, type_ in record.shapes:
            named = _subject(type_, record)
            if named is not None and not isinstance(named.value, Derived) and named.condition is None:
                inspection.error(
                    "WG3034",
                    f"`{named.name}` is set by hand, but the message in `{field.name}` already has that code",
                    inspection.place(named.path),
                    "set by hand",
                    inspection.also(field.path, "its message has that code", "type"),
                    help_=f"derive it: `:= code({field.name})`",
                )


def _subject(type_: Type, record: Record) -> Field | None:
    """Return the field of the declaration by which the message is chosen."""
    match type_:
        case MessageMatch(subject=FieldReference(path=(name,), scope="own")):
            return record.by_name.get(name)
        case _:
            return None


def _is_trailing(field: Field) -> bool:
    return isinstance(field.value, Trailing)


def _bits(field: Field) -> int:
    return field.type.bits if isinstance(field.type, Bits) else 0


def _runs(fields: Iterable[Field]) -> Iterator[tuple[Field, ...]]:
    """Yield the runs of consecutive bit fields; another bit order begins a new run."""
    for order, run in groupby(
        fields, lambda field: field.type.order if isinstance(field.type, Bits) else None
    ):
        if order is not None:
            yield tuple(run)


def _nothing_to_write(inspection: Inspection) -> None:
    for record in inspection.records:
        for field in record.flat:
            is_blank = field.name == "_" and field.value is None
            if is_blank and not _has_zero(field.type):
                inspection.error(
                    "WG3036",
                    "the field `_` needs a value to write",
                    inspection.place(field.path, "type"),
                    "cannot be written as zeros",
                    inspection.also(field.path, "value missing", "name"),
                    help_="give it a value, `_ : Kind = LOW`, or a number of bytes, `_ : bytes[3]`",
                )


def _has_zero(type_: Type) -> bool:
    """Return whether a type has a value of zeros, or is a block, which has no value of its own."""
    while isinstance(type_, List) and not isinstance(type_.item, Counted):
        type_ = type_.item
    return isinstance(type_, BuiltIn) or isinstance(content(type_), Block)


def _remaining_in_a_value(inspection: Inspection) -> None:
    for record in inspection.records:
        for field, type_ in record.shapes:
            if isinstance(type_, Match) and _asks_remaining(type_.subject):
                _report_remaining(inspection, field, "type")
        for field in record.flat:
            if field.value is not None and _asks_remaining(field.value.value):
                _report_remaining(inspection, field, "value")


def _asks_remaining(expression: Expression) -> bool:
    return any(
        isinstance(each, Position) and each.what == "remaining" for each in nested_expressions(expression)
    )


def _report_remaining(inspection: Inspection, field: Field, part: str) -> None:
    inspection.error(
        "WG3037",
        "`remaining` is only known when reading, but this must also be written",
        inspection.place(field.path, part),
        "depends on `remaining`",
        inspection.also(field.path, "this field", "name"),
        help_="use the size of a field, `:= size(data)`, or compare: `where length == remaining`",
    )


def _size_of_bits(inspection: Inspection) -> None:
    declared = Declared(inspection.protocol)
    for record in inspection.records:
        for field in record.flat:
            for part, expression in _clauses(field):
                measured = [
                    each.arguments[0]
                    for each in nested_expressions(expression)
                    if isinstance(each, Call) and each.function == "size"
                ]
                if any(isinstance(declared.type_of(each, record.by_name), Bits) for each in measured):
                    inspection.error(
                        "WG3068",
                        "the size of a bit field is not defined",
                        inspection.place(field.path, part),
                        "size of a bit field",
                        help_="write the number of bytes of the whole run of bit fields",
                    )


def _clauses(field: Field) -> Iterator[tuple[str, Expression]]:
    """Yield the expressions of a field, each with the part of the field that contains it."""
    if field.value is not None:
        yield "value", field.value.value
    if field.condition is not None:
        yield "if", field.condition
    if field.where is not None:
        yield "where", field.where
    for type_ in shapes(field.type):
        yield from (("type", each) for each in direct_expressions(type_))


RULES = (
    _bits_inside_types,
    _bits_fill_bytes,
    _bits_always_there,
    _one_row_of_trailing,
    _values_of_blocks,
    _nameless_trailing,
    _value_outside_type,
    _discriminator_set_twice,
    _nothing_to_write,
    _remaining_in_a_value,
    _size_of_bits,
)
