"""Lenient regions whose trailing bytes are kept in one attribute, where each overwrites those of the one before."""

from __future__ import annotations

from wiregen.language.checker.inspection import Inspection, Record
from wiregen.schema.model import Block, Computed, Field, List, Match, Protocol, Region, Type, Variety
from wiregen.schema.values import number_of
from wiregen.schema.walk import tail_keepers

__all__ = ["RULES"]


def _tail_erased(inspection: Inspection) -> None:
    keeping: dict[str, Field] = {}
    for record in inspection.records:
        regions = _regions(inspection, record)
        if regions and not isinstance(record.owner, Variety):
            keeping.setdefault(record.owner.name, regions[0])
        if len(regions) > 1:
            _report(inspection, regions[1], regions[0], record.owner.name)
    for record in inspection.records:
        for field, type_ in record.shapes:
            name = _meets(inspection.protocol, record, type_, keeping)
            if name is not None:
                _report(inspection, field, keeping[name], name)


def _report(inspection: Inspection, field: Field, first: Field, owner: str) -> None:
    is_repeated = field is first
    inspection.error(
        "WG3069",
        f"the trailing bytes of `{field.name}` would replace those of "
        + ("the previous item" if is_repeated else f"`{first.name}`"),
        inspection.place(field.path, "type"),
        f"kept in the `tail` of `{owner}`",
        None if is_repeated else inspection.also(first.path, "kept there too", "type"),
        help_="declare the content of one of them as a struct, which has a `tail` of its own",
    )


def _regions(inspection: Inspection, record: Record) -> tuple[Field, ...]:
    """Return the fields with lenient regions whose trailing bytes the record itself keeps, in wire order."""
    return tuple(
        each for field in record.fields for each in _kept(inspection.protocol, record, field, field.type)
    )


def _keeper(record: Record) -> str:
    """Return the name of a record that keeps trailing bytes; "" for an alternative, which may share a struct's name."""
    return "" if isinstance(record.owner, Variety) else record.owner.name


def _kept(protocol: Protocol, record: Record, field: Field, type_: Type) -> tuple[Field, ...]:
    """Return these fields for one type of a field; of the arms of a choice, those of the one with most."""
    owner = _keeper(record)
    match type_:
        case Region(content=content, lenient=lenient):
            inner = _kept(protocol, record, field, content)
            return (*inner, field) if lenient and owner in tail_keepers(content, owner, protocol) else inner
        case List(item=item, length=length):
            inner = _kept(protocol, record, field, item)
            is_one = isinstance(length, Computed) and number_of(length.value) in (0, 1)
            return inner if is_one else inner * 2
        case Match(arms=arms):
            return max((_kept(protocol, record, field, arm.type) for arm in arms), key=len)
        case Block(fields=fields):
            return tuple(each for inside in fields for each in _kept(protocol, record, inside, inside.type))
        case _:
            return ()


def _meets(protocol: Protocol, record: Record, type_: Type, keeping: dict[str, Field]) -> str | None:
    """Return the declaration that keeps the trailing bytes of a lenient region around it and of one of its own."""
    if not isinstance(type_, Region) or not type_.lenient:
        return None
    names = tail_keepers(type_.content, _keeper(record), protocol) - {_keeper(record)}
    return next((name for name in sorted(names) if name in keeping), None)


RULES = (_tail_erased,)
