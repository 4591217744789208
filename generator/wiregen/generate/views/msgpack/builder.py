"""The carried values, as functions that make msgpack arrays of them and back."""

from __future__ import annotations

from wiregen.generate.views.msgpack.parts import (
    CodedView,
    ConversionView,
    FormView,
    ItemView,
    VarietiesView,
    checked,
    is_plain,
    packed,
    python_types,
    unpacked,
)
from wiregen.generate.views.python.names import local_name
from wiregen.generate.views.python.shared import tailed, variety_class
from wiregen.generate.views.serial.names import SerialNames, attribute_of, class_of, is_instance, taker
from wiregen.generate.views.serial.text import code_rule, default_of, model_fields, unique
from wiregen.schema import model as m
from wiregen.schema.declared import index_of
from wiregen.schema.value_shapes import (
    AnyOf,
    Carried,
    CarriedField,
    Form,
    FrameRecord,
    Many,
    Nullable,
    One,
    Record,
)

__all__ = ["MsgpackBuilder"]


class MsgpackBuilder:
    """Builds the functions and tables of one protocol."""

    def __init__(self, protocol: m.Protocol, carried: Carried) -> None:
        self._protocol = protocol
        self._carried = carried
        self._enums = {enum.name: enum for enum in protocol.enums}
        self._fields = model_fields(protocol)
        self._tailed = tailed(protocol)
        # A local variable with the name of a class would hide it.
        self._classes = {f"{each.name}{end}" for each in _named(protocol) for end in ("", "_")}
        self.names = SerialNames()
        self.functions: list[ConversionView] = []
        self.coded: list[CodedView] = []
        self.varieties: list[VarietiesView] = []

    def build(self) -> None:
        for record in self._carried.records:
            self._record(record)
        for union in self._carried.unions:
            self._union(union)
        for frame in self._carried.frames:
            self._frame(frame)

    # ---- declarations

    def _record(self, record: Record) -> None:
        stem = self.names.function(*filter(None, (record.union, record.name)))
        code = [_CODE] if record.has_code else []
        parts = (*code, *self._parts(stem, record, {part.name for part in code}))
        self._add(
            ConversionView(
                stem=stem,
                kind="record",
                class_name=class_of(record),
                parts=parts,
                trailing=_trailing(record.fields, parts),
                has_tail=class_of(record) in self._tailed,
            )
        )

    def _frame(self, frame: FrameRecord) -> None:
        stem, table = self.names.function(frame.name), self.names.table("MESSAGES", frame.name)
        parts = self._parts(stem, frame, set())
        self._add(
            ConversionView(
                stem=stem,
                kind="frame",
                class_name=class_of(frame),
                parts=parts,
                trailing=_trailing(frame.fields, parts),
                table=table,
                rule=code_rule(self._protocol, frame.name),
                has_tail=class_of(frame) in self._tailed,
                may_lack_message=frame.may_lack_message,
            )
        )
        records = [self._carried.record("message", name) for name in frame.messages]
        self.coded.append(
            CodedView(
                name=table,
                puts=tuple((class_of(each), _code(each), self.names.function(each.name)) for each in records),
                takes=tuple(self._by_role(records)),
            )
        )

    def _by_role(self, records: list[Record]) -> list[tuple[str, tuple[tuple[str, str, str], ...]]]:
        """Return the messages by code.

        They are also returned by role, for roles whose codes mean other messages for the other role.
        """
        roles = {message.name: message.role for message in self._protocol.messages}
        everyone = self._first_of_each(records)
        found = [("None", everyone)]
        for role in self._protocol.roles:
            own = sorted(records, key=lambda each: roles[each.name] not in (None, role))
            if set(self._first_of_each(own)) != set(everyone):
                found.append((repr(role), self._first_of_each(own)))
        return found

    def _first_of_each(self, records: list[Record]) -> tuple[tuple[str, str, str], ...]:
        found: dict[str, tuple[str, str, str]] = {}
        for record in records:
            found.setdefault(_code(record), (_code(record), record.name, self.names.function(record.name)))
        return tuple(found.values())

    def _union(self, name: str) -> None:
        union = index_of(self._protocol).unions[name]
        codes = {variety.name: variety.spans for variety in union.varieties}
        table = self.names.table("VARIETIES", name)
        varieties = self._carried.varieties(name)
        rows = [
            (span.low, span.high, each.name, self.names.function(name, each.name), each.has_code)
            for each in varieties
            for span in codes[each.name]
        ]
        puts = [
            (class_of(each), None if each.has_code else each.code, self.names.function(name, each.name))
            for each in varieties
        ]
        self._add(
            ConversionView(
                stem=self.names.function(name),
                kind="union",
                class_name="Any",
                table=table,
                rule=union.notes.rule,
            )
        )
        self.varieties.append(VarietiesView(name=table, puts=tuple(puts), rows=tuple(rows)))

    # ---- fields

    def _parts(self, stem: str, owner: Record | FrameRecord, taken: set[str]) -> tuple[ItemView, ...]:
        taken |= _TAKEN | self._classes
        names = unique((local_name(field.name) for field in owner.fields), taken)
        trailing = [field for field in owner.fields if field.presence == "trailing"]
        return tuple(
            self._part(
                stem, owner, field, name, len(trailing) - trailing.index(field) if field in trailing else 0
            )
            for field, name in zip(owner.fields, names, strict=True)
        )

    def _part(
        self, stem: str, owner: Record | FrameRecord, field: CarriedField, name: str, n_behind: int
    ) -> ItemView:
        attribute = attribute_of(owner, field)
        value = f"value.{attribute}"
        place = field.name if isinstance(owner, Record) else f"{owner.name}.{field.name}"
        is_boxed = isinstance(field.form, Nullable)  # nil is absent there, and [nil] is null
        inner = f"_fields_of({name}, 1)[0]" if is_boxed else name
        pack, check, expected, unpack = self._texts(stem, owner, field.form, place, value, inner, field.name)
        pack = f"[{pack}]" if is_boxed else pack
        if field.presence == "optional":
            pack = pack if pack == value else f"(None if {value} is None else {pack})"
            unpack = unpack if unpack == name else f"(None if {name} is None else {unpack})"
        elif field.presence == "trailing":
            otherwise = default_of(self._fields[field.path], self._enums)
            if otherwise != "None" or is_boxed:
                pack = f"{pack} if value.absent < {n_behind} else None"
            else:
                pack = f"None if {value} is None else {pack}"
            unpack = f"({otherwise} if {name} is None else {unpack})"
        if check and field.presence != "always":
            check = f"{name} is not None and {check}"
        return ItemView(
            name=name,
            place=place,
            pack=pack,
            check=check,
            expected=expected,
            unpack=unpack,
        )

    def _texts(
        self, stem: str, owner: Record | FrameRecord, form: Form, place: str, value: str, name: str, own: str
    ) -> tuple[str, str, str, str]:
        """Return the texts that pack and unpack a value, and between them its check.

        The check is a condition that refuses the value, and the expected type in words.
        """
        if is_plain(form):
            return (
                packed(form, value, self.names),
                *checked(form, name),
                unpacked(form, place, name, self.names),
            )
        if isinstance(form, Many):
            pack, unpack = self._list(stem, owner, form.item, place, value, name, own)
            return pack, "", "", unpack
        inner = self._function(stem, owner, form, own)
        return f"_pack_{inner}({value})", "", "", f'_inside("{place}", _unpack_{inner}, {name}, budget)'

    def _list(
        self, stem: str, owner: Record | FrameRecord, item: Form, place: str, value: str, name: str, own: str
    ) -> tuple[str, str]:
        types = python_types(item)
        if not types:
            inner = self._taker(stem, owner, item, own)
            one = (
                packed(item, "item", self.names)
                if is_plain(item)
                else f"_pack_{self._function(stem, owner, item, own)}(item)"
            )
            return f"[{one} for item in {value}]", f'_items("{place}", {name}, {inner}, budget)'
        all_types = f"({', '.join(types)},)"
        items = f'_plain_items("{place}", {name}, {all_types}, budget)'
        one, back = packed(item, "item", self.names), unpacked(item, place, "item", self.names)
        pack = f"list({value})" if one == "item" else f"[{one} for item in {value}]"
        return pack, items if back == "item" else f"[{back} for item in {items}]"

    def _taker(self, stem: str, owner: Record | FrameRecord, form: Form, own: str) -> str:
        return taker(form, self.names) or f"_unpack_{self._function(stem, owner, form, own)}"

    # ---- functions of forms without a class

    def _function(self, stem: str, owner: Record | FrameRecord, form: Form, own: str) -> str:
        """Return the stem of the functions of a form that is not a plain value."""
        match form:
            case One(name=name):
                return self.names.function(name)
            case AnyOf():
                return self._choice(stem, owner, form)
            case _:
                return self._wrapper(self.names.inner(stem, own, "item"), owner, form)

    def _wrapper(self, stem: str, owner: Record | FrameRecord, form: Form) -> str:
        """Make the functions of an item that is a list, or that may be null."""
        inner = form.value if isinstance(form, Nullable) else form
        pack, check, expected, unpack = self._texts(stem, owner, inner, "", "value", "row", "")
        if isinstance(form, Nullable):
            pack = f"(None if value is None else {pack})"
            unpack = f"(None if row is None else {unpack})"
            check = f"row is not None and {check}" if check else ""
        part = ItemView(name="row", place="", pack=pack, check=check, expected=expected, unpack=unpack)
        self._add(ConversionView(stem=stem, kind="wrapper", class_name="Any", parts=(part,)))
        return stem

    def _choice(self, stem: str, owner: Record | FrameRecord, form: AnyOf) -> str:
        choice = next(each for each in owner.choices if each.name == form.name)
        own = self.names.inner(stem, form.name, "choice")
        forms = []
        for number, each in enumerate(choice.forms, 1):
            pack, check, expected, unpack = self._texts(
                own, owner, each, "", "value", "inner", f"{form.name}_{number}"
            )
            test = is_instance(each, "value", owner.choices, self._variety_classes())
            forms.append(
                FormView(number=number, test=test, pack=pack, check=check, expected=expected, unpack=unpack)
            )
        self._add(ConversionView(stem=own, kind="choice", class_name="Any", forms=tuple(forms)))
        return own

    def _variety_classes(self) -> dict[str, str]:
        return {
            union.name: " | ".join(variety_class(union.name, each.name) for each in union.varieties)
            for union in self._protocol.unions
        }

    def _add(self, function: ConversionView) -> None:
        if all(each.stem != function.stem for each in self.functions):
            self.functions.append(function)


_TAKEN = frozenset("absent bool budget bytes float int item list made message row str type".split())
"""The names that the text of the functions uses."""

_CODE = ItemView(
    name="code",
    place="code",
    pack="_whole(value.code)",
    check="type(code) is not int",
    expected="an integer",
    unpack="code",
)


def _trailing(fields: tuple[CarriedField, ...], parts: tuple[ItemView, ...]) -> tuple[str, ...]:
    """Return the local variables of the fields that may be absent at the end."""
    offset = len(parts) - len(fields)
    return tuple(
        part.name for field, part in zip(fields, parts[offset:], strict=True) if field.presence == "trailing"
    )


def _code(record: Record) -> str:
    """Return the identifier of a message: its code, or its name if it has no code."""
    return repr(record.name) if record.code is None else str(record.code)


def _named(protocol: m.Protocol) -> tuple[m.Struct | m.Message | m.Frame | m.Enum | m.Union, ...]:
    return (*protocol.structs, *protocol.messages, *protocol.frames, *protocol.enums, *protocol.unions)
