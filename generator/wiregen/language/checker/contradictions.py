"""Conditions that no value fulfils: of a field, which can be neither written nor read or is never present, and of the item that ends a list."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.language.checker.absences import Uses
from wiregen.language.checker.conditions import never
from wiregen.language.checker.inspection import Inspection, Record
from wiregen.runtime.schema.node import Node
from wiregen.schema.copies import mapped, replace
from wiregen.schema.field_facts import as_item
from wiregen.schema.model import (
    Chunks,
    Expression,
    FieldReference,
    List,
    Region,
    Struct,
    StructReference,
    Type,
    Until,
)

__all__ = ["RULES"]


def _condition_never_holds(inspection: Inspection) -> None:
    for record in inspection.records:
        if not any(field.where is not None for field in record.flat):
            continue
        uses = Uses(inspection, record)
        for position, field in enumerate(record.flat):
            if field.where is None or not uses.is_always(field.name):
                continue
            known = uses.known_before(position, ())
            if known and never(known, uses):  # an earlier field is reported
                break
            if never([*known, (field.where, True)], uses):
                inspection.error(
                    "WG3085",
                    f"no value of `{field.name}` fulfils its condition",
                    inspection.place(field.path, "where"),
                    "never true",
                    help_="correct this condition, or the earlier one that excludes the values",
                )


def _field_never_present(inspection: Inspection) -> None:
    for record in inspection.records:
        if not any(field.condition is not None for field in record.flat):
            continue
        uses = Uses(inspection, record)
        for position, field in enumerate(record.flat):
            known = uses.known_before(position, ()) if field.condition is not None else []
            if field.condition is None or (known and never(known, uses)):
                continue
            if never([*known, (field.condition, True)], uses):
                inspection.warning(
                    "WG3088",
                    f"`{field.name}` is never present: no values fulfil its `if`",
                    inspection.place(field.path, "if"),
                    "never true",
                    help_="correct the condition, or remove the field",
                )


def _list_never_ends(inspection: Inspection) -> None:
    structs = {
        (record.variant, record.owner.name): record
        for record in inspection.records
        if isinstance(record.owner, Struct)
    }
    for record in inspection.records:
        for field, type_ in record.shapes:
            for struct, until in _ends(type_):
                item = structs.get((record.variant, struct)) or structs.get((None, struct))
                if item is not None and _never_true(inspection, item, until):
                    inspection.error(
                        "WG3085",
                        f"no `{struct}` fulfils the condition that ends `{field.name}`",
                        inspection.place(field.path, "type"),
                        "never ends",
                        inspection.also(item.owner.path, "its fields cannot have such values", "name"),
                        help_="use values that the fields of the item can have",
                    )


def _ends(type_: Type) -> Iterator[tuple[str, Expression]]:
    """Yield the struct of the items and the condition that ends them."""
    match type_:
        case List(item=StructReference(name=name), length=Until(condition=condition)):
            yield name, condition
        case Region(carrier=Chunks(struct=name, until=until)):
            yield name, until


def _no_item_is_allowed(inspection: Inspection) -> None:
    """Report conditions on items without fields, and the conditions of their types."""
    for record in inspection.records:
        for field, type_ in record.shapes:
            if not isinstance(type_, List) or isinstance(type_.item, StructReference):
                continue
            alone = replace(as_item(field), type=type_.item)
            item = replace(record, owner=replace(record.owner, fields=(alone,)))
            if type_.where is not None and _never_true(inspection, item, type_.where.condition):
                message, label = f"no item of `{field.name}` fulfils the condition of its type", "never true"
            elif isinstance(type_.length, Until) and _never_true(inspection, item, type_.length.condition):
                message, label = f"no item fulfils the condition that ends `{field.name}`", "never ends"
            else:
                continue
            inspection.error(
                "WG3085",
                message,
                inspection.place(field.path, "type"),
                label,
                help_="use values that the items can have",
            )


def _never_true(inspection: Inspection, item: Record, condition: Expression) -> bool:
    uses = Uses(inspection, item)
    known = uses.known_before(len(item.flat), ())
    of_item = mapped(condition, lambda node: _as_own(node, item))
    return not (known and never(known, uses)) and never([*known, (of_item, True)], uses)


def _as_own(node: Node, item: Record) -> Node | None:
    """Return an item, or a field of it, as the item's own declaration refers to it."""
    if isinstance(node, FieldReference) and node.scope == "item":
        return FieldReference(path=node.path or (item.fields[0].name,))
    return None


RULES = (_condition_never_holds, _field_never_present, _list_never_ends, _no_item_is_allowed)
