"""The schema that codecs and sessions walk, with everything that a name meant written out.

Its nodes are the contract between generator and runtime.
"""

from __future__ import annotations

from typing import Final, assert_never

from wiregen.runtime.schema import declarations as d
from wiregen.runtime.schema import types as t
from wiregen.runtime.schema.protocol import Schema, Variant, View
from wiregen.schema import model as m
from wiregen.schema.field_facts import is_padded
from wiregen.schema.lowering.expressions import unnamed
from wiregen.schema.lowering.transitions import lower_sessions, rules_of
from wiregen.schema.sizes import smallest
from wiregen.schema.walk import flat_fields

KNOWN_LIMITS: Final[dict[str, int | None]] = {
    "frame": 16 * 2**20,
    "inflated": 64 * 2**20,
    "count": None,
    "messages": 65536,
    "depth": 32,
    "open": 65536,
    "joined": None,
    "work": 65536,
}
"""What codecs keep to. None: no bound of its own; what is joined is then held against `frame`."""


def limits_of(protocol: m.Protocol) -> dict[str, int | None]:
    """Return the limits of a protocol by name, `joined` only where something is joined or the file declares it."""
    known = {name: value for name, value in KNOWN_LIMITS.items() if name != "joined" or protocol.joins}
    return known | {limit.name: limit.value for limit in protocol.limits}


def lower(protocol: m.Protocol) -> Schema:
    """Return the schema of a protocol."""
    lowering = _Lowering(protocol)
    own = lowering.layouts(protocol)
    return Schema(
        name=protocol.name,
        endian=protocol.endian,
        roles=protocol.roles,
        role_rule=protocol.role_rule,
        on_error=protocol.on_error,
        limits=limits_of(protocol),
        limit_rules={limit.name: limit.notes.rule for limit in protocol.limits if limit.notes.rule},
        rules=_rules(protocol),
        enums={enum.name: lowering.enum(enum) for enum in protocol.enums},
        codings={coding.name: lowering.coding(coding) for coding in protocol.codings},
        unions={union.name: lowering.union(union) for union in protocol.unions},
        structs=own.structs,
        messages=own.messages,
        frames=own.frames,
        preambles=own.preambles,
        codes={role: _codes(protocol, role) for role in protocol.roles},
        sends={role: frame.name for frame in protocol.frames for role in _senders(protocol, frame.role)},
        opens={preamble.role: preamble.name for preamble in protocol.preambles},
        contexts={context.name: lowering.context(context) for context in protocol.contexts},
        joins={join.name: lowering.join(join) for join in protocol.joins},
        views=lowering.views(),
        sessions=lower_sessions(protocol, lowering.type),
        violations=rules_of(protocol),
        variants={variant.name: lowering.layouts(variant) for variant in protocol.variants},
    )


def _rules(protocol: m.Protocol) -> dict[str, str]:
    """Return the rules of unions, enums and codings by name, those of varieties as `Union.Variety`."""
    declared: tuple[m.Union | m.Enum | m.Coding, ...] = (
        *protocol.unions, *protocol.enums, *protocol.codings
    )  # fmt: skip
    whole = ((each.name, each.notes.rule) for each in declared)
    varieties = (
        (f"{union.name}.{variety.name}", variety.notes.rule)
        for union in protocol.unions
        for variety in union.varieties
    )
    return {name: rule for name, rule in (*whole, *varieties) if rule is not None}


def _senders(protocol: m.Protocol, role: str | None) -> tuple[str, ...]:
    return protocol.roles if role is None else (role,)


def _codes(protocol: m.Protocol, role: str) -> dict[int, str]:
    return {
        message.code: message.name
        for message in protocol.messages
        if message.code is not None and role in _senders(protocol, message.role)
    }


class _Lowering:
    """Lowers the nodes of one protocol; holds it for the sizes of what a name stands for."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._protocol = protocol
        self._own: dict[str, m.Field] = {}
        """The fields of the declaration that is lowered, by name."""
        self._name = ""
        """The field that is lowered."""

    # ---- declarations

    def views(self) -> dict[str, dict[str, View]]:
        """Return the views by declaration and field: their form, or the type that the bytes are read as.

        Only `json` shows in a decoded line.
        """
        protocol = self._protocol
        owners: list[m.Struct | m.Message | m.Frame | m.Preamble] = [*protocol.structs, *protocol.messages]
        rows = {owner.name: owner.fields for owner in (*owners, *protocol.frames, *protocol.preambles)}
        for union in protocol.unions:
            rows |= {f"{union.name}.{variety.name}": variety.fields for variety in union.varieties}
        found = {name: self._views_of(fields) for name, fields in rows.items()}
        return {name: forms for name, forms in found.items() if forms}

    def _views_of(self, fields: tuple[m.Field, ...]) -> dict[str, View]:
        return {field.name: self._view(field.view) for field in flat_fields(fields) if field.view is not None}

    def _view(self, view: m.View) -> View:
        if view.form == "type":
            assert view.type is not None
            return self.type(view.type)
        return view.form

    def layouts(self, owner: m.Protocol | m.Variant) -> Variant:
        """Return the fields of what is laid out field by field, by kind and name."""
        return Variant(
            structs={struct.name: self.declared(struct.fields) for struct in owner.structs},
            messages={
                message.name: d.Message(message.code, message.role, self.declared(message.fields))
                for message in owner.messages
            },
            frames={
                frame.name: d.Frame(frame.role, self.declared(frame.fields), frame.message)
                for frame in owner.frames
            },
            preambles={
                preamble.name: d.Preamble(preamble.role, self.declared(preamble.fields))
                for preamble in owner.preambles
            },
        )

    def enum(self, enum: m.Enum) -> d.Enum:
        members = tuple(d.Member(member.value, member.name) for member in enum.members)
        return d.Enum(self._number(enum.type), enum.is_open, members)

    def coding(self, coding: m.Coding) -> d.Coding:
        widths = tuple(
            d.Width(
                width.low,
                width.high,
                None if width.wide is None else self._integer(width.wide),
                width.is_null,
            )
            for width in coding.widths
        )
        return d.Coding(self._integer(coding.type), widths)

    def union(self, union: m.Union) -> d.Union:
        varieties = tuple(
            d.Variety(_spans(variety.codes), variety.name, self.declared(variety.fields), variety.is_lone)
            for variety in union.varieties
        )
        return d.Union(self._number(union.type), varieties, union.notes.raw)

    def context(self, context: m.Context) -> d.Context:
        return d.Context(
            self.type(context.type),
            context.keys,
            context.role,
            self._settings(context.settings),
            self._clearings(context.clearings),
        )

    def join(self, join: m.Join) -> d.Join:
        type_ = None if join.type is None else self.type(join.type)
        assert type_ is None or isinstance(type_, t.Bytes | t.FrameReference)
        return d.Join(
            type_,
            join.block,
            join.keys,
            self._settings(join.parts),
            self._settings(join.lasts),
            self._clearings(join.clearings),
        )

    def _settings(self, settings: tuple[m.Setting, ...]) -> tuple[d.Setting, ...]:
        return tuple(d.Setting(setting.target, setting.field, unnamed(setting.when)) for setting in settings)

    def _clearings(self, clearings: tuple[m.Clearing, ...]) -> tuple[d.Clearing, ...]:
        return tuple(d.Clearing(clearing.targets, unnamed(clearing.when)) for clearing in clearings)

    # ---- fields

    def declared(self, fields: tuple[m.Field, ...]) -> tuple[d.Field, ...]:
        """Return the fields of a declaration."""
        self._own = {field.name: field for field in flat_fields(fields)}
        return self.fields(fields)

    def fields(self, fields: tuple[m.Field, ...]) -> tuple[d.Field, ...]:
        return tuple(self.field(field) for field in fields)

    def field(self, field: m.Field) -> d.Field:
        self._name = field.name
        conditions = tuple(d.Condition(text, rule) for text, rule in field.where_rules)
        return d.Field(
            name=field.name,
            is_hidden=field.name == "_" or isinstance(field.value, m.Derived | m.Constant),
            type=self.type(field.type),
            value=self._value(field.value),
            condition=unnamed(field.condition),
            where=unnamed(field.where),
            where_text=conditions or field.where_text,
            rule=field.notes.rule,
            is_secret=field.notes.secret,
        )

    def _value(self, value: m.FieldValue | None) -> d.FieldValue | None:
        match value:
            case None:
                return None
            case m.Derived():
                return d.Derived(unnamed(value.value), value.lenient)
            case m.Constant():
                return d.Constant(unnamed(value.value))
            case m.Default():
                others = tuple(d.DefaultOf(each.message, unnamed(each.value)) for each in value.others)
                return d.Default(unnamed(value.value), others)
            case m.Trailing():
                return d.Trailing(unnamed(value.value))
            case _:
                assert_never(value)

    # ---- types

    def type(self, type_: m.Type) -> t.Type:
        match type_:
            case m.Integer():
                return self._integer(type_)
            case m.Float():
                return t.Float(type_.bits // 8, type_.endian)
            case m.Boolean():
                return t.Boolean(type_.lenient)
            case m.Bits():
                return t.Bits(type_.bits, type_.is_flag, type_.order)
            case m.Varint():
                return self._varint(type_)
            case m.Uuid():
                return t.Uuid()
            case m.Bytes():
                return t.Bytes(self._byte_length(type_.length))
            case m.Text():
                return t.Text(type_.encoding, self._byte_length(type_.length), type_.lenient, type_.endian)
            case _:
                return self._compound(type_)

    def _integer(self, type_: m.Integer) -> t.Integer:
        return t.Integer(type_.bits // 8, type_.signed, type_.endian)

    def _varint(self, type_: m.Varint) -> t.Varint:
        return t.Varint(type_.bits, type_.zigzag, type_.lenient)

    def _number(self, type_: m.Integer | m.Varint) -> t.Integer | t.Varint:
        return self._integer(type_) if isinstance(type_, m.Integer) else self._varint(type_)

    def _compound(
        self, type_: m.List | m.Reference | m.MessageMatch | m.Match | m.Block | m.Region
    ) -> t.Type:
        match type_:
            case m.List():
                return self._list(type_)
            case m.Reference():
                return self._reference(type_)
            case m.MessageMatch():
                return t.MessageMatch(unnamed(type_.subject), type_.only, type_.lenient)
            case m.Match():
                arms = tuple(t.Arm(_spans(arm.patterns), self.type(arm.type)) for arm in type_.arms)
                return t.Match(unnamed(type_.subject), arms)
            case m.Block():
                return t.Block(self.fields(type_.fields))
            case m.Region():
                is_filled = is_padded(type_, self._name, self._own, self._protocol)
                return t.Region(
                    self.type(type_.content),
                    self._carrier(type_.carrier),
                    "padded" if is_filled else type_.lenient,
                )
            case _:
                assert_never(type_)

    def _list(self, type_: m.List) -> t.List:
        where = None
        if type_.where is not None:
            where = t.ItemCondition(unnamed(type_.where), type_.where_text)
        return t.List(
            item=self.type(type_.item),
            length=self._item_length(type_.length),
            smallest_item=smallest(type_.item, self._protocol),
            rule=type_.rule,
            where=where,
        )

    def _reference(self, type_: m.Reference) -> t.Type:
        match type_.target:
            case "struct":
                return t.StructReference(type_.name)
            case "coding":
                return t.CodingReference(type_.name)
            case "message":
                return t.MessageReference(type_.name)
            case "enum":
                return t.EnumReference(type_.name, type_.only, type_.lenient)
            case "union":
                return t.UnionReference(type_.name, type_.only, type_.lenient)
            case "frame":
                return t.FrameReference(type_.name, type_.only, type_.lenient)
            case _:
                assert_never(type_.target)

    def _byte_length(self, length: m.Length) -> t.ByteLength:
        found = self._length(length)
        assert not isinstance(found, t.Until), "only items end by a condition"
        return found

    def _item_length(self, length: m.Length) -> t.ItemLength:
        found = self._length(length)
        assert not isinstance(found, t.Delimited), "only bytes end by a delimiter"
        return found

    def _length(self, length: m.Length) -> t.Length:
        match length:
            case m.Prefix():
                return t.Prefix(self._measure(length.type), length.rule)
            case m.Computed():
                return t.Computed(unnamed(length.value))
            case m.ToTheEnd():
                return t.ToEnd()
            case m.Delimited():
                return t.Delimited(length.delimiter)
            case m.UntilHolds():
                return t.Until(unnamed(length.condition))
            case _:
                assert_never(length)

    def _measure(self, type_: m.Integer | m.Varint | m.Reference) -> t.Integer | t.Varint | t.CodingReference:
        return t.CodingReference(type_.name) if isinstance(type_, m.Reference) else self._number(type_)

    def _carrier(self, carrier: m.Carrier) -> t.Carrier:
        match carrier:
            case m.InSize():
                return t.InSize(unnamed(carrier.size))
            case m.InPrefix():
                return t.Prefix(self._measure(carrier.type), carrier.rule)
            case m.InCompressed():
                return t.Compressed(carrier.algorithm, self._byte_length(carrier.length))
            case m.InChunks():
                return t.Chunks(carrier.struct, carrier.data, unnamed(carrier.until))
            case _:
                assert_never(carrier)


def _spans(spans: tuple[m.Span, ...]) -> tuple[t.Span, ...]:
    return tuple(t.Span(span.low, span.high) for span in spans)
