"""Where regions end: fields after one that takes all remaining bytes, and streams, which have no end."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.language.checker.inspection import Inspection, Record
from wiregen.language.checker.open_ends import Rests, is_read_while_bytes_remain, rests_of
from wiregen.language.diagnostics import Label
from wiregen.schema.model import (
    Block,
    Computed,
    Field,
    Frame,
    List,
    Match,
    Message,
    MessageMatch,
    Position,
    Preamble,
    StructReference,
    ToEnd,
    Trailing,
    Type,
    UnionReference,
    Variant,
    Variety,
)
from wiregen.schema.values import number_of
from wiregen.schema.walk import (
    direct_expressions,
    field_expressions,
    matched_messages,
    nested_expressions,
    open_types,
)

__all__ = ["RULES"]


def _field_after_the_rest(inspection: Inspection) -> None:
    for record, rests in _records(inspection):
        for fields in record.blocks:
            for taker, follower in _followed(fields, rests, record):
                way_out = (
                    "after `?=` write only fields with `?=`, or declare with `if` when the field is present"
                )
                if not is_read_while_bytes_remain(taker):
                    way_out = "give it a length, put it in a region, or move it to the end"
                inspection.error(
                    "WG3010",
                    f"`{taker.name}` {_how_far(taker)}, but `{follower.name}` follows",
                    inspection.place(taker.path, "type"),
                    "takes all remaining bytes",
                    inspection.also(follower.path, "no bytes remain for this", "name"),
                    help_=way_out,
                )


def _how_far(taker: Field) -> str:
    return (
        "is read while bytes remain"
        if is_read_while_bytes_remain(taker)
        else "extends to the end of its region"
    )


def _item_takes_the_rest(inspection: Inspection) -> None:
    for record, rests in _records(inspection):
        for field, type_ in record.shapes:
            if isinstance(type_, List) and rests.takes(type_.item, record.role) and not _is_one(type_):
                inspection.error(
                    "WG3011",
                    f"an item of `{field.name}` extends to the end of its region, so there is never a second one",
                    inspection.place(field.path, "type"),
                    "the first item takes all remaining bytes",
                    help_="give the item a length, or put each item in a region",
                )


def _alternative_is_never_read(inspection: Inspection) -> None:
    """Refuse `U[]` where an alternative of U extends to the end too: decoders refuse it unless the union is last."""
    for record, rests in _records(inspection):
        for field, type_ in record.shapes:
            variety = _endless_variety(inspection, type_, rests)
            if variety is not None:
                inspection.error(
                    "WG3011",
                    f"an item of `{field.name}` may be `{variety.name}`, which extends to the end of its region, so it is never read",
                    inspection.place(field.path, "type"),
                    "more items may follow",
                    inspection.also(variety.path, "extends to the end", "name"),
                    help_=f"give `{variety.name}` a length, or exclude it with `only`",
                )


def _endless_variety(inspection: Inspection, type_: Type, rests: Rests) -> Variety | None:
    """Return the first alternative that extends to the end, in a list to the end whose items end in a union.

    Return None if every alternative ends before.
    """
    if not isinstance(type_, List) or not isinstance(type_.length, ToEnd):
        return None
    for union in _last_unions(inspection, type_.item):
        chosen = (
            each
            for each in inspection.declared.unions[union.name].varieties
            if union.only is None or each.name in union.only
        )
        found = next(
            (each for each in chosen if any(rests.field_takes(field, None) for field in each.fields)), None
        )
        if found is not None:
            return found
    return None


def _last_unions(inspection: Inspection, type_: Type) -> Iterator[UnionReference]:
    """Yield the unions with which a type ends."""
    last, seen = [type_], set[Type]()
    while last:
        type_ = last.pop(0)
        if isinstance(type_, UnionReference):
            yield type_
        elif isinstance(type_, Match):
            last[:0] = [arm.type for arm in type_.arms]
        elif isinstance(type_, StructReference | Block) and type_ not in seen:
            seen.add(type_)
            last[:0] = [field.type for field in inspection.declared.fields_of(type_)[-1:]]


def _is_one(list_: List) -> bool:
    return isinstance(list_.length, Computed) and number_of(list_.length.value) in (0, 1)


def _stream_without_end(inspection: Inspection) -> None:
    for record, rests in _records(inspection):
        if not isinstance(record.owner, Frame | Preamble):
            continue
        for field in record.owner.fields:
            if rests.field_takes(field, record.role):
                _report_endless(inspection, record, field, rests)


def _report_endless(inspection: Inspection, record: Record, field: Field, rests: Rests) -> None:
    open_messages = [message for message, _ in _open_messages(inspection, record, field)]
    takers = [taker for message in open_messages if (taker := rests.taker(message)) is not None]
    for taker in takers or [field]:
        inspection.error(
            "WG3012",
            f"`{inspection.full_name(taker)}` {_how_far(taker)}, but that end is not known",
            inspection.place(taker.path, "type"),
            "end not known",
            _carried_here(inspection, field) if taker is not field else None,
            help_="give it a length, or put it in a region: `length : u32 := size(body)`, `body : … in length`",
        )


def _remaining_without_end(inspection: Inspection) -> None:
    for record in inspection.records:
        if not isinstance(record.owner, Frame | Preamble):
            continue
        for field in record.owner.fields:
            _report_remaining(inspection, field, None)
            for message, carrier in _open_messages(inspection, record, field):
                for inner in message.fields:
                    _report_remaining(inspection, inner, _carried_here(inspection, carrier))


def _report_remaining(inspection: Inspection, field: Field, carrier: Label | None) -> None:
    if is_read_while_bytes_remain(field) or not _asks_what_remains(field):
        return
    inspection.error(
        "WG3013",
        f"`{inspection.full_name(field)}` uses `remaining`, but the end of its region is not known",
        inspection.place(field.path, "if"),
        "end not known",
        carrier,
        help_="give the frame a length, and put the message in a region: `body : match type in length`",
    )


def _asks_what_remains(field: Field) -> bool:
    types = tuple(open_types(field.type))
    fields = [field, *(inner for type_ in types if isinstance(type_, Block) for inner in type_.fields)]
    clauses = [each for inner in fields for each in field_expressions(inner)]
    found = nested_expressions(*clauses, *(each for type_ in types for each in direct_expressions(type_)))
    return any(isinstance(each, Position) and each.what == "remaining" for each in found)


def _carried_here(inspection: Inspection, field: Field) -> Label | None:
    return inspection.also(field.path, "carried here, without a length", "type")


def _open_messages(inspection: Inspection, record: Record, field: Field) -> Iterator[tuple[Message, Field]]:
    """Yield the messages that the field can carry in a stream, whose region has no end."""
    ways = [type_ for type_ in open_types(field.type) if isinstance(type_, MessageMatch)]
    if not isinstance(record.owner, Frame):
        return
    messages = _messages(inspection, record.variant)
    matched = {each.name for way in ways for each in matched_messages(messages, way, record.role)}
    yield from ((message, field) for message in messages if message.name in matched)


def _messages(inspection: Inspection, variant: Variant | None) -> tuple[Message, ...]:
    if variant is None:
        return inspection.protocol.messages
    other = {message.name: message for message in variant.messages}
    return tuple(other.get(message.name, message) for message in inspection.protocol.messages)


def _records(inspection: Inspection) -> Iterator[tuple[Record, Rests]]:
    for variant, _ in inspection.layouts:
        rests = rests_of(inspection, variant)
        yield from ((record, rests) for record in inspection.records if record.variant is variant)


def _followed(fields: tuple[Field, ...], rests: Rests, record: Record) -> Iterator[tuple[Field, Field]]:
    """Yield each field that takes all remaining bytes, with the next field that would take bytes too."""
    next_one: Field | None = None
    next_certain: Field | None = None
    for field in reversed(fields):
        follower = (
            next_certain
            if is_read_while_bytes_remain(field) and not rests.takes(field.type, record.role)
            else next_one
        )
        if follower is not None and rests.field_takes(field, record.role):
            yield field, follower
        if record.sizes.largest(field) != 0:
            next_one = field
            next_certain = next_certain if isinstance(field.value, Trailing) else field


RULES = (
    _field_after_the_rest,
    _item_takes_the_rest,
    _alternative_is_never_read,
    _stream_without_end,
    _remaining_without_end,
)
