"""Layouts that take all bytes of the enclosing region."""

from __future__ import annotations

from wiregen.schema import model as m
from wiregen.schema.declared import index_of
from wiregen.schema.field_facts import reaches_end
from wiregen.schema.walk import every_field, is_compression

__all__ = ["fills", "takes_all"]


def takes_all(fields: tuple[m.Field, ...], protocol: m.Protocol) -> bool:
    """Return whether fields extend to the end of any enclosing region, so that no bytes are left over after them."""
    if not fields or fields[-1].condition is not None:
        return False
    if any(isinstance(each.value, m.Trailing) for each in every_field(fields)):
        return False  # before the type: a struct may end in itself by such a field
    return _type_takes_all(fields[-1].type, protocol)


def _type_takes_all(type_: m.Type, protocol: m.Protocol) -> bool:
    match type_:
        case m.Block(fields=fields):
            return takes_all(fields, protocol)
        case m.StructReference(name=name):
            return takes_all(index_of(protocol).structs[name].fields, protocol)
        case m.Region():
            return False
        case _:
            return reaches_end(type_, protocol)


def fills(region: m.Region, protocol: m.Protocol) -> bool:
    """Return whether the content of a region takes all of it.

    A compressed stream has an end of its own, which bytes may follow.
    """
    return not is_compression(region.carrier) and _type_takes_all(region.content, protocol)
