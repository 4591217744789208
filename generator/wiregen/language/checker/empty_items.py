"""Lists whose items may be empty, so that a few bytes announce any number of them."""

from __future__ import annotations

from wiregen.language.checker.absences import is_positive
from wiregen.language.checker.inspection import Inspection, Record
from wiregen.language.checker.recursion import declarations_of
from wiregen.language.diagnostics import Label
from wiregen.schema.model import Bits, Bytes, Computed, Field, List, Reference, Text, Type
from wiregen.schema.sizes import Sizes
from wiregen.schema.values import number_of

__all__ = ["RULES"]


def _items_of_no_size(inspection: Inspection) -> None:
    for record in inspection.records:
        for field, type_ in record.shapes:
            if isinstance(type_, List) and _can_be_endless(type_, record.sizes):
                if _is_never_empty(inspection, record, field, type_.item):
                    continue
                inspection.error(
                    "WG3022",
                    f"an item of `{field.name}` may be 0 bytes long, so a few bytes could announce any number of items",
                    inspection.place(field.path, "type"),
                    "number not bounded",
                    _empty_item(inspection, field, type_),
                    help_="give the item at least one byte, or use a constant number of items",
                )


def _is_never_empty(inspection: Inspection, record: Record, field: Field, item: Type) -> bool:
    """Return whether conditions imply that an item has a byte: `bytes[n][c]` or `u16[n][c]` where n is at least 1."""
    match item:
        case Bytes(length=Computed(value=value)) | Text(length=Computed(value=value)):
            return is_positive(inspection, record, field, value)
        case List(length=Computed(value=value), item=inner):
            has_bytes = record.sizes.smallest(inner) > 0 or _is_never_empty(inspection, record, field, inner)
            return has_bytes and is_positive(inspection, record, field, value)
        case _:
            return False


def _empty_item(inspection: Inspection, field: Field, list_: List) -> Label | None:
    """Return where the item is laid out: its declaration, else the field itself."""
    owner = declarations_of(inspection).get(list_.item.name) if isinstance(list_.item, Reference) else None
    if owner is not None:
        return inspection.also(owner.path, "may be 0 bytes long", "name")
    return inspection.also(field.path, "its items", "name")


def _can_be_endless(list_: List, sizes: Sizes) -> bool:
    is_constant = isinstance(list_.length, Computed) and number_of(list_.length.value) is not None
    return not is_constant and not isinstance(list_.item, Bits) and sizes.smallest(list_.item) == 0


RULES = (_items_of_no_size,)
