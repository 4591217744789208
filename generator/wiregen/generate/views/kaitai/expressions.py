"""Expressions of a schema in the language of Kaitai Struct."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NoReturn

from wiregen.generate.steps.step import UnsupportedError
from wiregen.generate.views.kaitai.numbers import is_built_in
from wiregen.generate.views.kaitai.parts import field_ids, within
from wiregen.language.spelling import expression_text
from wiregen.runtime.schema.protocol import Schema
from wiregen.schema import model as m

__all__ = ["KaitaiExpressions", "KaitaiPlace", "KaitaiScope", "is_plain"]

_CALCULATIONS: Final = ("+", "-", "*", "/", "%")
_ORDERS: Final = ("<", "<=", ">", ">=")
_LEAST, _GREATEST = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KaitaiPlace:
    """A field that was read before: the attributes that lead to it, the last of them its own."""

    chain: tuple[str, ...]
    type: m.Type
    is_optional: bool = False


@dataclass(slots=True)
class KaitaiScope:
    """The names of one declaration while its attributes are written.

    `chain`: the attributes whose types are being written, outermost first. `closed`: those of them that only
    their own types can enter, because they are a choice or a list.
    """

    is_frame: bool
    places: dict[str, KaitaiPlace] = field(default_factory=dict)
    chain: tuple[str, ...] = ()
    closed: set[tuple[str, ...]] = field(default_factory=set)

    def path_to(self, chain: tuple[str, ...]) -> str:
        """Return the expression for an attribute.

        Raises:
            UnsupportedError: It is in a choice or a list that the current type is not in.
        """
        shared = 0
        while shared < min(len(self.chain), len(chain) - 1) and self.chain[shared] == chain[shared]:
            shared += 1
        entered = (chain[: i + 1] for i in range(shared, len(chain) - 1))
        if any(each in self.closed for each in entered):
            _fail("a field in one arm of a choice")
        return ".".join([*(["_parent"] * (len(self.chain) - shared)), *chain[shared:]])


def _fail(construct: str) -> NoReturn:
    raise UnsupportedError("", construct)


class KaitaiExpressions:
    """Spells expressions within a scope."""

    def __init__(self, schema: Schema, scope: KaitaiScope) -> None:
        self._schema = schema
        self._scope = scope
        self._item: tuple[m.Type, str] | None = None

    def of_items(self, item: m.Type, access: str) -> KaitaiExpressions:
        """Return the same for a condition on the last item of a list, an attribute of this type."""
        other = KaitaiExpressions(self._schema, self._scope)
        other._item = (item, access)
        return other

    # ---- values of attributes

    def number_of(self, type_: m.Type, access: str) -> str:
        """Return the value of an attribute as a number.

        Raises:
            UnsupportedError: It is not a number.
        """
        match type_:
            case m.Integer():
                return access if is_built_in(type_) else f"{access}.value"
            case m.Varint() | m.CodingReference():
                return f"{access}.value"
            case m.EnumReference(name=name):
                numbers = self._schema.enums[name].type
                return self.number_of(numbers, access) if is_plain(numbers) else f"{access}.to_i"
            case m.Bits(bits=bits):
                return f"{access}.to_i" if bits == 1 else access
            case m.Boolean() | m.Float():
                return access
            case _:
                _fail(f"a value of the kind {type(type_).__name__} in an expression")

    @staticmethod
    def _truth_of(type_: m.Type, access: str) -> str:
        if isinstance(type_, m.Boolean):
            return f"({access} != 0)"
        if isinstance(type_, m.Bits) and type_.bits == 1:
            return access
        _fail("a truth that is not Boolean")

    def _field(self, reference: m.FieldReference) -> tuple[m.Type, str]:
        """Return the type of a field and the expression for its attribute."""
        path = reference.path
        if reference.scope == "item":
            if self._item is None:
                _fail("the items of a list")
            type_, access = self._item
        else:
            if reference.scope == "frame" and not self._scope.is_frame:
                _fail("a field of the frame in a message")
            place, path = self._place(path[0]), path[1:]
            type_, access = place.type, self._scope.path_to(place.chain)
        for name in path:
            if not isinstance(type_, m.StructReference):
                _fail("a field of a field that is not a struct")
            fields = self._schema.structs[type_.name]
            type_ = next(each.type for each in fields if each.name == name)
            access = f"{access}.{field_ids(fields)[name]}"
        return type_, access

    def _place(self, name: str) -> KaitaiPlace:
        if name not in self._scope.places:
            _fail(f"the field `{name}`")
        place = self._scope.places[name]
        if place.is_optional:
            _fail("a field that may be absent")
        return place

    # ---- expressions

    def number(self, expression: m.Expression) -> str:
        """Return an expression whose value is a number.

        Raises:
            UnsupportedError: Kaitai cannot calculate it.
        """
        match expression:
            case m.Number(value=value):
                return _literal(value)
            case m.LimitReference(name=name):
                bound = self._schema.limits.get(name)
                return _fail(f"`limits.{name}`") if bound is None else _literal(bound)
            case m.FieldReference():
                return self.number_of(*self._field(expression))
            case m.Position(what="remaining"):
                return "(_io.size - _io.pos)"
            case m.Negation(operator="-", operand=operand):
                return f"(-{self.number(operand)})"
            case m.Operation(operator="**", left=m.Number(value=left), right=m.Number(value=right)):
                return _literal(left**right) if 0 <= right < 64 else _fail("`**`")
            case m.Operation(operator=sign, left=one, right=two) if sign in _CALCULATIONS:
                return f"({self.number(one)} {sign} {self.number(two)})"
            case m.Call():
                return self._call(expression)
            case _:
                _fail(f"`{expression_text(expression)}`")

    def truth(self, expression: m.Expression) -> str:
        """Return an expression whose value is a truth.

        Raises:
            UnsupportedError: Kaitai cannot calculate it.
        """
        match expression:
            case m.Truth(value=value):
                return "true" if value else "false"
            case m.FieldReference():
                return self._truth_of(*self._field(expression))
            case m.Negation(operator="not", operand=operand):
                return f"(not {self.truth(operand)})"
            case m.Operation(operator="and" | "or" as word, left=one, right=two):
                return f"({self.truth(one)} {word} {self.truth(two)})"
            case m.Operation(operator="==" | "!=" as sign, left=one, right=two):
                return self._equality(sign, one, two)
            case m.Operation(operator="in", left=one, right=two):
                return self._membership(one, two)
            case m.Operation(operator="not in", left=one, right=two):
                return f"(not {self._membership(one, two)})"
            case m.Operation(operator=sign, left=one, right=two) if sign in _ORDERS:
                return f"({self.number(one)} {sign} {self.number(two)})"
            case _:
                _fail(f"`{expression_text(expression)}`")

    def _equality(self, sign: str, one: m.Expression, two: m.Expression) -> str:
        if isinstance(two, m.Null) and isinstance(one, m.FieldReference):
            type_, access = self._field(one)
            if not isinstance(type_, m.CodingReference):
                _fail("`null`")
            return f"{access}.is_null" if sign == "==" else f"(not {access}.is_null)"
        if isinstance(two, m.Truth):
            is_same = (sign == "==") == two.value
            return self.truth(one) if is_same else f"(not {self.truth(one)})"
        if isinstance(two, m.Octets) and isinstance(one, m.FieldReference):
            type_, access = self._field(one)
            if isinstance(type_, m.Bytes):
                return f"({access} {sign} [{', '.join(str(octet) for octet in bytes.fromhex(two.hex))}].as<bytes>)"
        return f"({self.number(one)} {sign} {self.number(two)})"

    def _membership(self, one: m.Expression, two: m.Expression) -> str:
        number = self.number(one)
        items = two.items if isinstance(two, m.ListOf) else (two,)
        parts = [
            (
                within(number, self.number(each.low), self.number(each.high))
                if isinstance(each, m.Range)
                else f"{number} == {self.number(each)}"
            )
            for each in items
        ]
        return f"({' or '.join(parts)})" if parts else "false"

    def _call(self, call: m.Call) -> str:
        match call.function, call.arguments:
            case "min" | "max" as name, (one, two):
                left, right = self.number(one), self.number(two)
                return f"({left} {'<' if name == 'min' else '>'} {right} ? {left} : {right})"
            case "count", (m.FieldReference(scope="own", path=(name,)),):
                place = self._place(name)
                if isinstance(place.type, m.List):
                    return f"{self._scope.path_to(place.chain)}.size"
                if isinstance(place.type, m.Bytes):
                    return f"{self._scope.path_to(place.chain)}.length"
            case "code", (m.FieldReference() as reference,):
                type_, access = self._field(reference)
                if isinstance(type_, m.UnionReference):
                    return self.number_of(self._schema.unions[type_.name].type, f"{access}.code")
        _fail(f"the function `{call.function}`")


def is_plain(numbers: m.Integer | m.Varint) -> bool:
    """Return whether numbers of an enum are of a type of the file's own, which cannot have the enum's names."""
    return isinstance(numbers, m.Varint) or not is_built_in(numbers)


def _literal(value: int) -> str:
    if not _LEAST <= value <= _GREATEST:
        _fail("a number of more than 64 bits")
    return str(value) if value >= 0 else f"({value})"
