"""Lengths that cannot fit the bytes that they measure: an integer too narrow, a number out of range, a limit too low."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.language.checker.inspection import Inspection, Record
from wiregen.language.diagnostics import Label
from wiregen.language.spelling import type_text
from wiregen.schema.model import (
    Block,
    Bytes,
    Call,
    Computed,
    Counted,
    Derived,
    Expression,
    Field,
    FieldReference,
    Frame,
    InSize,
    Limit,
    Message,
    MessageMatch,
    MessageReference,
    Operation,
    Position,
    Preamble,
    Prefix,
    Range,
    RecordReference,
    Region,
    Text,
    Trailing,
    Type,
    Until,
)
from wiregen.schema.sizes import Sizes
from wiregen.schema.values import number_of
from wiregen.schema.walk import matched_messages, open_types

__all__ = ["RULES"]


def _length_too_narrow(inspection: Inspection) -> None:
    for record in inspection.records:
        for field in record.flat:
            most = _most_of(inspection, field)
            if most is None or not isinstance(field.value, Derived):
                continue
            least = _least(field.value.value, record)
            if least is not None and least > most:
                inspection.error(
                    "WG3033",
                    f"`{field.name}` is too narrow for the size that it measures",
                    inspection.place(field.path, "value"),
                    f"at least {least}",
                    _at_most(inspection, field, most),
                    help_=_wider(inspection, field, most),
                )
            elif least is not None:
                _report_messages(inspection, record, field, field.value.value, most)


def _report_messages(
    inspection: Inspection, record: Record, field: Field, length: Expression, most: int
) -> None:
    """Report each message that is too long for the length field of the frame that carries it."""
    for message in _carried(inspection, record):
        least = _least(length, record, message)
        if least is not None and least > most:
            inspection.error(
                "WG3033",
                f"`{field.name}` is too narrow for message `{message.name}`",
                inspection.place(field.path, "value"),
                f"at least {least} with that message",
                _at_most(inspection, field, most),
                inspection.also(message.path, f"at least {_size_of(message, record.sizes)} bytes", "name"),
                help_=_wider(inspection, field, most),
            )


def _at_most(inspection: Inspection, field: Field, most: int) -> Label | None:
    possible = inspection.declared.numbers_in(field.type)
    is_bound = possible is None or most < possible.high
    return inspection.also(field.path, f"at most {most}", "where" if is_bound else "type")


def _wider(inspection: Inspection, field: Field, most: int) -> str:
    possible = inspection.declared.numbers_in(field.type)
    return "use a wider integer" if possible is not None and most == possible.high else "use a wider `where`"


def _region_too_small(inspection: Inspection) -> None:
    for record in inspection.records:
        for field, type_ in record.shapes:
            if not isinstance(type_, Region) or record.sizes.is_endless(type_.content):
                continue
            most, origin = _room(inspection, record, type_)
            least = record.sizes.smallest(type_.content)
            if most is not None and least > most:
                inspection.error(
                    "WG3038",
                    f"the region of `{field.name}` has at most {most} bytes, but its value has at least {least}",
                    inspection.place(field.path, "type"),
                    f"at least {least} bytes in at most {most}",
                    origin
                    or _laid_in(inspection, type_.content)
                    or inspection.also(field.path, "here", "name"),
                    _laid_in(inspection, type_.content) if origin is not None else None,
                    help_="use a wider integer or a larger size, or put less into the region",
                )


def _region_never_full(inspection: Inspection) -> None:
    for record in inspection.records:
        for field, type_ in record.shapes:
            if not isinstance(type_, Region) or type_.lenient or not isinstance(type_.carrier, InSize):
                continue
            size, most = number_of(type_.carrier.size), record.sizes.largest(type_.content)
            has_messages = any(isinstance(each, MessageMatch) for each in open_types(type_.content))
            if size is None or most is None or most >= size or has_messages:
                continue
            inspection.error(
                "WG3074",
                f"the region of `{field.name}` has {size} bytes, but its value has at most {most}",
                inspection.place(field.path, "type"),
                f"at most {most} of {size} bytes",
                _laid_in(inspection, type_.content) or inspection.also(field.path, "here", "name"),
                help_="use a smaller size, or `lenient`, which fills the remaining bytes with zeros",
            )


def _region_left_over(inspection: Inspection) -> None:
    """Refuse bytes or a text whose length is `remaining` minus a number: it never fills its region."""
    for record in inspection.records:
        for field, type_ in record.shapes:
            if not isinstance(type_, Region) or not isinstance(type_.content, Bytes | Text):
                continue
            left = _left_over(type_.content)
            if left < 0 or (left > 0 and not type_.lenient):
                text = type_text(type_.content)
                amount = (
                    f"leaves {left} of its bytes unused" if left > 0 else f"takes {-left} more than it has"
                )
                inspection.error(
                    "WG3074",
                    f"the region of `{field.name}` is never full: `{text}` {amount}",
                    inspection.place(field.path, "type"),
                    amount,
                    help_="write `[]` for all bytes of the region"
                    + (", or `lenient` if peers send trailing bytes" if left > 0 else ""),
                )


def _left_over(content: Bytes | Text) -> int:
    """Return how many bytes a length `remaining - n` leaves of a region of any size; 0 for other lengths.

    The length of a text in units of two bytes differs from that of its region.
    """
    if isinstance(content, Text) and content.encoding == "utf16":
        return 0
    match content.length:
        case Computed(
            value=Operation(operator="+" | "-" as operator, left=Position(what="remaining"), right=right)
        ):
            number = number_of(right) or 0
            return number if operator == "-" else -number
        case _:
            return 0


def _room(inspection: Inspection, record: Record, region: Region) -> tuple[int | None, Label | None]:
    """Return the most bytes that a region has, and the place that says so if it is elsewhere."""
    match region.carrier:
        case Prefix(type=type_):
            possible = inspection.declared.numbers_in(type_)
            return None if possible is None else possible.high, None
        case InSize(size=FieldReference(path=(name,), scope="own")) if name in record.by_name:
            field = record.by_name[name]
            # A derived length is checked against the content that it measures.
            most = None if isinstance(field.value, Derived) else _most_of(inspection, field)
            return most, None if most is None else _at_most(inspection, field, most)
        case InSize(size=size):
            return number_of(size), None
        case _:
            return None, None


def _laid_in(inspection: Inspection, content: Type) -> Label | None:
    """Return where the content of a region is declared."""
    if isinstance(content, RecordReference):
        return inspection.also(f"{inspection.protocol.path}.{content.name}", "its layout is here", "name")
    return None


def _message_too_long(inspection: Inspection) -> None:
    for limit in inspection.protocol.limits:
        for record in inspection.records if limit.name == "frame" else ():
            if isinstance(record.owner, Frame | Preamble):
                _hold_against(inspection, record, limit)


def _hold_against(inspection: Inspection, record: Record, limit: Limit) -> None:
    size = _whole(record.fields, record.sizes, None)
    if size > limit.value:
        _report_too_long(inspection, record, None, size, limit)
        return
    for message in _carried(inspection, record):
        size = _whole(record.fields, record.sizes, message)
        if size > limit.value:
            _report_too_long(inspection, record, message, size, limit)


def _report_too_long(
    inspection: Inspection, record: Record, message: Message | None, size: int, limit: Limit
) -> None:
    owner = message or record.owner
    longest = max(owner.fields, key=record.sizes.smallest)
    inspection.error(
        "WG3048",
        f"`{owner.name}` is longer than `limits.frame` allows",
        inspection.place(longest.path),
        f"at least {record.sizes.smallest(longest)} of the {size} bytes of the frame",
        inspection.also(limit.path, f"at most {limit.value}"),
        help_="raise `limits.frame`, or make the field shorter",
    )


def _whole(fields: tuple[Field, ...], sizes: Sizes, message: Message | None) -> int:
    """Return the smallest size of the fields in bytes, with a message where one is carried."""
    if sizes.is_endless(fields):
        return 0
    return sizes.smallest(fields) + sum(_extra(field, sizes, message) for field in fields)


def _extra(field: Field, sizes: Sizes, message: Message | None) -> int:
    """Return the least number of bytes that a message adds to a field, wherever the field contains it."""
    if message is None or field.condition is not None or isinstance(field.value, Trailing):
        return 0
    return _extra_of(field.type, sizes, message)


def _extra_of(type_: Type, sizes: Sizes, message: Message) -> int:
    match type_:
        case MessageMatch():
            return _size_of(message, sizes)
        case Block(fields=fields):
            return sum(_extra(field, sizes, message) for field in fields)
        case Region(content=content, carrier=Prefix()):
            return _extra_of(content, sizes, message)
        case Region(content=content, carrier=InSize(size=size)) if number_of(size) is None:
            return _extra_of(content, sizes, message)
        case _:
            return 0


def _size_of(message: Message, sizes: Sizes) -> int:
    reference = MessageReference(name=message.name)
    return 0 if sizes.is_endless(reference) else sizes.smallest(reference)


def _carried(inspection: Inspection, record: Record) -> Iterator[Message]:
    """Yield the messages that a frame can carry by their codes, if one place in it chooses them."""
    if isinstance(record.owner, Frame) and len(record.ways) == 1:
        yield from matched_messages(inspection.protocol.messages, record.ways[0], record.role)


def _most_of(inspection: Inspection, field: Field) -> int | None:
    """Return the largest number that a field can hold, or None if it holds no numbers."""
    possible = inspection.declared.numbers_in(field.type)
    if possible is None:
        return None
    bound = None if field.where is None else _bound(field.where, field.name)
    return possible.high if bound is None else min(possible.high, bound)


def _bound(condition: Expression, name: str) -> int | None:
    """Return a number that the field called `name` never exceeds where the condition holds, or None."""
    match condition:
        case Operation(operator="and", left=left, right=right):
            bounds = [each for each in (_bound(left, name), _bound(right, name)) if each is not None]
            return min(bounds, default=None)
        case Operation(
            operator="<" | "<=" | "==" as sign, left=FieldReference(path=(who,), scope="own"), right=most
        ):
            return _lowered(most, sign == "<") if who == name else None
        case Operation(
            operator=">" | ">=" | "==" as sign, left=most, right=FieldReference(path=(who,), scope="own")
        ):
            return _lowered(most, sign == ">") if who == name else None
        case Operation(operator="in", left=FieldReference(path=(who,), scope="own"), right=Range(high=most)):
            return number_of(most) if who == name else None
        case _:
            return None


def _lowered(most: Expression, is_strict: bool) -> int | None:
    number = number_of(most)
    return None if number is None else number - is_strict


def _least(expression: Expression, record: Record, message: Message | None = None) -> int | None:
    """Return a lower bound of a derived length, or None."""
    match expression:
        case Call(
            function="size" | "count" as function, arguments=(FieldReference(path=(name,), scope="own"),)
        ):
            measured = record.by_name.get(name)
            return None if measured is None else _measure(measured, function, record.sizes, message)
        case Operation(operator="+", left=left, right=right):
            sides = (_least(left, record, message), _least(right, record, message))
            return None if sides[0] is None or sides[1] is None else sides[0] + sides[1]
        case Operation(operator="-", left=left, right=right):
            least, constant = _least(left, record, message), number_of(right)
            return None if least is None or constant is None else least - constant
        case _:
            return number_of(expression)


def _measure(field: Field, function: str, sizes: Sizes, message: Message | None) -> int | None:
    if function == "size":
        return None if sizes.is_endless(field) else sizes.smallest(field) + _extra(field, sizes, message)
    if field.condition is not None or not isinstance(field.type, Counted):
        return 0
    length = field.type.length
    if isinstance(length, Computed):
        return max(0, number_of(length.value) or 0)
    return int(isinstance(length, Until))


RULES = (_length_too_narrow, _region_too_small, _region_never_full, _region_left_over, _message_too_long)
