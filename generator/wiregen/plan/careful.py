"""The careful plan: a protocol as dicts and tuples of plain values, with everything that a name meant written out.

Its form is the contract between generator and runtime; every tuple that stands for a type, an expression, a length, a
carrier or a value begins with its kind.
"""

from __future__ import annotations

from typing import Any, Final, assert_never

from wiregen import model as m
from wiregen.plan.facts import is_padded
from wiregen.plan.sessions import lower_sessions, rules_of
from wiregen.sizes import smallest
from wiregen.walk import flat_fields

Plain = Any
"""Plain data: dict, tuple, str, int, bool, None."""

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


def lower(protocol: m.Protocol) -> dict[str, Plain]:
    """Return the careful plan of a protocol."""
    lowering = _Lowering(protocol)
    return {
        "name": protocol.name,
        "endian": protocol.endian,
        "roles": protocol.roles,
        "role_rule": protocol.role_rule,
        "on_error": protocol.on_error,
        "limits": limits_of(protocol),
        "limit_rules": {limit.name: limit.notes.rule for limit in protocol.limits if limit.notes.rule},
        "rules": _rules(protocol),
        "enums": {enum.name: lowering.enum(enum) for enum in protocol.enums},
        "codings": {coding.name: lowering.coding(coding) for coding in protocol.codings},
        "unions": {union.name: lowering.union(union) for union in protocol.unions},
        **lowering.layouts(protocol),
        "codes": {role: _codes(protocol, role) for role in protocol.roles},
        "sends": {role: frame.name for frame in protocol.frames for role in _senders(protocol, frame.role)},
        "opens": {preamble.role: preamble.name for preamble in protocol.preambles},
        "contexts": {context.name: lowering.context(context) for context in protocol.contexts},
        "joins": {join.name: lowering.join(join) for join in protocol.joins},
        "views": lowering.views(),
        "sessions": lower_sessions(protocol, lowering),
        "violations": rules_of(protocol),
        "variants": {variant.name: lowering.layouts(variant) for variant in protocol.variants},
    }


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


def _ruled(type_: tuple[Plain, ...], rule: str | None) -> Plain:
    """Return what is read with the rule that it is held to as its last part, if there is one."""
    return type_ if rule is None else (*type_, rule)


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

    def views(self) -> dict[str, dict[str, Plain]]:
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

    def _views_of(self, fields: tuple[m.Field, ...]) -> dict[str, Plain]:
        return {
            field.name: field.view.form if field.view.type is None else self.type(field.view.type)
            for field in flat_fields(fields)
            if field.view is not None
        }

    def layouts(self, owner: m.Protocol | m.Variant) -> dict[str, Plain]:
        """Return the fields of what is laid out field by field, by kind and name."""
        return {
            "structs": {struct.name: self.declared(struct.fields) for struct in owner.structs},
            "messages": {
                message.name: (message.code, message.role, self.declared(message.fields))
                for message in owner.messages
            },
            "frames": {
                frame.name: (frame.role, self.declared(frame.fields), frame.message) for frame in owner.frames
            },
            "preambles": {
                preamble.name: (preamble.role, self.declared(preamble.fields)) for preamble in owner.preambles
            },
        }

    def enum(self, enum: m.Enum) -> Plain:
        return (
            self.type(enum.type),
            enum.is_open,
            tuple((member.value, member.name) for member in enum.members),
        )

    def coding(self, coding: m.Coding) -> Plain:
        widths = tuple(
            (width.low, width.high, None if width.wide is None else self.type(width.wide), width.is_null)
            for width in coding.widths
        )
        return (self.type(coding.type), widths)

    def union(self, union: m.Union) -> Plain:
        varieties = tuple(
            (_spans(variety.codes), variety.name, self.declared(variety.fields), variety.is_lone)
            for variety in union.varieties
        )
        return (self.type(union.type), varieties, union.notes.raw)

    def context(self, context: m.Context) -> Plain:
        return (
            self.type(context.type),
            context.keys,
            context.role,
            self._settings(context.settings),
            self._clearings(context.clearings),
        )

    def join(self, join: m.Join) -> Plain:
        return (
            None if join.type is None else self.type(join.type),
            join.block,
            join.keys,
            self._settings(join.parts),
            self._settings(join.lasts),
            self._clearings(join.clearings),
        )

    def _settings(self, settings: tuple[m.Setting, ...]) -> Plain:
        return tuple((setting.target, setting.field, self.optional(setting.when)) for setting in settings)

    def _clearings(self, clearings: tuple[m.Clearing, ...]) -> Plain:
        return tuple((clearing.targets, self.optional(clearing.when)) for clearing in clearings)

    # ---- fields

    def declared(self, fields: tuple[m.Field, ...]) -> Plain:
        """Return the fields of a declaration."""
        self._own = {field.name: field for field in flat_fields(fields)}
        return self.fields(fields)

    def fields(self, fields: tuple[m.Field, ...]) -> Plain:
        return tuple(self.field(field) for field in fields)

    def field(self, field: m.Field) -> Plain:
        self._name = field.name
        hidden = field.name == "_" or isinstance(field.value, m.Derived | m.Constant)
        return (
            field.name,
            hidden,
            self.type(field.type),
            self._value(field.value),
            self.optional(field.condition),
            self.optional(field.where),
            field.where_rules or field.where_text,
            field.notes.rule,
            field.notes.secret,
        )

    def _value(self, value: m.FieldValue | None) -> Plain:
        match value:
            case None:
                return None
            case m.Derived():
                return ("derived", self.expression(value.value), value.lenient)
            case m.Constant():
                return ("constant", self.expression(value.value))
            case m.Default(others=(_, *_)):
                others = tuple((each.message, self.expression(each.value)) for each in value.others)
                return (value.kind, self.expression(value.value), others)
            case m.Default() | m.Trailing():
                return (value.kind, self.expression(value.value))
            case _:
                assert_never(value)

    # ---- types

    def type(self, type_: m.Type) -> Plain:
        match type_:
            case m.Integer():
                return ("int", type_.bits // 8, type_.signed, type_.endian)
            case m.Float():
                return ("float", type_.bits // 8, type_.endian)
            case m.Boolean():
                return ("bool", type_.lenient)
            case m.Bits():
                return ("bits", type_.bits, type_.is_flag, type_.order)
            case m.Varint():
                return ("varint", type_.bits, type_.zigzag, type_.lenient)
            case m.Uuid():
                return ("uuid",)
            case m.Bytes():
                return ("bytes", self.length(type_.length))
            case m.Text():
                return ("text", type_.encoding, self.length(type_.length), type_.lenient, type_.endian)
            case _:
                return self._compound(type_)

    def _compound(self, type_: m.List | m.Reference | m.MessageMatch | m.Match | m.Block | m.Region) -> Plain:
        match type_:
            case m.List():
                return self._list(type_)
            case m.Reference():
                return self._reference(type_)
            case m.MessageMatch():
                return ("message_match", self.expression(type_.subject), type_.only, type_.lenient)
            case m.Match():
                arms = tuple((_spans(arm.patterns), self.type(arm.type)) for arm in type_.arms)
                return ("match", self.expression(type_.subject), arms)
            case m.Block():
                return ("block", self.fields(type_.fields))
            case m.Region():
                lenient = "padded" if is_padded(type_, self._name, self._own) else type_.lenient
                return ("region", self.type(type_.content), self._carrier(type_.carrier), lenient)
            case _:
                assert_never(type_)

    def _list(self, type_: m.List) -> Plain:
        smallest_item = smallest(type_.item, self._protocol)
        plain = ("list", self.type(type_.item), self.length(type_.length), smallest_item)
        if type_.where is None:
            return _ruled(plain, type_.rule)
        return (*plain, type_.rule, (self.expression(type_.where), type_.where_text))

    def _reference(self, type_: m.Reference) -> Plain:
        match type_.target:
            case "struct" | "coding" | "message":
                return (type_.target, type_.name)
            case "enum" | "union" | "frame":
                return (type_.target, type_.name, type_.only, type_.lenient)
            case _:
                assert_never(type_.target)

    def length(self, length: m.Length) -> Plain:
        match length:
            case m.Prefix():
                return _ruled(("prefix", self.type(length.type)), length.rule)
            case m.Computed():
                return ("computed", self.expression(length.value))
            case m.ToTheEnd():
                return ("end",)
            case m.Delimited():
                return ("delimited", length.delimiter)
            case m.UntilHolds():
                return ("until", self.expression(length.condition))
            case _:
                assert_never(length)

    def _carrier(self, carrier: m.Carrier) -> Plain:
        match carrier:
            case m.InSize():
                return ("size", self.expression(carrier.size))
            case m.InPrefix():
                return _ruled(("prefix", self.type(carrier.type)), carrier.rule)
            case m.InCompressed():
                return ("compressed", carrier.algorithm, self.length(carrier.length))
            case m.InChunks():
                return ("chunks", carrier.struct, carrier.data, self.expression(carrier.until))
            case _:
                assert_never(carrier)

    # ---- expressions

    def optional(self, expression: m.Expression | None) -> Plain:
        return None if expression is None else self.expression(expression)

    def expressions(self, expressions: tuple[m.Expression, ...]) -> Plain:
        return tuple(self.expression(expression) for expression in expressions)

    def expression(self, expression: m.Expression) -> Plain:
        match expression:
            case m.Number() | m.ConstantReference() | m.MemberReference():
                return ("number", expression.value)
            case m.Truth():
                return ("truth", expression.value)
            case m.String():
                return ("text", expression.value)
            case m.Octets():
                return ("octets", expression.hex)
            case m.Null():
                return ("null",)
            case m.LimitReference() | m.VariableReference() | m.JoinReference() | m.RoleReference():
                return (expression.kind, expression.name)
            case m.FieldReference():
                return ("field", expression.path, expression.scope)
            case m.Position():
                return ("position", expression.what)
            case _:
                return self._composed(expression)

    def _composed(
        self,
        expression: (
            m.ContextReference | m.Negation | m.Operation | m.Range | m.ListOf | m.Call | m.Checksum | m.Item
        ),
    ) -> Plain:
        match expression:
            case m.ContextReference():
                return ("context", expression.context, self.expressions(expression.keys))
            case m.Negation():
                return ("negation", expression.operator, self.expression(expression.operand))
            case m.Operation():
                left, right = self.expression(expression.left), self.expression(expression.right)
                return ("operation", expression.operator, left, right)
            case m.Range():
                return ("range", self.expression(expression.low), self.expression(expression.high))
            case m.ListOf():
                return ("list", self.expressions(expression.items))
            case m.Call():
                return ("call", expression.function, self.expressions(expression.arguments))
            case m.Checksum():
                return ("checksum", expression.algorithm, expression.first, expression.last)
            case m.Item():
                return ("item", self.expression(expression.list), self.expression(expression.index))
            case _:
                assert_never(expression)


def _spans(spans: tuple[m.Span, ...]) -> Plain:
    return tuple((span.low, span.high) for span in spans)
