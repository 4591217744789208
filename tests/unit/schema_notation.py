"""Schemas for tests, written as tuples: `("int", 4, False, "big")` is an Integer, `("field", ("x",), "own")` a reference.

A tuple begins with its kind, except declarations, whose values are in the order of their node's fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from wiregen.runtime.schema import declarations as d
from wiregen.runtime.schema import expressions as e
from wiregen.runtime.schema import sessions as s
from wiregen.runtime.schema import types as t
from wiregen.runtime.schema.node import Node
from wiregen.runtime.schema.protocol import Schema, Variant

Tuple = Any
"""Nested tuples; a part may also be a node already."""


def _nodes(read: Callable[[Tuple], Any], parts: Tuple) -> Any:
    return None if parts is None else tuple(read(part) for part in parts)


def _maybe(read: Callable[[Tuple], Any], part: Tuple) -> Any:
    return None if part is None else read(part)


# ---- expressions

_EXPRESSIONS: Final[dict[str, Callable[..., e.Expression]]] = {
    "number": e.Number,
    "truth": e.Truth,
    "text": e.String,
    "octets": e.Octets,
    "null": e.Null,
    "field": e.FieldReference,
    "limit": e.LimitReference,
    "context": lambda name, keys: e.ContextReference(name, _nodes(expression, keys)),
    "variable": e.VariableReference,
    "join": e.JoinReference,
    "role": e.RoleReference,
    "position": e.Position,
    "negation": lambda operator, operand: e.Negation(operator, expression(operand)),
    "operation": lambda operator, left, right: e.Operation(operator, expression(left), expression(right)),
    "range": lambda low, high: e.Range(expression(low), expression(high)),
    "list": lambda items: e.ListOf(_nodes(expression, items)),
    "call": lambda function, arguments: e.Call(function, _nodes(expression, arguments)),
    "checksum": e.Checksum,
    "item": lambda list_, index: e.Item(expression(list_), expression(index)),
}


def expression(part: Tuple) -> e.Expression:
    """Return an expression."""
    kind, *values = part
    return _EXPRESSIONS[kind](*values)


# ---- types

_LENGTHS: Final[dict[str, Callable[..., t.Length]]] = {
    "prefix": lambda number, rule=None: t.Prefix(type_(number), rule),
    "computed": lambda value: t.Computed(expression(value)),
    "end": t.ToEnd,
    "delimited": t.Delimited,
    "until": lambda condition: t.Until(expression(condition)),
}
_CARRIERS: Final[dict[str, Callable[..., t.Carrier]]] = {
    "size": lambda size: t.InSize(expression(size)),
    "prefix": lambda number, rule=None: t.Prefix(type_(number), rule),
    "compressed": lambda algorithm, measure: t.Compressed(algorithm, length(measure)),
    "chunks": lambda struct, data, until: t.Chunks(struct, data, expression(until)),
}
_TYPES: Final[dict[str, Callable[..., Any]]] = {
    "int": t.Integer,
    "float": t.Float,
    "bool": t.Boolean,
    "bits": t.Bits,
    "varint": t.Varint,
    "uuid": t.Uuid,
    "enum": t.EnumReference,
    "coding": t.CodingReference,
    "bytes": lambda measure: t.Bytes(length(measure)),
    "text": lambda encoding, measure, lenient, endian: t.Text(encoding, length(measure), lenient, endian),
    "list": lambda item, measure, smallest, rule=None, where=None: t.List(
        type_(item),
        length(measure),
        smallest,
        rule,
        where and t.ItemCondition(expression(where[0]), where[1]),
    ),
    "struct": t.StructReference,
    "union": t.UnionReference,
    "message": t.MessageReference,
    "frame": t.FrameReference,
    "message_match": lambda subject, only, lenient: t.MessageMatch(expression(subject), only, lenient),
    "match": lambda subject, arms: t.Match(
        expression(subject), tuple(t.Arm(_spans(spans), type_(content)) for spans, content in arms)
    ),
    "block": lambda fields: t.Block(_nodes(field, fields)),
    "region": lambda content, carrier, lenient: t.Region(
        type_(content), _CARRIERS[carrier[0]](*carrier[1:]), lenient
    ),
}


def type_(part: Tuple) -> Any:
    """Return a type."""
    if isinstance(part, Node):
        return part
    kind, *values = part
    return _TYPES[kind](*values)


def length(part: Tuple) -> Any:
    """Return a length."""
    kind, *values = part
    return _LENGTHS[kind](*values)


def _spans(parts: Tuple) -> tuple[t.Span, ...]:
    return tuple(t.Span(*part) for part in parts)


# ---- declarations

_VALUES: Final[dict[str, Callable[..., d.FieldValue]]] = {
    "default": lambda value, others=(): d.Default(
        expression(value), tuple(d.DefaultOf(name, expression(other)) for name, other in others)
    ),
    "derived": lambda value, lenient: d.Derived(expression(value), lenient),
    "constant": lambda value: d.Constant(expression(value)),
    "trailing": lambda value: d.Trailing(expression(value)),
}


def field(part: Tuple) -> d.Field:
    """Return a field."""
    if isinstance(part, d.Field):
        return part
    name, hidden, content, value, condition, where, where_text, rule, secret = part
    return d.Field(
        name=name,
        is_hidden=hidden,
        type=type_(content),
        value=None if value is None else _VALUES[value[0]](*value[1:]),
        condition=_maybe(expression, condition),
        where=_maybe(expression, where),
        where_text=(
            where_text if isinstance(where_text, str) else tuple(d.Condition(*each) for each in where_text)
        ),
        rule=rule,
        is_secret=secret,
    )


def fields(parts: Tuple) -> tuple[d.Field, ...]:
    """Return fields in a row."""
    return tuple(field(part) for part in parts)


def _settings(parts: Tuple) -> tuple[d.Setting, ...]:
    return tuple(d.Setting(target, name, _maybe(expression, when)) for target, name, when in parts)


def _clearings(parts: Tuple) -> tuple[d.Clearing, ...]:
    return tuple(d.Clearing(targets, _maybe(expression, when)) for targets, when in parts)


_DECLARATIONS: Final[dict[str, Callable[..., Any]]] = {
    "enums": lambda number, is_open, members: d.Enum(
        type_(number), is_open, tuple(d.Member(*each) for each in members)
    ),
    "codings": lambda number, widths: d.Coding(
        type_(number),
        tuple(d.Width(low, high, _maybe(type_, wide), is_null) for low, high, wide, is_null in widths),
    ),
    "unions": lambda number, varieties, raw: d.Union(
        type_(number),
        tuple(d.Variety(_spans(spans), name, fields(own), lone) for spans, name, own, lone in varieties),
        raw,
    ),
    "messages": lambda code, role, own: d.Message(code, role, fields(own)),
    "frames": lambda role, own, message: d.Frame(role, fields(own), message),
    "preambles": lambda role, own: d.Preamble(role, fields(own)),
    "contexts": lambda content, keys, role, settings, clearings: d.Context(
        type_(content), keys, role, _settings(settings), _clearings(clearings)
    ),
    "joins": lambda content, block, keys, parts, lasts, clearings: d.Join(
        _maybe(type_, content), block, keys, _settings(parts), _settings(lasts), _clearings(clearings)
    ),
}
_LAID_OUT: Final = ("structs", "messages", "frames", "preambles")
_ABSENT: Final[dict[str, Any]] = {"role_rule": None, "on_error": "close", "endian": "big", "circular": ()}


def _declared(kind: str, parts: Mapping[str, Tuple]) -> dict[str, Any]:
    if kind == "structs":
        return {name: fields(part) for name, part in parts.items()}
    make = _DECLARATIONS[kind]
    return {name: part if isinstance(part, Node) else make(*part) for name, part in parts.items()}


def _variant(part: Mapping[str, Tuple]) -> Variant:
    layouts: dict[str, Any] = {kind: _declared(kind, part.get(kind, {})) for kind in _LAID_OUT}
    return Variant(**layouts)


def schema(parts: Mapping[str, Tuple]) -> Schema:
    """Return a schema; parts that are not given are empty."""
    given = dict(parts)
    for kind in ("structs", *_DECLARATIONS):
        given[kind] = _declared(kind, given.get(kind, {}))
    given["sessions"] = {name: _session(part) for name, part in given.get("sessions", {}).items()}
    given["variants"] = {name: _variant(part) for name, part in given.get("variants", {}).items()}
    empty: dict[str, Any] = {name: {} for name in Schema.__match_args__}
    return Schema(**{**empty, **_ABSENT, **given})


def _session(part: Tuple) -> s.Session:
    assert isinstance(part, s.Session)
    return part
