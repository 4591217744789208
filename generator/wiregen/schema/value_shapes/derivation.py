"""Derives from the model the values that a serialization carries, by one rule for all protocols."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, assert_never

from wiregen.runtime.schema.shapes import content, is_flat
from wiregen.schema import model as m
from wiregen.schema.declared import index_of
from wiregen.schema.value_shapes.choices import merged, widened
from wiregen.schema.value_shapes.reachable import reachable
from wiregen.schema.value_shapes.shapes import (
    AnyOf,
    Carried,
    CarriedField,
    Choice,
    Flag,
    Form,
    FrameRecord,
    Many,
    Member,
    Nullable,
    Number,
    Octets,
    One,
    Raw,
    Real,
    Record,
    String,
    Uuid,
)
from wiregen.schema.walk import (
    AttributeField,
    attributes,
    frame_attributes,
    matched_messages,
    may_lack_message,
    nested_types,
)

__all__ = ["CarriedFields", "Varied", "carry", "fields_of_all", "fields_of_layout"]

Varied: TypeAlias = m.Struct | m.Message | m.Frame | m.Preamble
"""A declaration that a variant may lay out differently, and whose fields are carried."""


def carry(protocol: m.Protocol) -> Carried:
    """Return the values of a checked protocol's messages, without their layout."""
    rooms = _Rooms(protocol)
    unions = tuple(union for union in protocol.unions if not union.is_raw)
    return reachable(
        Carried(
            records=(
                *(rooms.record("struct", struct, None) for struct in protocol.structs),
                *(rooms.record("message", message, message.code) for message in protocol.messages),
                *(rooms.variety(union, variety) for union in unions for variety in union.varieties),
            ),
            frames=tuple(rooms.frame(frame) for frame in protocol.frames),
            unions=tuple(union.name for union in unions),
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedFields:
    """The fields of a declaration as they are carried, and their choices."""

    fields: tuple[CarriedField, ...]
    choices: tuple[Choice, ...]


def fields_of_layout(protocol: m.Protocol, declared: Varied) -> CarriedFields:
    """Return the fields that one layout of a declaration carries."""
    if isinstance(declared, m.Frame):
        owner = _Owner(protocol, frame_attributes(declared, protocol))
        fields = owner.carried(field for field in owner.shown() if field.name != declared.message)
    else:
        owner = _Owner(protocol, attributes(declared.fields))
        fields = owner.carried(owner.shown())
    return CarriedFields(fields=fields, choices=tuple(owner.choices))


def fields_of_all(protocol: m.Protocol, declared: Varied) -> CarriedFields:
    """Return the fields that a declaration carries, with integers that also hold those of its other layouts."""
    own = fields_of_layout(protocol, declared)
    for other in _layouts(protocol, declared):
        own = _with_widths(own, fields_of_layout(protocol, other))
    return own


def _with_widths(own: CarriedFields, other: CarriedFields) -> CarriedFields:
    forms = {field.name: field.form for field in other.fields}
    choices = {choice.name: choice.forms for choice in other.choices}
    return CarriedFields(
        fields=tuple(replace(f, form=widened(f.form, forms.get(f.name, f.form))) for f in own.fields),
        choices=tuple(replace(c, forms=merged((*c.forms, *choices.get(c.name, ())))) for c in own.choices),
    )


def _layouts(protocol: m.Protocol, declared: Varied) -> Iterator[Varied]:
    """Yield the other layouts of a declaration."""
    for variant in protocol.variants:
        others: tuple[Varied, ...] = (
            *variant.structs,
            *variant.messages,
            *variant.frames,
            *variant.preambles,
        )
        yield from (each for each in others if type(each) is type(declared) and each.name == declared.name)


class _Rooms:
    """The declarations of a protocol, one after another."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._protocol = protocol

    def record(
        self, kind: Literal["struct", "message"], declared: m.Struct | m.Message, code: int | None
    ) -> Record:
        carried = fields_of_all(self._protocol, declared)
        return Record(
            kind=kind,
            name=declared.name,
            union=None,
            path=declared.path,
            doc=declared.doc,
            notes=declared.notes,
            fields=carried.fields,
            choices=carried.choices,
            code=code,
        )

    def variety(self, union: m.Union, variety: m.Variety) -> Record:
        owner = _Owner(self._protocol, attributes(variety.fields))
        codes = variety.spans
        return Record(
            kind="variety",
            name=variety.name,
            union=union.name,
            path=variety.path,
            doc=variety.doc,
            notes=variety.notes,
            fields=owner.carried(owner.shown()),
            choices=tuple(owner.choices),
            code=codes[0].low,
            has_code=len(codes) > 1 or codes[0].low != codes[0].high,
        )

    def frame(self, frame: m.Frame) -> FrameRecord:
        header = fields_of_all(self._protocol, frame)
        carried = {
            name for layout in (frame, *_layouts(self._protocol, frame)) for name in self._messages(layout)
        }
        return FrameRecord(
            name=frame.name,
            role=frame.role,
            path=frame.path,
            doc=frame.doc,
            notes=frame.notes,
            body=frame.message or "",
            fields=header.fields,
            choices=header.choices,
            messages=tuple(each.name for each in self._protocol.messages if each.name in carried),
            is_coded=frame.notes.tag == "code",
            may_lack_message=may_lack_message(frame),
        )

    def _messages(self, frame: Varied) -> Iterator[str]:
        """Yield the names of the messages that one layout of a frame may carry."""
        assert isinstance(frame, m.Frame)
        known = frame_attributes(frame, self._protocol)
        bodies = [each.field.type for each in known if each.field.name == frame.message]
        role = frame.role
        for type_ in nested_types(*bodies):
            match type_:
                case m.MessageMatch():
                    yield from (each.name for each in matched_messages(self._protocol.messages, type_, role))
                case m.MessageReference(name=name):
                    yield name


class _Owner:
    """One declaration: its fields as they are carried, and their choices."""

    def __init__(self, protocol: m.Protocol, known: tuple[AttributeField, ...]) -> None:
        self._protocol = protocol
        self.choices: list[Choice] = []
        self._optional = frozenset(each.field.name for each in known if each.may_be_absent)
        self.flat = tuple(each.field for each in known)

    def shown(self) -> list[m.Field]:
        """Return the fields that are carried, without derived and constant fields and fields without meaning."""
        return [f for f in self.flat if f.name != "_" and not isinstance(f.value, m.Derived | m.Constant)]

    def carried(self, fields: Iterable[m.Field]) -> tuple[CarriedField, ...]:
        return tuple(self._field(field) for field in fields)

    def _field(self, field: m.Field) -> CarriedField:
        form = self._form(field.type, field.name)
        is_null = self._is_nullable(field.type)
        presence: Literal["always", "optional", "trailing"] = "always"
        if isinstance(field.value, m.Trailing):
            presence, form = "trailing", Nullable(value=form) if is_null else form
        elif is_null or field.name in self._optional:
            presence = "optional"
        about = self._protocol.about[field.path]
        return CarriedField(
            name=field.name,
            path=field.path,
            doc=about.doc,
            notes=about.notes,
            form=form,
            presence=presence,
        )

    # ---- types

    def _form(self, type_: m.Type, name: str) -> Form:
        match type_:
            case m.Integer(bits=bits, is_signed=signed):
                return Number(is_wide=bits > 32, is_signed=signed)
            case m.Varint(is_zigzag=zigzag):
                return Number(is_wide=True, is_signed=zigzag)
            case m.Float(format_):
                return Real(format=format_)
            case m.Boolean() | m.Bits(is_flag=True):
                return Flag()
            case m.Bits():
                return Number(is_wide=False, is_signed=False)
            case m.Uuid():
                return Uuid()
            case m.Bytes():
                return Octets()
            case m.Text(encoding=encoding, is_lenient=lenient):
                return String(is_lenient=encoding == "utf8" and lenient)
            case m.List(item=item):
                return Many(item=self._item(item, name))
            case m.Region(content=content):
                return self._form(content, name)
            case m.EnumReference(name=own):
                return self._member(index_of(self._protocol).enums[own])
            case m.CodingReference(name=own):
                return self._coded(index_of(self._protocol).codings[own])
            case m.UnionReference(name=own):
                union = index_of(self._protocol).unions[own]
                return Raw(union=own) if union.is_raw else One(kind="union", name=own)
            case m.StructReference(name=own):
                return One(kind="struct", name=own)
            case m.MessageReference(name=own):
                return One(kind="message", name=own)
            case m.FrameReference(name=own):
                return One(kind="frame", name=own)
            case m.MessageMatch():
                messages = matched_messages(self._protocol.messages, type_, None)
                forms = tuple(One(kind="message", name=each.name) for each in messages)
                return self._any_of(name, forms)  # also of one message: bytes may have the code of another
            case m.Match(arms=arms):
                return self._choice(name, merged(self._arm_forms(arms, name)))
            case m.Block():
                raise AssertionError("a block has no value of its own")
            case _:
                assert_never(type_)

    def _arm_forms(self, arms: Iterable[m.Arm], name: str) -> Iterator[Form]:
        """Yield the forms of the values that arms give; a choice in an arm is part of the outer one."""
        for number, arm in enumerate(arms, 1):
            inner = content(arm.type)
            if isinstance(inner, m.Match):
                yield from self._arm_forms(inner.arms, f"{name}_{number}")
            elif not is_flat(inner):
                yield self._form(inner, f"{name}_{number}")

    def _item(self, type_: m.Type, name: str) -> Form:
        form = self._form(type_, f"{name}_item")
        return Nullable(value=form) if self._is_nullable(type_) else form

    def _choice(self, name: str, forms: tuple[Form, ...]) -> Form:
        return forms[0] if len(forms) == 1 else self._any_of(name, forms)

    def _any_of(self, name: str, forms: tuple[Form, ...]) -> AnyOf:
        self.choices.append(Choice(name=name, forms=forms))
        return AnyOf(name=name)

    def _member(self, enum: m.Enum) -> Member:
        number = self._form(enum.type, enum.name)
        assert isinstance(number, Number)
        fits = all(-(2**31) <= member.value < 2**31 for member in enum.members)
        return Member(enum=enum.name, is_open=enum.is_open, number=number, fits=fits)

    def _coded(self, coding: m.Coding) -> Number:
        wides = [width.wide for width in coding.widths if width.wide is not None]
        signed = coding.type.is_signed or any(wide.is_signed for wide in wides)
        bits = max(each.bits for each in (coding.type, *wides))
        mixed = signed and any(not each.is_signed and each.bits == bits for each in (coding.type, *wides))
        return Number(is_wide=bits > 32 or (mixed and bits == 32), is_signed=signed)

    # ---- null

    def _is_nullable(self, type_: m.Type) -> bool:
        if isinstance(type_, m.Counted):
            return self._is_null_length(type_.length)
        match type_:
            case m.Region(content=content, carrier=carrier):
                is_null = not isinstance(carrier, m.InSize) and self._is_null_length(carrier.length)
                return is_null or self._is_nullable(content)
            case m.Match(arms=arms):
                return any(self._is_nullable(arm.type) for arm in arms)
            case _:
                return self._has_null(type_)

    def _is_null_length(self, length: m.Length | None) -> bool:
        match length:
            case m.Prefix(type=type_):
                return self._has_null(type_)
            case m.Computed(value=m.FieldReference(path=(name,))):
                return any(field.name == name and self._has_null(field.type) for field in self.flat)
            case _:
                return False

    def _has_null(self, type_: m.Type) -> bool:
        if not isinstance(type_, m.CodingReference):
            return False
        coding = index_of(self._protocol).codings[type_.name]
        return any(width.is_null for width in coding.widths)
