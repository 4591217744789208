"""The carried values, as a protobuf file and as the functions that convert to it and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wiregen.generate.views.protobuf.fields import (
    documented,
    form_name,
    guarded,
    in_oneof,
    proto_enum,
    union_names,
)
from wiregen.generate.views.protobuf.parts import (
    FormTestView,
    FunctionView,
    OneofView,
    PartView,
    all_received,
    all_sent,
    put,
    received,
    scalar,
)
from wiregen.generate.views.protobuf.schema import ProtoField, ProtoFile, ProtoMessage, ProtoOption
from wiregen.generate.views.python.shared import tailed, variety_class
from wiregen.generate.views.python.text import declaration_doc
from wiregen.generate.views.serial.names import SerialNames, attribute_of, class_of, is_instance
from wiregen.generate.views.serial.text import code_rule, default_of, model_fields, proto_name, proto_unique
from wiregen.schema import model as m
from wiregen.schema.declared import index_of
from wiregen.schema.naming import camel_case, snake_case
from wiregen.schema.value_shapes import (
    AnyOf,
    Carried,
    CarriedField,
    Form,
    FrameRecord,
    Many,
    Member,
    Nullable,
    One,
    Record,
)

__all__ = ["ProtobufBuilder"]


@dataclass(slots=True, kw_only=True)
class _Scope:
    """A protobuf message under construction: its full name, the stem of its functions, the messages inside it."""

    name: str
    stem: str
    owner: Record | FrameRecord
    key: str
    nested: list[ProtoMessage] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)


class ProtobufBuilder:
    """Builds the views of one protocol."""

    def __init__(
        self,
        protocol: m.Protocol,
        carried: Carried,
        numbers: Mapping[str, int],
        retired: Mapping[str, tuple[int, ...]],
        package: str,
        source: str,
    ) -> None:
        self._protocol = protocol
        self._carried = carried
        self._numbers = numbers
        self._retired = retired
        self._package = f"{package}.{protocol.name}"
        self._source = source
        self._enums: dict[str, m.Enum] = {enum.name: enum for enum in protocol.enums}
        self._fields = model_fields(protocol)
        self._tailed = tailed(protocol)
        self.names = SerialNames()
        self.functions: list[FunctionView] = []
        self.tables: list[OneofView] = []
        self.used_enums: dict[str, bool] = {}

    def file(self, options: tuple[ProtoOption, ...]) -> ProtoFile:
        """Return the file; after this call the functions and tables are complete."""
        messages = [self._frame(frame) for frame in self._carried.frames]
        messages += [self._record(record) for record in self._carried.records if record.union is None]
        messages += [self._union(name) for name in self._carried.unions]
        protocol = self._protocol
        taken: set[str] = set()
        return ProtoFile(
            name=f"{protocol.name}.proto",
            package=self._package,
            options=options,
            source=self._source,
            doc=declaration_doc(protocol.doc, protocol.notes, protocol.sources),
            messages=tuple(messages),
            enums=tuple(
                proto_enum(self._enums[name], taken) for name, known in self.used_enums.items() if known
            ),
        )

    # ---- declarations

    def _record(self, record: Record) -> ProtoMessage:
        key = record.name if record.union is None else f"{record.union}.{record.name}"
        scope = _Scope(name=key, stem=self.names.function(*key.split(".")), owner=record, key=key)
        code = self._code(record) if record.has_code else []
        pairs = [*code, *self._parts(scope, record.fields)]
        self._add(
            FunctionView(
                stem=scope.stem,
                kind="record",
                class_name=class_of(record),
                doc=key,
                parts=tuple(part for _, part in pairs),
                trailing=self._trailing(record.fields),
                has_tail=class_of(record) in self._tailed,
            )
        )
        return ProtoMessage(
            name=record.name,
            doc=declaration_doc(record.doc, record.notes),
            fields=tuple(each for each, _ in pairs),
            nested=tuple(scope.nested),
            reserved=self._retired.get(key, ()),
        )

    def _code(self, record: Record) -> list[tuple[ProtoField, PartView]]:
        """Return the code of an alternative that has several."""
        part = PartView(
            name="code",
            kind="assign",
            value="value.code",
            put="value.code",
            take="source.code",
        )
        return [(ProtoField(name="code", number=1, type="sint64", doc="Which of its codes."), part)]

    def _union(self, name: str) -> ProtoMessage:
        union = index_of(self._protocol).unions[name]
        varieties = self._carried.varieties(name)
        names = proto_unique((proto_name(snake_case(each.name)) for each in varieties), {"value"})
        table = self.names.table("ONEOF", name)
        stem = self.names.function(name)
        self._add(
            FunctionView(
                stem=stem,
                kind="union",
                class_name="Any",
                doc=name,
                oneof="value",
                table=table,
                rule=union.notes.rule,
            )
        )
        rows = tuple(
            (class_of(each), own, each.name, self.names.function(name, each.name))
            for each, own in zip(varieties, names, strict=True)
        )
        self.tables.append(OneofView(name=table, rows=rows))
        return ProtoMessage(
            name=name,
            doc=declaration_doc(union.doc, union.notes),
            fields=tuple(
                self._chosen(name, each.name, own, f"{name}.{each.name}", "value")
                for each, own in zip(varieties, names, strict=True)
            ),
            oneof="value",
            nested=tuple(self._record(each) for each in varieties),
            reserved=self._retired.get(name, ()),
        )

    def _frame(self, frame: FrameRecord) -> ProtoMessage:
        scope = _Scope(name=frame.name, stem=self.names.function(frame.name), owner=frame, key=frame.name)
        pairs = self._parts(scope, frame.fields)
        oneof = proto_name(frame.body) or "message"
        scope.taken.add(oneof.replace("_", ""))
        names = proto_unique((proto_name(snake_case(name)) for name in frame.messages), scope.taken)
        table = self.names.table("ONEOF", frame.name)
        self._add(
            FunctionView(
                stem=scope.stem,
                kind="frame",
                class_name=class_of(frame),
                doc=frame.name,
                parts=tuple(part for _, part in pairs),
                trailing=self._trailing(frame.fields),
                has_tail=class_of(frame) in self._tailed,
                may_lack_message=frame.may_lack_message,
                oneof=oneof,
                table=table,
                rule=code_rule(self._protocol, frame.name),
            )
        )
        classes = [self._carried.record("message", name) for name in frame.messages]
        rows = tuple(
            (class_of(each), own, each.name, self.names.function(each.name))
            for each, own in zip(classes, names, strict=True)
        )
        self.tables.append(OneofView(name=table, rows=rows))
        chosen = (
            self._chosen(frame.name, name, own, name, oneof)
            for name, own in zip(frame.messages, names, strict=True)
        )
        return ProtoMessage(
            name=frame.name,
            doc=declaration_doc(frame.doc, frame.notes),
            fields=(*(each for each, _ in pairs), *chosen),
            oneof=oneof if frame.messages else "",
            nested=tuple(scope.nested),
            reserved=self._retired.get(frame.name, ()),
        )

    def _chosen(self, owner: str, part: str, own: str, type_: str, oneof: str) -> ProtoField:
        number = self._numbers[f"{owner}.{part}"]
        return ProtoField(name=own, number=number, type=self._full(type_), oneof=oneof)

    # ---- fields

    def _parts(self, scope: _Scope, fields: tuple[CarriedField, ...]) -> list[tuple[ProtoField, PartView]]:
        names = proto_unique((proto_name(each.name) for each in fields), scope.taken)
        trailing = [each for each in fields if each.presence == "trailing"]
        pairs = []
        for each, name in zip(fields, names, strict=True):
            guard, otherwise = "", ""
            value = f"value.{attribute_of(scope.owner, each)}"
            if each.presence == "optional":
                guard, otherwise = f"{value} is not None", "None"
            elif each.presence == "trailing":
                otherwise = default_of(self._fields[each.path], self._enums)
                guard = f"value.absent < {len(trailing) - trailing.index(each)}"
                if otherwise == "None" and not isinstance(each.form, Nullable):
                    guard = f"{value} is not None"
            number = self._numbers[f"{scope.key}.{each.name}"]
            place = each.name if isinstance(scope.owner, Record) else f"{scope.owner.name}.{each.name}"
            proto, part = self._slot(
                scope, each.form, name, number, value, place, is_optional=each.presence != "always"
            )
            pairs.append(
                (
                    documented(proto, declaration_doc(each.doc, each.notes)),
                    guarded(part, guard, otherwise),
                )
            )
        return pairs

    def _trailing(self, fields: tuple[CarriedField, ...]) -> tuple[str, ...]:
        return tuple(proto_name(each.name) for each in fields if each.presence == "trailing")

    def _slot(
        self,
        scope: _Scope,
        form: Form,
        name: str,
        number: int,
        value: str,
        place: str,
        *,
        is_optional: bool = False,
    ) -> tuple[ProtoField, PartView]:
        """Return a field of a form, and the expressions that put and take it."""
        source = f"source.{name}"
        label = "optional" if is_optional else ""
        match form:
            case Many(item=item) if not is_optional:
                return self._list(scope, item, name, number, value, place)
            case Many() | Nullable():
                type_, stem = self._wrapper(scope, form, name)
                return self._inner(type_, stem, name, number, value, place)
            case AnyOf():
                type_, stem = self._choice(scope, form)
                return self._inner(type_, stem, name, number, value, place)
            case One():
                return self._inner(
                    self._full(form.name), self.names.function(form.name), name, number, value, place
                )
            case _:
                type_, is_enum = self._scalar(form)
                assigned, take = put(form, value, self.names), received(form, place, source, self.names)
                part = PartView(name=name, kind="assign", value=value, put=assigned, take=take)
                return ProtoField(name=name, number=number, type=type_, is_enum=is_enum, label=label), part

    def _inner(
        self, type_: str, stem: str, name: str, number: int, value: str, place: str
    ) -> tuple[ProtoField, PartView]:
        take = f'_held("{place}", "{name}", _take_{stem}, source, budget)'
        part = PartView(name=name, kind="inner", value=value, put=f"_put_{stem}", take=take)
        return ProtoField(name=name, number=number, type=type_), part

    def _list(
        self, scope: _Scope, item: Form, name: str, number: int, value: str, place: str
    ) -> tuple[ProtoField, PartView]:
        source = f"source.{name}"
        match item:
            case Many() | Nullable():
                type_, stem = self._wrapper(scope, item, f"{name}_item")
            case AnyOf():
                type_, stem = self._choice(scope, item)
            case One():
                type_, stem = self._full(item.name), self.names.function(item.name)
            case _:
                type_, is_enum = self._scalar(item)
                proto = ProtoField(name=name, number=number, type=type_, is_enum=is_enum, label="repeated")
                put, take = all_sent(item, value, self.names), all_received(item, place, source, self.names)
                return proto, PartView(name=name, kind="extend", value=value, put=put, take=take)
        take = f'_each("{place}", {source}, _take_{stem}, budget)'
        part = PartView(name=name, kind="items", value=value, put=f"_put_{stem}", take=take)
        return ProtoField(name=name, number=number, type=type_, label="repeated"), part

    def _scalar(self, form: Form) -> tuple[str, bool]:
        if isinstance(form, Member):
            is_named = scalar(form) is None
            self.used_enums[form.enum] = self.used_enums.get(form.enum, False) or is_named
            if is_named:
                return self._full(form.enum), True
        type_ = scalar(form)
        assert type_ is not None
        return type_, False

    # ---- messages that only protobuf needs

    def _wrapper(self, scope: _Scope, form: Many | Nullable, name: str) -> tuple[str, str]:
        """Return type and stem of a message that holds one list, or an optional value."""
        own = f"{camel_case(name)}{'List' if isinstance(form, Many) else 'Value'}"
        inner = _Scope(
            name=f"{scope.name}.{own}",
            stem=self.names.inner(scope.stem, own),
            owner=scope.owner,
            key=scope.key,
        )
        if isinstance(form, Many):
            proto, part = self._list(inner, form.item, "items", 1, "value", "")
        else:
            proto, part = self._slot(inner, form.value, "value", 1, "value", "", is_optional=True)
            part = guarded(part, "value is not None", "None")
        self._add(FunctionView(stem=inner.stem, kind="wrapper", class_name="", doc=own, parts=(part,)))
        scope.nested.append(ProtoMessage(name=own, doc="", fields=(proto,), nested=tuple(inner.nested)))
        return self._full(inner.name), inner.stem

    def _choice(self, scope: _Scope, form: AnyOf) -> tuple[str, str]:
        """Return type and stem of a message that holds a value of one of several forms."""
        choice = next(each for each in scope.owner.choices if each.name == form.name)
        own = f"{camel_case(form.name)}Choice"
        inner = _Scope(
            name=f"{scope.name}.{own}",
            stem=self.names.inner(scope.stem, own),
            owner=scope.owner,
            key=scope.key,
        )
        names = proto_unique((proto_name(form_name(each)) for each in choice.forms), {"form"})
        varieties = {name: self._variety_classes(name) for name in union_names(self._protocol)}
        fields, options = [], []
        for number, (each, name) in enumerate(zip(choice.forms, names, strict=True), 1):
            proto, part = self._slot(
                inner, each, name, number, "value", "", is_optional=isinstance(each, Many)
            )
            fields.append(in_oneof(proto, "form"))
            options.append(
                FormTestView(test=is_instance(each, "value", scope.owner.choices, varieties), part=part)
            )
        self._add(
            FunctionView(stem=inner.stem, kind="choice", class_name="Any", doc=own, options=tuple(options))
        )
        scope.nested.append(
            ProtoMessage(name=own, doc="", fields=tuple(fields), oneof="form", nested=tuple(inner.nested))
        )
        return self._full(inner.name), inner.stem

    def _variety_classes(self, union: str) -> str:
        declared = index_of(self._protocol).unions[union]
        return " | ".join(variety_class(union, each.name) for each in declared.varieties)

    def _full(self, name: str) -> str:
        return f".{self._package}.{name}"

    def _add(self, function: FunctionView) -> None:
        if all(each.stem != function.stem for each in self.functions):
            self.functions.append(function)
