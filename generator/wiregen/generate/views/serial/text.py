"""Texts that all serializations need: names of a schema, defaults as Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wiregen.generate.views.python.text import default_text, flat
from wiregen.schema import model as m
from wiregen.schema.naming import Namespace, python_name
from wiregen.schema.walk import nested_types

__all__ = ["code_rule", "default_of", "model_fields", "proto_name", "proto_unique", "unique"]


def proto_name(name: str) -> str:
    """Return a field's name in a schema that is also usable as an attribute in Python."""
    return python_name(name, Namespace.PROTO) if name else ""


def unique(names: Iterable[str], taken: set[str]) -> tuple[str, ...]:
    """Return the names with an underscore appended to those that are taken; add all of them to `taken`."""
    found = []
    for name in names:
        while name in taken:
            name += "_"
        taken.add(name)
        found.append(name)
    return tuple(found)


def proto_unique(names: Iterable[str], taken: set[str]) -> tuple[str, ...]:
    """Return the names of a message's fields, with a number appended to names that collide in protobuf's JSON."""
    found = []
    for name in names:
        own, count = name, 1
        while own.replace("_", "").lower() in taken:
            count += 1
            own = f"{name}_{count}"
        taken.add(own.replace("_", "").lower())
        found.append(own)
    return tuple(found)


def default_of(field: m.Field, enums: Mapping[str, m.Enum]) -> str:
    """Return the value of an absent field."""
    text = default_text(field, enums)
    assert text is not None, f"{field.path} has no default"
    return text


def code_rule(protocol: m.Protocol, frame: str) -> str | None:
    """Return the rule of the field that chooses the message of a frame."""
    fields = next(flat(each.fields) for each in protocol.frames if each.name == frame)
    rules = {field.name: field.rule for field in fields}
    for type_ in nested_types(*(field.type for field in fields)):
        if isinstance(type_, m.MessageMatch) and isinstance(type_.subject, m.FieldReference):
            return rules.get(type_.subject.path[-1])
    return None


def model_fields(protocol: m.Protocol) -> dict[str, m.Field]:
    """Return the fields that records and frames show, by path."""
    owners: list[tuple[m.Field, ...]] = [each.fields for each in protocol.structs]
    owners += [each.fields for each in protocol.messages]
    owners += [each.fields for each in protocol.frames]
    owners += [variety.fields for union in protocol.unions for variety in union.varieties]
    return {each.path: each for fields in owners for each in flat(fields)}
