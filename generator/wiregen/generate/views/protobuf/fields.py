"""Small changes to the fields of a protobuf message, and its enums."""

from __future__ import annotations

from collections.abc import Iterable

from wiregen.generate.views.protobuf.parts import PartView
from wiregen.generate.views.protobuf.schema import ProtoEnum, ProtoField, ProtoMember
from wiregen.generate.views.python.text import declaration_doc
from wiregen.generate.views.serial.text import unique
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.naming import constant_case, snake_case
from wiregen.schema.value_shapes import Form, Many, Member, One

__all__ = ["documented", "form_name", "guarded", "in_oneof", "proto_enum", "union_names"]


def documented(proto: ProtoField, doc: str) -> ProtoField:
    """Return a field with its documentation."""
    return replace(proto, doc=doc)


def in_oneof(proto: ProtoField, oneof: str) -> ProtoField:
    """Return a field as a member of a oneof."""
    return replace(proto, label="", oneof=oneof)


def guarded(part: PartView, guard: str, otherwise: str) -> PartView:
    """Return a part that is put only under a condition, and taken as `otherwise` without it."""
    take = f'({part.take} if source.HasField("{part.name}") else {otherwise})' if guard else part.take
    return replace(part, guard=guard, take=take)


def form_name(form: Form) -> str:
    """Return the field name of a form of a choice."""
    match form:
        case One(name=name):
            return snake_case(name)
        case Member(enum=name):
            return snake_case(name)
        case Many():
            return "list"
        case _:
            return type(form).__name__.lower()


def proto_enum(enum: m.Enum, taken: set[str]) -> ProtoEnum:
    """Return an enum with a member 0 first, which protobuf requires; the names of all enums share one namespace."""
    prefix = constant_case(enum.name)
    members = sorted(enum.members, key=lambda member: member.value != 0)
    names = unique((f"{prefix}_{member.name.strip('_')}" for member in members), taken)
    shown = [
        ProtoMember(name=name, number=member.value, doc=declaration_doc(member.doc, member.notes))
        for name, member in zip(names, members, strict=True)
    ]
    if not shown or shown[0].number != 0:
        [zero] = unique([f"{prefix}_UNSPECIFIED"], taken)
        shown.insert(0, ProtoMember(name=zero, number=0, doc="Never sent."))
    return ProtoEnum(name=enum.name, doc=declaration_doc(enum.doc, enum.notes), members=tuple(shown))


def union_names(protocol: m.Protocol) -> Iterable[str]:
    """Yield the names of all unions, raw ones included."""
    return (union.name for union in protocol.unions)
