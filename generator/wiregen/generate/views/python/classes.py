"""The declarations of a protocol as the templates of Python classes print them."""

from __future__ import annotations

from wiregen.generate.views.python.class_views import (
    ClassView,
    EnumView,
    FieldView,
    LazyView,
    NumberView,
    UnionView,
)
from wiregen.generate.views.python.limit_docs import limit_doc
from wiregen.generate.views.python.names import attribute, local_name
from wiregen.generate.views.python.shared import Shared, variety_class
from wiregen.generate.views.python.text import (
    ANY,
    PythonType,
    annotation,
    class_name,
    declaration_doc,
    default_by_message,
    default_text,
    default_value,
    default_with,
    flat,
    has_uuid,
    is_shown,
    layout_text,
    makes_uuid,
    null_names,
    summary,
    union_alias,
)
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.declared import index_of
from wiregen.schema.naming import Namespace, python_name, snake_case
from wiregen.schema.walk import AttributeField, attributes, frame_attributes, references

__all__ = ["ClassBuilder", "shown_attributes", "shown_fields", "single_code"]


class ClassBuilder:
    """Builds the views of one protocol's classes."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._protocol = shared.protocol

    def limits(self) -> tuple[NumberView, ...]:
        declared = {limit.name: limit for limit in self._protocol.limits}
        return tuple(
            NumberView(
                name=attribute(name),
                wire_name=name,
                value=repr(value),
                doc=limit_doc(name, declared.get(name)),
                is_time=name in declared and declared[name].unit == "ms",
            )
            for name, value in self._shared.limits.items()
        )

    def constants(self) -> tuple[NumberView, ...]:
        return tuple(
            NumberView(
                name=python_name(const.name, Namespace.MODULE),
                wire_name=const.name,
                value=repr(const.value),
                doc=summary(declaration_doc(const.doc, const.notes)),
            )
            for const in self._protocol.constants
        )

    def enum(self, enum: m.Enum) -> EnumView:
        members = tuple(
            NumberView(
                name=python_name(member.name, Namespace.ENUM_MEMBER),
                wire_name=member.name,
                value=repr(member.value),
                doc=declaration_doc(member.doc, member.notes),
            )
            for member in enum.members
        )
        return EnumView(
            name=class_name(enum.name),
            doc=declaration_doc(enum.doc, enum.notes),
            table=self._shared.enum_table(enum.name),
            members=members,
        )

    def union(self, union: m.Union) -> UnionView:
        return UnionView(
            name=class_name(union.name),
            wire_name=union.name,
            alias=union_alias(union.name),
            doc=declaration_doc(union.doc, union.notes),
            varieties=tuple(self._variety(union, variety) for variety in union.varieties),
        )

    def _variety(self, union: m.Union, variety: m.Variety) -> ClassView:
        shown = shown_attributes(variety.fields)
        fields = tuple(each.field for each in shown)
        number = single_code(variety)
        extras = self._extras(variety, variety_class(union.name, variety.name))
        return ClassView(
            name=class_name(variety.name),
            qualified=variety_class(union.name, variety.name),
            wire_name=f"{union.name}.{variety.name}",
            doc=declaration_doc(variety.doc, variety.notes, extra=_codes_text(variety)),
            slots=_slots(fields, extras, ("code",) if number is None else ()),
            arguments=tuple(attribute(field.name) for field in fields),
            fields=tuple(self.fields(shown, self._nulls(variety))),
            extras=extras,
            code=number if all(field.name != "code" for field in fields) else None,
            has_codes=number is None,
            views=self._views(f"{union.name}.{variety.name}", shown, self._nulls(variety)),
            layout=layout_text(variety.fields),
        )

    def data(self, declaration: m.Struct | m.Message | m.Preamble) -> ClassView:
        shown = shown_attributes(declaration.fields)
        fields = tuple(each.field for each in shown)
        extra = self._origin(declaration) if isinstance(declaration, m.Message) else ""
        name, extras = class_name(declaration.name), self._extras(declaration, class_name(declaration.name))
        return ClassView(
            name=name,
            qualified=name,
            wire_name=declaration.name,
            doc=declaration_doc(declaration.doc, declaration.notes, extra=extra),
            slots=_slots(fields, extras),
            arguments=tuple(attribute(field.name) for field in fields),
            fields=tuple(self.fields(shown, self._nulls(declaration))),
            extras=extras,
            code=None,
            has_codes=False,
            views=self._views(declaration.name, shown, self._nulls(declaration)),
            layout=layout_text(declaration.fields),
        )

    def _origin(self, message: m.Message) -> str:
        """Return the code of a message, as the file writes it, and its sender."""
        if message.code is None:
            return f"Without a code of its own, from {message.role or 'both sides'}."
        code = repr(chr(message.code)) if message.is_character else message.code
        return f"Code {code}, from {message.role or 'both sides'}."

    def _extras(
        self, declaration: m.Struct | m.Message | m.Preamble | m.Variety | m.Frame, class_: str
    ) -> tuple[tuple[str, str, str, str], ...]:
        extras = []
        if any(isinstance(field.value, m.Trailing) for field in flat(declaration.fields)):
            extras.append(
                ("absent", "int", "0", "How many of the last fields were not there when it was read.")
            )
        if class_ in self._shared.tailed:
            extras.append(("tail", "bytes", 'b""', "Bytes that were left over when it was read."))
        return tuple(extras)

    def header(self, frame: m.Frame, message: str | None = None) -> tuple[FieldView, ...]:
        """Return the fields of a frame's header; with `message`, with the defaults that they have around it."""

        def views(known: tuple[AttributeField, ...]) -> list[FieldView]:
            shown = [each for each in known if is_shown(each.field) and each.field.name != frame.message]
            if message is not None:
                shown = [replace(each, field=default_with(each.field, message)) for each in shown]
            return self.fields(tuple(shown), self._nulls(frame), is_header=True)

        alone = views(attributes(frame.fields))  # as with a message, not a fragment
        beside_pieces = views(frame_attributes(frame, self._protocol))
        return tuple(
            replace(view, keyword=own.keyword) for view, own in zip(beside_pieces, alone, strict=True)
        )

    def _nulls(self, owner: m.Struct | m.Message | m.Preamble | m.Variety | m.Frame) -> frozenset[str]:
        return null_names(flat(owner.fields), self._protocol)

    def fields(
        self, attributes_: tuple[AttributeField, ...], nulls: frozenset[str], *, is_header: bool = False
    ) -> list[FieldView]:
        views, has_default = [], False
        for each in attributes_:
            default = self._default(each)
            late = default is None and has_default
            has_default = has_default or default is not None
            name = local_name(each.field.name) if is_header else attribute(each.field.name)
            views.append(self._field(each, name, default, nulls, is_late=late))
        return views

    def _default(self, shown: AttributeField) -> str | None:
        """Return the default of a parameter: None if the field may be absent with its arm or block."""
        default = default_text(shown.field, self._shared.enums)
        if shown.may_be_absent and (default is None or shown.field.condition is None):
            return "None"
        return default

    def _field(
        self, shown: AttributeField, name: str, default: str | None, nulls: frozenset[str], *, is_late: bool
    ) -> FieldView:
        field, about = shown.field, self._protocol.about[shown.field.path]
        may_be_none = shown.may_be_absent or default == "None"
        type_ = annotation(field.type, self._protocol, nulls).or_none(may_be_none)
        parameter, argument = type_, name
        value = default_value(field)
        is_list = isinstance(value, m.ListOf) and default not in (None, "None")
        is_apart = is_list and type_.has_none
        if is_list:  # made anew for each object; None may be a value of its own
            given, default = default, "_DEFAULT" if is_apart else "None"
            argument, parameter = f"{given} if {name} is {default} else {name}", type_.or_none()
        by_message = default_by_message(field, self._shared.enums)
        if by_message:
            default = "_BY_MESSAGE"
        plain = f"{name}: {parameter.text}"
        return FieldView(
            name=name,
            annotation=type_.text,
            signature=(
                f"{plain} = _REQUIRED" if is_late else plain if default is None else f"{plain} = {default}"
            ),
            keyword=plain if default is None else f"{plain} = {default}",
            argument=argument,
            by_message=by_message,
            is_required=default is None,
            is_required_late=is_late,
            has_uuid=has_uuid(field),
            makes_uuid=makes_uuid(field),
            has_list_apart=is_apart,
            doc=declaration_doc(about.doc, about.notes),
            is_secret=field.is_secret,
        )

    def frame_extras(self, frame: m.Frame) -> tuple[tuple[str, str, str, str], ...]:
        return self._extras(frame, class_name(frame.name))

    def _views(
        self, owner: str, shown: tuple[AttributeField, ...], nulls: frozenset[str]
    ) -> tuple[LazyView, ...]:
        return tuple(self._lazy(owner, each, nulls) for each in shown if each.field.view is not None)

    def _lazy(self, owner: str, shown: AttributeField, nulls: frozenset[str]) -> LazyView:
        field, view = shown.field, shown.field.view
        assert view is not None
        suffix, type_ = "", ANY
        if not isinstance(view, str):
            suffix, type_ = _lazy_suffix(view), annotation(view, self._protocol)
        elif view == "dict" and not (
            shown.may_be_absent or annotation(field.type, self._protocol, nulls).has_none
        ):
            type_ = PythonType("dict[Any, Any]")
        return LazyView(
            name=f"{attribute(field.name)}_{suffix or view}",
            field=attribute(field.name),
            form=view if isinstance(view, str) else "type",
            annotation=type_.text,
            path=f"{owner}.{field.name}",
            rule=field.rule,
            pair=self._pair(field) if view == "dict" else "",
            absent="" if type_ != ANY else f"None if self.{attribute(field.name)} is None else ",
        )

    def _pair(self, field: m.Field) -> str:
        """Return the arguments that name the two fields of a pair, if they are not `key` and `value`."""
        name = next(reference.name for reference in references(field.type))
        struct = index_of(self._protocol).structs[name]
        names = tuple(attribute(each.name) for each in shown_fields(struct.fields))
        return "" if names == ("key", "value") else "".join(f', "{each}"' for each in names)


def _lazy_suffix(type_: m.Type) -> str:
    if isinstance(type_, m.List):
        item = type_.item
        return "frames" if isinstance(item, m.FrameReference) else _name_of(item) or "items"
    return "text" if isinstance(type_, m.Text) else _name_of(type_) or "value"


def _name_of(type_: m.Type) -> str:
    return snake_case(type_.name) if isinstance(type_, m.Reference) else ""


def shown_attributes(fields: tuple[m.Field, ...]) -> tuple[AttributeField, ...]:
    """Return the fields that the API shows, those of blocks included."""
    return tuple(each for each in attributes(fields) if is_shown(each.field))


def shown_fields(fields: tuple[m.Field, ...]) -> tuple[m.Field, ...]:
    """Return the same fields without the information whether they may be absent."""
    return tuple(each.field for each in shown_attributes(fields))


def single_code(variety: m.Variety) -> int | None:
    """Return the code of an alternative that has exactly one."""
    match variety.spans:
        case (m.Span(low=low, high=high),) if low == high:
            return low
        case _:
            return None


def _slots(
    shown: tuple[m.Field, ...], extras: tuple[tuple[str, str, str, str], ...], more: tuple[str, ...] = ()
) -> tuple[str, ...]:
    names = (*(attribute(field.name) for field in shown), *(extra[0] for extra in extras), *more)
    return tuple(sorted(names))


def _codes_text(variety: m.Variety) -> str:
    spans = (
        f"{span.low:#04x}" if span.low == span.high else f"{span.low:#04x} to {span.high:#04x}"
        for span in variety.spans
    )
    return f"Code {', '.join(spans)}."
